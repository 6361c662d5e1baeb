// One simulation: a world in which an authority and its callers live, everything in it decided by one seed.
//
// First everything goes wrong that can. Then it stops going wrong, and whatever was begun must come to its end.
#pragma once

#include <cstdint>
#include <string>

#include "agenda.h"
#include "breach.h"
#include "checker.h"
#include "crowd.h"
#include "disk.h"
#include "machine_clock.h"
#include "network.h"
#include "server.h"
#include "story.h"
#include "tally.h"

namespace tenure::sim {

// One thread.
class World {
 public:
  static constexpr std::uint64_t kEvents = 2000;  // while things go wrong

  World(std::uint64_t seed, Story::Listener listener);

  // Throws Breach.
  void run();
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void step();
  void plan_mischief();
  void make_mischief();
  void harm_server();
  void harm_machine();
  void harm_disk();
  void come_to_rest();
  void finish();

  Dice dice_;
  const Settings settings_;
  Agenda agenda_;
  Tally tally_;
  Story story_;
  MachineClock clock_;
  Disk disk_;
  Network network_;
  Checker checker_;
  Server server_;
  Crowd crowd_;
  bool is_calm_ = false;
};

// What became of a seed.
struct Outcome {
  std::string breach;  // empty: nothing was broken
  Tally tally;
};
template <class W>
Outcome outcome_of(std::uint64_t seed, const Story::Listener& listener) {
  Outcome outcome;
  W world(seed, listener);
  try {
    world.run();
  } catch (const Breach& breach) {
    outcome.breach = breach.what();
  }
  outcome.tally = world.tally();
  return outcome;
}
Outcome run_seed(std::uint64_t seed, const Story::Listener& listener = {});

}  // namespace tenure::sim
