// What a process does by the clock: it asks its engine to do what is due, in time or somewhat late.
#pragma once

#include <cstdint>
#include <functional>

#include "authority/engine.h"
#include "base/dice.h"
#include "lives.h"
#include "machine_clock.h"
#include "tally.h"

namespace tenure::sim {

// Of one life. One thread.
class Upkeep {
 public:
  struct Ports {
    Lives& lives;
    Tally& tally;
    Dice& dice;
    const MachineClock& clock;
    Engine& engine;
    std::function<void()> on_done;  // may be empty
    const bool& is_calm;            // then it is never late by much
  };
  explicit Upkeep(Ports ports);

  // The last one that was planned counts.
  void plan(Millis delay);
  // After every call of the engine: something may have become due earlier than was known.
  void settle();

 private:
  void run();

  Ports ports_;
  bool is_due_earlier_ = false;
  std::uint64_t plans_ = 0;
};

}  // namespace tenure::sim
