// What time did to the names a request touches, and what only looks.
#include <algorithm>

#include "authority/engine.h"
#include "base/planted.h"
#include "core/cursor.h"

namespace tenure {
namespace {

// Leases that a request may have to expire in one go.
constexpr int kExpirySlice = 256;

}  // namespace

// Where nothing of a book is due, no name needs to be looked for.

void Engine::touch_task(std::string_view task_id) {
  if (state_->tasks().next_expiry() >= now_) return;
  if (const Task* task = state_->tasks().expired(task_id, now_)) commit(TaskBook::decide_expiry(*task));
}

int Engine::expire_in(std::string_view queue, int most) {
  int done = 0;
  for (; done < most; ++done) {
    const Task* task = state_->tasks().first_expired(queue, now_);
    if (task == nullptr) break;
    commit(TaskBook::decide_expiry(*task));
  }
  return done;
}

void Engine::touch_queues(absl::Span<const std::string_view> queues) {
  int expiries = kExpirySlice;  // if there are more, the rest is upkeep's
  std::uint64_t promotions = kPromotionSlice;
  for (const std::string_view queue : queues) {
    const Queue* found = state_->tasks().find_queue(queue);
    if (found == nullptr) continue;
    if (found->is_due(now_)) {
      expiries -= expire_in(queue, expiries);
      promotions -= state_->tasks().promote(queue, now_, promotions);
    }
    if (found->can_grant()) free_queue(queue);  // it is still there: time ends leases, and takes no task away
  }
}

void Engine::touch_domain(std::string_view domain) {
  if (state_->work().next_expiry() >= now_) return;
  if (const Domain* found = state_->work().expired(domain, now_)) commit(WorkBook::decide_expiry(*found));
}

void Engine::touch_lock(const LockName& lock) {
  const Instant at = now_ + (is_planted(PlantedBug::kLeaseExpiresEarly) ? Millis{50} : Millis{0});
  const bool is_session_over = !session_ends_.empty() && session_ends_.begin()->first <= now_;
  if (state_->locks().next_expiry() >= at && !is_session_over) return;
  const Lock* found = state_->locks().find(lock);
  if (found == nullptr) return;
  if (is_expired(found->expires_at, at)) {
    commit(LockBook::decide_expiry(*found));
  } else if (found->is_bound && is_over(found->session())) {
    commit(LockBook::decide_disconnection(*found));
  }
}

// --- queries ---

Result<std::optional<TaskStatus>> Engine::look(const GetTask& query) {
  const Task* task = state_->tasks().find(query.task_id);
  if (task == nullptr) return std::nullopt;
  return TaskBook::status(*task);
}

Result<std::vector<TaskAttempt>> Engine::look(const GetHistory& query) {
  return state_->tasks().history(query.task_id);
}

Result<std::optional<TaskStatus>> Engine::look(const AwaitTask& query) {
  const Task* task = state_->tasks().find(query.task_id);
  if (task == nullptr) {
    return fail_with(ErrorCode::kNoTask, "task '{}': expected one that exists, found none", query.task_id);
  }
  if (!is_terminal(task->state)) return std::nullopt;
  return TaskBook::status(*task);
}

Result<TaskPage> Engine::look(const ListTasks& query) { return state_->tasks().list(query); }

Result<QueuePage> Engine::look(const ListQueues& query) {
  auto page = state_->tasks().queues(query.paging);
  if (!page) return page;
  // What is due by now is neither delayed nor leased: the queues shown are brought up to date first.
  std::vector<std::string_view> shown;
  shown.reserve(page->queues.size());
  for (const auto& entry : page->queues) shown.emplace_back(entry.queue);
  touch_queues(shown);
  serve();
  return state_->tasks().queues(query.paging);
}

Result<WorkerPage> Engine::look(const ListWorkers& query) {
  // A lease whose time is over is nobody's.
  for (int i = 0; i < kExpirySlice; ++i) {
    const Task* task = state_->tasks().first_expired(now_);
    if (task == nullptr) break;
    commit(TaskBook::decide_expiry(*task));
  }
  serve();
  // The cursor is the name shown last behind a mark, since "0" is a name too.
  const Paging& paging = query.paging;
  const bool from_start = paging.cursor == "0";
  if (!from_start && !paging.cursor.starts_with('>')) return unknown_cursor(paging.cursor);
  WorkerPage page{.cursor = "0", .workers = {}};
  const auto& workers = workers_.by_name();
  auto next = from_start ? workers.begin() : workers.upper_bound(paging.cursor.substr(1));
  for (; next != workers.end(); ++next) {
    if (std::ssize(page.workers) == paging.count) {
      page.cursor = ">" + page.workers.back().worker;
      break;
    }
    const SeenWorkers::Worker& worker = *next->second;
    page.workers.push_back({worker.name, state_->tasks().leases_of(worker.name), worker.last});
  }
  return page;
}

Result<std::optional<DomainStatus>> Engine::look(const InspectDomain& query) {
  return state_->work().inspect(query.domain);
}

Result<OffsetPage> Engine::look(const ListBacklog& query) {
  return state_->work().list_backlog(query.domain, query.paging);
}

Result<OffsetPage> Engine::look(const ListFailedOffsets& query) {
  return state_->work().list_failed(query.domain, query.paging);
}

Result<IntervalPage> Engine::look(const ListDone& query) {
  return state_->work().list_done(query.domain, query.paging);
}

Result<DomainPage> Engine::look(const ListDomains& query) { return state_->work().list(query.paging); }

Result<std::optional<LockStatus>> Engine::look(const GetLock& query) {
  const Lock* lock = state_->locks().find(query.lock);
  if (lock == nullptr) return std::nullopt;
  LockStatus status = LockBook::status(*lock, now_);
  status.waiters = lock_waiters_.count(waiting_name(query.lock));
  return status;
}

Result<LockPage> Engine::look(const ListLocks& query) {
  for (int i = 0; i < kExpirySlice && end_one_session(); ++i) continue;
  serve();
  auto page = state_->locks().list(query, now_);
  if (!page) return page;
  for (LockStatus& status : page->locks) {
    status.waiters = lock_waiters_.count(waiting_name({status.domain, status.identifier, query.space}));
  }
  return page;
}

}  // namespace tenure
