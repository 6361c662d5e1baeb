// `tenure bench`: a load on a server, and how long its answers take.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/errand.h"
#include "cli/signals.h"

namespace tenure::cli {

struct BenchOptions {
  std::string what = "tasks";
  Millis time = std::chrono::seconds(5);
  int threads = 8;
  std::uint64_t payload_bytes = 100;
};
int run_bench(const Errand& errand, Signals& signals, const BenchOptions& options);

// How long answers took: a count for each range of times, each an eighth wider than the one before. One thread.
class Latencies {
 public:
  void add(double seconds);
  void add(const Latencies& others);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean_ms() const { return count_ == 0 ? 0 : sum_ms_ / static_cast<double>(count_); }
  [[nodiscard]] double max_ms() const { return max_ms_; }
  // The time within which this part of all were answered, 0 to 1.
  [[nodiscard]] double quantile_ms(double part) const;
  // A bar for each doubling of the time, so wide at most.
  [[nodiscard]] std::string drawn(std::size_t width) const;

 private:
  static constexpr std::size_t kRanges = 256;
  static double upper_ms(std::size_t range);

  std::array<std::uint64_t, kRanges> counts_{};
  std::uint64_t count_ = 0;
  double sum_ms_ = 0;
  double max_ms_ = 0;
};

// [#####.....]  50%
std::string progress_bar(double part, std::size_t width);

}  // namespace tenure::cli
