// How the load of `tenure bench` is counted and drawn.
#include <algorithm>
#include <cmath>

#include "cli/bench.h"

namespace tenure::cli {
namespace {

constexpr double kSmallestMs = 0.001;
constexpr double kWidening = 1.125;

}  // namespace

double Latencies::upper_ms(std::size_t range) { return kSmallestMs * std::pow(kWidening, static_cast<double>(range)); }

void Latencies::add(double seconds) {
  const double ms = seconds * 1000;
  const double range = ms <= kSmallestMs ? 0 : std::ceil(std::log(ms / kSmallestMs) / std::log(kWidening));
  ++counts_[std::min(static_cast<std::size_t>(range), kRanges - 1)];
  ++count_;
  sum_ms_ += ms;
  max_ms_ = std::max(max_ms_, ms);
}

void Latencies::add(const Latencies& others) {
  for (std::size_t i = 0; i < kRanges; ++i) counts_[i] += others.counts_[i];
  count_ += others.count_;
  sum_ms_ += others.sum_ms_;
  max_ms_ = std::max(max_ms_, others.max_ms_);
}

double Latencies::quantile_ms(double part) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < kRanges && wanted > 0; ++i) {
    found += counts_[i];
    if (found >= wanted) return std::min(upper_ms(i), max_ms_);
  }
  return 0;
}

std::string Latencies::drawn(std::size_t width) const {
  struct Row {
    double upper;
    std::uint64_t count;
  };
  std::vector<Row> rows;
  double upper = kSmallestMs;
  for (std::size_t i = 0; i < kRanges; ++i) {
    while (rows.empty() || upper_ms(i) > upper * (1 + 1e-9)) {
      if (!rows.empty()) upper *= 2;
      rows.push_back({upper, 0});
    }
    rows.back().count += counts_[i];
  }
  const auto has_some = [](const Row& row) { return row.count > 0; };
  const auto first = std::find_if(rows.begin(), rows.end(), has_some);
  const auto last = std::find_if(rows.rbegin(), rows.rend(), has_some).base();
  if (first >= last) return {};
  const std::uint64_t most =
      std::max_element(first, last, [](const Row& a, const Row& b) { return a.count < b.count; })->count;
  std::string text;
  for (auto row = first; row != last; ++row) {
    const double part = static_cast<double>(row->count) / static_cast<double>(most);
    const auto bar = static_cast<std::size_t>(std::ceil(part * static_cast<double>(width)));
    text += fmt::format("<= {:>9.3f} ms {:>9} {}\n", row->upper, row->count, std::string(bar, '#'));
  }
  return text;
}

std::string progress_bar(double part, std::size_t width) {
  part = std::clamp(part, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(width));
  return fmt::format("[{}{}] {:>3.0f}%", std::string(full, '#'), std::string(width - full, '.'), part * 100);
}

}  // namespace tenure::cli
