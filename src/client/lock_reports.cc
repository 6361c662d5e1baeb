// What a lock desk tells: callbacks, the log, and metrics.
#include <cstdio>

#include <fmt/format.h>

#include "client/lock_desk.h"

namespace tenure {
namespace {

constexpr std::size_t kLabelsMax = 64;

double seconds_of(Millis time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

// A callback that throws must not look like a lock that was not acquired or released.
void LockDesk::call(const std::function<void(const LockEvent&)>& tell, const Key& key, std::optional<Fence> fence) {
  if (!tell) return;
  try {
    tell({.domain = std::string(key.domain), .identifier = std::string(key.identifier), .fence = fence});
  } catch (const std::exception& error) {
    log(key, fmt::format("a callback threw: {}", error.what()));
  }
}

void LockDesk::log(const Key& key, std::string_view what) {
  const std::string line = fmt::format("lock {}{}{}: {}", key.domain, settings_.delimiter, key.identifier, what);
  try {
    if (settings_.log) {
      settings_.log(line);
    } else {
      std::fputs((line + "\n").c_str(), stderr);
    }
  } catch (const std::exception&) {
    return;  // there is nobody left to tell
  }
}

// Who chooses domains freely must not make as many series.
std::string_view LockDesk::label_of(std::string_view domain) {
  const MutexLock lock(labels_mutex_);
  const auto known = labels_.find(domain);
  if (known != labels_.end()) return *known;
  if (labels_.size() >= kLabelsMax) return "other";
  return *labels_.emplace(domain).first;
}

void LockDesk::count_attempt(const Key& key, Outcome outcome, Millis began) {
  if (settings_.metrics == nullptr) return;
  const MetricsRegistry::Labels labels{.domain = label_of(key.domain), .result = word_of(outcome)};
  settings_.metrics->count("softlock_acquire_attempts_total", labels);
  settings_.metrics->observe("softlock_acquire_seconds", labels, seconds_of(deadlines_.now() - began));
}

void LockDesk::count(std::string_view counter, std::string_view domain) {
  if (settings_.metrics != nullptr) settings_.metrics->count(counter, {.domain = label_of(domain)});
}

void LockDesk::observe(std::string_view histogram, std::string_view domain, Millis time) {
  if (settings_.metrics == nullptr) return;
  settings_.metrics->observe(histogram, {.domain = label_of(domain)}, seconds_of(time));
}

void LockDesk::move_active(std::string_view domain, int by) {
  if (settings_.metrics != nullptr) settings_.metrics->move("softlock_active", {.domain = label_of(domain)}, by);
}

}  // namespace tenure
