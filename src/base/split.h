// A text's parts.
#pragma once

#include <string_view>
#include <vector>

namespace tenure {

// What stands between the separators, also where that is nothing: one part more than there are separators. They view
// the text.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace tenure
