// Who is next to expire. Entities lie in the order of the instant they were armed for. An extension does not move its
// entity: a later deadline is found out when the earlier one comes up, and the entity is then armed anew. So extensions
// cost nothing here, however many there are, and an entity comes up at most once for each time it was armed.
#pragma once

#include <cstdint>
#include <utility>

#include <absl/container/btree_map.h>

#include <tenure/types.h>
#include "core/order.h"

namespace tenure {

// Where an entity lies in its Deadlines. `order` makes it unique among those of one instant.
struct Alarm {
  Instant at = kNever;
  std::uint64_t order = 0;
  bool armed = false;
};

// T has a member `Alarm alarm`. Does not own its entities. One thread.
template <class T>
class Deadlines {
 public:
  using Map = absl::btree_map<std::pair<std::int64_t, std::uint64_t>, T*>;
  static constexpr int kRearmedMax = 256;

  void arm(T& entity, Instant at, std::uint64_t order) {
    disarm(entity);
    entity.alarm = {at, order, true};
    // Leases of one length end in the order they began.
    put_in_order(map_, key_of(entity), &entity);
  }

  void disarm(T& entity) {
    if (!entity.alarm.armed) return;
    take_from_order(map_, key_of(entity));
    entity.alarm.armed = false;
  }

  // When something may be due next; never later than the earliest deadline. kNever when nothing is armed.
  [[nodiscard]] Instant next() const { return map_.empty() ? kNever : Instant{map_.begin()->first.first}; }

  // An entity whose deadline, as deadline_of(T&) tells it, has passed; null when there is none. Also null when it has
  // met many that were extended: next() is then still before `now`, and the caller comes back.
  template <class DeadlineOf>
  T* first_due(Instant now, const DeadlineOf& deadline_of) {
    for (int rearmed = 0; now > next() && rearmed < kRearmedMax; ++rearmed) {
      T& entity = *map_.begin()->second;
      const Instant deadline = deadline_of(entity);
      if (now > deadline) return &entity;
      arm(entity, deadline, entity.alarm.order);
    }
    return nullptr;
  }

  [[nodiscard]] const Map& map() const { return map_; }

 private:
  static std::pair<std::int64_t, std::uint64_t> key_of(const T& entity) {
    return {entity.alarm.at.ms, entity.alarm.order};
  }

  Map map_;
};

}  // namespace tenure
