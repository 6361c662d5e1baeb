// The digest of what a snapshot holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/state.h"

namespace tenure {

// Adds up a snapshot's pairs, which are shown to it in order. It holds few entities at a time: what is summed up is let
// go. One thread.
class SnapshotSum {
 public:
  static constexpr std::uint64_t kPairsAtATime = 4096;

  explicit SnapshotSum(std::uint64_t pairs_at_a_time = kPairsAtATime) : pairs_at_a_time_(pairs_at_a_time) {}

  Result<Done> add(std::string_view key, std::string_view value);
  // That of the state with just these entities.
  [[nodiscard]] Digest digest() const;

 private:
  void begin_another();

  const std::uint64_t pairs_at_a_time_;
  std::string counters_;  // the first value; all others hang on it
  std::string owner_;     // of the last pair
  std::uint64_t pairs_ = 0;
  Digest sum_;  // of what was let go
  std::unique_ptr<State> part_ = std::make_unique<State>();
};

}  // namespace tenure
