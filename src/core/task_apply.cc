// How records change the task book. Every invariant is checked before anything is touched.
#include <algorithm>
#include <new>

#include "base/bytes.h"
#include "base/hash.h"
#include "core/task_book.h"

namespace tenure {
namespace {

// What the allocator and the indexes add to a task, roughly.
constexpr std::uint64_t kTaskOverhead = 40;

}  // namespace

// --- the entities ---

Task* Task::make(std::string_view id, std::string_view payload, std::optional<std::string_view> key) {
  const std::string_view key_text = key.value_or(std::string_view{});
  void* memory = ::operator new(sizeof(Task) + id.size() + payload.size() + key_text.size());
  Task* task = new (memory) Task();
  task->id_size = static_cast<std::uint8_t>(id.size());
  task->payload_size = static_cast<std::uint32_t>(payload.size());
  task->key_size = static_cast<std::uint8_t>(key_text.size());
  task->has_key = key.has_value();
  char* to = task->text();
  for (const std::string_view part : {id, payload, key_text}) {
    copy_short(part, to);
    to += part.size();
  }
  task->payload_hash = hash64(payload);
  return task;
}

void Task::destroy(Task* task) {
  task->~Task();
  ::operator delete(task);
}

TaskBook::TaskBook(Common& common) : common_(common), requests_(Remembered::kTaskRequest, common, archive_) {}

TaskBook::~TaskBook() {
  tasks_.visit_all([](Task& task) { Task::destroy(&task); });
  lines_.visit_all([](KeyLine& line) { delete &line; });
  lessees_.visit_all([](Lessee& lessee) { delete &lessee; });
}

// --- bookkeeping ---

std::uint64_t TaskBook::footprint(const Task& task) {
  std::uint64_t bytes = task.bytes() + kTaskOverhead;
  if (task.story == nullptr) return bytes;
  const Story& story = *task.story;
  bytes += sizeof(Story) + story.attempts.size() * sizeof(Attempt) + story.result.size() + story.reason.size();
  for (const Attempt& attempt : story.attempts) bytes += attempt.worker.size() + attempt.reason.size();
  return bytes;
}

void TaskBook::changing(Task& task) {
  if (common_.is_bare()) return;
  if (late_.leave(task)) {
    // Nothing of it is in the digest.
  } else if (task.story == nullptr) {
    common_.take_out(Entity::kTask, task);
  } else {
    common_.take_out(task.story->digest);
  }
  if (!is_terminal(task.state)) bytes_ -= footprint(task);
}

void TaskBook::changed(Task& task) {
  if (common_.is_bare()) return;
  if (!is_terminal(task.state)) bytes_ += footprint(task);
  if (Task* const first = late_.join(task)) sum_up(*first);
}

void TaskBook::changing(Attempt& attempt) {
  if (attempt.is_summed) common_.take_out(attempt.digest);
  attempt.is_summed = false;
}

void TaskBook::sum_up(Task& task) const {
  const Digest digest = common_.put_in(Entity::kTask, task);
  if (task.story == nullptr) return;
  task.story->digest = digest;
  for (Attempt& attempt : task.story->attempts) {
    if (attempt.is_summed) continue;
    attempt.digest = common_.put_in(Entity::kAttempt, attempt);
    attempt.is_summed = true;
  }
}

Story& TaskBook::story_of(Task& task) {
  if (task.story == nullptr) task.story = std::make_unique<Story>(task);
  return *task.story;
}

Broken TaskBook::check_lease(const Task* task, Token lease_id) const {
  if (task == nullptr) return "task must exist";
  if (task->state != TaskState::kLeased) return "task must be LEASED";
  if (task->current().token != lease_id) return "lease_id must match the current lease";
  return nullptr;
}

void TaskBook::end_attempt(Task& task, AttemptOutcome outcome, std::string_view reason, Instant stamp) {
  Attempt& attempt = task.current();
  changing(attempt);
  attempt.outcome = outcome;
  attempt.ended_at = stamp;
  attempt.reason = reason;
  give_up_lease(*task.story);
}

// The task's last change: into the archive, and out of its key's line.
void TaskBook::end_task(Task& task, TaskState state, Instant stamp) {
  task.state = state;
  place(task, stamp);
  leave_line(task, stamp);
  archive_.add(story_of(task), stamp, footprint(task));
}

void TaskBook::set_reason(Task& task, std::string_view reason) {
  Story& story = story_of(task);
  story.reason = reason;
  story.has_reason = true;
}

// --- records ---

Broken TaskBook::apply(const record::TaskCreated& record, Instant stamp) {
  const std::uint32_t hash = hash_of(record.task_id);
  if (find(record.task_id, hash) != nullptr) return "task_id must not already exist";
  if (record.task_id.size() > 255 || record.key.value_or("").size() > 255) return "a name must have at most 255 bytes";
  if (record.priority.value_or(0) > 9) return "priority must be at most 9";
  if (record.execution_window.count() < 1 || record.execution_window.count() > 0xffffffff) {
    return "execution_window must be from 1 ms to 2^32 - 1 ms";
  }
  if (!requests_.is_new(record.request)) return "request id must be new";

  Task* task = Task::make(record.task_id, record.payload, record.key);
  task->number = common_.count_task();
  task->queue = &queue_of(record.queue.value_or(kDefaultQueue));
  task->priority = record.priority.value_or(kDefaultPriority);
  task->created_at = record.created_at.value_or(stamp).ms;
  if (record.not_before) task->not_before = record.not_before->ms;
  task->window_ms = static_cast<std::uint32_t>(record.execution_window.count());
  task->retries = record.retry_policy.retries;
  task->backoff_initial = record.retry_policy.backoff_initial.count();
  task->backoff_max = record.retry_policy.backoff_max.count();
  task->attempts_max = record.attempts.value_or(0);
  tasks_.insert(*task, hash);
  if (record.key) join_line(*task, *record.key);
  place(*task, stamp);
  changed(*task);
  requests_.remember(record.request, stamp, TaskAnswer{.task_id = std::string(record.task_id), .leases = {}});
  return nullptr;
}

Broken TaskBook::apply(const record::LeaseGranted& record, Instant stamp) {
  Task* task = find_mutable(record.task_id);
  if (task == nullptr) return "task must exist";
  if (is_terminal(task->state)) return "task must be WAITING";
  // A journal may leave expiry out: then the next grant says it, if the old lease's time is over.
  const bool implies_expiry = task->state == TaskState::kLeased;
  if (implies_expiry && !is_expired(task->story->expires_at, stamp))
    return "task must be WAITING, or its lease expired";
  if (record.attempt != task->attempt + 1) return "attempt must be the previous attempt + 1";
  const Fence fence = record.fence.value_or(common_.next_fence());
  if (fence <= common_.fence()) return "fence must be greater than every earlier one";
  if (record.lease_id.fence != fence) return "lease_id must begin with the fence";
  const auto* memory = record.request ? requests_.find(record.request->id) : nullptr;
  if (memory != nullptr && memory->print != record.request->print) return "request id must be new";
  if (implies_expiry) expire(*task, stamp);

  changing(*task);
  unplace(*task);
  common_.set_fence(fence);
  Story& story = story_of(*task);
  if (story.attempts.size() == kAttemptsKept) {
    // What is dropped still counts: its late reports go on as the task's.
    changing(story.attempts.front());
    story.late_unknown += story.attempts.front().late;
    story.attempts.erase(story.attempts.begin());
  }
  story.attempts.push_back({.task = task->number,
                            .attempt = record.attempt,
                            .token = record.lease_id,
                            .granted_at = record.granted_at.value_or(stamp),
                            .ended_at = {},
                            .worker = std::string(record.worker_id),
                            .reason = {}});
  story.expires_at = record.lease_expiry;
  story.window_ends_at = record.window_ends_at.value_or(stamp + Millis{task->window_ms});
  story.lease_time = record.lease_time.value_or(record.lease_expiry - stamp);
  hold_lease(*task);
  task->state = TaskState::kLeased;
  task->attempt = record.attempt;
  place(*task, stamp);
  changed(*task);
  remember_lease(record, stamp);
  fetch_next(*task->queue);
  return nullptr;
}

// The leases of one request are one answer.
void TaskBook::remember_lease(const record::LeaseGranted& record, Instant stamp) {
  if (!record.request) return;
  if (auto* memory = requests_.find(record.request->id); memory != nullptr) {
    requests_.amend(*memory, [&](TaskAnswer& answer) { answer.leases.push_back(record.lease_id.fence); });
  } else {
    requests_.remember(record.request, stamp, TaskAnswer{.task_id = {}, .leases = {record.lease_id.fence}});
  }
}

Broken TaskBook::apply(const record::LeaseExtended& record, Instant stamp) {
  const Story* story = lease(record.lease_id.fence);
  if (story == nullptr || story->task.current().token != record.lease_id) return "lease must exist";
  if (record.task_id.value_or(story->task.id()) != story->task.id()) return "task_id must be the lease's";
  if (is_expired(story->expires_at, stamp)) return "lease must be currently valid";
  if (record.new_lease_expiry <= story->expires_at) return "new expiry must be later than the current expiry";

  Task& task = story->task;
  changing(task);
  changing(task.current());
  task.story->expires_at = record.new_lease_expiry;
  ++task.current().extensions;
  changed(task);
  return nullptr;
}

Broken TaskBook::apply(const record::TaskCompleted& record, Instant stamp) {
  Task* task = find_mutable(record.task_id);
  if (const Broken broken = check_lease(task, record.lease_id)) return broken;
  if (is_expired(task->story->expires_at, stamp)) return "lease must not be expired";

  changing(*task);
  unplace(*task);
  end_attempt(*task, AttemptOutcome::kCompleted, {}, stamp);
  if (record.result) {
    task->story->has_result = true;
    task->story->result = *record.result;
    task->story->result_hash = hash64(*record.result);
  }
  end_task(*task, TaskState::kCompleted, stamp);
  changed(*task);
  return nullptr;
}

Broken TaskBook::apply(const record::TaskFailed& record, Instant stamp) {
  Task* task = find_mutable(record.task_id);
  if (const Broken broken = check_lease(task, record.lease_id)) return broken;
  if (is_expired(task->story->expires_at, stamp)) return "lease must not be expired";
  const TaskState by_policy = task->failures >= task->retries ? TaskState::kFailed : TaskState::kWaiting;
  const TaskState next = record.next_state.value_or(by_policy);
  if (next != TaskState::kWaiting && next != TaskState::kFailed) return "next_state must be WAITING or FAILED";

  changing(*task);
  unplace(*task);
  end_attempt(*task, AttemptOutcome::kFailed, record.failure_reason, stamp);
  task->current().retried = next == TaskState::kWaiting;
  ++task->failures;
  set_reason(*task, record.failure_reason);
  if (next == TaskState::kFailed) {
    end_task(*task, TaskState::kFailed, stamp);
  } else {
    task->state = TaskState::kWaiting;
    task->not_before = record.not_before.value_or(stamp).ms;
    place(*task, stamp);
  }
  changed(*task);
  return nullptr;
}

Broken TaskBook::apply(const record::TaskCancelled& record, Instant /*stamp*/) {
  Task* task = find_mutable(record.task_id);
  if (task == nullptr) return "task must exist";

  const auto token = Token::parse(record.lease_id);
  changing(*task);
  Story& story = story_of(*task);
  Attempt* claimed = nullptr;
  for (Attempt& attempt : story.attempts) {
    if (token == attempt.token) claimed = &attempt;
  }
  if (claimed != nullptr) {
    changing(*claimed);
    ++claimed->late;
  } else {
    ++story.late_unknown;
  }
  changed(*task);
  return nullptr;
}

Broken TaskBook::apply(const record::LeaseExpired& record, Instant stamp) {
  Task* task = find_mutable(record.task_id);
  if (const Broken broken = check_lease(task, record.lease_id)) return broken;
  if (!is_expired(task->story->expires_at, stamp)) return "lease must be expired";
  expire(*task, stamp);
  return nullptr;
}

void TaskBook::expire(Task& task, Instant stamp) {
  changing(task);
  unplace(task);
  end_attempt(task, AttemptOutcome::kExpired, {}, stamp);
  task.state = TaskState::kWaiting;
  place(task, stamp);
  changed(task);
}

Broken TaskBook::apply(const record::TaskDead& record, Instant stamp) {
  Task* task = find_mutable(record.task_id);
  if (task == nullptr) return "task must exist";
  if (is_terminal(task->state)) return "task must not be terminal";

  changing(*task);
  unplace(*task);
  if (task->state == TaskState::kLeased) end_attempt(*task, AttemptOutcome::kKilled, record.reason, stamp);
  set_reason(*task, record.reason);
  end_task(*task, TaskState::kDead, stamp);
  changed(*task);
  return nullptr;
}

Broken TaskBook::apply(const record::QueuePaused& record, Instant /*stamp*/) {
  Queue& queue = queue_of(record.queue);
  if (queue.paused) return "queue must not be paused";
  queue.paused = true;
  common_.put_in(Entity::kPausedQueue, queue);
  return nullptr;
}

Broken TaskBook::apply(const record::QueueResumed& record, Instant /*stamp*/) {
  const Queue* found = find_queue(record.queue);
  if (found == nullptr || !found->paused) return "queue must be paused";
  Queue& queue = queue_of(record.queue);
  common_.take_out(Entity::kPausedQueue, queue);
  queue.paused = false;
  drop_if_empty(queue);
  return nullptr;
}

Broken TaskBook::forget_task(std::string_view task_id) {
  const Keepsake* const oldest = archive_.oldest();
  const bool is_it = oldest != nullptr && oldest->kind == Remembered::kTask && name_of(*oldest) == task_id;
  Task* task = is_it ? &static_cast<const Story*>(oldest)->task : find_mutable(task_id);
  if (task == nullptr) return "task must exist";
  if (!is_terminal(task->state) || !archive_.is_oldest(*task->story)) return "what is forgotten must be the oldest";
  archive_.drop(*task->story);
  changing(*task);
  for (Attempt& attempt : task->story->attempts) changing(attempt);
  unplace(*task);
  tasks_.remove(*task);
  if (task_found_ == task) task_found_ = nullptr;
  Queue& queue = *task->queue;
  Task::destroy(task);
  drop_if_empty(queue);
  return nullptr;
}

}  // namespace tenure
