#include "wire/resp_writer.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/text.h"

namespace tenure::wire {
namespace {

constexpr std::size_t kErrorBytesMax = 1024;
constexpr std::size_t kLineBytes = 1 + 20 + 2;  // type, digits with a sign, CR LF
constexpr std::size_t kShortBytes = 64;         // a text of so many goes with its size in one piece
constexpr std::size_t kShortTextBytes = kLineBytes + kShortBytes + 2;

// These return where it ends.
char* write_end(char* at) {
  *at++ = '\r';
  *at++ = '\n';
  return at;
}
template <class Number>
char* write_line(char* at, char type, Number number) {
  *at++ = type;
  return write_end(write_decimal(at, number));
}
char* write_short_text(char* at, std::string_view bytes) {
  at = write_line(at, '$', bytes.size());
  copy_short(bytes, at);
  return write_end(at + bytes.size());
}

}  // namespace

RespWriter::~RespWriter() { TENURE_CHECK(used_ == 0, "a reply was not finished, {} bytes of it are missing", used_); }

void RespWriter::finish() {
  out_.append(room_, used_);
  used_ = 0;
}

char* RespWriter::room_for(std::size_t bytes) {
  if (used_ + bytes > sizeof room_) finish();
  return room_ + used_;
}

void RespWriter::append(std::string_view text) {
  if (text.size() > kShortBytes) {
    finish();
    out_.append(text);
    return;
  }
  char* const at = room_for(text.size());
  copy_short(text, at);
  end_at(at + text.size());
}

void RespWriter::header(char type, std::uint64_t number) { end_at(write_line(room_for(kLineBytes), type, number)); }

void RespWriter::integer(std::int64_t number) { end_at(write_line(room_for(kLineBytes), ':', number)); }

void RespWriter::map(std::size_t fields) {
  if (protocol_ == Protocol::kResp3) {
    header('%', fields);
  } else {
    header('*', 2 * fields);
  }
}

void RespWriter::simple(std::string_view word) {
  append("+");
  append(word);
  append("\r\n");
}

// A message may hold what a client sent, in which a line's end would be the beginning of a forged reply.
void RespWriter::error(const Failure& failure) {
  finish();
  out_.append(1, '-').append(to_string(failure.code)).append(1, ' ');
  for (const char c : std::string_view(failure.message).substr(0, kErrorBytesMax)) {
    const bool is_control = (c >= 0 && c < 0x20) || c == 0x7f;
    out_.push_back(is_control ? ' ' : c);
  }
  out_.append("\r\n");
}

void RespWriter::null() { append(protocol_ == Protocol::kResp3 ? "_\r\n" : "$-1\r\n"); }

void RespWriter::value(std::string_view bytes) {
  if (bytes.size() <= kShortBytes) return end_at(write_short_text(room_for(kShortTextBytes), bytes));
  header('$', bytes.size());
  append(bytes);
  append("\r\n");
}

}  // namespace tenure::wire
