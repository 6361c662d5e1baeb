// Proves, record by record, that the journal's bytes make the state: a second state is built from the bytes alone, and
// after every record both states' digests, kept and recomputed, must be equal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tenure/types.h>
#include "core/state.h"
#include "journal/journal.h"

namespace tenure::scenario {

// One thread.
class Proof {
 public:
  // Begins anew from what the journal holds.
  void restart(const Journal& journal);
  // One more record of the live state.
  void check(const State& live, Instant stamp, std::string_view bytes);
  // The whole journal, replayed into a fresh state, must give the live digest.
  void check_replay(const Journal& journal, Digest live);

  // What was found to be wrong first; empty when nothing was.
  [[nodiscard]] const std::string& breach() const { return breach_; }

 private:
  void note(std::string breach);

  std::unique_ptr<State> shadow_ = std::make_unique<State>();
  std::uint64_t records_ = 0;
  std::string breach_;
};

}  // namespace tenure::scenario
