// Replaying a folder's journal into a state, as verify, restore and repair do before they go on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/journal_reader.h"
#include "core/state.h"

namespace tenure::cli {

struct Replay {
  std::unique_ptr<State> state = std::make_unique<State>();
  std::uint64_t base = 0;  // the frame whose snapshot it began with; 0: none
  Reading reading;
  std::uint64_t frames = 0;
  std::uint64_t empty_frames = 0;
  std::uint64_t records = 0;
  std::uint64_t digests = 0;                 // compared, each of which agreed
  std::uint64_t bytes = 0;                   // of frames
  std::uint64_t snapshots = 0;               // that agreed
  std::vector<std::string> bad_snapshots{};  // what is wrong with them
  std::optional<Instant> first_stamp{};
  std::uint64_t last = 0;  // the last frame replayed
};

// Which part of the journal: all that is there, as a proof; or what a start needs, behind the newest good snapshot.
enum class Part : std::uint8_t { kAll, kForStart };

// Fails, naming the place, at the first frame that cannot be replayed. A damaged end is in the answer.
Result<Done> replay_journal(JournalReader& reader, Part part, Replay& replay);

}  // namespace tenure::cli
