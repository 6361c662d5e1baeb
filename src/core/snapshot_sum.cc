#include "core/snapshot_sum.h"

#include "base/check.h"
#include "core/next_snapshot.h"

namespace tenure {

Result<Done> SnapshotSum::add(std::string_view key, std::string_view value) {
  if (key == keys::counters()) counters_ = value;
  // What belongs to one owner can only be loaded together.
  if (pairs_ >= pairs_at_a_time_ && keys::owner_of(key) != owner_) begin_another();
  owner_ = keys::owner_of(key);
  ++pairs_;
  return load_pair(*part_, key, value);
}

// Every part has the counters, as some entities ask them when they are loaded; only those of the last one count.
void SnapshotSum::begin_another() {
  sum_ += part_->digest();
  part_ = std::make_unique<State>();
  pairs_ = 0;
  TENURE_CHECK(load_pair(*part_, keys::counters(), counters_), "counters were loaded before");
  sum_ -= part_->digest();
}

Digest SnapshotSum::digest() const {
  Digest digest = sum_;
  digest += part_->digest();
  return digest;
}

}  // namespace tenure
