// Numbers from 0, the k-th as often as 1 / (k + 1)^exponent: a few are drawn all the time, most hardly ever.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tenure::bench {

// Draws the same numbers in each run, each by a look at one place: there is a column for every number, all of the same
// height, and what its own number leaves of it is another's. One thread.
class Zipf {
 public:
  Zipf(std::size_t numbers, double exponent) : dice_(kSeed), columns_(numbers) {
    std::vector<double> heights;  // a column's is 1
    double sum = 0;
    for (std::size_t k = 0; k < numbers; ++k)
      sum += heights.emplace_back(1 / std::pow(static_cast<double>(k + 1), exponent));
    for (double& height : heights) height *= static_cast<double>(numbers) / sum;
    fill(heights);
  }

  std::size_t draw() {
    const std::uint64_t bits = dice_();
    const std::size_t at = (bits >> 32) * columns_.size() >> 32;
    const auto height = static_cast<double>(static_cast<std::uint32_t>(bits)) / 0x1p32;
    return height < columns_[at].own ? at : columns_[at].other;
  }

 private:
  static constexpr std::uint64_t kSeed = 20'240'229;

  struct Column {
    double own = 1;
    std::size_t other = 0;
  };

  // Numbers become less often from one to the next: the low ones have too much for a column, and fill the high ones'.
  void fill(std::vector<double>& heights) {
    std::vector<std::size_t> low;
    std::size_t giver = 0;
    for (std::size_t k = heights.size(); k-- > 0 && heights[k] < 1;) low.push_back(k);
    while (!low.empty() && giver < heights.size() && heights[giver] > 1) {
      const std::size_t k = low.back();
      low.pop_back();
      columns_[k] = {.own = heights[k], .other = giver};
      heights[giver] -= 1 - heights[k];
      if (heights[giver] < 1) low.push_back(giver++);
    }
  }

  std::mt19937_64 dice_;
  std::vector<Column> columns_;
};

}  // namespace tenure::bench
