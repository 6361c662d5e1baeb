#include "resp.h"

#include <array>
#include <charconv>

#include "expect.h"

namespace tenure::bench {
namespace {

constexpr std::size_t kNumberBytes = 20;

// What drives a server takes of the machine what the server could have: so lines, of which there are a dozen in most
// requests and replies and which are a few bytes long, are written and read here without help that costs more.
void append_line(std::string& output, char kind, std::size_t number) {
  std::array<char, 1 + kNumberBytes + 2> line;  // not filled: it is overwritten
  line[0] = kind;
  char* end = std::to_chars(line.data() + 1, line.data() + 1 + kNumberBytes, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  output.append(line.data(), end);
}

constexpr std::string_view kLineEnd = "\r\n";

}  // namespace

void append_count(std::string& output, std::size_t words) { append_line(output, '*', words); }

void append_word(std::string& output, std::string_view word) {
  append_line(output, '$', word.size());
  output.append(word).append(kLineEnd);
}

void append_request(std::string& output, std::initializer_list<std::string_view> words) {
  append_count(output, words.size());
  for (const std::string_view word : words) append_word(output, word);
}

std::optional<RespPart> RespReader::next_word() {
  expect(rest_[0] == '+' || rest_[0] == '-', "one of + - : $ *", rest_);
  const std::size_t line = rest_.find(kLineEnd);
  if (line == std::string_view::npos) return std::nullopt;
  const RespPart part{.kind = rest_[0], .text = rest_.substr(1, line - 1)};
  rest_.remove_prefix(line + kLineEnd.size());
  return part;
}

void RespReader::fail_number() const { unexpected("a number in a line of RESP", rest_); }

std::size_t find_resp_end(std::string_view input) {
  RespReader reader(input);
  for (std::int64_t parts = 1; parts > 0; --parts) {
    const auto part = reader.next();
    if (!part) return 0;
    if (part->kind == '*' && part->number > 0) parts += part->number;
  }
  return input.size() - reader.rest().size();
}

}  // namespace tenure::bench
