#include "client/workshop.h"

#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tenure/errors.h>
#include "base/limits.h"
#include "base/text.h"

namespace tenure {
namespace {

// How long one request for a task may wait; the next follows at once.
constexpr Millis kPatience = std::chrono::seconds(30);

bool may_pass(const Error& error) {
  return error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kBackpressure ||
         error.code() == ErrorCode::kMoved;
}

std::string random_id() {
  SystemEntropy entropy;
  return hex16(entropy.next()) + hex16(entropy.next());
}

void insist(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

}  // namespace

Workshop::Workshop(Tasks& tasks, WorkerOptions options, const Clock& clock)
    : tasks_(tasks), options_(std::move(options)), id_(random_id()), keeper_(clock) {
  insist(!options_.name.empty(), "a worker needs a name");
  insist(!options_.queues.empty(), "a worker needs queues");
  insist(options_.concurrency > 0, "concurrency must be positive");
  insist(options_.lease > Millis{0} && options_.lease <= kLeaseMax, "a lease lasts 1 ms to 24 h");
}

std::string Workshop::new_request_id() { return fmt::format("{}/{}", id_, requests_.fetch_add(1)); }

void Workshop::log(const std::string& line) {
  if (options_.log) {
    options_.log(line);
  } else {
    std::fputs((line + "\n").c_str(), stderr);
  }
}

WorkerTally Workshop::run(const Worker::Handler& handler, const std::stop_token& stop) {
  const std::stop_callback pass_on(stop, [this] { stopping_.request_stop(); });
  {
    const MutexLock lock(mutex_);
    tally_ = {};
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < options_.concurrency; ++i) threads.emplace_back([&] { work(handler); });
  for (auto& thread : threads) thread.join();
  const MutexLock lock(mutex_);
  return tally_;
}

void Workshop::work(const Worker::Handler& handler) {
  Pause pause;
  while (!stopping_.stop_requested()) {
    if (auto taken = take(pause)) do_job(handler, std::move(*taken));
  }
}

std::optional<Workshop::Taken> Workshop::take(Pause& pause) {
  const std::string request_id = new_request_id();
  const LeaseRequest request{.worker = options_.name,
                             .queues = {options_.queues.begin(), options_.queues.end()},
                             .lease = options_.lease,
                             .request_id = request_id};
  try {
    const Millis sent = keeper_.now();
    auto leases = tasks_.lease(request, kPatience, stopping_.get_token());
    pause.forget();
    if (leases.empty()) return std::nullopt;
    Taken taken{std::move(leases.front()), sent};
    if (is_worth_counting_anew({sent, keeper_.now()}, margin_of(options_.lease)))
      taken = count_anew(request, std::move(taken));
    return taken;
  } catch (const Error& error) {
    log(fmt::format("worker {}: no task can be had: {}", options_.name, error.what()));
    pause.wait(stopping_.get_token());
    return std::nullopt;
  }
}

// After a wait: the same request again is the same lease, and what is left of it now is counted from before that.
Workshop::Taken Workshop::count_anew(const LeaseRequest& request, Taken taken) {
  const Millis sent = keeper_.now();
  try {
    auto same = tasks_.lease(request);
    if (!same.empty() && same.front().lease_id == taken.lease.lease_id) return {std::move(same.front()), sent};
  } catch (const Error&) {
    return taken;  // counted from before the wait
  }
  return taken;
}

LeaseKeeper::Renewed Workshop::renew(const std::string& task_id, const std::string& lease_id, Instant window_ends_at) {
  try {
    const auto extended = tasks_.extend({.task_id = task_id, .lease_id = lease_id, .lease = options_.lease});
    if (!extended) return {};
    return {.remaining = extended->remaining, .is_last = extended->expires_at >= window_ends_at};
  } catch (const NoSuchTask&) {
    return {};
  }
}

void Workshop::do_job(const Worker::Handler& handler, Taken taken) {
  TaskLease& lease = taken.lease;
  std::stop_source lost;
  const std::uint64_t kept = keeper_.keep(
      taken.sent, lease.remaining, options_.lease,
      [this, task_id = lease.task_id, lease_id = lease.lease_id, window_ends_at = lease.window_ends_at] {
        return renew(task_id, lease_id, window_ends_at);
      },
      lost);
  const Job job{.task_id = lease.task_id,
                .queue = lease.queue,
                .payload = std::move(lease.payload),
                .attempt = lease.attempt,
                .fence = lease.fence,
                .window_ends_at = lease.window_ends_at,
                .lost = lost.get_token()};
  Outcome outcome = outcome_of(handler, job);
  const Ending ending = report(lease, outcome, kept);
  keeper_.let_go(kept);
  note(ending, outcome);
  if (ending == Ending::kCancelled && options_.on_cancelled) options_.on_cancelled(job);
}

Outcome Workshop::outcome_of(const Worker::Handler& handler, const Job& job) {
  try {
    return handler(job);
  } catch (const FinalFailure& failure) {
    return Outcome::failed_for_good(failure.what());
  } catch (const std::exception& failure) {
    return Outcome::failed(failure.what());
  } catch (...) {
    return Outcome::failed("an exception of unknown type");
  }
}

// A report that got no answer is repeated, which is harmless, for as long as the lease lasts; the lease is kept alive
// meanwhile. A lease that seems lost is reported, too: whether it is, is the authority's to say.
Workshop::Ending Workshop::report(const TaskLease& lease, Outcome& outcome, std::uint64_t kept) {
  Pause pause;
  bool is_refused = false;
  while (true) {
    try {
      return report_once(lease, outcome);
    } catch (const NoSuchTask&) {
      return Ending::kCancelled;
    } catch (const Error& error) {
      log(fmt::format("worker {}: task {} cannot be reported: {}", options_.name, lease.task_id, error.what()));
      if (may_pass(error)) {
        if (keeper_.is_lost(kept)) return Ending::kUnreported;
        pause.wait({});
      } else {
        // The report itself is wrong, e.g. its result too large: that is a failure of the job.
        if (std::exchange(is_refused, true)) return Ending::kUnreported;
        outcome = Outcome::failed(fmt::format("its report was refused: {}", to_string(error.code())));
      }
    }
  }
}

Workshop::Ending Workshop::report_once(const TaskLease& lease, const Outcome& outcome) {
  if (outcome.kind() == Outcome::Kind::kDone) {
    Completion completion{.task_id = lease.task_id, .lease_id = lease.lease_id};
    if (outcome.text()) completion.result = *outcome.text();
    return tasks_.complete(completion) == Report::kCommitted ? Ending::kCommitted : Ending::kCancelled;
  }
  const std::string reason = outcome.text().value_or("").substr(0, kReasonBytesMax);
  const auto state = tasks_.fail({.task_id = lease.task_id,
                                  .lease_id = lease.lease_id,
                                  .reason = reason,
                                  .final = outcome.kind() == Outcome::Kind::kFailedForGood});
  return state ? Ending::kCommitted : Ending::kCancelled;
}

void Workshop::note(Ending ending, const Outcome& outcome) {
  const MutexLock lock(mutex_);
  if (ending == Ending::kCancelled) {
    ++tally_.cancelled;
  } else if (ending == Ending::kUnreported) {
    ++tally_.unreported;
  } else if (outcome.kind() == Outcome::Kind::kDone) {
    ++tally_.completed;
  } else {
    ++(outcome.kind() == Outcome::Kind::kFailed ? tally_.failed : tally_.failed_for_good);
  }
}

Worker::Worker(Tasks& tasks, WorkerOptions options) {
  static const SystemClock clock;
  workshop_ = std::make_unique<Workshop>(tasks, std::move(options), clock);
}
Worker::~Worker() = default;
WorkerTally Worker::run(const Handler& handler, std::stop_token stop) { return workshop_->run(handler, stop); }
void Worker::stop() { workshop_->stop(); }

}  // namespace tenure
