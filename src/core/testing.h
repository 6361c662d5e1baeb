// The vocabulary of the core's tests: a Ledger that decides, applies and proves, builders for records, and dice.
// What asserts stands in ledger_test.cc, so that this header has no branch of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dice.h"
#include "base/entropy.h"
#include "core/next_snapshot.h"
#include "core/record.h"
#include "core/state.h"

namespace tenure {

inline constexpr Millis kMinute = std::chrono::minutes(1);

// A snapshot's pairs.
using PairsByKey = std::map<std::string, std::string>;
PairsByKey portraits_of(const State& state);
std::unique_ptr<State> load(const PairsByKey& pairs);

// A state, and beside it a shadow that is replayed from the bytes of every record the state has applied. After some
// records the digests of both must agree, and after every `prove_every`-th also with the digest made anew; the shadow
// is then made anew from its portraits, and the next snapshot is made from the last and the records since. One thread.
class Ledger {
 public:
  explicit Ledger(std::uint64_t seed = 1, std::uint64_t prove_every = 1);

  Settings settings{};
  Instant now{1'000'000};
  bool has_room = true;

  [[nodiscard]] State& state() { return live_; }
  [[nodiscard]] TaskBook& tasks() { return live_.tasks(); }
  [[nodiscard]] WorkBook& work() { return live_.work(); }
  [[nodiscard]] LockBook& locks() { return live_.locks(); }
  [[nodiscard]] const State& shadow() const { return *shadow_; }
  [[nodiscard]] Moment moment() { return {now, entropy_, settings, live_.bytes(), has_room, scratch_}; }

  // Decides the request and writes its records; the answer.
  template <class Request>
  auto ask(const Request& request) {
    auto verdict = decide(request);
    write(verdict.records);
    return std::move(verdict.reply);
  }

  // Writes one frame: every record must be accepted.
  void write(const Records& records);
  // The invariant that a hand-made record breaks; null when it was accepted. A refusal must change nothing, and the
  // replay of its bytes must fail in the same words.
  Broken offer(const Record& record);
  // The names of the records of the latest frame.
  [[nodiscard]] const std::vector<std::string>& last() const { return last_; }
  [[nodiscard]] std::uint64_t written() const { return written_; }

  // Writes what is due: expiries, then forgetting; makes delayed tasks ready.
  void settle();
  void advance(Millis by);

  // The everyday requests, which must succeed.
  std::string submit(std::string_view id, std::string_view queue = "q");
  std::optional<TaskLease> lease(std::string_view queue = "q", Millis time = kMinute);
  Acquired acquire(std::string_view domain, std::int64_t offset, std::optional<Millis> time = {});
  LockGrant lock(std::string_view identifier, std::string_view owner = "owner");
  [[nodiscard]] TaskStatus status(std::string_view task_id);

 private:
  template <class Request>
  auto decide(const Request& request) {
    const Moment at = moment();
    if constexpr (requires { live_.tasks().decide(request, at); }) {
      return live_.tasks().decide(request, at);
    } else if constexpr (requires { live_.work().decide(request, at); }) {
      return live_.work().decide(request, at);
    } else {
      return live_.locks().decide(request, at);
    }
  }
  void mirror(std::string_view bytes);
  void prove_snapshots();

  const std::uint64_t prove_every_;
  Dice dice_;
  SeededEntropy entropy_;
  std::string scratch_;
  State live_;
  std::unique_ptr<State> shadow_ = std::make_unique<State>();
  // The last snapshot, and the records since.
  PairsByKey snapshot_;
  std::vector<std::pair<Instant, std::string>> since_;
  std::uint64_t written_ = 0;
  std::vector<std::string> last_;
};

// --- records by hand ---

inline Token token_of(std::uint64_t fence, std::uint64_t secret = 0xa1) { return {Fence{fence}, secret}; }

inline record::TaskCreated created(std::string_view task_id) {
  return {.task_id = task_id, .payload = "P", .execution_window = 5 * kMinute, .retry_policy = {}};
}
inline record::LeaseGranted granted(std::string_view task_id, Token lease_id, std::uint32_t attempt, Instant expiry) {
  return {.task_id = task_id, .lease_id = lease_id, .worker_id = "W", .attempt = attempt, .lease_expiry = expiry};
}
inline record::WorkAcquired acquired(std::string_view domain, std::int64_t offset, Token token) {
  return {.domain = domain, .offset = Offset{offset}, .token = token, .acquired_at = Instant{1'000'000}};
}
inline record::LockGranted lock_granted(std::string_view identifier, Token token, Instant expiry) {
  return {.space = "s",
          .domain = "d",
          .identifier = identifier,
          .owner = "owner",
          .token = token,
          .lease_time = kMinute,
          .lease_expiry = expiry};
}

}  // namespace tenure
