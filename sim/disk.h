// The machine's disk: what goes wrong with it, and what must hold all the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/dice.h"
#include "base/faulty_files.h"
#include "checker.h"
#include "evidence.h"
#include "tally.h"

namespace tenure::sim {

inline constexpr const char* kDataFolder = "/data";
inline constexpr std::uint64_t kSegmentBytes = 16384;

// One thread.
class Disk {
 public:
  Disk(Tally& tally, std::uint64_t seed) : files_(seed), tally_(tally), dice_(seed + 1) {}

  FaultyFiles& files() { return files_; }

  // --- faults ---
  // One of the next file operations fails, or the power fails in the midst of it.
  void fail_soon(FaultyFiles::Fault fault);
  void fill();
  void free();
  [[nodiscard]] bool is_full() const { return is_full_; }
  // Nothing that was planned will fail any more.
  void mend();
  // Whether the power has failed in an operation.
  [[nodiscard]] bool is_down() { return !files_.list("/").has_value(); }
  // Whether a failure is no wonder.
  [[nodiscard]] bool may_fail() const { return is_full_ || has_fault_; }

  // --- the end of a process ---
  // Its files stay as it wrote them, unless a failed sync has left in doubt what only a loss of power settles: names,
  // or frames that the next start has no room to write anew.
  void kill();
  void lose_power(FaultyFiles::Damage damage);

  // --- proofs ---
  // Noted before each write: what is durable by now is durable beyond doubt, since what is written vouches for it.
  void begin_write(std::uint64_t durable) { settled_before_ = std::exchange(settled_, durable); }
  // Perhaps nothing was written.
  void fail_write() { settled_ = settled_before_; }
  // Flips a bit of a copy. A start on it is refused, or finds the same state; a last batch that nothing vouches for may
  // be taken for torn.
  void probe_rot(const Settings& settings, const Checker& checker, Instant now);
  // New work must leave the last half of the last segment alone when there will be no other. Throws Breach.
  void check_reserve(const FrameNote& note, std::uint64_t unwritten_bytes);

 private:
  [[nodiscard]] std::uint64_t used() const;

  mutable FaultyFiles files_;
  Tally& tally_;
  Dice dice_;
  bool is_full_ = false;
  bool has_fault_ = false;
  std::uint64_t settled_ = 0;
  std::uint64_t settled_before_ = 0;
};

}  // namespace tenure::sim
