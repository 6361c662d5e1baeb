// Entities that are not in the digest yet.
//
// Most entities change again, or go, before anybody asks for the digest: to hash them at each change would be a tenth
// of all that the server does for a task. So an entity that has changed waits in a line, and is hashed when the digest
// is asked for, or when the line is long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tenure {

inline constexpr std::uint32_t kNotLate = std::numeric_limits<std::uint32_t>::max();

// Of one kind of entities: each has a `std::uint32_t late = kNotLate`, which is this class's alone. Does not own them.
// One thread.
template <class T>
class LateSum {
 public:
  // To hash so many takes a millisecond.
  static constexpr std::size_t kMost = 4096;

  // The entity goes, or will be another. False: it does not wait here.
  bool leave(T& entity) {
    if (entity.late == kNotLate) return false;
    T* const last = line_.back();
    line_[entity.late] = last;
    last->late = entity.late;
    line_.pop_back();
    entity.late = kNotLate;
    return true;
  }

  // Answers whether the line is long.
  [[nodiscard]] bool join(T& entity) {
    entity.late = static_cast<std::uint32_t>(line_.size());
    line_.push_back(&entity);
    return line_.size() >= kMost;
  }

  // Calls sum_up(T&) for each, and lets go of them.
  template <class SumUp>
  void clear(const SumUp& sum_up) {
    for (T* const entity : line_) {
      entity->late = kNotLate;
      sum_up(*entity);
    }
    line_.clear();
  }

 private:
  std::vector<T*> line_;
};

}  // namespace tenure
