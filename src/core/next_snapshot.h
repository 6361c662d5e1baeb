// The next snapshot, from the last one and the frames since: holds only the entities that those frames name, or all if
// they are fewer than the frames, so its memory follows the frames, not the state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "base/hash.h"
#include "base/result.h"
#include "core/state.h"

namespace tenure {

// One thread.
class NextSnapshot {
 public:
  // Visits, in order, the last snapshot's pairs whose keys begin with the prefix.
  using VisitPair = std::function<Result<Done>(std::string_view key, std::string_view value)>;
  using Fetch = std::function<Result<Done>(std::string_view prefix, const VisitPair& visit)>;

  // `fetch` reads the last snapshot; without one, it fetches nothing.
  explicit NextSnapshot(Fetch fetch) : fetch_(std::move(fetch)) { state_.be_bare(); }

  // What is fetched before the frames are replayed: all of the last snapshot,
  Result<Done> take_all();
  // or what the frames name, in the order of the keys; for that they are read twice.
  Result<Done> foresee(std::uint64_t sequence, std::string_view payload);
  // The frames behind the last snapshot, in order.
  Result<Done> replay(std::uint64_t sequence, Instant stamp, std::string_view payload);

  // What the frames said last that the digest of the whole state is. Whoever reads what was made of the pairs can prove
  // it; to keep the digest true here, too, would be a fifth of the work.
  [[nodiscard]] Digest digest() const { return state_.digest(); }
  // Pairs of the entities that are present, sorted: they replace what the last snapshot has of them.
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] Pairs pairs() const;
  // Whether the pair of the last snapshot is replaced by those, or by nothing.
  [[nodiscard]] bool replaces(std::string_view key) const { return has_all_ || present_.contains(keys::owner_of(key)); }

 private:
  Result<Done> begin();
  Result<Done> fetch(const std::string& key);
  Result<Done> fetch_late(const Record& record);

  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return hash64(key); }
  };

  const Fetch fetch_;
  State state_;
  bool has_begun_ = false;
  bool has_all_ = false;
  // Keys of entities that were fetched, found or not, or foreseen.
  absl::flat_hash_set<std::string, KeyHash, std::equal_to<>> present_;
};

// Loads one pair of a snapshot.
Result<Done> load_pair(State& state, std::string_view key, std::string_view value);

}  // namespace tenure
