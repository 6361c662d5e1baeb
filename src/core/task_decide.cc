// What the task book answers, and the records that make it so. Nothing here changes the book.
#include <algorithm>

#include "base/planted.h"
#include "base/text.h"
#include "core/task_book.h"

namespace tenure {
namespace {

// One answer takes no more tasks when it carries this much payload: it is copied while everyone else waits.
constexpr std::uint64_t kLeaseBytes = std::uint64_t{1} << 20;

tl::unexpected<Failure> no_task(std::string_view task_id) {
  return fail_with(ErrorCode::kNoTask, "task '{}': expected one that exists, found none", task_id);
}

bool is_current(const Task& task, std::optional<Token> token) {
  return task.state == TaskState::kLeased && token == task.current().token;
}

const Attempt* attempt_of(const Task& task, std::optional<Token> token) {
  if (task.story == nullptr || !token) return nullptr;
  for (const Attempt& attempt : task.story->attempts) {
    if (attempt.token == *token) return &attempt;
  }
  return nullptr;
}

// The time to wait after a failure: doubled each time, +-20 %, and only then capped.
Millis backoff_after(const Task& task, std::uint64_t bits) {
  std::int64_t wait = task.backoff_initial;
  for (std::uint32_t i = 0; i < task.failures && wait > 0 && wait < 2 * task.backoff_max; ++i) wait *= 2;
  const auto jitter = static_cast<std::int64_t>(bits % 401);
  return Millis{std::min(wait * (800 + jitter) / 1000, task.backoff_max)};
}

}  // namespace

// A made id begins with the number of its partition, so that a report, which names no queue, can be routed. Its number
// is drawn one task ahead: where the next one will be looked for is fetched meanwhile.
void TaskBook::make_id(const Moment& moment) const {
  std::string& id = moment.scratch;
  id.assign("0-################");
  const auto write = [&id](std::uint64_t number) { write_hex16(number, id.data() + 2); };
  const std::uint64_t number = moment.entropy.next_ahead();
  write(moment.entropy.coming());
  tasks_.fetch(hash_of(id));
  write(number);
  while (find(id) != nullptr) write(moment.entropy.next_ahead());
}

Verdict<Submitted> TaskBook::create(record::TaskCreated record, std::optional<std::string_view> id,
                                    const Moment& moment) const {
  if (id && find(*id) != nullptr) {
    return {fail_with(ErrorCode::kTaskExists, "task '{}': expected a new id, found one in use", *id)};
  }
  if (is_full(moment)) return {refuse_new_work(moment)};
  if (id) {
    moment.scratch = *id;
  } else {
    make_id(moment);
  }
  record.task_id = moment.scratch;
  return {Submitted{.task_id = moment.scratch, .created = true}, {record}};
}

Verdict<Submitted> TaskBook::decide(const Submission& request, const Moment& moment) const {
  const std::uint64_t print =
      request.request_id ? Fingerprint("submit").add(request.queue).add(request.payload).value() : 0;
  const auto known = requests_.recall(request.request_id, print);
  if (!known) return {tl::unexpected(known.error())};
  if (*known != nullptr) {
    const std::string& task_id = (*known)->answer.task_id;
    if (request.id && *request.id != task_id) {
      return {fail_with(ErrorCode::kInvalid, "request id '{}': expected task id '{}' as when first used, found '{}'",
                        *request.request_id, task_id, *request.id)};
    }
    return {Submitted{.task_id = task_id, .created = false}};
  }
  record::TaskCreated record{
      .task_id = {},
      .payload = request.payload,
      .execution_window = request.window,
      .retry_policy = {static_cast<std::uint32_t>(request.retries), request.backoff_initial, request.backoff_max},
      .request = mark_of(request.request_id, print),
      .queue = request.queue,
      .priority = static_cast<std::uint8_t>(request.priority),
      .key = request.key};
  if (request.attempts) record.attempts = static_cast<std::uint32_t>(*request.attempts);
  if (request.delay > Millis{0}) record.not_before = moment.now + request.delay;
  return create(record, request.id, moment);
}

Verdict<Submitted> TaskBook::decide(const Resubmission& request, const Moment& moment) const {
  const std::uint64_t print = Fingerprint("resubmit").add(request.task_id).value();
  const auto known = requests_.recall(request.request_id, print);
  if (!known) return {tl::unexpected(known.error())};
  if (*known != nullptr) return {Submitted{.task_id = (*known)->answer.task_id, .created = false}};

  const Task* task = find(request.task_id);
  if (task == nullptr) return {no_task(request.task_id)};
  if (!is_terminal(task->state)) {
    return {fail_with(ErrorCode::kNotTerminal, "task '{}': expected one that has ended, found it {}", request.task_id,
                      to_string(task->state))};
  }
  record::TaskCreated record{.task_id = {},
                             .payload = task->payload(),
                             .execution_window = Millis{task->window_ms},
                             .retry_policy = {task->retries, Millis{task->backoff_initial}, Millis{task->backoff_max}},
                             .request = mark_of(request.request_id, print),
                             .queue = task->queue->name,
                             .priority = task->priority,
                             .resubmit_of = request.task_id};
  if (task->has_key) record.key = task->key();
  if (task->attempts_max != 0) record.attempts = task->attempts_max;
  return create(record, std::nullopt, moment);
}

std::vector<TaskLease> TaskBook::repeat_leases(const TaskAnswer& answer, Instant now) const {
  std::vector<TaskLease> leases;
  for (const Fence fence : answer.leases) {
    const Story* story = lease(fence);
    if (story != nullptr && !is_expired(story->expires_at, now)) leases.push_back(lease_of(story->task, now));
  }
  return leases;
}

TaskLease TaskBook::lease_of(const Task& task, Instant now) {
  return {.task_id = std::string(task.id()),
          .lease_id = task.current().token.text(),
          .fence = task.current().token.fence,
          .attempt = task.attempt,
          .expires_at = task.story->expires_at,
          .remaining = remaining(task.story->expires_at, now),
          .window_ends_at = task.story->window_ends_at,
          .queue = task.queue->name,
          .payload = std::string(task.payload())};
}

// So many have their room at once.
constexpr std::size_t kLeasesExpected = 64;

std::uint64_t TaskBook::print_of(const LeaseRequest& request) {
  Fingerprint print("lease");
  print.add(request.worker);
  for (const std::string_view queue : request.queues) print.add(queue);
  return print.value();
}

Verdict<std::vector<TaskLease>> TaskBook::decide(const LeaseRequest& request, const Moment& moment) const {
  const std::uint64_t print = request.request_id ? print_of(request) : 0;
  const auto known = requests_.recall(request.request_id, print);
  if (!known) return {tl::unexpected(known.error())};
  if (*known != nullptr) return {repeat_leases((*known)->answer, moment.now)};

  Verdict<std::vector<TaskLease>> verdict{std::vector<TaskLease>()};
  std::vector<TaskLease>& leases = *verdict.reply;
  absl::InlinedVector<const Queue*, 4> seen;
  std::uint64_t payload_bytes = 0;
  for (const std::string_view name : request.queues) {
    const Queue* queue = find_queue(name);
    if (queue == nullptr || queue->paused || std::find(seen.begin(), seen.end(), queue) != seen.end()) continue;
    seen.push_back(queue);
    if (leases.empty()) {
      const auto most = std::min({static_cast<std::size_t>(request.count), queue->ready.size(), kLeasesExpected});
      leases.reserve(most);
      verdict.records.reserve(most);
    }
    for (auto next = queue->ready.begin(); next != queue->ready.end(); ++next) {
      if (std::ssize(leases) == request.count || payload_bytes >= kLeaseBytes) break;
      if (!moment.has_room) return {refuse_new_work(moment)};
      const Task& task = *next->second;
      tasks_.fetch(task.table_hash);  // for `apply`, which will look for it
      payload_bytes += task.payload_size;
      const Millis window{task.window_ms};
      const Token token{common_.next_fence(leases.size()), moment.entropy.next()};
      const record::LeaseGranted record{.task_id = task.id(),
                                        .lease_id = token,
                                        .worker_id = request.worker,
                                        .attempt = task.attempt + 1,
                                        .lease_expiry = moment.now + std::min(request.lease, window),
                                        .fence = token.fence,
                                        .lease_time = request.lease,
                                        .window_ends_at = moment.now + window,
                                        .request = mark_of(request.request_id, print)};
      leases.push_back({.task_id = std::string(task.id()),
                        .lease_id = token.text(),
                        .fence = token.fence,
                        .attempt = record.attempt,
                        .expires_at = record.lease_expiry,
                        .remaining = record.lease_expiry - moment.now,
                        .window_ends_at = *record.window_ends_at,
                        .queue = queue->name,
                        .payload = std::string(task.payload())});
      verdict.records.emplace_back(record);
    }
  }
  return verdict;
}

Verdict<std::optional<Extended>> TaskBook::decide(const TaskExtension& request, const Moment& moment) const {
  const Task* task = find(request.task_id);
  if (task == nullptr) return {no_task(request.task_id)};
  const auto token = Token::parse(request.lease_id);
  if (!is_current(*task, token)) return {std::optional<Extended>()};

  const Story& story = *task->story;
  const Instant wanted = std::min(moment.now + request.lease.value_or(story.lease_time), story.window_ends_at);
  const Instant expires_at = std::max(wanted, story.expires_at);
  Verdict<std::optional<Extended>> verdict{Extended{expires_at, remaining(expires_at, moment.now)}};
  if (wanted > story.expires_at) verdict.records.emplace_back(record::LeaseExtended{*token, wanted, task->id()});
  return verdict;
}

Verdict<Report> TaskBook::decide(const Completion& request, const Moment& /*moment*/) const {
  const Task* task = find(request.task_id);
  if (task == nullptr) return {no_task(request.task_id)};
  auto token = Token::parse(request.lease_id);
  if (is_planted(PlantedBug::kCompletionByTaskId)) token = task->current().token;
  if (is_current(*task, token)) {
    return {Report::kCommitted, {record::TaskCompleted{task->id(), *token, request.result}}};
  }
  const Attempt* attempt = attempt_of(*task, token);
  if (attempt != nullptr && attempt->outcome == AttemptOutcome::kCompleted) return {Report::kCommitted};
  return {Report::kCancelled, {record::TaskCancelled{task->id(), request.lease_id}}};
}

Verdict<std::optional<TaskState>> TaskBook::decide(const FailureReport& request, const Moment& moment) const {
  const Task* task = find(request.task_id);
  if (task == nullptr) return {no_task(request.task_id)};
  const auto token = Token::parse(request.lease_id);
  if (is_current(*task, token)) {
    record::TaskFailed record{task->id(), *token, request.reason};
    const std::uint32_t failures = is_planted(PlantedBug::kRetryCountedOnExpiry) ? task->attempt - 1 : task->failures;
    record.next_state = request.final || failures >= task->retries ? TaskState::kFailed : TaskState::kWaiting;
    if (record.next_state == TaskState::kWaiting) {
      record.not_before = moment.now + backoff_after(*task, moment.entropy.next());
    }
    return {record.next_state, {record}};
  }
  const Attempt* attempt = attempt_of(*task, token);
  if (attempt != nullptr && attempt->outcome == AttemptOutcome::kFailed) {
    return {std::optional(attempt->retried ? TaskState::kWaiting : TaskState::kFailed)};
  }
  return {std::optional<TaskState>(), {record::TaskCancelled{task->id(), request.lease_id}}};
}

Verdict<Done> TaskBook::decide(const TaskKill& request, const Moment& /*moment*/) const {
  const Task* task = find(request.task_id);
  if (task == nullptr) return {no_task(request.task_id)};
  if (is_terminal(task->state)) {
    return {fail_with(ErrorCode::kTerminal, "task '{}': expected one that has not ended, found it {}", request.task_id,
                      to_string(task->state))};
  }
  return {Done{}, {record::TaskDead{task->id(), request.reason}}};
}

Verdict<Done> TaskBook::decide(const QueuePause& request, const Moment& moment) const {
  const Queue* queue = find_queue(request.queue);
  const bool paused = queue != nullptr && queue->paused;
  if (paused == request.paused) return {Done{}};
  if (!request.paused) return {Done{}, {record::QueueResumed{request.queue}}};
  if (queue == nullptr && is_full(moment)) return {refuse_new_work(moment)};
  return {Done{}, {record::QueuePaused{request.queue}}};
}

Records TaskBook::decide_expiry(const Task& task) {
  Records records{record::LeaseExpired{task.id(), task.current().token}};
  if (task.attempts_max != 0 && task.attempt >= task.attempts_max) {
    records.emplace_back(record::TaskDead{task.id(), kPoison});
  }
  return records;
}

std::string_view TaskBook::name_of(const Keepsake& kept) {
  if (kept.kind == Remembered::kTask) return static_cast<const Story&>(kept).task.id();
  return static_cast<const RequestMemory<TaskAnswer>&>(kept).id;
}

Records TaskBook::decide_forgetting(const Settings& settings, Instant now) const {
  const Millis early = is_planted(PlantedBug::kRequestIdForgottenEarly) ? settings.retention_time / 2 : Millis{0};
  Records records;
  archive_.visit_overdue(settings, now + early, [&](const Keepsake& oldest) {
    if (records.empty()) records.reserve(Archive::kForgottenTogether);
    if (oldest.kind == Remembered::kTask) tasks_.fetch(static_cast<const Story&>(oldest).task.table_hash);
    records.emplace_back(record::Forgotten{oldest.kind, name_of(oldest)});
  });
  return records;
}

}  // namespace tenure
