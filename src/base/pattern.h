// Patterns over names: `*` is any text, also none, and `?` one character of UTF-8. Everything else is itself.
#pragma once

#include <cstddef>
#include <string_view>

namespace tenure {

// `same(a, b)` tells whether two bytes are one. Goes back to the last star only, so its time is bounded by the product
// of the lengths.
template <class Same>
bool matches_pattern(std::string_view pattern, std::string_view text, const Same& same) {
  const auto next_character = [&](std::size_t i) {
    for (++i; i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;) ++i;
    return i;
  };
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t behind_star = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = i;
    } else if (at < pattern.size() && pattern[at] == '?') {
      ++at;
      i = next_character(i);
    } else if (at < pattern.size() && same(pattern[at], text[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = behind_star = next_character(behind_star);
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

// The same, byte for byte.
inline bool matches_pattern(std::string_view pattern, std::string_view text) {
  return matches_pattern(pattern, text, [](char a, char b) { return a == b; });
}

}  // namespace tenure
