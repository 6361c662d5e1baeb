// Reads the batches that lie in etcd.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "etcd/batch.h"
#include "etcd/keys.h"
#include "etcd/store.h"
#include "journal/journal.h"
#include "journal/segment.h"

namespace tenure::etcd {

// What a call that was not answered is to whoever wanted to go on.
tl::unexpected<Failure> failure_of(const Trouble& trouble);
Result<JournalId> parse_id(const KeyValue& pair);

// Immutable. Every call blocks until etcd has answered, or has not within the timeout.
class BatchReader {
 public:
  BatchReader(Store& store, const Keys& keys, Millis timeout) : store_(store), keys_(keys), timeout_(timeout) {}

  // Which journal it is; nullopt: none yet.
  [[nodiscard]] Result<std::optional<JournalId>> id() const;
  // Visits these frames, from a position that is before them, if one is known. Answers the position behind the last one
  // that there is. Fails, as UNAVAILABLE, if some were dropped, or etcd does not answer; as INVALID, if some are
  // damaged.
  [[nodiscard]] Result<Position> walk(const JournalId& id, FrameRange range, const std::optional<Position>& from,
                                      Journal::Visit visit) const;
  // The checksum of this frame; nullopt: it is not known, as nothing is there behind what was dropped.
  [[nodiscard]] Result<std::optional<std::uint64_t>> chain_at(const JournalId& id, std::uint64_t frame) const;
  // The batch that has this frame, or would have it, by its first frame; nullopt: all are later, or there is none.
  [[nodiscard]] Result<std::optional<std::uint64_t>> batch_of(std::uint64_t frame) const;

 private:
  [[nodiscard]] Result<RangeAnswer> read(Range range) const;
  // Where the batch begins that has the frame.
  [[nodiscard]] Result<Position> find(std::uint64_t frame) const;

  Store& store_;
  const Keys& keys_;
  const Millis timeout_;
};

}  // namespace tenure::etcd
