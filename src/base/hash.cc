#include "base/hash.h"

// Compiled in here, and only here: most of what is hashed is a few bytes long, for which the library's own calls
// through its table of functions cost more than the hash; but inlined everywhere it would take minutes to compile.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenure {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 hash128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace tenure
