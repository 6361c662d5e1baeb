// What the faults interrupt: a few hundred requests to all three books, always the same for the same seed and the same
// answers. Time passes, leases expire, things are forgotten, batches hold one frame or many, segments roll.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "process.h"

namespace tenure {

// One thread. Outlives the process's last answer.
class Script {
 public:
  // After a failure it may ask on for a while, to see that nobody is told anything else.
  enum class AfterFailure : bool { kStop, kAskOn };
  // In the whole run two are made, if they are.
  enum class Snapshots : bool { kNone, kTwo };
  static constexpr int kSteps = 220;

  explicit Script(Process& process, std::uint64_t seed = 11, Snapshots snapshots = Snapshots::kNone)
      : process_(process), dice_(seed), seed_(seed), snapshots_(snapshots) {}

  void run(int steps = kSteps, AfterFailure after = AfterFailure::kStop);

 private:
  struct Claim {
    std::string name;  // of a task, a domain, a lock
    std::string token;
  };
  using Claims = std::vector<Claim>;

  void step();
  void ask_one();
  void ask_tasks();
  void ask_work();
  void acquire_work(const std::string& domain);
  void ask_locks();
  void look();
  void submit();
  void lease();
  void acquire_lock();

  std::uint64_t roll(std::uint64_t sides) { return dice_.next() % sides; }
  bool one_in(std::uint64_t sides) { return roll(sides) == 0; }
  std::string name(const char* kind, std::uint64_t count) { return kind + std::to_string(roll(count)); }
  // One of them, taken away; or one that never was.
  Claim take(Claims& claims);
  // One of them, which stays.
  Claim pick(const Claims& claims);

  Process& process_;
  SeededEntropy dice_;
  const std::uint64_t seed_;
  const Snapshots snapshots_;
  std::uint64_t requests_ = 0;
  std::int64_t offset_ = 0;
  std::map<std::string, Offset> heads_;  // by domain: the offset whose turn it is
  std::vector<std::string> tasks_;
  Claims leases_;
  Claims works_;
  Claims locks_;
};

}  // namespace tenure
