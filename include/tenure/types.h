// The small strong types that every face of Tenure shares. Immutable values.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tenure {

using Millis = std::chrono::milliseconds;

// A point in the authority's time, in milliseconds since the epoch. Only the authority makes them.
struct Instant {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(Instant, Instant) = default;
};

// Later than every instant: the expiry of a lease that has none.
inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};

// A sum beyond the last instant is kNever.
constexpr Instant operator+(Instant at, Millis by) {
  Instant sum;
  return __builtin_add_overflow(at.ms, by.count(), &sum.ms) ? kNever : sum;
}
constexpr Millis operator-(Instant a, Instant b) { return Millis{a.ms - b.ms}; }

// A lease's number in the order of all grants of one authority. A resource that remembers the highest fence it has seen
// can refuse every older holder.
struct Fence {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(Fence, Fence) = default;
};

// A position in somebody else's log.
struct Offset {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(Offset, Offset) = default;
};

// One page of a listing. `cursor` is "0" at the end; anything else, given back, continues behind this page. A page may
// be shorter than asked for, even empty, before the end is reached: each call looks at a bounded number of entries.
struct Paging {
  std::int64_t count = 100;
  std::string cursor = "0";
};

}  // namespace tenure
