// The callers of a world, and what they share.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "agenda.h"
#include "base/dice.h"
#include "cable.h"
#include "caller.h"
#include "checker.h"
#include "machine_clock.h"
#include "network.h"
#include "service.h"
#include "story.h"
#include "tally.h"

namespace tenure::sim {

// One thread.
class Crowd {
 public:
  // The world around it, which outlives it.
  struct Ports {
    Agenda& agenda;
    Story& story;
    Tally& tally;
    Network& network;
    Service& service;
    Checker& checker;
    const MachineClock& clock;
    std::int64_t slowness = 1;  // see Caller::Ports
  };
  // Callers have the seeds from `first_seed` on.
  Crowd(Ports ports, std::uint64_t seed_of_cables, std::uint64_t first_seed)
      : ports_(ports),
        cables_({ports.agenda, ports.story, ports.tally, ports.service, ports.checker, connections_}, seed_of_cables),
        first_seed_(first_seed) {}

  // So many of a kind come, and begin.
  template <class C>
  void add(const char* name, int count) {
    for (int i = 0; i < count; ++i) {
      const Caller::Ports ports{ports_.agenda,  ports_.story,   ports_.tally,   ports_.network,
                                ports_.service, ports_.checker, gossip_,        connections_,
                                cables_,        ports_.clock,   ports_.slowness};
      callers_.push_back(std::make_unique<C>(fmt::format("{}{}", name, i), ports, first_seed_ + callers_.size()));
      callers_.back()->begin();
    }
  }
  void crash_one(Dice& dice) { callers_[dice.roll(callers_.size())]->crash(); }
  // All end for good.
  void retire() {
    for (const auto& caller : callers_) caller->retire();
  }

  // The one that came last.
  void retire_last() { callers_.back()->retire(); }

  [[nodiscard]] Cables& cables() { return cables_; }

 private:
  Ports ports_;
  Gossip gossip_;
  std::uint64_t connections_ = 0;
  Cables cables_;
  const std::uint64_t first_seed_;
  std::vector<std::unique_ptr<Caller>> callers_;
};

}  // namespace tenure::sim
