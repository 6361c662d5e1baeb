// Does the tasks of some queues, several at a time:
//
//   tenure::Worker worker(tasks, {.name = "w1", .queues = {"mail"}, .concurrency = 4});
//   worker.run([](const tenure::Job& job) {
//     send(job.payload, job.fence);
//     return tenure::Outcome::done();
//   });
//
// The leases of running jobs are extended by a thread of the worker's own, never by those that do the work, up to the
// task's window. A handler may run twice for one task, at worst at the same time in two places: see docs/workers.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <tenure/export.h>
#include <tenure/tasks.h>
#include <tenure/types.h>

namespace tenure {

// What a handler is given.
struct Job {
  std::string task_id;
  std::string queue;
  std::string payload;
  std::uint32_t attempt = 0;  // 1 is the first
  Fence fence;                // for the resources it writes to: see fence_guard.h
  Instant window_ends_at;
  // Asked to stop when the task is, or may be, no longer the worker's: it was killed, its window is over, or the
  // authority could not be reached in time. What is done from then on must not count.
  std::stop_token lost;
};

// How a job went. Immutable.
class TENURE_API Outcome {
 public:
  enum class Kind : std::uint8_t { kDone, kFailed, kFailedForGood };

  static Outcome done() { return {Kind::kDone, std::nullopt}; }
  static Outcome done(std::string result) { return {Kind::kDone, std::move(result)}; }
  // Tried again, if the task has retries left.
  static Outcome failed(std::string reason) { return {Kind::kFailed, std::move(reason)}; }
  static Outcome failed_for_good(std::string reason) { return {Kind::kFailedForGood, std::move(reason)}; }

  [[nodiscard]] Kind kind() const { return kind_; }
  // The result if it is done, otherwise the reason.
  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }

 private:
  Outcome(Kind kind, std::optional<std::string> text) : kind_(kind), text_(std::move(text)) {}
  Kind kind_;
  std::optional<std::string> text_;
};

// Thrown by a handler: the same as Outcome::failed_for_good. Every other exception is Outcome::failed.
class TENURE_API FinalFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct WorkerOptions {
  std::string name;
  std::vector<std::string> queues;  // the first is emptied first
  int concurrency = 1;
  Millis lease = std::chrono::seconds(30);
  // Told of a job whose report came too late: its result was thrown away, and it is not reported again. On the job's
  // thread.
  std::function<void(const Job&)> on_cancelled{};
  // Told what goes wrong and is tried again. Absent: standard error. On any thread.
  std::function<void(const std::string& line)> log{};
};

// How jobs ended.
struct WorkerTally {
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;           // will be tried again, or had no retries left
  std::uint64_t failed_for_good = 0;  // as the handler wished
  std::uint64_t cancelled = 0;        // the report came too late
  std::uint64_t unreported = 0;       // the authority could not be told in time: the task runs again elsewhere
};

class Workshop;

// Thread-safe. The tasks outlive it.
class TENURE_API Worker {
 public:
  using Handler = std::function<Outcome(const Job&)>;

  // Throws std::invalid_argument without a name, queues or concurrency, or with a lease outside 1 ms .. 24 h.
  Worker(Tasks& tasks, WorkerOptions options);
  // Nobody runs it any more.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Works until told to stop, by stop() or the token; then no new job is begun, and those under way are finished and
  // reported before it returns. An authority that cannot be reached is asked again, with pauses. Runs once at a time.
  WorkerTally run(const Handler& handler, std::stop_token stop = {});
  // Returns at once. A worker that was stopped stays so.
  void stop();

 private:
  std::unique_ptr<Workshop> workshop_;
};

}  // namespace tenure
