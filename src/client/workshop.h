// Where a worker's jobs are done; the clock is given.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <tenure/worker.h>
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mutex.h"
#include "client/lease_keeper.h"
#include "client/pause.h"

namespace tenure {

// Thread-safe. Tasks and clock outlive it.
class Workshop {
 public:
  Workshop(Tasks& tasks, WorkerOptions options, const Clock& clock);

  WorkerTally run(const Worker::Handler& handler, const std::stop_token& stop);
  void stop() { stopping_.request_stop(); }
  // For tests, after the clock was moved.
  void settle() { keeper_.settle(); }

 private:
  struct Taken {
    TaskLease lease;
    Millis sent;  // before the answer that told what remains
  };
  void work(const Worker::Handler& handler) TENURE_EXCLUDES(mutex_);
  std::optional<Taken> take(Pause& pause);
  Taken count_anew(const LeaseRequest& request, Taken taken);
  void do_job(const Worker::Handler& handler, Taken taken);
  LeaseKeeper::Renewed renew(const std::string& task_id, const std::string& lease_id, Instant window_ends_at);
  static Outcome outcome_of(const Worker::Handler& handler, const Job& job);
  enum class Ending : std::uint8_t { kCommitted, kCancelled, kUnreported };
  Ending report(const TaskLease& lease, Outcome& outcome, std::uint64_t kept);
  Ending report_once(const TaskLease& lease, const Outcome& outcome);
  void note(Ending ending, const Outcome& outcome) TENURE_EXCLUDES(mutex_);
  void log(const std::string& line);
  std::string new_request_id();

  Tasks& tasks_;
  const WorkerOptions options_;
  std::stop_source stopping_;
  std::atomic<std::uint64_t> requests_{0};
  std::string id_;

  Mutex mutex_;
  WorkerTally tally_ TENURE_GUARDED_BY(mutex_);

  // The last: what it calls uses all the rest.
  LeaseKeeper keeper_;
};

}  // namespace tenure
