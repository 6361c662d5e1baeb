#include <algorithm>
#include <array>
#include <atomic>
#include <poll.h>
#include <thread>

#include <tenure/worker.h>
#include "base/mutex.h"
#include "base/stopwatch.h"
#include "cli/child.h"
#include "cli/duration.h"
#include "cli/identity.h"
#include "cli/journal_text.h"
#include "cli/work_command.h"

namespace tenure::cli {
namespace {

// Runs the command for one job after the other, on the worker's threads. Thread-safe.
class Workbench {
 public:
  Workbench(const Errand& errand, const WorkOptions& options, const sigset_t& mask)
      : errand_(errand), options_(options), mask_(mask), worker_(errand.authority.tasks(), worker_options()) {}

  WorkerTally run() {
    return worker_.run([this](const Job& job) { return handle(job); });
  }
  // No further task is taken.
  void stop() { worker_.stop(); }
  // Those under way are stopped, too.
  void abandon() {
    stop();
    abandoned_.request_stop();
  }
  // Of a command that cannot be run.
  [[nodiscard]] std::optional<int> fatal_status() const {
    const int status = fatal_status_.load();
    return status == 0 ? std::nullopt : std::optional(status);
  }

  void tell(const std::string& line) TENURE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    errand_.desk.err << "tenure: " << line << '\n' << std::flush;
  }

 private:
  WorkerOptions worker_options() {
    return {.name = options_.name.empty() ? worker_name() : options_.name,
            .queues = options_.queues,
            .concurrency = options_.concurrency,
            .lease = options_.lease,
            .on_cancelled =
                [this](const Job& job) {
                  tell(
                      fmt::format("{}, attempt {}: the report came too late and was refused; the task is not this "
                                  "worker's any more",
                                  shown(job.task_id), job.attempt));
                },
            .log = [this](const std::string& line) { tell(line); }};
  }

  Outcome handle(const Job& job) {
    if (options_.count > 0 && ++begun_ >= options_.count) worker_.stop();
    const Stopwatch watch;
    auto child = Child::start({.command = options_.command,
                               .environment = {{"TENURE_TASK", job.task_id},
                                               {"TENURE_QUEUE", job.queue},
                                               {"TENURE_ATTEMPT", std::to_string(job.attempt)},
                                               {"TENURE_FENCE", std::to_string(job.fence.value)}},
                               .input = job.payload,
                               .keeps_output = options_.result,
                               .mask = mask_});
    if (!child) return give_up(child.error());
    const bool was_lost = watch_over(job, **child);
    Outcome outcome = outcome_of(**child, was_lost);
    if (!options_.quiet) {
      const auto took = static_cast<std::int64_t>(watch.seconds() * 1000);
      tell(fmt::format("{}, attempt {}: {} after {}", shown(job.task_id), job.attempt,
                       outcome.kind() == Outcome::Kind::kDone ? "done" : outcome.text().value_or("failed"),
                       short_duration(Millis{took})));
    }
    return outcome;
  }

  // True: the task is no longer ours.
  bool watch_over(const Job& job, Child& child) {
    Bell bell;
    const std::stop_callback on_lost(job.lost, [&] { bell.ring(); });
    const std::stop_callback on_abandoned(abandoned_.get_token(), [&] { bell.ring(); });
    bool was_lost = false;
    const std::array bells{bell.descriptor()};
    while (child.wait(bells, std::nullopt) != Child::Event::kEnded) {
      bell.clear();
      if (job.lost.stop_requested() && !std::exchange(was_lost, true)) {
        tell(
            fmt::format("{}, attempt {}: the lease is lost (killed, out of its window, or no heartbeat got through); "
                        "stopping the command",
                        shown(job.task_id), job.attempt));
      }
      child.stop(options_.grace);
    }
    return was_lost;
  }

  [[nodiscard]] Outcome outcome_of(const Child& child, bool was_lost) const {
    if (was_lost) return Outcome::failed("the lease was lost while the command ran");
    if (child.is_stopping()) return Outcome::failed("the worker was stopped while the command ran");
    if (child.status() == 0) {
      if (!options_.result) return Outcome::done();
      if (child.has_too_much_output()) return Outcome::failed("its output is too large for a result");
      return Outcome::done(child.output());
    }
    const bool is_final = std::find(options_.final_statuses.begin(), options_.final_statuses.end(), child.status()) !=
                          options_.final_statuses.end();
    return is_final ? Outcome::failed_for_good(child.ending()) : Outcome::failed(child.ending());
  }

  // Every other task would fare the same.
  Outcome give_up(const Failure& failure) {
    fatal_status_ = failure.code == ErrorCode::kNotFound ? kNoCommand : kNotRunnable;
    worker_.stop();
    tell(failure.message);
    return Outcome::failed(failure.message);
  }

  const Errand& errand_;
  const WorkOptions& options_;
  const sigset_t mask_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<int> fatal_status_{0};
  std::stop_source abandoned_;
  Mutex mutex_;  // of standard error
  Worker worker_;
};

// Until the work is over: the first signal lets it finish what it has, the second stops that as well.
void obey_signals(Signals& signals, const Bell& over, Workbench& bench) {
  std::array<pollfd, 2> watched{{{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = over.descriptor(), .events = POLLIN, .revents = 0}}};
  bool is_second = false;
  while (watched[1].revents == 0) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    while (signals.take()) {
      if (std::exchange(is_second, true)) {
        bench.tell("stopping the commands that run; their tasks will be tried again");
        bench.abandon();
      } else {
        bench.tell("finishing the tasks under way; once more (Ctrl-C) stops them");
        bench.stop();
      }
    }
  }
}

void tell_tally(const Errand& errand, const WorkerTally& tally) {
  if (errand.json) {
    std::string text;
    wire::JsonWriter out(text);
    out.begin_object();
    out.field("completed", tally.completed);
    out.field("failed", tally.failed);
    out.field("failed_for_good", tally.failed_for_good);
    out.field("cancelled", tally.cancelled);
    out.field("unreported", tally.unreported);
    out.end_object();
    errand.desk.out << text << '\n';
    return;
  }
  errand.desk.err << fmt::format("tenure: {} completed, {} failed, {} refused as too late, {} could not be reported\n",
                                 tally.completed, tally.failed + tally.failed_for_good, tally.cancelled,
                                 tally.unreported);
}

}  // namespace

int do_work(const Errand& errand, Signals& signals, const WorkOptions& options) {
  Workbench bench(errand, options, signals.mask_before());
  Bell over;
  WorkerTally tally;
  std::thread working([&] {
    tally = bench.run();
    over.ring();
  });
  obey_signals(signals, over, bench);
  working.join();
  tell_tally(errand, tally);
  return bench.fatal_status().value_or(kDone);
}

}  // namespace tenure::cli
