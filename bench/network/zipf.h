// Numbers from 0, the k-th as often as 1 / (k + 1)^exponent: a few are drawn all the time, most hardly ever.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tenure::bench {

// Draws the same numbers in each run. One thread.
class Zipf {
 public:
  Zipf(std::size_t numbers, double exponent) : dice_(kSeed), upto_(numbers) {
    double sum = 0;
    for (std::size_t k = 0; k < numbers; ++k) upto_[k] = sum += 1 / std::pow(static_cast<double>(k + 1), exponent);
  }

  std::size_t draw() {
    const double point = std::uniform_real_distribution(0.0, upto_.back())(dice_);
    const auto found = std::upper_bound(upto_.begin(), upto_.end() - 1, point);
    return static_cast<std::size_t>(found - upto_.begin());
  }

 private:
  static constexpr std::uint64_t kSeed = 20'240'229;

  std::mt19937_64 dice_;
  std::vector<double> upto_;  // the weights of a number and of all below it
};

}  // namespace tenure::bench
