// Every number that the server tells of itself, as families of samples with labels: what /metrics and INFO are made
// from, so that they say the same. docs/operations.md explains them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "server/standing.h"

namespace tenure::server {

// Views the standing it was made from.
struct Family {
  enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram };
  struct Sample {
    std::string_view name{};  // of a queue or a domain; empty: it is about none
    std::vector<std::pair<std::string_view, std::string_view>> labels{};
    double value = 0;
    const Histogram* histogram = nullptr;
  };

  std::string_view section;  // of INFO
  std::string_view name;
  std::string_view help;
  Kind kind = Kind::kGauge;
  std::string_view name_label{};  // what a sample's name is of: queue or domain
  std::vector<Sample> samples{};
};

std::vector<Family> families_of(const Standing& standing);

}  // namespace tenure::server
