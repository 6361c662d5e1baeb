#include "resp.h"

#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "expect.h"

namespace tenure::bench {
namespace {

std::int64_t number_of(std::string_view digits, std::string_view line) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  expect(error == std::errc() && end == digits.data() + digits.size(), "a number in a line of RESP", line);
  return number;
}

}  // namespace

void append_count(std::string& output, std::size_t words) {
  fmt::format_to(std::back_inserter(output), FMT_STRING("*{}\r\n"), words);
}

void append_word(std::string& output, std::string_view word) {
  fmt::format_to(std::back_inserter(output), FMT_STRING("${}\r\n"), word.size());
  output += word;
  output += "\r\n";
}

void append_request(std::string& output, std::initializer_list<std::string_view> words) {
  append_count(output, words.size());
  for (const std::string_view word : words) append_word(output, word);
}

std::optional<RespPart> RespReader::next() {
  const std::size_t line = rest_.find("\r\n");
  if (line == std::string_view::npos) return std::nullopt;
  expect(line > 0, "a line of RESP", rest_);
  RespPart part{.kind = rest_[0], .text = rest_.substr(1, line - 1)};
  expect(std::string_view("+-:$*").find(part.kind) != std::string_view::npos, "one of + - : $ *", rest_);
  if (part.kind != '+' && part.kind != '-') part.number = number_of(part.text, rest_.substr(0, line));
  std::size_t end = line + 2;
  if (part.kind == '$' && part.number >= 0) {
    const auto bytes = static_cast<std::size_t>(part.number);
    if (rest_.size() < end + bytes + 2) return std::nullopt;
    part.text = rest_.substr(end, bytes);
    end += bytes + 2;
  }
  rest_.remove_prefix(end);
  return part;
}

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
