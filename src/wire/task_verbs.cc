// The verbs of the task book, and of its queues and workers.
#include "wire/verb_tables.h"

namespace tenure::wire {
namespace {

using enum Field;

constexpr Argument kSubmission[] = {need(kQueue),
                                    need(kPayload),
                                    option("ID", kId),
                                    option("REQUEST", kRequestId),
                                    option("WINDOW", kWindow),
                                    option("RETRIES", kRetries),
                                    option("BACKOFF", kBackoff),
                                    option("ATTEMPTS", kAttempts),
                                    option("DELAY", kDelay),
                                    option("PRIORITY", kPriority),
                                    option("KEY", kKey)};
Request make_submit(const Values& values) {
  Submission request;
  request.queue = values.text(kQueue);
  request.payload = values.text(kPayload);
  request.id = values.maybe_text(kId);
  request.request_id = values.maybe_text(kRequestId);
  request.window = values.time_or(kWindow, request.window);
  request.retries = values.number_or(kRetries, request.retries);
  if (values.has(kBackoff)) {
    request.backoff_initial = values.time(kBackoff);
    request.backoff_max = values.second_time(kBackoff);
  }
  request.attempts = values.maybe_number(kAttempts);
  request.delay = values.time_or(kDelay, request.delay);
  request.priority = values.number_or(kPriority, request.priority);
  request.key = values.maybe_text(kKey);
  return request;
}

constexpr Argument kLeaseTasks[] = {need(kWorker),           need(kQueues),           option("COUNT", kCount),
                                    option("LEASE", kLease), option("BLOCK", kBlock), option("REQUEST", kRequestId)};
Request make_lease(const Values& values) {
  LeaseTasks lease;
  LeaseRequest& request = lease.request;
  request.worker = values.text(kWorker);
  request.queues.assign(values.texts(kQueues).begin(), values.texts(kQueues).end());
  request.count = values.number_or(kCount, request.count);
  request.lease = values.time_or(kLease, request.lease);
  request.request_id = values.maybe_text(kRequestId);
  lease.block = values.time_or(kBlock, lease.block);
  return lease;
}

constexpr Argument kExtend[] = {need(kTaskId), need(kLeaseId), option("LEASE", kLease)};
Request make_extend(const Values& values) {
  return TaskExtension{
      .task_id = values.text(kTaskId), .lease_id = values.text(kLeaseId), .lease = values.maybe_time(Field::kLease)};
}

constexpr Argument kComplete[] = {need(kTaskId), need(kLeaseId), option("RESULT", kResult)};
Request make_complete(const Values& values) {
  return Completion{
      .task_id = values.text(kTaskId), .lease_id = values.text(kLeaseId), .result = values.maybe_text(kResult)};
}

constexpr Argument kFail[] = {need(kTaskId), need(kLeaseId), need(kReason), option("FINAL", kFinal)};
Request make_fail(const Values& values) {
  return FailureReport{.task_id = values.text(kTaskId),
                       .lease_id = values.text(kLeaseId),
                       .reason = values.text(kReason),
                       .final = values.has(kFinal)};
}

constexpr Argument kKill[] = {need(kTaskId), need(kReason)};
Request make_kill(const Values& values) {
  return TaskKill{.task_id = values.text(kTaskId), .reason = values.text(kReason)};
}

constexpr Argument kResubmit[] = {need(kTaskId), option("REQUEST", kRequestId)};
Request make_resubmit(const Values& values) {
  return Resubmission{.task_id = values.text(kTaskId), .request_id = values.maybe_text(kRequestId)};
}

constexpr Argument kOneTask[] = {need(kTaskId)};
Request make_get(const Values& values) { return GetTask{values.text(kTaskId)}; }
Request make_history(const Values& values) { return GetHistory{values.text(kTaskId)}; }

constexpr Argument kWaitForEnd[] = {need(kTaskId), option("BLOCK", kBlock)};
Request make_wait(const Values& values) {
  return AwaitTaskEnd{.request = {values.text(kTaskId)}, .block = values.time_or(kBlock, Millis{0})};
}

constexpr Argument kList[] = {need(kQueue), option("STATE", kState), option("COUNT", kCount),
                              option("CURSOR", kTaskCursor)};
Request make_list(const Values& values) {
  ListTasks request;
  request.queue = values.text(kQueue);
  if (values.has(kState)) request.state = static_cast<TaskState>(values.number(kState));
  request.paging = paging_of(values, kTaskCursor);
  return request;
}

constexpr Argument kPage[] = {option("COUNT", kCount), option("CURSOR", kNameCursor)};
Request make_queues(const Values& values) { return ListQueues{paging_of(values, kNameCursor)}; }
Request make_workers(const Values& values) { return ListWorkers{paging_of(values, kNameCursor)}; }

constexpr Argument kOneQueue[] = {need(kQueue)};
Request make_pause(const Values& values) { return QueuePause{.queue = values.text(kQueue), .paused = true}; }
Request make_resume(const Values& values) { return QueuePause{.queue = values.text(kQueue), .paused = false}; }

constexpr std::string_view kSubmitted = "array: task id, `CREATED` or `EXISTING`";

constexpr Verb kTaskVerbs[] = {
    {.name = "TASK.SUBMIT",
     .group = Group::kTasks,
     .permission = Permission::kSubmit,
     .summary = "Creates a task.",
     .reply = kSubmitted,
     .arguments = kSubmission,
     .make = make_submit,
     .route = {"POST", "/v1/queues/{queue}/tasks"},
     .reply_schema = reply_schema_of<Submission>},
    {.name = "TASK.LEASE",
     .group = Group::kTasks,
     .permission = Permission::kWork,
     .summary = "Leases due tasks of the queues, the first queue first, to a worker; waits for one if told to.",
     .reply = "array of maps: task_id, lease_id, fence, attempt, expires_at, remaining_ms, window_ends_at, queue, "
              "payload; empty when none (after BLOCK has passed)",
     .arguments = kLeaseTasks,
     .make = make_lease,
     .route = {"POST", "/v1/lease"},
     .reply_schema = reply_schema_of<LeaseTasks>,
     .may_block = true},
    {.name = "TASK.EXTEND",
     .group = Group::kTasks,
     .permission = Permission::kWork,
     .summary = "Prolongs a lease, up to the task's window; without LEASE by the grant's time.",
     .reply = "array: `EXTENDED`, expires_at, remaining_ms; or array: `CANCELLED`",
     .arguments = kExtend,
     .make = make_extend,
     .route = {"POST", "/v1/tasks/{task_id}/extend"},
     .reply_schema = reply_schema_of<TaskExtension>},
    {.name = "TASK.COMPLETE",
     .group = Group::kTasks,
     .permission = Permission::kWork,
     .summary = "Reports success.",
     .reply = "`COMMITTED` or `CANCELLED`",
     .arguments = kComplete,
     .make = make_complete,
     .route = {"POST", "/v1/tasks/{task_id}/complete"},
     .reply_schema = reply_schema_of<Completion>},
    {.name = "TASK.FAIL",
     .group = Group::kTasks,
     .permission = Permission::kWork,
     .summary = "Reports a failure: the task is tried again, or FAILED when no retries are left or it is FINAL.",
     .reply = "array: `COMMITTED`, `WAITING` or `FAILED`; or array: `CANCELLED`",
     .arguments = kFail,
     .make = make_fail,
     .route = {"POST", "/v1/tasks/{task_id}/fail"},
     .reply_schema = reply_schema_of<FailureReport>},
    {.name = "TASK.KILL",
     .group = Group::kTasks,
     .permission = Permission::kAdmin,
     .summary = "Ends a task for good, whoever holds it.",
     .reply = "`OK`; TERMINAL error if already terminal",
     .arguments = kKill,
     .make = make_kill,
     .route = {"POST", "/v1/tasks/{task_id}/kill"},
     .reply_schema = reply_schema_of<TaskKill>},
    {.name = "TASK.RESUBMIT",
     .group = Group::kTasks,
     .permission = Permission::kSubmit,
     .summary = "Creates a new task made like this terminal one.",
     .reply = kSubmitted,
     .arguments = kResubmit,
     .make = make_resubmit,
     .route = {"POST", "/v1/tasks/{task_id}/resubmit"},
     .reply_schema = reply_schema_of<Resubmission>},
    {.name = "TASK.GET",
     .group = Group::kTasks,
     .permission = Permission::kRead,
     .summary = "Tells how a task stands.",
     .reply = "map: task_id, queue, state, attempt, failures, priority, key, created_at, not_before, fence, lease_id, "
              "worker, expires_at, result, reason, late; nil if unknown",
     .arguments = kOneTask,
     .make = make_get,
     .route = {"GET", "/v1/tasks/{task_id}"},
     .reply_schema = reply_schema_of<GetTask>},
    {.name = "TASK.HISTORY",
     .group = Group::kTasks,
     .permission = Permission::kRead,
     .summary = "Tells every attempt of a task, oldest first: why it ran twice.",
     .reply =
         "array of maps: attempt, worker, lease_id, fence, granted_at, ended_at, outcome, reason, extensions, late",
     .arguments = kOneTask,
     .make = make_history,
     .route = {"GET", "/v1/tasks/{task_id}/history"},
     .reply_schema = reply_schema_of<GetHistory>},
    {.name = "TASK.WAIT",
     .group = Group::kTasks,
     .permission = Permission::kRead,
     .summary = "Waits for a task to end.",
     .reply = "as TASK.GET once terminal; nil when the time has passed",
     .arguments = kWaitForEnd,
     .make = make_wait,
     .route = {"GET", "/v1/tasks/{task_id}/wait"},
     .reply_schema = reply_schema_of<AwaitTaskEnd>,
     .may_block = true},
    {.name = "TASK.LIST",
     .group = Group::kTasks,
     .permission = Permission::kRead,
     .summary = "Lists a queue's tasks.",
     .reply = "array: next cursor (`0` at the end), array of maps: task_id, state, attempt",
     .arguments = kList,
     .make = make_list,
     .route = {"GET", "/v1/queues/{queue}/tasks"},
     .reply_schema = reply_schema_of<ListTasks>},
    {.name = "QUEUE.LIST",
     .group = Group::kTasks,
     .permission = Permission::kRead,
     .summary = "Lists the queues, and counts their tasks.",
     .reply = "array: next cursor, array of maps: queue, waiting, delayed, leased, completed, failed, dead, paused "
              "(1 or 0)",
     .arguments = kPage,
     .make = make_queues,
     .route = {"GET", "/v1/queues"},
     .reply_schema = reply_schema_of<ListQueues>},
    {.name = "QUEUE.PAUSE",
     .group = Group::kTasks,
     .permission = Permission::kAdmin,
     .summary = "Stops leasing from a queue, also one not seen yet.",
     .reply = "`OK`",
     .arguments = kOneQueue,
     .make = make_pause,
     .route = {"POST", "/v1/queues/{queue}/pause"},
     .reply_schema = reply_schema_of<QueuePause>},
    {.name = "QUEUE.RESUME",
     .group = Group::kTasks,
     .permission = Permission::kAdmin,
     .summary = "Leases from a queue again.",
     .reply = "`OK`",
     .arguments = kOneQueue,
     .make = make_resume,
     .route = {"POST", "/v1/queues/{queue}/resume"},
     .reply_schema = reply_schema_of<QueuePause>},
    {.name = "WORKER.LIST",
     .group = Group::kTasks,
     .permission = Permission::kRead,
     .summary = "Lists the workers who asked for a lease since the start.",
     .reply = "array: next cursor, array of maps: worker, leases, last_seen",
     .arguments = kPage,
     .make = make_workers,
     .route = {"GET", "/v1/workers"},
     .reply_schema = reply_schema_of<ListWorkers>},
};

}  // namespace

absl::Span<const Verb> task_verbs() { return kTaskVerbs; }

}  // namespace tenure::wire
