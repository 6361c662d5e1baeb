// How a state comes out of a snapshot, and how the next snapshot comes out of the last one and the frames since.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "authority/effort.h"
#include "base/result.h"
#include "core/state.h"
#include "journal/journal.h"

namespace tenure {

// Fills an empty state with the snapshot, and compares digests.
Result<Done> load_snapshot(Snapshot& snapshot, State& state);
Result<Done> load_snapshot(const Snapshots& snapshots, std::uint64_t sequence, State& state);

// Whether the digest is the state's.
bool is_of(const Snapshot& snapshot, const State& state);

// The newest one that can be read whole; those that cannot are passed over. Null: there is none.
Result<std::unique_ptr<Snapshot>> newest_good_snapshot(const Snapshots& snapshots);

// The failure of a replay for which these snapshots could not be used, so that more of the journal was needed.
tl::unexpected<Failure> without(const std::vector<std::string>& passed_over, const Failure& failure);

// Makes one of this frame, which is durable and holds a digest, from what the journal says, not from any live state.
// Then drops what it and the one before it make superfluous. Long: seconds, minutes. Memory follows the frames since
// the last one. Does nothing if there is one as new.
Result<Done> make_snapshot(Journal& journal, std::uint64_t sequence, Effort effort = Effort());

}  // namespace tenure
