// The task book from and to a snapshot.
#include "base/hash.h"
#include "core/task_book.h"

namespace tenure {
namespace {

portrait::Story portrait_of(const Story& story) {
  portrait::Story to{.expires_at = story.expires_at,
                     .window_ends_at = story.window_ends_at,
                     .lease_time = story.lease_time,
                     .late_unknown = story.late_unknown};
  if (is_terminal(story.task.state)) to.kept = {story.kept_since, story.kept_order};
  if (story.has_result) to.result = story.result;
  if (story.has_reason) to.reason = story.reason;
  return to;
}

portrait::Task portrait_of(const Task& task) {
  portrait::Task to{.task_id = task.id(),
                    .number = task.number,
                    .queue = task.queue->name,
                    .state = task.state,
                    .priority = task.priority,
                    .created_at = Instant{task.created_at},
                    .window = Millis{task.window_ms},
                    .retry_policy = {task.retries, Millis{task.backoff_initial}, Millis{task.backoff_max}},
                    .attempts_max = task.attempts_max,
                    .attempt = task.attempt,
                    .failures = task.failures,
                    .payload = task.payload()};
  if (task.not_before != Task::kNoInstant) to.not_before = Instant{task.not_before};
  if (task.has_key) to.key = task.key();
  if (task.story != nullptr) to.story = portrait_of(*task.story);
  return to;
}

portrait::Attempt portrait_of(const Task& task, const Attempt& attempt) {
  return {.task_id = task.id(),
          .attempt = attempt.attempt,
          .extensions = attempt.extensions,
          .late = attempt.late,
          .outcome = attempt.outcome,
          .retried = attempt.retried,
          .token = attempt.token,
          .granted_at = attempt.granted_at,
          .ended_at = attempt.ended_at,
          .worker = attempt.worker,
          .reason = attempt.reason};
}

}  // namespace

void TaskBook::visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const {
  tasks_.visit_all([&](const Task& task) {
    visit(portrait_of(task));
    if (task.story == nullptr) return;
    for (const Attempt& attempt : task.story->attempts) visit(portrait_of(task, attempt));
  });
  for (const auto& [name, queue] : queues_) {
    if (queue->paused) visit(portrait::PausedQueue{name});
  }
  requests_.visit_portraits([&](portrait::Request to, const TaskAnswer& answer) {
    const auto* fences = reinterpret_cast<const char*>(answer.leases.data());
    if (!answer.task_id.empty()) to.task_id = answer.task_id;
    if (!answer.leases.empty()) to.leases = std::string_view(fences, answer.leases.size() * sizeof(Fence));
    visit(to);
  });
}

Broken TaskBook::load(const portrait::Task& from, Instant now) {
  if (find(from.task_id) != nullptr) return "task_id must not already exist";
  if (is_terminal(from.state) != (from.story && from.story->kept)) return "a task is kept when it has ended";
  if (from.state == TaskState::kLeased && !from.story) return "a lease must have its times";
  Task* task = Task::make(from.task_id, from.payload, from.key);
  task->number = from.number;
  task->queue = &queue_of(from.queue);
  task->state = from.state;
  task->priority = from.priority;
  task->created_at = from.created_at.ms;
  if (from.not_before) task->not_before = from.not_before->ms;
  task->window_ms = static_cast<std::uint32_t>(from.window.count());
  task->retries = from.retry_policy.retries;
  task->backoff_initial = from.retry_policy.backoff_initial.count();
  task->backoff_max = from.retry_policy.backoff_max.count();
  task->attempts_max = from.attempts_max;
  task->attempt = from.attempt;
  task->failures = from.failures;
  if (from.story) {
    Story& story = story_of(*task);
    story.expires_at = from.story->expires_at;
    story.window_ends_at = from.story->window_ends_at;
    story.lease_time = from.story->lease_time;
    story.late_unknown = from.story->late_unknown;
    story.has_result = from.story->result.has_value();
    story.result = from.story->result.value_or("");
    story.result_hash = story.has_result ? hash64(story.result) : 0;
    story.has_reason = from.story->reason.has_value();
    story.reason = from.story->reason.value_or("");
    if (from.story->kept) archive_.restore(story, *from.story->kept, footprint(*task));
  }
  tasks_.insert(*task, hash_of(from.task_id));
  if (from.key && !is_terminal(from.state)) {
    join_line(*task, *from.key);
    if (task->line != nullptr && task->number < task->line->head->number) lead_line(*task, now);
  }
  // A lease has its place when its attempt is here.
  if (from.state != TaskState::kLeased) place(*task, now);
  changed(*task);
  return nullptr;
}

// Tasks come in the order of their ids: one that was submitted earlier takes the lead of its key.
void TaskBook::lead_line(Task& task, Instant stamp) {
  Task& other = *task.line->head;
  const bool has_place = other.state != TaskState::kLeased;
  if (has_place) unplace(other);
  task.line->head = &task;
  if (has_place) place(other, stamp);
}

Broken TaskBook::load(const portrait::Attempt& from, Instant now) {
  Task* task = find_mutable(from.task_id);
  if (task == nullptr || task->story == nullptr) return "an attempt must have a task that has begun";
  if (from.outcome == AttemptOutcome::kLeased && task->state != TaskState::kLeased) return "task must be LEASED";
  Story& story = *task->story;
  const std::uint64_t before = footprint(*task);
  changing(*task);
  story.attempts.push_back({.task = task->number,
                            .attempt = from.attempt,
                            .extensions = from.extensions,
                            .late = from.late,
                            .outcome = from.outcome,
                            .retried = from.retried,
                            .token = from.token,
                            .granted_at = from.granted_at,
                            .ended_at = from.ended_at,
                            .worker = std::string(from.worker),
                            .reason = std::string(from.reason)});
  changed(*task);
  if (is_terminal(task->state)) archive_.grow(story, footprint(*task) - before);
  if (from.outcome == AttemptOutcome::kLeased) {
    hold_lease(*task);
    place(*task, now);
  }
  return nullptr;
}

Broken TaskBook::load(const portrait::PausedQueue& from) { return apply(record::QueuePaused{from.queue}, {}); }

Broken TaskBook::load(const portrait::Request& from) {
  TaskAnswer answer{.task_id = std::string(from.task_id.value_or("")), .leases = {}};
  ByteReader fences(from.leases.value_or(""));
  while (!fences.at_end()) answer.leases.push_back(Fence{fences.fixed64()});
  return requests_.restore(from, std::move(answer));
}

}  // namespace tenure
