// The words of clients: in any case, and not to be repeated in a message as they came.
#pragma once

#include <string>
#include <string_view>

namespace tenure::wire {

constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Whether `word` is `upper`, which is in upper case, in any case.
constexpr bool is_word(std::string_view word, std::string_view upper) {
  if (word.size() != upper.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (to_upper(word[i]) != upper[i]) return false;
  }
  return true;
}

// For messages: in single quotes, cut short, and with everything but clean UTF-8 as \xHH.
std::string quote(std::string_view text);

}  // namespace tenure::wire
