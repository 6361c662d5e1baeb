// A lock that somebody asked for over a connection, and what becomes of its grant when that cannot be delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "authority/engine.h"

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
  // Another lock, asked for at this time, in seconds since whenever. What was asked for under a request id is never
  // given back: its client may have asked again, and have been told of the same grant, on another connection.
  void ask(const LockName& lock, double at, bool has_request_id);

  void granted(const std::string& token) { token_ = token; }
  [[nodiscard]] bool is_granted() const { return !token_.empty(); }
  // What the attempt has come to, now that this is its answer; or that its caller has gone before there was one.
  [[nodiscard]] LockAttempt attempt(const Result<std::optional<LockGrant>>& result, double now) const;
  [[nodiscard]] LockAttempt interrupted(double now) const { return ended(LockAttempt::Outcome::kInterrupted, now); }
  // Gives back what was granted, if anything was and it is not lost by now.
  void give_back(Engine& engine) const;

 private:
  [[nodiscard]] LockAttempt ended(LockAttempt::Outcome outcome, double now) const;
  [[nodiscard]] LockName lock() const;

  std::string texts_;  // domain, identifier and space, one behind the other
  std::size_t domain_bytes_ = 0;
  std::size_t identifier_bytes_ = 0;
  std::string token_;  // empty: not granted
  double asked_at_ = 0;
  bool has_request_id_ = false;
};

}  // namespace tenure::wire
