// Lives of an authority, one after the other on the same files, and what the next one owes to the last.
#pragma once

#include <cstdint>
#include <memory>

#include "process.h"
#include "script.h"

namespace tenure {

struct Lived {
  Promises promises;
  bool ended_well = false;
  std::uint64_t segments = 0;   // that were begun
  std::uint64_t snapshots = 0;  // that were made
  std::uint64_t snapshot_operations = 0;
};

// The whole script and a good end, unless a fault comes first.
Lived live(FaultyFiles& files, Script::AfterFailure after = Script::AfterFailure::kStop,
           Script::Snapshots snapshots = Script::Snapshots::kTwo);

// How many operations that takes.
std::uint64_t operations_of_a_life();

struct Recovered {
  std::uint64_t frames = 0;
  bool has_cut = false;
};

// Starts on what the last life has left; expects a state that holds everything promised and nothing that never was.
// Then lives on for a little, ends well, and expects to find it all again.
Recovered recover_and_go_on(FaultyFiles& files, const Promises& promises);
// The first part of that. Null: it did not start, which is a failure, too.
std::unique_ptr<Process> recover(FaultyFiles& files, const Promises& promises);

// The first part of that, and some more life that does not end well. Answers what was promised by then.
Promises live_on(FaultyFiles& files, const Promises& promises);

// Some kinds of damage leave nothing to chance: one seed is enough for them.
template <class Do>
void for_each_damage(std::uint64_t seeds, const Do& do_it) {
  using Damage = FaultyFiles::Damage;
  for (const Damage damage : FaultyFiles::kDamages) {
    const bool is_certain = damage == Damage::kLoseAll || damage == Damage::kKeepAll || damage == Damage::kZero;
    for (std::uint64_t seed = 1; seed <= (is_certain ? 1 : seeds); ++seed) do_it(damage, seed);
  }
}

}  // namespace tenure
