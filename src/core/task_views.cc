// What can be read of the task book, and what time asks of it.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
#include "core/cursor.h"
#include "core/task_book.h"

namespace tenure {

// What is decided of a task is applied to it next.
const Task* TaskBook::find(std::string_view task_id) const {
  if (task_found_ != nullptr && task_found_->id() == task_id) return task_found_;
  const Task* const found = find(task_id, hash_of(task_id));
  if (found != nullptr) task_found_ = found;
  return found;
}

const Task* TaskBook::find(std::string_view task_id, std::uint32_t hash) const {
  return tasks_.find(hash, [&](const Task& task) { return task.id() == task_id; });
}

const Story* TaskBook::lease(Fence fence) const {
  return leases_.find(hash_of(fence), [&](const Story& story) { return story.task.current().token.fence == fence; });
}

Lessee* TaskBook::lessee(std::string_view name) const {
  return lessees_.find(hash_of(name), [&](const Lessee& other) { return other.name == name; });
}

// Most ask for the queue that the last one asked for.
Queue* TaskBook::look_for_queue(std::string_view name) const {
  if (queue_found_ != nullptr && equals_short(queue_found_->name, name)) return queue_found_;
  const auto found = queues_.find(name);
  if (found == queues_.end()) return nullptr;
  queue_found_ = found->second.get();
  return queue_found_;
}

bool TaskBook::can_grant(std::string_view queue) const {
  const Queue* found = find_queue(queue);
  return found != nullptr && found->can_grant();
}

// --- time ---

Task* TaskBook::first_expired(Queue& queue, Instant now) {
  Story* story = queue.leased.first_due(now, [](const Story& lease) { return lease.expires_at; });
  return story == nullptr ? nullptr : &story->task;
}

const Task* TaskBook::first_expired(std::string_view queue, Instant now) {
  Queue* const found = look_for_queue(queue);
  return found == nullptr ? nullptr : first_expired(*found, now);
}

const Task* TaskBook::first_expired(Instant now) {
  const Task* task = nullptr;
  expiries_.first_due(now, [&](Queue& queue) {
    task = first_expired(queue, now);
    return queue.leased.next();
  });
  return task;
}

const Task* TaskBook::expired(std::string_view task_id, Instant now) const {
  const Task* task = find(task_id);
  const bool is_due = task != nullptr && task->state == TaskState::kLeased && is_expired(task->story->expires_at, now);
  return is_due ? task : nullptr;
}

std::uint64_t TaskBook::promote(std::string_view queue, Instant now, std::uint64_t most) {
  Queue* const found = look_for_queue(queue);
  if (found == nullptr) return 0;
  std::uint64_t left = most;
  auto& delayed = found->delayed;
  auto& parked = found->parked_delayed;
  for (; left > 0 && !delayed.empty() && delayed.begin()->first.first <= now.ms; --left) {
    Task& task = *delayed.begin()->second;
    unplace(task);
    place(task, now);
  }
  for (; left > 0 && !parked.empty() && parked.begin()->first <= now.ms; --left) {
    parked.erase(parked.begin());
    --totals_.delayed;
    ++totals_.waiting;
  }
  return most - left;
}

Instant TaskBook::next_promotion(std::string_view queue) const {
  const Queue* found = find_queue(queue);
  return found == nullptr || found->delayed.empty() ? kNever : Instant{found->delayed.begin()->first.first};
}

// --- views ---

TaskStatus TaskBook::status(const Task& task) {
  TaskStatus status{.task_id = std::string(task.id()),
                    .queue = task.queue->name,
                    .state = task.state,
                    .attempt = task.attempt,
                    .failures = task.failures,
                    .priority = task.priority,
                    .key = {},
                    .created_at = Instant{task.created_at},
                    .not_before = {},
                    .fence = {},
                    .lease_id = {},
                    .worker = {},
                    .expires_at = {},
                    .result = {},
                    .reason = {}};
  if (task.has_key) status.key = std::string(task.key());
  if (task.not_before != Task::kNoInstant) status.not_before = Instant{task.not_before};
  if (task.story == nullptr) return status;
  const Story& story = *task.story;
  if (task.state == TaskState::kLeased) {
    status.fence = task.current().token.fence;
    status.lease_id = task.current().token.text();
    status.worker = task.current().worker;
    status.expires_at = story.expires_at;
  }
  if (story.has_result) status.result = story.result;
  if (story.has_reason) status.reason = story.reason;
  status.late = story.late_unknown;
  for (const Attempt& attempt : story.attempts) status.late += attempt.late;
  return status;
}

Result<std::vector<TaskAttempt>> TaskBook::history(std::string_view task_id) const {
  const Task* task = find(task_id);
  if (task == nullptr) return fail_with(ErrorCode::kNoTask, "task '{}': expected one that exists, found none", task_id);
  std::vector<TaskAttempt> history;
  if (task->story == nullptr) return history;
  for (const Attempt& attempt : task->story->attempts) {
    TaskAttempt told{.attempt = attempt.attempt,
                     .worker = attempt.worker,
                     .lease_id = attempt.token.text(),
                     .fence = attempt.token.fence,
                     .granted_at = attempt.granted_at,
                     .ended_at = {},
                     .outcome = attempt.outcome,
                     .reason = {},
                     .extensions = attempt.extensions,
                     .late = attempt.late};
    if (attempt.outcome != AttemptOutcome::kLeased) told.ended_at = attempt.ended_at;
    if (attempt.outcome == AttemptOutcome::kFailed || attempt.outcome == AttemptOutcome::kKilled) {
      told.reason = attempt.reason;
    }
    history.push_back(std::move(told));
  }
  return history;
}

namespace {

// A queue is listed place by place, in the order that most tasks take: so one that moves on meanwhile is seen twice
// rather than missed. A cursor is the place and the key of what was shown last.
enum Section : std::uint64_t { kDelayed, kParked, kReady, kLeased, kCompleted, kFailed, kDead, kSections };

using Key = std::pair<std::uint64_t, std::uint64_t>;

void set_key(std::uint64_t& key, Key from) { key = from.first; }
template <class A, class B>
void set_key(std::pair<A, B>& key, Key from) {
  key = {static_cast<A>(from.first), static_cast<B>(from.second)};
}
Key get_key(std::uint64_t key) { return {key, 0}; }
template <class A, class B>
Key get_key(std::pair<A, B> key) {
  return {static_cast<std::uint64_t>(key.first), static_cast<std::uint64_t>(key.second)};
}

const Task& task_at(const Task* task) { return *task; }
const Task& task_at(const Story* story) { return story->task; }

bool shows(std::uint64_t section, std::optional<TaskState> state) {
  if (!state) return true;
  if (section == kLeased) return *state == TaskState::kLeased;
  if (section == kCompleted) return *state == TaskState::kCompleted;
  if (section == kFailed) return *state == TaskState::kFailed;
  if (section == kDead) return *state == TaskState::kDead;
  return *state == TaskState::kWaiting;
}

// Fills a page from one place after another.
class Lister {
 public:
  explicit Lister(const TaskListing& request) : request_(request) {}

  // Adds the tasks of one place that come behind `last` (all, if null). False when the page is full.
  template <class Map>
  bool add(std::uint64_t section, const Map& map, const Key* last) {
    typename Map::key_type from{};
    if (last) set_key(from, *last);
    for (auto next = last ? map.upper_bound(from) : map.begin(); next != map.end(); ++next) {
      if (std::ssize(page_.tasks) == request_.paging.count) return false;
      const Task& task = task_at(next->second);
      page_.tasks.push_back({std::string(task.id()), task.state, task.attempt});
      const Key key = get_key(next->first);
      page_.cursor = cursor_text<3>({section + 1, key.first, key.second});
    }
    return true;
  }

  TaskPage finish(bool at_end) {
    if (at_end) page_.cursor = "0";
    return std::move(page_);
  }

 private:
  const TaskListing& request_;
  TaskPage page_;
};

}  // namespace

Result<TaskPage> TaskBook::list(const TaskListing& request) const {
  const auto cursor = parse_cursor<3>(request.paging.cursor);
  if (!cursor) return tl::unexpected(cursor.error());
  if (*cursor && ((**cursor)[0] == 0 || (**cursor)[0] > kSections)) return unknown_cursor(request.paging.cursor);
  Lister lister(request);
  const Queue* queue = find_queue(request.queue);
  if (queue == nullptr) return lister.finish(true);

  std::uint64_t section = *cursor ? (**cursor)[0] - 1 : 0;
  const Key shown = *cursor ? Key{(**cursor)[1], (**cursor)[2]} : Key{};
  const Key* last = *cursor ? &shown : nullptr;
  for (; section < kSections; ++section, last = nullptr) {
    if (!shows(section, request.state)) continue;
    const bool room = section == kDelayed     ? lister.add(section, queue->delayed, last)
                      : section == kParked    ? lister.add(section, queue->parked, last)
                      : section == kReady     ? lister.add(section, queue->ready, last)
                      : section == kLeased    ? lister.add(section, queue->leased.map(), last)
                      : section == kCompleted ? lister.add(section, queue->completed, last)
                      : section == kFailed    ? lister.add(section, queue->failed, last)
                                              : lister.add(section, queue->dead, last);
    if (!room) return lister.finish(false);
  }
  return lister.finish(true);
}

Result<QueuePage> TaskBook::queues(const Paging& paging) const {
  // The cursor is the name shown last behind a mark, since "0" is a name too.
  const bool from_start = paging.cursor == "0";
  if (!from_start && !paging.cursor.starts_with('>')) return unknown_cursor(paging.cursor);
  QueuePage page{.cursor = "0", .queues = {}};
  auto next = from_start ? queues_.begin() : queues_.upper_bound(paging.cursor.substr(1));
  for (; next != queues_.end(); ++next) {
    if (std::ssize(page.queues) == paging.count) {
      page.cursor = ">" + page.queues.back().queue;
      break;
    }
    const Queue& queue = *next->second;
    page.queues.push_back({.queue = queue.name,
                           .waiting = queue.ready.size() + queue.parked.size() - queue.parked_delayed.size(),
                           .delayed = queue.delayed.size() + queue.parked_delayed.size(),
                           .leased = queue.leased.map().size(),
                           .completed = queue.completed.size(),
                           .failed = queue.failed.size(),
                           .dead = queue.dead.size(),
                           .paused = queue.paused});
  }
  return page;
}

std::uint64_t TaskBook::leases_of(std::string_view worker) const {
  const Lessee* found = lessee(worker);
  return found == nullptr ? 0 : found->leases;
}

}  // namespace tenure
