#include "wire/word.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace tenure::wire {

std::string quote(std::string_view text) {
  constexpr std::size_t kShown = 64;
  const bool is_cut = text.size() > kShown;
  std::string_view shown = text.substr(0, kShown);
  // Not in the middle of a character.
  for (int i = 0; is_cut && i < 3 && !is_utf8(shown); ++i) shown.remove_suffix(1);
  std::string quoted = "'";
  if (is_clean(shown)) {
    quoted += shown;
  } else {
    for (const char c : shown) {
      if (c >= 0x20 && c < 0x7f) {
        quoted.push_back(c);
      } else {
        quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
  }
  quoted += is_cut ? "'..." : "'";
  return quoted;
}

}  // namespace tenure::wire
