// The lives of a process of the world. What one life has planned ends with it, and waits while it stands still.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "agenda.h"

namespace tenure::sim {

// One thread.
class Lives {
 public:
  explicit Lives(Agenda& agenda) : agenda_(agenda) {}

  // A new one begins: nothing that was planned before is done any more.
  void begin() { ++life_; }
  // Its number.
  [[nodiscard]] std::uint64_t life() const { return life_; }

  // Does nothing for so long, though time passes.
  void stand_still(Millis time) { still_until_ = agenda_.now() + time; }
  void wake() { still_until_ = Millis{0}; }
  // How long it will do nothing yet.
  [[nodiscard]] Millis still_for() const { return std::max(still_until_ - agenda_.now(), Millis{0}); }
  [[nodiscard]] bool is_still() const { return still_for() > Millis{0}; }

  // Does something in this life: after the delay, or once it is awake again.
  void plan(Millis delay, std::function<void()> event) {
    agenda_.after(delay, [this, life = life_, event = std::move(event)] {
      if (life != life_) return;
      is_still() ? plan(still_for(), event) : event();
    });
  }

 private:
  Agenda& agenda_;
  std::uint64_t life_ = 0;
  Millis still_until_{0};
};

}  // namespace tenure::sim
