#include "authority/figures.h"

#include "authority/engine.h"

namespace tenure {

void Tally::count(const Record& record) {
  std::visit(
      [this]<class R>(const R& fact) {
        if constexpr (std::is_same_v<R, record::TaskCreated>) {
          ++tasks_submitted;
        } else if constexpr (std::is_same_v<R, record::LeaseGranted>) {
          ++leases_granted.tasks;
        } else if constexpr (std::is_same_v<R, record::LeaseExpired>) {
          ++leases_expired.tasks;
        } else if constexpr (std::is_same_v<R, record::TaskCompleted>) {
          ++tasks_completed;
        } else if constexpr (std::is_same_v<R, record::TaskFailed>) {
          ++(fact.next_state == TaskState::kWaiting ? retries.tasks : tasks_failed);
        } else if constexpr (std::is_same_v<R, record::TaskDead>) {
          ++tasks_dead;
        } else if constexpr (std::is_same_v<R, record::TaskCancelled>) {
          ++late_reports;
        } else if constexpr (std::is_same_v<R, record::WorkAcquired>) {
          ++leases_granted.work;
        } else if constexpr (std::is_same_v<R, record::WorkExpired>) {
          ++leases_expired.work;
        } else if constexpr (std::is_same_v<R, record::WorkRetried>) {
          ++retries.work;
        } else if constexpr (std::is_same_v<R, record::LockGranted>) {
          ++leases_granted.locks;
        } else if constexpr (std::is_same_v<R, record::LockExpired>) {
          ++leases_expired.locks;
        }
      },
      record);
}

EngineFigures Engine::figures(std::uint64_t queues_shown) const {
  EngineFigures figures;
  const MutexLock lock(mutex_);
  const TaskBook& tasks = state_->tasks();
  figures.tally = tally_;
  figures.tasks = tasks.totals();
  figures.queues = tasks.queues({.count = static_cast<std::int64_t>(queues_shown)})->queues;
  figures.queue_count = tasks.queue_count();
  figures.domains = state_->work().domains();
  figures.locks = state_->locks().locks();
  figures.bytes = {.tasks = tasks.bytes(), .work = state_->work().bytes(), .locks = state_->locks().bytes()};
  figures.fence = state_->fence().value;
  figures.digest_checks = state_->digest_checks();
  figures.lease_waiters = lease_waiters_.size();
  figures.lock_waiters = lock_waiters_.size();
  figures.task_waiters = task_waiters_.size();
  return figures;
}

void Engine::watch_locks(LockWatch* watch) {
  const MutexLock lock(mutex_);
  if (is_leading_ || watch == nullptr) state_->locks().watch(watch);
}

}  // namespace tenure
