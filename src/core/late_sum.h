// Entities that are not in the digest yet.
//
// Most entities change again, or go, before anybody asks for the digest: to hash them at each change would be a tenth
// of all that the server does for a task. So an entity that has changed waits in a line, and is hashed when the digest
// is asked for, or when so many have changed since that its place is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tenure {

inline constexpr std::uint32_t kNotLate = std::numeric_limits<std::uint32_t>::max();

// Of one kind of entities: each has a `std::uint32_t late = kNotLate`, which is this class's alone: its place, if it
// waits. Does not own them. One thread.
template <class T>
class LateSum {
 public:
  // Whoever asks for the digest waits for at most so many hashes. A power of two.
  static constexpr std::uint32_t kPlaces = 2048;

  // The entity goes, or will be another. False: it does not wait here.
  bool leave(T& entity) {
    if (entity.late == kNotLate) return false;
    line_[entity.late] = nullptr;
    entity.late = kNotLate;
    --waiting_;
    return true;
  }

  // For an entity that does not wait. Answers the one whose place it takes, which waits no longer and must be hashed
  // now: one at a time, so that nobody waits for many.
  [[nodiscard]] T* join(T& entity) {
    if (line_.empty()) line_.resize(kPlaces);
    T* const first = std::exchange(line_[next_], &entity);
    entity.late = next_;
    next_ = (next_ + 1) % kPlaces;
    if (first == nullptr) {
      ++waiting_;
    } else {
      first->late = kNotLate;
    }
    return first;
  }

  // Calls sum_up(T&) for each, and lets go of them.
  template <class SumUp>
  void clear(const SumUp& sum_up) {
    // From the last that joined on: before it there may be many places without anybody.
    for (std::uint32_t place = next_; waiting_ > 0;) {
      place = (place + kPlaces - 1) % kPlaces;
      T* const entity = std::exchange(line_[place], nullptr);
      if (entity == nullptr) continue;
      --waiting_;
      entity->late = kNotLate;
      sum_up(*entity);
    }
  }

 private:
  std::vector<T*> line_;
  std::uint32_t next_ = 0;
  std::uint32_t waiting_ = 0;
};

}  // namespace tenure
