// The verbs of the task book.
#include "answers.h"
#include "engine_subject.h"

namespace tenure::scenario {
namespace {

AnswerLine show(const TaskLease& lease) {
  return {named("", lease.lease_id),
          named("", "="),
          named("", lease.task_id),
          named("fence", lease.fence),
          named("attempt", lease.attempt),
          named("expires_at", lease.expires_at),
          named("remaining_ms", lease.remaining),
          named("window_ends_at", lease.window_ends_at),
          named("queue", lease.queue),
          named("payload", lease.payload)};
}

Answer show(const std::vector<TaskLease>& leases) {
  std::vector<AnswerLine> lines;
  lines.reserve(leases.size());
  for (const TaskLease& lease : leases) lines.push_back(show(lease));
  return list_of(std::move(lines));
}

Answer show(const Submitted& submitted) {
  return one_line({named("", submitted.task_id), named("", submitted.created ? "CREATED" : "EXISTING")});
}

Answer show(const std::optional<TaskStatus>& task) {
  if (!task) return say("nil");
  return one_line({named("", task->task_id), named("queue", task->queue), named("state", to_string(task->state)),
                   named("attempt", task->attempt), named("failures", task->failures),
                   named("priority", task->priority), named("key", task->key), named("created_at", task->created_at),
                   named("not_before", task->not_before), named("fence", task->fence),
                   named("lease_id", task->lease_id), named("worker", task->worker),
                   named("expires_at", task->expires_at), named("result", task->result), named("reason", task->reason),
                   named("late", task->late)});
}

AnswerLine show(const TaskAttempt& attempt) {
  return {named("", std::to_string(attempt.attempt)),
          named("", to_string(attempt.outcome)),
          named("worker", attempt.worker),
          named("lease_id", attempt.lease_id),
          named("fence", attempt.fence),
          named("granted_at", attempt.granted_at),
          named("ended_at", attempt.ended_at),
          named("reason", attempt.reason),
          named("extensions", attempt.extensions),
          named("late", attempt.late)};
}

Answer ok(Done) { return say("OK"); }

TaskState state_of(std::string_view word) {
  for (const auto state :
       {TaskState::kWaiting, TaskState::kLeased, TaskState::kCompleted, TaskState::kFailed, TaskState::kDead}) {
    if (to_string(state) == word) return state;
  }
  throw ScriptError(fmt::format("'{}' is no state", word));
}

}  // namespace

void EngineSubject::submit(Arguments& args, const Answered& done) {
  Submission request;
  request.queue = args.next("queue");
  request.payload = args.next("payload");
  args.take_options(
      {{"ID"}, {"REQUEST"}, {"WINDOW"}, {"RETRIES"}, {"BACKOFF", 2}, {"ATTEMPTS"}, {"DELAY"}, {"PRIORITY"}, {"KEY"}});
  request.id = args.text("ID");
  request.request_id = args.text("REQUEST");
  request.window = args.duration("WINDOW").value_or(request.window);
  request.retries = args.number("RETRIES").value_or(request.retries);
  request.backoff_initial = args.duration("BACKOFF", 0).value_or(request.backoff_initial);
  request.backoff_max = args.duration("BACKOFF", 1).value_or(request.backoff_max);
  request.attempts = args.number("ATTEMPTS");
  request.delay = args.duration("DELAY").value_or(request.delay);
  request.priority = args.number("PRIORITY").value_or(request.priority);
  request.key = args.text("KEY");
  engine_->ask(request, answering<Submitted>(done, [](const Submitted& reply) { return show(reply); }));
}

// lease worker queue ... : the wire's count of queues is left out.
void EngineSubject::lease(Arguments& args, const Answered& done) {
  LeaseRequest request;
  request.worker = args.next("worker");
  request.queues = args.next_until({{"COUNT"}, {"LEASE"}, {"BLOCK"}, {"REQUEST"}});
  args.take_options({{"COUNT"}, {"LEASE"}, {"BLOCK"}, {"REQUEST"}});
  request.count = args.number("COUNT").value_or(request.count);
  request.lease = args.duration("LEASE").value_or(request.lease);
  request.request_id = args.text("REQUEST");
  auto answer =
      answering<std::vector<TaskLease>>(done, [](const std::vector<TaskLease>& reply) { return show(reply); });
  if (!args.has("BLOCK")) return engine_->ask(request, std::move(answer));
  tickets_[label_] = engine_->wait(request, *args.duration("BLOCK"), std::move(answer));
}

void EngineSubject::extend(Arguments& args, const Answered& done) {
  TaskExtension request;
  request.task_id = args.next("task id");
  request.lease_id = args.next("lease id");
  args.take_options({{"LEASE"}});
  request.lease = args.duration("LEASE");
  engine_->ask(request, answering<std::optional<Extended>>(done, [](const std::optional<Extended>& reply) {
                 if (!reply) return say("CANCELLED");
                 return one_line({named("", "EXTENDED"), named("expires_at", reply->expires_at),
                                  named("remaining_ms", reply->remaining)});
               }));
}

void EngineSubject::complete(Arguments& args, const Answered& done) {
  Completion request;
  request.task_id = args.next("task id");
  request.lease_id = args.next("lease id");
  args.take_options({{"RESULT"}});
  request.result = args.text("RESULT");
  engine_->ask(request, answering<Report>(done, [](Report reply) {
                 return say(reply == Report::kCommitted ? "COMMITTED" : "CANCELLED");
               }));
}

void EngineSubject::fail(Arguments& args, const Answered& done) {
  FailureReport request;
  request.task_id = args.next("task id");
  request.lease_id = args.next("lease id");
  request.reason = args.next("reason");
  args.take_options({{"FINAL", 0}});
  request.final = args.has("FINAL");
  engine_->ask(request, answering<std::optional<TaskState>>(done, [](std::optional<TaskState> reply) {
                 return say(reply ? fmt::format("COMMITTED {}", to_string(*reply)) : "CANCELLED");
               }));
}

void EngineSubject::kill(Arguments& args, const Answered& done) {
  TaskKill request;
  request.task_id = args.next("task id");
  request.reason = args.next("reason");
  args.finish();
  engine_->ask(request, answering<Done>(done, ok));
}

void EngineSubject::resubmit(Arguments& args, const Answered& done) {
  Resubmission request;
  request.task_id = args.next("task id");
  args.take_options({{"REQUEST"}});
  request.request_id = args.text("REQUEST");
  engine_->ask(request, answering<Submitted>(done, [](const Submitted& reply) { return show(reply); }));
}

void EngineSubject::get(Arguments& args, const Answered& done) {
  const GetTask query{args.next("task id")};
  args.finish();
  engine_->ask(query, answering<GetTask::Reply>(done, [](const GetTask::Reply& reply) { return show(reply); }));
}

void EngineSubject::history(Arguments& args, const Answered& done) {
  const GetHistory query{args.next("task id")};
  args.finish();
  engine_->ask(query, answering<GetHistory::Reply>(done, [](const GetHistory::Reply& attempts) {
                 std::vector<AnswerLine> lines;
                 lines.reserve(attempts.size());
                 for (const TaskAttempt& attempt : attempts) lines.push_back(show(attempt));
                 return list_of(std::move(lines));
               }));
}

void EngineSubject::wait(Arguments& args, const Answered& done) {
  const AwaitTask query{args.next("task id")};
  args.take_options({{"BLOCK"}});
  auto answer = answering<AwaitTask::Reply>(done, [](const AwaitTask::Reply& reply) { return show(reply); });
  if (!args.has("BLOCK")) return engine_->ask(query, std::move(answer));
  tickets_[label_] = engine_->wait(query, *args.duration("BLOCK"), std::move(answer));
}

void EngineSubject::list(Arguments& args, const Answered& done) {
  ListTasks query;
  query.queue = args.next("queue");
  args.take_options({{"STATE"}, {"COUNT"}, {"CURSOR"}});
  if (const auto state = args.text("STATE")) query.state = state_of(*state);
  query.paging = args.paging();
  engine_->ask(query, answering<TaskPage>(done, [](const TaskPage& page) {
                 std::vector<AnswerLine> lines;
                 for (const auto& entry : page.tasks) {
                   lines.push_back(
                       {named("", entry.task_id), named("", to_string(entry.state)), named("attempt", entry.attempt)});
                 }
                 Answer answer = list_of(std::move(lines));
                 answer.cursor = page.cursor;
                 return answer;
               }));
}

void EngineSubject::queues(Arguments& args, const Answered& done) {
  args.take_options({{"COUNT"}, {"CURSOR"}});
  engine_->ask(ListQueues{args.paging()}, answering<QueuePage>(done, [](const QueuePage& page) {
                 std::vector<AnswerLine> lines;
                 for (const auto& entry : page.queues) {
                   lines.push_back({named("", entry.queue), named("waiting", entry.waiting),
                                    named("delayed", entry.delayed), named("leased", entry.leased),
                                    named("completed", entry.completed), named("failed", entry.failed),
                                    named("dead", entry.dead), named("paused", entry.paused ? "true" : "false")});
                 }
                 Answer answer = list_of(std::move(lines));
                 answer.cursor = page.cursor;
                 return answer;
               }));
}

void EngineSubject::pause(Arguments& args, const Answered& done) {
  const QueuePause request{.queue = args.next("queue"), .paused = true};
  args.finish();
  engine_->ask(request, answering<Done>(done, ok));
}

void EngineSubject::resume(Arguments& args, const Answered& done) {
  const QueuePause request{.queue = args.next("queue"), .paused = false};
  args.finish();
  engine_->ask(request, answering<Done>(done, ok));
}

void EngineSubject::workers(Arguments& args, const Answered& done) {
  args.take_options({{"COUNT"}, {"CURSOR"}});
  engine_->ask(ListWorkers{args.paging()}, answering<WorkerPage>(done, [](const WorkerPage& page) {
                 std::vector<AnswerLine> lines;
                 for (const auto& entry : page.workers) {
                   lines.push_back(
                       {named("", entry.worker), named("leases", entry.leases), named("last_seen", entry.last_seen)});
                 }
                 Answer answer = list_of(std::move(lines));
                 answer.cursor = page.cursor;
                 return answer;
               }));
}

}  // namespace tenure::scenario
