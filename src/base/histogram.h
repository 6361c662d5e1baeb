// How often values of which size came: counts by upper bound, and their sum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <absl/types/span.h>

namespace tenure {

// One thread.
class Histogram {
 public:
  // Ascending, and borrowed for good; what is larger than all of them has a place of its own.
  explicit Histogram(absl::Span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void add(double value) {
    const auto* bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
    ++count_;
    sum_ += value;
  }

  [[nodiscard]] absl::Span<const double> bounds() const { return bounds_; }
  // One for each bound, and one for what is beyond: each value stands in one of them.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  absl::Span<const double> bounds_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace tenure
