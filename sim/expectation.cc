#include "expectation.h"

#include <limits>

#include "authority/validate.h"
#include "core/record_codec.h"

namespace tenure::sim {
namespace {

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

template <class Book>
std::optional<TaskStatus> status_of(const Book& book, std::string_view task_id) {
  const Task* task = book.find(task_id);
  return task == nullptr ? std::nullopt : std::optional(TaskBook::status(*task));
}

Result<std::optional<TaskStatus>> look(const State& state, const GetTask& r, const Moment& /*moment*/) {
  return status_of(state.tasks(), r.task_id);
}
Result<std::optional<TaskStatus>> look(const State& state, const AwaitTask& r, const Moment& /*moment*/) {
  auto status = status_of(state.tasks(), r.task_id);
  if (!status) return fail_with(ErrorCode::kNoTask, "task '{}': expected one that exists, found none", r.task_id);
  return is_terminal(status->state) ? status : std::nullopt;
}
Result<std::vector<TaskAttempt>> look(const State& state, const GetHistory& r, const Moment& /*moment*/) {
  return state.tasks().history(r.task_id);
}
Result<TaskPage> look(const State& state, const ListTasks& r, const Moment& /*moment*/) {
  return state.tasks().list(r);
}
Result<QueuePage> look(const State& state, const ListQueues& r, const Moment& /*moment*/) {
  return state.tasks().queues(r.paging);
}
Result<std::optional<DomainStatus>> look(const State& state, const InspectDomain& r, const Moment& /*moment*/) {
  return state.work().inspect(r.domain);
}
Result<OffsetPage> look(const State& state, const ListBacklog& r, const Moment& /*moment*/) {
  return state.work().list_backlog(r.domain, r.paging);
}
Result<OffsetPage> look(const State& state, const ListFailedOffsets& r, const Moment& /*moment*/) {
  return state.work().list_failed(r.domain, r.paging);
}
Result<IntervalPage> look(const State& state, const ListDone& r, const Moment& /*moment*/) {
  return state.work().list_done(r.domain, r.paging);
}
Result<DomainPage> look(const State& state, const ListDomains& r, const Moment& /*moment*/) {
  return state.work().list(r.paging);
}
Result<std::optional<LockStatus>> look(const State& state, const GetLock& r, const Moment& moment) {
  const Lock* lock = state.locks().find(r.lock);
  return lock == nullptr ? std::nullopt : std::optional(LockBook::status(*lock, moment.now));
}
Result<LockPage> look(const State& state, const ListLocks& r, const Moment& moment) {
  return state.locks().list(r, moment.now);
}
Result<Done> look(const State& /*state*/, const JoinSession& /*r*/, const Moment& /*moment*/) { return Done{}; }

template <class R>
Expectation decided(const State& state, const R& request, const Moment& moment) {
  auto verdict = decide(state, request, moment);
  Expectation expectation{std::move(verdict.reply), {}};
  for (const Record& record : verdict.records) encode(record, expectation.records);
  return expectation;
}

Expectation expect_lock(const State& state, const LockAcquire& request, const Case& of, const Moment& moment) {
  // A request that is known has its answer, whatever has become of its session.
  const bool is_known = request.request_id && state.locks().remembers(*request.request_id);
  if (!request.session || is_known) return decided(state, request, moment);
  if (!of.is_joined) {
    return {Result<std::optional<LockGrant>>(fail_with(
                ErrorCode::kInvalid, "session '{}': expected one that was joined, found none", *request.session)),
            {}};
  }
  LockAcquire bound = request;
  bound.grace = of.grace;
  return decided(state, bound, moment);
}

}  // namespace

void prepare(State& state, const Request& request, Instant now) {
  if (const auto* lease = std::get_if<LeaseRequest>(&request)) {
    for (const std::string_view queue : lease->queues) state.tasks().promote(queue, now, kAll);
  } else if (const auto* list = std::get_if<ListTasks>(&request)) {
    state.tasks().promote(list->queue, now, kAll);
  } else if (std::holds_alternative<ListQueues>(request)) {
    const auto page = state.tasks().queues({.count = 1000});
    for (const auto& entry : page->queues) state.tasks().promote(entry.queue, now, kAll);
  }
}

Expectation expect(const State& state, const Case& of, const Settings& settings, const Moment& moment) {
  return std::visit(
      [&]<class R>(const R& request) -> Expectation {
        if constexpr (!std::is_same_v<R, JoinSession>) {
          if (auto fault = fault_in(request, settings)) {
            return {Result<ReplyOf<R>>(tl::unexpected(std::move(*fault))), {}};
          }
        }
        if constexpr (std::is_same_v<R, LockAcquire>) {
          return expect_lock(state, request, of, moment);
        } else if constexpr (Query<R>) {
          return {look(state, request, moment), {}};
        } else {
          return decided(state, request, moment);
        }
      },
      of.letter->request);
}

}  // namespace tenure::sim
