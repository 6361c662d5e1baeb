// Everything the engine can be asked. What changes something is a request of one of the books; what only looks is a
// query, declared here. Either has one reply type.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/locks.h>
#include <tenure/tasks.h>
#include <tenure/work_lease.h>
#include "core/state.h"

namespace tenure {

struct GetTask {
  std::string_view task_id;
  using Reply = std::optional<TaskStatus>;
};
struct GetHistory {
  std::string_view task_id;
  using Reply = std::vector<TaskAttempt>;
};
struct ListTasks : TaskListing {
  using Reply = TaskPage;
};
struct ListQueues {
  Paging paging;
  using Reply = QueuePage;
};
struct ListWorkers {
  Paging paging;
  using Reply = WorkerPage;
};
struct InspectDomain {
  std::string_view domain;
  using Reply = std::optional<DomainStatus>;
};
struct ListBacklog {
  std::string_view domain;
  Paging paging;
  using Reply = OffsetPage;
};
struct ListFailedOffsets {
  std::string_view domain;
  Paging paging;
  using Reply = OffsetPage;
};
struct ListDone {
  std::string_view domain;
  Paging paging;
  using Reply = IntervalPage;
};
struct ListDomains {
  Paging paging;
  using Reply = DomainPage;
};
struct GetLock {
  LockName lock;
  using Reply = std::optional<LockStatus>;
};
struct ListLocks : LockListing {
  using Reply = LockPage;
};
// Waits for a task to end.
struct AwaitTask {
  std::string_view task_id;
  using Reply = std::optional<TaskStatus>;
};

template <class Request>
concept Query = requires { typename Request::Reply; };

// Asks the book that the request belongs to.
template <class Request>
auto decide(const State& state, const Request& request, const Moment& moment) {
  if constexpr (requires { state.tasks().decide(request, moment); }) {
    return state.tasks().decide(request, moment);
  } else if constexpr (requires { state.work().decide(request, moment); }) {
    return state.work().decide(request, moment);
  } else {
    return state.locks().decide(request, moment);
  }
}

template <class T>
struct ReplyOfVerdict;
template <class Reply>
struct ReplyOfVerdict<Verdict<Reply>> {
  using Type = Reply;
};

template <class Request>
struct ReplyTo : ReplyOfVerdict<decltype(decide(std::declval<const State&>(), std::declval<const Request&>(),
                                                std::declval<const Moment&>()))> {};
template <Query Request>
struct ReplyTo<Request> {
  using Type = typename Request::Reply;
};
template <class Request>
using ReplyOf = typename ReplyTo<Request>::Type;

}  // namespace tenure
