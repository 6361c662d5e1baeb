// How long to wait before something is tried again. Chance is given.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tenure/types.h>

namespace tenure {

// `initial`, doubled so many times, at most `longest`; by chance up to half less, so that those who lost the same
// server do not come back in step.
inline Millis spread_pause(Millis initial, Millis longest, int doublings, std::uint64_t chance) {
  constexpr int kDoublingsMax = 20;
  const Millis most = std::min(longest, initial * (std::int64_t{1} << std::min(doublings, kDoublingsMax)));
  return most - Millis{static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(most.count() / 2 + 1))};
}

// Before a connection is tried again, after so many failures in a row, of which the first is 1: at first at once.
inline Millis reconnect_pause(Millis initial, Millis longest, int failures, std::uint64_t chance) {
  return failures <= 1 ? Millis{0} : spread_pause(initial, longest, failures - 2, chance);
}

}  // namespace tenure
