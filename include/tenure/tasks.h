// Tasks: durable work, leased to one worker at a time, retried when it fails, given to another when its worker
// vanishes.
//
// Requests are plain structs with designated initializers; the text they view is borrowed for the length of the call:
//
//   auto task = tasks.submit({.queue = "mail", .payload = "hello"});
//   for (const TaskLease& lease : tasks.lease({.worker = "w1", .queues = {"mail"}}))
//     tasks.complete({.task_id = lease.task_id, .lease_id = lease.lease_id});
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/export.h>
#include <tenure/types.h>

namespace tenure {

enum class TaskState : std::uint8_t { kWaiting, kLeased, kCompleted, kFailed, kDead };
constexpr bool is_terminal(TaskState state) { return state >= TaskState::kCompleted; }
TENURE_API std::string_view to_string(TaskState state);

enum class AttemptOutcome : std::uint8_t { kLeased, kCompleted, kFailed, kExpired, kKilled };
TENURE_API std::string_view to_string(AttemptOutcome outcome);

// A new task. `request_id` makes a repeated submission the same one.
struct Submission {
  std::string_view queue;
  std::string_view payload;
  std::optional<std::string_view> id{};  // chosen by the authority when absent
  std::optional<std::string_view> request_id{};
  Millis window = std::chrono::minutes(5);  // the longest one attempt may own the task, extensions included
  std::int64_t retries = 3;                 // failures allowed before FAILED
  Millis backoff_initial = std::chrono::seconds(1);
  Millis backoff_max = std::chrono::minutes(5);
  std::optional<std::int64_t> attempts{};  // stop a task that keeps killing its workers: checked at expiry
  Millis delay{0};
  std::int64_t priority = 4;              // 9 first, 0 last
  std::optional<std::string_view> key{};  // tasks of one queue and key run one at a time, in order
};

struct Submitted {
  std::string task_id;
  bool created = true;  // false: the request id was known, and this is the task it made
};

// Asks for up to `count` tasks of the queues, the first queue first.
struct LeaseRequest {
  std::string_view worker;
  std::vector<std::string_view> queues;
  std::int64_t count = 1;
  Millis lease = std::chrono::seconds(30);
  std::optional<std::string_view> request_id{};
};

struct TaskLease {
  std::string task_id;
  std::string lease_id;
  Fence fence;
  std::uint32_t attempt = 0;
  Instant expires_at;
  Millis remaining{0};
  Instant window_ends_at;
  std::string queue;
  std::string payload;
};

struct TaskExtension {
  std::string_view task_id;
  std::string_view lease_id;
  std::optional<Millis> lease{};  // the grant's when absent
};

struct Extended {
  Instant expires_at;
  Millis remaining{0};
};

struct Completion {
  std::string_view task_id;
  std::string_view lease_id;
  std::optional<std::string_view> result{};
};

// CANCELLED: the claim came too late or was never valid; the result was thrown away, and a record says so.
enum class Report : std::uint8_t { kCommitted, kCancelled };

struct FailureReport {
  std::string_view task_id;
  std::string_view lease_id;
  std::string_view reason;
  bool final = false;  // straight to FAILED, whatever retries are left
};

struct TaskKill {
  std::string_view task_id;
  std::string_view reason;
};

struct Resubmission {
  std::string_view task_id;
  std::optional<std::string_view> request_id{};
};

struct TaskStatus {
  std::string task_id;
  std::string queue;
  TaskState state = TaskState::kWaiting;
  std::uint32_t attempt = 0;
  std::uint32_t failures = 0;
  std::uint8_t priority = 0;
  std::optional<std::string> key;
  Instant created_at;
  std::optional<Instant> not_before;
  std::optional<Fence> fence;  // these four are the current lease's
  std::optional<std::string> lease_id;
  std::optional<std::string> worker;
  std::optional<Instant> expires_at;
  std::optional<std::string> result;
  std::optional<std::string> reason;  // the last of failure, kill or "poison"
  std::uint64_t late = 0;             // reports refused
};

struct TaskAttempt {
  std::uint32_t attempt = 0;
  std::string worker;
  std::string lease_id;
  Fence fence;
  Instant granted_at;
  std::optional<Instant> ended_at;
  AttemptOutcome outcome = AttemptOutcome::kLeased;
  std::optional<std::string> reason;
  std::uint32_t extensions = 0;
  std::uint32_t late = 0;
};

struct TaskListing {
  std::string_view queue;
  std::optional<TaskState> state{};
  Paging paging{};
};

struct TaskPage {
  struct Entry {
    std::string task_id;
    TaskState state = TaskState::kWaiting;
    std::uint32_t attempt = 0;
  };
  std::string cursor;
  std::vector<Entry> tasks;
};

struct QueuePage {
  struct Entry {
    std::string queue;
    std::uint64_t waiting = 0;
    std::uint64_t delayed = 0;
    std::uint64_t leased = 0;
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
    std::uint64_t dead = 0;
    bool paused = false;
  };
  std::string cursor;
  std::vector<Entry> queues;
};

struct WorkerPage {
  struct Entry {
    std::string worker;
    std::uint64_t leases = 0;
    Instant last_seen;
  };
  std::string cursor;
  std::vector<Entry> workers;
};

// Thread-safe. Calls return when what they did is durable; they throw what errors.h lists. A blocking call ends with
// its empty answer when its time has passed or its stop_token is asked to stop.
class TENURE_API Tasks {
 public:
  Tasks() = default;
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  virtual ~Tasks() = default;

  virtual Submitted submit(const Submission& task) = 0;
  // Starts a submission and returns at once; many may be in flight.
  virtual std::future<Submitted> submit_later(const Submission& task) = 0;
  // Answers in the order given; the first error is thrown after all have been tried.
  virtual std::vector<Submitted> submit_many(const std::vector<Submission>& tasks) = 0;

  // Empty when no task is due; with `block`, when none became due in that time.
  virtual std::vector<TaskLease> lease(const LeaseRequest& request, Millis block = Millis{0},
                                       std::stop_token stop = {}) = 0;
  // nullopt: CANCELLED, the lease is no longer the caller's.
  virtual std::optional<Extended> extend(const TaskExtension& request) = 0;
  virtual Report complete(const Completion& request) = 0;
  virtual std::future<Report> complete_later(const Completion& request) = 0;
  // The state the task is in now (WAITING or FAILED), or nullopt: CANCELLED.
  virtual std::optional<TaskState> fail(const FailureReport& request) = 0;

  virtual void kill(const TaskKill& request) = 0;
  virtual Submitted resubmit(const Resubmission& request) = 0;
  virtual std::optional<TaskStatus> get(std::string_view task_id) = 0;
  // Oldest first, at least the last 20.
  virtual std::vector<TaskAttempt> history(std::string_view task_id) = 0;
  // The task once it is terminal; nullopt when the time has passed.
  virtual std::optional<TaskStatus> wait(std::string_view task_id, Millis block, std::stop_token stop = {}) = 0;
  virtual TaskPage list(const TaskListing& request) = 0;

  virtual QueuePage queues(const Paging& paging) = 0;
  virtual void pause(std::string_view queue) = 0;
  virtual void resume(std::string_view queue) = 0;
  virtual WorkerPage workers(const Paging& paging) = 0;
};

}  // namespace tenure
