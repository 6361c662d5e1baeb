#include "wire/inline_words.h"

namespace tenure::wire {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char meaning_of(char escaped) {
  switch (escaped) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return escaped;
  }
}

// Takes one escape, behind its backslash, off `text`; there is at least one character.
char take_escape(std::string_view& text) {
  if (text[0] == 'x' && text.size() > 2 && hex_digit(text[1]) >= 0 && hex_digit(text[2]) >= 0) {
    const char c = static_cast<char>(hex_digit(text[1]) * 16 + hex_digit(text[2]));
    text.remove_prefix(3);
    return c;
  }
  const char c = meaning_of(text[0]);
  text.remove_prefix(1);
  return c;
}

// Takes a quoted text, from its opening to its closing quote, off `text`.
bool take_quoted(std::string_view& text, std::string& out) {
  const char quote = text[0];
  text.remove_prefix(1);
  while (!text.empty() && text[0] != quote) {
    const bool is_escape = text[0] == '\\' && text.size() > 1 && (quote == '"' || text[1] == '\'');
    if (is_escape) {
      text.remove_prefix(1);
      out.push_back(take_escape(text));
    } else {
      out.push_back(text[0]);
      text.remove_prefix(1);
    }
  }
  if (text.empty()) return false;
  text.remove_prefix(1);
  return text.empty() || is_blank(text[0]);
}

}  // namespace

bool split_line(std::string_view line, std::size_t words_max, std::string& unquoted,
                absl::InlinedVector<std::string_view, 16>& words) {
  words.clear();
  unquoted.clear();
  while (true) {
    while (!line.empty() && is_blank(line[0])) line.remove_prefix(1);
    if (line.empty() || words.size() > words_max) return true;
    const std::size_t plain = line.find_first_of(std::string_view(" \t\r\v\f\0\"'", 8));
    if (plain == std::string_view::npos || is_blank(line[plain])) {
      words.push_back(line.substr(0, plain));
      line.remove_prefix(words.back().size());
      continue;
    }
    // No longer than the line, so that it does not move under its views.
    if (unquoted.empty()) unquoted.reserve(line.size());
    const std::size_t begin = unquoted.size();
    while (!line.empty() && !is_blank(line[0])) {
      if (line[0] == '"' || line[0] == '\'') {
        if (!take_quoted(line, unquoted)) return false;
      } else {
        unquoted.push_back(line[0]);
        line.remove_prefix(1);
      }
    }
    words.push_back(std::string_view(unquoted).substr(begin));
  }
}

}  // namespace tenure::wire
