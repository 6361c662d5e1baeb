// The one hash of the project: XXH3. Stable across machines and versions, so it may be stored.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace tenure {

inline std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace tenure
