// A lock that somebody asked for over a connection, and what becomes of its grant when that cannot be delivered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "authority/engine.h"
#include "base/stopwatch.h"

namespace tenure::wire {

// How an attempt to take a lock ended, as its caller saw it.
struct LockAttempt {
  enum class Outcome : std::uint8_t { kAcquired, kTimeout, kInterrupted, kError };
  std::string_view domain;
  Outcome outcome;
  double seconds;  // from the request to its answer, which is durable
};

// One thread.
class LockClaim {
 public:
  explicit LockClaim(const LockName& lock);

  void granted(const std::string& token) { token_ = token; }
  [[nodiscard]] bool is_granted() const { return !token_.empty(); }
  // What the attempt has come to, now that this is its answer; or that its caller has gone before there was one.
  [[nodiscard]] LockAttempt attempt(const Result<std::optional<LockGrant>>& result) const;
  [[nodiscard]] LockAttempt interrupted() const { return ended(LockAttempt::Outcome::kInterrupted); }
  // Gives back what was granted, if anything was and it is not lost by now.
  void give_back(Engine& engine) const;

 private:
  [[nodiscard]] LockAttempt ended(LockAttempt::Outcome outcome) const;

  std::string lock_;   // its name as one text
  std::string token_;  // empty: not granted
  Stopwatch watch_;
};

}  // namespace tenure::wire
