// A batch: the frames that one key of etcd holds, sealed and chained as those in a folder are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "etcd/keys.h"
#include "etcd/store.h"
#include "journal/journal.h"

namespace tenure::etcd {

// Where a reader or writer stands: behind a frame.
struct Position {
  std::uint64_t next = 1;                // the frame to come
  std::optional<std::uint64_t> chain{};  // the checksum of the frame before it; nullopt: not known
  std::uint64_t batch = 0;               // the last batch's first frame; 0: there is none before
};

// Gives frames their place. Answers the last one's checksum.
std::uint64_t seal_batch(std::string& frames, std::uint64_t first, std::uint64_t chain, std::uint64_t seed);

// Checks all frames of a batch, which is the next at this position, visits those of the range, and moves on. A failure
// of the batch, not of the visitor, names the key, what was expected and what was found.
Result<Done> visit_batch(const KeyValue& pair, std::uint64_t seed, FrameRange range, Position& position,
                         Journal::Visit visit);

}  // namespace tenure::etcd
