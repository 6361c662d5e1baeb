// Where a task stands: in a place of its queue's, in its key's line, under its lease.
#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "core/order.h"
#include "core/task_book.h"

namespace tenure {
namespace {

// Priority 9 first, then the order of submission.
std::uint64_t rank_of(const Task& task) { return std::uint64_t{9U - task.priority} << 60 | task.number; }

}  // namespace

// --- queues ---

std::uint64_t TaskBook::footprint(const Queue& queue) { return sizeof(Queue) + 2 * queue.name.size(); }

Queue& TaskBook::queue_of(std::string_view name) {
  if (Queue* const found = look_for_queue(name)) return *found;
  Queue& queue = *queues_.emplace(std::string(name), std::make_unique<Queue>()).first->second;
  queue.name = name;
  queue.order = ++orders_;
  bytes_ += footprint(queue);
  return queue;
}

void TaskBook::drop_if_empty(Queue& queue) {
  if (common_.is_bare() || !queue.is_empty()) return;
  expiries_.disarm(queue);
  bytes_ -= footprint(queue);
  queue_found_ = nullptr;
  queues_.erase(queues_.find(queue.name));
}

// --- places ---

void TaskBook::place(Task& task, Instant stamp) {
  if (common_.is_bare()) return;
  Queue& queue = *task.queue;
  if (is_terminal(task.state)) {
    task.place = Place::kEnded;
    put_in_order(queue.ended(task.state), task.number, &task);
    ++total_ended(task.state);
  } else if (task.state == TaskState::kLeased) {
    task.place = Place::kLeased;
    ++totals_.leased;
    queue.leased.arm(*task.story, task.story->expires_at, task.current().token.fence.value);
    arm(queue);
  } else if (task.line != nullptr && task.line->head != &task) {
    task.place = Place::kParked;
    queue.parked[{task.line->order, task.number}] = &task;
    const bool is_delayed = task.not_before > stamp.ms;
    if (is_delayed) queue.parked_delayed.insert({task.not_before, task.number});
    ++(is_delayed ? totals_.delayed : totals_.waiting);
  } else if (task.not_before > stamp.ms) {
    task.place = Place::kDelayed;
    queue.delayed[{task.not_before, task.number}] = &task;
    ++totals_.delayed;
  } else {
    task.place = Place::kReady;
    ++totals_.waiting;
    if (is_loading_ && task.line == nullptr) {  // the head of a line may be replaced before all are known
      arrivals_.push_back({rank_of(task), &queue, &task});
    } else {
      put_in_order(queue.ready, rank_of(task), &task);
    }
  }
}

void TaskBook::unplace(Task& task) {
  if (common_.is_bare()) return;
  Queue& queue = *task.queue;
  switch (task.place) {
    case Place::kDelayed:
      queue.delayed.erase({task.not_before, task.number});
      --totals_.delayed;
      break;
    case Place::kParked:
      queue.parked.erase({task.line->order, task.number});
      --(queue.parked_delayed.erase({task.not_before, task.number}) > 0 ? totals_.delayed : totals_.waiting);
      break;
    case Place::kReady:
      take_from_order(queue.ready, rank_of(task));
      --totals_.waiting;
      break;
    case Place::kLeased:
      queue.leased.disarm(*task.story);
      --totals_.leased;
      break;
    default:  // kEnded
      take_from_order(queue.ended(task.state), task.number);
      --total_ended(task.state);
      break;
  }
}

void TaskBook::arm(Queue& queue) {
  if (!queue.alarm.armed || queue.leased.next() < queue.alarm.at) {
    expiries_.arm(queue, queue.leased.next(), queue.order);
  }
}

std::uint64_t& TaskBook::total_ended(TaskState state) {
  if (state == TaskState::kCompleted) return totals_.completed;
  return state == TaskState::kFailed ? totals_.failed : totals_.dead;
}

// In a long backlog whatever is leased next lies in memory that nobody has touched for long. While one lease is
// answered the task of the next but one is fetched, and the table's line of the next, whose hash is there by now.
void TaskBook::fetch_next(const Queue& queue) const {
  auto next = queue.ready.begin();
  if (next == queue.ready.end()) return;
  tasks_.fetch(next->second->table_hash);
  if (++next == queue.ready.end()) return;
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kBytes = sizeof(Task) + 2 * kLine;  // with a short payload
  const char* const begin = reinterpret_cast<const char*>(next->second);
  for (const char* line = begin; line < begin + kBytes; line += kLine) __builtin_prefetch(line);
}

void TaskBook::begin_loading(std::uint64_t most) {
  // What is beyond grows as it comes: nobody's word is good for more memory than this.
  constexpr std::uint64_t kReservedMax = std::uint64_t{1} << 24;
  tasks_.reserve(std::min(most, kReservedMax));
  is_loading_ = true;
}

void TaskBook::finish_loading() {
  is_loading_ = false;
  std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) { return a.rank < b.rank; });
  for (const Arrival& arrival : arrivals_) {
    auto& ready = arrival.queue->ready;
    ready.insert(ready.end(), {arrival.rank, arrival.task});
  }
  arrivals_ = {};
  archive_.sort();
}

// --- lines of a key ---

void TaskBook::join_line(Task& task, std::string_view key) {
  if (common_.is_bare()) return;
  const auto hash = static_cast<std::uint32_t>(hash64(key, task.queue->order));
  KeyLine* line =
      lines_.find(hash, [&](const KeyLine& other) { return other.queue == task.queue && other.key == key; });
  if (line == nullptr) {
    line = new KeyLine;
    line->queue = task.queue;
    line->order = ++orders_;
    line->head = &task;
    line->key = key;
    lines_.insert(*line, hash);
  }
  ++line->tasks;
  task.line = line;
}

// The task has ended and is in no place of its queue's: the next of its key, if any, becomes the head.
void TaskBook::leave_line(Task& task, Instant stamp) {
  KeyLine* line = task.line;
  if (line == nullptr) return;
  task.line = nullptr;
  if (--line->tasks == 0) {
    lines_.remove(*line);
    delete line;
  } else if (line->head == &task) {
    Task* next = task.queue->parked.lower_bound({line->order, 0})->second;
    unplace(*next);
    line->head = next;
    place(*next, stamp);
  }
}

// --- leases ---

void TaskBook::hold_lease(Task& task) {
  Story& story = *task.story;
  leases_.insert(story, hash_of(task.current().token.fence));
  if (common_.is_bare()) return;
  const std::string& name = task.current().worker;
  story.lessee = lessee(name);
  if (story.lessee == nullptr) {
    story.lessee = new Lessee;
    story.lessee->name = name;
    lessees_.insert(*story.lessee, hash_of(name));
  }
  ++story.lessee->leases;
}

void TaskBook::give_up_lease(Story& story) {
  leases_.remove(story);
  Lessee* const lessee = std::exchange(story.lessee, nullptr);
  if (lessee == nullptr || --lessee->leases > 0) return;
  lessees_.remove(*lessee);
  delete lessee;
}

}  // namespace tenure
