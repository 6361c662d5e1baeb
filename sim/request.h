// What callers ask the authority, owned, and what they are answered: letters may be under way for long, and arrive
// twice.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "authority/requests.h"
#include "base/result.h"

namespace tenure::sim {

// Makes the connection that asks one of the session's, as the protocol's CLIENT SESSION does.
struct JoinSession {
  std::string_view session;
  std::optional<Millis> grace{};
  using Reply = Done;
};

using Request =
    std::variant<Submission, LeaseRequest, TaskExtension, Completion, FailureReport, TaskKill, Resubmission, QueuePause,
                 WorkRequest, WorkSuccess, WorkFailure, WorkExtension, WorkTrim, LockAcquire, LockGiveBack,
                 LockExtension, LockForce, GetTask, GetHistory, ListTasks, ListQueues, InspectDomain, ListBacklog,
                 ListFailedOffsets, ListDone, ListDomains, GetLock, ListLocks, AwaitTask, JoinSession>;

using Reply =
    std::variant<Result<Submitted>, Result<std::vector<TaskLease>>, Result<std::optional<Extended>>, Result<Report>,
                 Result<std::optional<TaskState>>, Result<Done>, Result<AcquireResult>, Result<SucceedResult>,
                 Result<FailResult>, Result<WorkExtended>, Result<Trimmed>, Result<std::optional<LockGrant>>,
                 Result<std::uint32_t>, Result<LockExtended>, Result<bool>, Result<std::optional<TaskStatus>>,
                 Result<std::vector<TaskAttempt>>, Result<TaskPage>, Result<QueuePage>,
                 Result<std::optional<DomainStatus>>, Result<OffsetPage>, Result<IntervalPage>, Result<DomainPage>,
                 Result<std::optional<LockStatus>>, Result<LockPage>>;

// Whether a request of this kind may wait for its answer.
template <class R>
inline constexpr bool kMayWait =
    std::is_same_v<R, LeaseRequest> || std::is_same_v<R, LockAcquire> || std::is_same_v<R, AwaitTask>;

// Keeps the texts that a request borrows. Not copied: the requests point into it.
class Texts {
 public:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  std::deque<std::string> texts_;
};

// A request under way. Immutable once it is sent.
struct Letter {
  std::shared_ptr<Texts> texts;
  Request request;
  Millis block{0};         // how long it waits for an answer that is not empty
  std::uint64_t call = 0;  // of a program that it is for, or whose grant it gives back; see CallLaw
  bool gives_back = false;
};

// One line each: what is asked, and what is answered. Two replies that say the same have the same text.
std::string text_of(const Request& request);
std::string text_of(const Reply& reply);

// The error, if it is one.
const Failure* failure_in(const Reply& reply);

// The request id, if it has one.
std::optional<std::string_view> request_id_of(const Request& request);

}  // namespace tenure::sim
