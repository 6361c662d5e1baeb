// What is between callers and authority: it delays, drops, doubles and reorders what it carries, until it is told to
// behave.
#pragma once

#include <functional>

#include "agenda.h"
#include "base/dice.h"
#include "tally.h"

namespace tenure::sim {

// One thread.
class Network {
 public:
  Network(Agenda& agenda, Tally& tally, std::uint64_t seed) : agenda_(agenda), tally_(tally), dice_(seed) {}

  // Calls `arrive` when it has carried it: once, perhaps never, perhaps twice.
  void carry(const Agenda::Event& arrive);
  // From now on everything arrives, once, soon.
  void calm() { is_calm_ = true; }

 private:
  void deliver(const Agenda::Event& arrive);

  Agenda& agenda_;
  Tally& tally_;
  Dice dice_;
  bool is_calm_ = false;
  Millis latest_{0};  // arrival of all that was sent so far
};

}  // namespace tenure::sim
