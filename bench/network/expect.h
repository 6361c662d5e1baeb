// What ends a benchmark: something other than what was wanted.
#pragma once

#include <string_view>

namespace tenure::bench {

// Throws, naming both.
[[noreturn]] void unexpected(std::string_view wanted, std::string_view found);

inline void expect(bool is_as_wanted, std::string_view wanted, std::string_view found) {
  if (!is_as_wanted) unexpected(wanted, found);
}

}  // namespace tenure::bench
