// The workers that have asked for tasks, for whoever lists them: as many as kMax, and beyond that the one that was not
// seen for longest goes. Each request of a worker looks it up, so that is by hash; names and ages are sorted when a
// worker comes, and ages now and then.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <tenure/types.h>
#include "base/hash.h"
#include "base/table.h"

namespace tenure {

// One thread: the engine's mutex guards it.
class SeenWorkers {
 public:
  struct Worker : TableLink<Worker> {
    std::string name;
    Instant last;    // when it was seen
    Instant sorted;  // its place among those by age, which may be a little older
  };
  using ByName = absl::btree_map<std::string_view, std::unique_ptr<Worker>>;

  static constexpr std::size_t kMax = 10'000;

  void see(std::string_view name, Instant now) {
    Worker* worker = find(name);
    if (worker == nullptr) {
      worker = &add(name);
    } else {
      worker->last = now;
      // Whoever leases all the time is not sorted anew each time.
      if (now - worker->sorted < kAgeStep) return;
      by_age_.erase({worker->sorted, worker->name});
    }
    worker->last = worker->sorted = now;
    by_age_.insert({now, worker->name});
  }

  void clear() { *this = SeenWorkers(); }

  [[nodiscard]] const ByName& by_name() const { return by_name_; }

 private:
  static constexpr Millis kAgeStep = std::chrono::seconds(1);

  static std::uint32_t hash_of(std::string_view name) { return static_cast<std::uint32_t>(hash64(name)); }

  [[nodiscard]] Worker* find(std::string_view name) const {
    return by_hash_.find(hash_of(name), [&](const Worker& other) { return other.name == name; });
  }

  Worker& add(std::string_view name) {
    if (by_name_.size() == kMax) {
      const auto oldest = by_name_.find(by_age_.begin()->second);
      by_age_.erase(by_age_.begin());
      by_hash_.remove(*oldest->second);
      by_name_.erase(oldest);
    }
    auto made = std::make_unique<Worker>();
    made->name = name;
    Worker& worker = *made;
    by_hash_.insert(worker, hash_of(name));
    by_name_.emplace(worker.name, std::move(made));
    return worker;
  }

  Table<Worker> by_hash_;
  ByName by_name_;  // owns them
  absl::btree_set<std::pair<Instant, std::string_view>> by_age_;
};

}  // namespace tenure
