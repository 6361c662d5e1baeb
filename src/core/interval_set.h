// A set of offsets kept as intervals: a million consecutive offsets cost as much as one. One thread.
#pragma once

#include <cstdint>

#include <absl/container/btree_map.h>

#include <tenure/work_lease.h>

namespace tenure {

class IntervalSet {
 public:
  using Map = absl::btree_map<std::int64_t, std::int64_t>;  // first -> last

  [[nodiscard]] bool contains(Offset offset) const;
  [[nodiscard]] std::uint64_t intervals() const { return intervals_.size(); }
  [[nodiscard]] std::uint64_t offsets() const { return offsets_; }
  [[nodiscard]] const Map& map() const { return intervals_; }

  // Adds an offset that is not in the set, merging what it touches. removed(Interval) and added(Interval) tell the
  // caller which intervals went and which came.
  template <class Removed, class Added>
  void add(Offset offset, const Removed& removed, const Added& added) {
    Interval merged{offset, offset};
    auto next = intervals_.upper_bound(offset.value);
    if (next != intervals_.begin()) {
      auto before = std::prev(next);
      if (before->second == offset.value - 1) {
        merged.first = Offset{before->first};
        removed(Interval{Offset{before->first}, Offset{before->second}});
        next = intervals_.erase(before);
      }
    }
    if (next != intervals_.end() && next->first - 1 == offset.value) {
      merged.last = Offset{next->second};
      removed(Interval{Offset{next->first}, Offset{next->second}});
      intervals_.erase(next);
    }
    intervals_[merged.first.value] = merged.last.value;
    ++offsets_;
    added(merged);
  }

  // An interval that neither overlaps nor touches another.
  void restore(Interval interval) {
    intervals_[interval.first.value] = interval.last.value;
    offsets_ += size(interval);
  }

  // Drops everything below the mark.
  template <class Removed, class Added>
  void trim(Offset below, const Removed& removed, const Added& added) {
    while (!intervals_.empty() && intervals_.begin()->first < below.value) {
      const Interval gone{Offset{intervals_.begin()->first}, Offset{intervals_.begin()->second}};
      intervals_.erase(intervals_.begin());
      offsets_ -= size(gone);
      removed(gone);
      if (gone.last < below) continue;
      const Interval rest{below, gone.last};
      intervals_[rest.first.value] = rest.last.value;
      offsets_ += size(rest);
      added(rest);
    }
  }

 private:
  static std::uint64_t size(Interval interval) {
    return static_cast<std::uint64_t>(interval.last.value - interval.first.value) + 1;
  }

  Map intervals_;
  std::uint64_t offsets_ = 0;
};

}  // namespace tenure
