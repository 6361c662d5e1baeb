// The one hash of the project: XXH3. Stable across machines and versions, so it may be stored.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenure {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

struct Hash128 {
  std::uint64_t high;
  std::uint64_t low;
};
Hash128 hash128(std::string_view bytes);

}  // namespace tenure
