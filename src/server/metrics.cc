// The one file that knows prometheus-cpp.
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "server/families.h"

namespace tenure::server {
namespace {

prometheus::MetricType type_of(Family::Kind kind) {
  switch (kind) {
    case Family::Kind::kCounter:
      return prometheus::MetricType::Counter;
    case Family::Kind::kGauge:
      return prometheus::MetricType::Gauge;
    default:
      return prometheus::MetricType::Histogram;
  }
}

prometheus::ClientMetric::Histogram shown(const Histogram& histogram) {
  prometheus::ClientMetric::Histogram to;
  to.sample_count = histogram.count();
  to.sample_sum = histogram.sum();
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += histogram.counts()[i];
    to.bucket.push_back({.cumulative_count = below, .upper_bound = histogram.bounds()[i]});
  }
  return to;
}

prometheus::ClientMetric shown(const Family& family, const Family::Sample& sample) {
  prometheus::ClientMetric metric;
  if (!family.name_label.empty()) metric.label.push_back({std::string(family.name_label), std::string(sample.name)});
  for (const auto& [label, value] : sample.labels) metric.label.push_back({std::string(label), std::string(value)});
  if (sample.histogram != nullptr) {
    metric.histogram = shown(*sample.histogram);
  } else if (family.kind == Family::Kind::kCounter) {
    metric.counter.value = sample.value;
  } else {
    metric.gauge.value = sample.value;
  }
  return metric;
}

}  // namespace

std::string describe_metrics(const Standing& standing) {
  std::vector<prometheus::MetricFamily> all;
  for (const Family& family : families_of(standing)) {
    prometheus::MetricFamily& to = all.emplace_back();
    to.name = family.name;
    to.help = family.help;
    to.type = type_of(family.kind);
    for (const Family::Sample& sample : family.samples) to.metric.push_back(shown(family, sample));
  }
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace tenure::server
