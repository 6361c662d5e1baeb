// Chance that can be had again: for tests and simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/entropy.h"

namespace tenure {

// The same throws for the same seed. One thread.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : entropy_(seed) {}
  // From 0 to `sides` - 1.
  std::uint64_t roll(std::uint64_t sides) { return entropy_.next() % sides; }
  bool one_in(std::uint64_t sides) { return roll(sides) == 0; }
  // From `low` to `high`.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(roll(static_cast<std::uint64_t>(high - low) + 1));
  }
  template <class T>
  const T& pick(const std::vector<T>& of) {
    return of[roll(of.size())];
  }

 private:
  SeededEntropy entropy_;
};

}  // namespace tenure
