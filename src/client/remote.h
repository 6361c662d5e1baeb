// The three faces over a switchboard: what faces.h is over an engine. Each call becomes a request, and its reply an
// answer or an exception.
//
// A call uses nothing of its face once it has begun but what it has copied: a client may be destroyed while its calls
// are under way, which ends them.
#pragma once

#include <memory>
#include <utility>

#include <tenure/locks.h>
#include <tenure/tasks.h>
#include <tenure/work_lease.h>
#include "client/session_keeper.h"
#include "client/switchboard.h"

namespace tenure::client {

// Where to ask, and how long a call may take. Immutable.
struct Desk {
  std::shared_ptr<Switchboard> board;
  Millis timeout;
};

// Thread-safe.
class RemoteTasks final : public Tasks {
 public:
  explicit RemoteTasks(Desk desk) : desk_(std::move(desk)) {}

  Submitted submit(const Submission& task) override;
  std::future<Submitted> submit_later(const Submission& task) override;
  std::vector<Submitted> submit_many(const std::vector<Submission>& tasks) override;
  std::vector<TaskLease> lease(const LeaseRequest& request, Millis block, std::stop_token stop) override;
  std::optional<Extended> extend(const TaskExtension& request) override;
  Report complete(const Completion& request) override;
  std::future<Report> complete_later(const Completion& request) override;
  std::optional<TaskState> fail(const FailureReport& request) override;
  void kill(const TaskKill& request) override;
  Submitted resubmit(const Resubmission& request) override;
  std::optional<TaskStatus> get(std::string_view task_id) override;
  std::vector<TaskAttempt> history(std::string_view task_id) override;
  std::optional<TaskStatus> wait(std::string_view task_id, Millis block, std::stop_token stop) override;
  TaskPage list(const TaskListing& request) override;
  QueuePage queues(const Paging& paging) override;
  void pause(std::string_view queue) override;
  void resume(std::string_view queue) override;
  WorkerPage workers(const Paging& paging) override;

 private:
  const Desk desk_;
};

// Thread-safe.
class RemoteWork final : public WorkLeases {
 public:
  explicit RemoteWork(Desk desk) : desk_(std::move(desk)) {}

  AcquireResult try_acquire(const WorkRequest& request) override;
  SucceedResult succeed(const WorkSuccess& request) override;
  FailResult fail(const WorkFailure& request) override;
  WorkExtended extend(const WorkExtension& request) override;
  void trim(std::string_view domain, Offset below) override;
  std::optional<DomainStatus> inspect(std::string_view domain) override;
  OffsetPage backlog(std::string_view domain, const Paging& paging) override;
  OffsetPage failed(std::string_view domain, const Paging& paging) override;
  IntervalPage done(std::string_view domain, const Paging& paging) override;
  DomainPage domains(const Paging& paging) override;

 private:
  const Desk desk_;
};

// Thread-safe.
class RemoteLocks final : public Locks, public SessionKeeper {
 public:
  explicit RemoteLocks(Desk desk) : desk_(std::move(desk)) {}

  std::optional<LockGrant> acquire(const LockRequest& request, Millis wait, std::stop_token stop) override;
  std::uint32_t release(const LockRelease& request) override;
  bool force(const LockName& lock, std::optional<Fence> fence) override;
  bool is_locked(const LockName& lock) override;
  LockExtended extend(const LockExtension& request) override;
  std::optional<LockStatus> get(const LockName& lock) override;
  LockPage list(const LockListing& request) override;

  std::string own_session(Millis grace) override;
  std::unique_ptr<Subscription> watch(std::string_view session, std::function<void()> lost) override;

 private:
  const Desk desk_;
};

}  // namespace tenure::client
