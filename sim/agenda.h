// What will happen, and when, in the simulated world. Time passes only from one event to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include <tenure/types.h>

namespace tenure::sim {

// One thread.
class Agenda {
 public:
  using Event = std::function<void()>;

  // The world's own time, which nobody in it can read.
  [[nodiscard]] Millis now() const { return now_; }
  // Events of one instant happen in the order they were planned in.
  void at(Millis when, Event event) { events_.emplace(std::pair{std::max(when, now_), ++planned_}, std::move(event)); }
  void after(Millis delay, Event event) { at(now_ + delay, std::move(event)); }

  [[nodiscard]] bool empty() const { return events_.empty(); }
  void run_next() {
    auto next = events_.extract(events_.begin());
    now_ = next.key().first;
    next.mapped()();
  }

 private:
  std::map<std::pair<Millis, std::uint64_t>, Event> events_;
  Millis now_{0};
  std::uint64_t planned_ = 0;
};

}  // namespace tenure::sim
