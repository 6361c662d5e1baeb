#include "wire/resp_writer.h"

#include <charconv>

#include "base/bytes.h"

namespace tenure::wire {
namespace {

constexpr std::size_t kErrorBytesMax = 1024;
constexpr std::size_t kNumberBytes = 1 + 20 + 2;  // type, digits with a sign, CR LF

// These return where it ends.
char* write_end(char* at) {
  *at++ = '\r';
  *at++ = '\n';
  return at;
}
template <class Number>
char* write_line(char* at, char type, Number number) {
  *at++ = type;
  // Most are counts and sizes.
  if (number >= 0 && number < 10) {
    *at++ = static_cast<char>('0' + number);
  } else {
    at = std::to_chars(at, at + kNumberBytes - 3, number).ptr;
  }
  return write_end(at);
}

constexpr std::size_t kShortBytes = 64;
constexpr std::size_t kShortTextBytes = kNumberBytes + kShortBytes + 2;
char* write_short_text(char* at, std::string_view bytes) {
  at = write_line(at, '$', bytes.size());
  copy_short(bytes, at);
  return write_end(at + bytes.size());
}

template <class Number>
void append_line(std::string& out, char type, Number number) {
  char line[kNumberBytes];
  out.append(line, static_cast<std::size_t>(write_line(line, type, number) - line));
}

}  // namespace

void RespWriter::header(char type, std::uint64_t number) { append_line(out_, type, number); }

void RespWriter::integer(std::int64_t number) { append_line(out_, ':', number); }

void RespWriter::number_field(std::string_view name, std::int64_t number) {
  if (name.size() > kShortBytes) {
    value(name);
    return integer(number);
  }
  char text[kShortTextBytes + kNumberBytes];
  out_.append(text, static_cast<std::size_t>(write_line(write_short_text(text, name), ':', number) - text));
}

void RespWriter::map(std::size_t fields) {
  if (protocol_ == Protocol::kResp3) {
    header('%', fields);
  } else {
    header('*', 2 * fields);
  }
}

void RespWriter::simple(std::string_view word) { out_.append(1, '+').append(word).append("\r\n"); }

// A message may hold what a client sent, in which a line's end would be the beginning of a forged reply.
void RespWriter::error(const Failure& failure) {
  out_.append(1, '-').append(to_string(failure.code)).append(1, ' ');
  for (const char c : std::string_view(failure.message).substr(0, kErrorBytesMax)) {
    const bool is_control = (c >= 0 && c < 0x20) || c == 0x7f;
    out_.push_back(is_control ? ' ' : c);
  }
  out_.append("\r\n");
}

void RespWriter::null() { out_.append(protocol_ == Protocol::kResp3 ? "_\r\n" : "$-1\r\n"); }

// A reply has many of them, and most are short: those are appended at once.
void RespWriter::value(std::string_view bytes) {
  if (bytes.size() <= kShortBytes) {
    char text[kShortTextBytes];
    out_.append(text, static_cast<std::size_t>(write_short_text(text, bytes) - text));
    return;
  }
  header('$', bytes.size());
  out_.append(bytes).append("\r\n");
}

}  // namespace tenure::wire
