// An orchestrator's insides; the clock is given.
//
// Every domain has a mutex that is held over its calls to the authority, never over a handler: an offer and the report
// of the one before must not overtake each other, or something new would be offered while a hint is to be followed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <tenure/ordered.h>
#include "base/clock.h"
#include "base/mutex.h"
#include "client/alarms.h"
#include "client/lease_keeper.h"

namespace tenure {

// Thread-safe. Work leases and clock outlive it.
class Orchestra {
 public:
  Orchestra(WorkLeases& work, OrchestratorOptions options, const Clock& clock);

  OrchestratorTally run(OrderedSource& source, const Orchestrator::Handler& handler, const std::stop_token& stop);
  // For tests, after the clock was moved.
  void settle();
  // Remembered now.
  [[nodiscard]] std::size_t domain_count() TENURE_EXCLUDES(mutex_);
  // Below so many none is forgotten.
  static constexpr std::size_t kDomainsKept = 1000;

 private:
  struct Domain : std::enable_shared_from_this<Domain> {
    std::string name;
    Mutex mutex;
    std::map<Offset, std::string> payloads TENURE_GUARDED_BY(mutex);  // read, and not done
    std::deque<Offset> later TENURE_GUARDED_BY(mutex);                // read, and not yet offered
    std::optional<Offset> head TENURE_GUARDED_BY(mutex);              // goes first: a hint
    bool is_running TENURE_GUARDED_BY(mutex) = false;
    bool is_known TENURE_GUARDED_BY(mutex) = false;  // what an earlier run left has been looked at
    // There is nothing to remember of it. Written under the mutex; read where nobody can have it.
    std::atomic<bool> is_idle{true};
  };
  // One offset in flight, between attempts too.
  struct Turn {
    std::shared_ptr<Domain> owner;
    Domain& domain;  // the owner
    Offset offset;
    std::string token;
    Fence fence;
    Instant acquired_at;
    Millis acquired{0};  // the same by the local clock, unless an earlier run did
    bool is_adopted = false;
    std::uint32_t retry_count = 0;
    std::uint64_t kept = 0;
    std::stop_source lost{std::nostopstate};
  };
  using TurnPtr = std::shared_ptr<Turn>;
  // Told to stop while the authority could not be asked.
  struct Stopped {};

  // --- orchestra.cc: threads ---
  void read(OrderedSource& source);
  void work(const Orchestrator::Handler& handler);
  TurnPtr next_turn() TENURE_EXCLUDES(mutex_);
  void make_ready(const TurnPtr& turn) TENURE_EXCLUDES(mutex_);
  void ready_at(Millis due, const TurnPtr& turn);
  void end_turn() TENURE_EXCLUDES(mutex_);
  void wake() TENURE_EXCLUDES(mutex_);
  std::shared_ptr<Domain> domain_of(const std::string& name) TENURE_EXCLUDES(mutex_);
  void forget_idle_domains() TENURE_REQUIRES(mutex_);
  void note(std::uint64_t OrchestratorTally::* what) TENURE_EXCLUDES(mutex_);
  void log(const std::string& line);
  std::string new_request_id();

  // --- orchestra_turns.cc: one domain's turns ---
  void take_in(OrderedItem item);
  void attempt(const TurnPtr& turn, const Orchestrator::Handler& handler);
  std::optional<std::string> failure_of(const Turn& turn, const Orchestrator::Handler& handler);
  void lose(const Turn& turn);
  // False: the turn goes on, with a retry.
  bool report(const TurnPtr& turn, const std::optional<std::string>& failure);
  void advance(Domain& domain) TENURE_REQUIRES(domain.mutex);
  bool has_payload(Domain& domain, Offset offset) TENURE_REQUIRES(domain.mutex);
  void look_for_what_was_left(Domain& domain) TENURE_REQUIRES(domain.mutex);
  void offer(Domain& domain, Offset offset) TENURE_REQUIRES(domain.mutex);
  void start_turn(Domain& domain, Offset offset, const Acquired& acquired, Millis sent) TENURE_REQUIRES(domain.mutex);
  void drop(Domain& domain, Offset offset, bool is_processed) TENURE_REQUIRES(domain.mutex);
  LeaseKeeper::Renewed renew(const std::string& domain, const std::string& token);
  [[nodiscard]] Millis retry_time(const Turn& turn) const;
  template <class Ask>
  auto insist_on(const Ask& ask);

  WorkLeases& work_;
  const OrchestratorOptions options_;
  const Clock& clock_;
  const std::string id_;
  std::atomic<std::uint64_t> requests_{0};
  OrderedSource* source_ = nullptr;  // while it runs
  std::stop_source stopping_;

  Mutex mutex_;
  Condition changed_;
  // An idle one that nobody has is forgotten when there are many: it can be asked for again.
  std::map<std::string, std::shared_ptr<Domain>> domains_ TENURE_GUARDED_BY(mutex_);
  std::size_t domains_max_ TENURE_GUARDED_BY(mutex_) = kDomainsKept;
  std::deque<TurnPtr> ready_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t turns_ TENURE_GUARDED_BY(mutex_) = 0;  // ready, running, or between attempts
  std::uint64_t held_ TENURE_GUARDED_BY(mutex_) = 0;   // items
  bool is_read_ TENURE_GUARDED_BY(mutex_) = false;
  OrchestratorTally tally_ TENURE_GUARDED_BY(mutex_);

  // The last: what they call uses all the rest.
  Alarms retries_;
  LeaseKeeper keeper_;
};

}  // namespace tenure
