#include "authority/faces.h"

#include <memory>
#include <stop_token>

#include "authority/reception.h"

namespace tenure {
namespace {

template <class Request>
Result<ReplyOf<Request>> ask(Engine& engine, const Request& request) {
  Reception<ReplyOf<Request>> reception;
  auto reply = engine.ask_now(request, [&] { return reception.callback(); });
  return reply ? std::move(*reply) : reception.wait();
}

// Throws what went wrong, or gives the reply.
template <class Reply>
Reply expect(Result<Reply> reply, std::string_view domain = {}) {
  if (!reply) raise(reply.error(), domain);
  return std::move(*reply);
}

template <class Reply>
Reply expect_lock(Result<Reply> reply, const LockName& lock) {
  if (!reply) raise_lock(reply.error(), lock.domain, lock.identifier);
  return std::move(*reply);
}

template <class Request>
Result<ReplyOf<Request>> ask_and_wait(Engine& engine, const Request& request, Millis block, std::stop_token stop) {
  if (block == Millis{0}) return ask(engine, request);
  const Engine::Call call(engine);  // `give_up` may still be at work when the answer is there
  Reception<ReplyOf<Request>> reception;
  const Ticket ticket = engine.wait(request, block, reception.callback());
  const std::stop_callback give_up(std::move(stop), [&] { engine.cancel(ticket); });
  return reception.wait();
}

template <class Request>
std::future<ReplyOf<Request>> ask_later(Engine& engine, const Request& request) {
  auto promise = std::make_unique<std::promise<ReplyOf<Request>>>();
  auto future = promise->get_future();
  engine.ask(request, [promise = std::move(promise)](Result<ReplyOf<Request>> reply) {
    try {
      promise->set_value(expect(std::move(reply)));
    } catch (const Error&) {
      promise->set_exception(std::current_exception());
    }
  });
  return future;
}

}  // namespace

// --- tasks ---

Submitted TaskFace::submit(const Submission& task) { return expect(ask(engine_, task)); }

std::future<Submitted> TaskFace::submit_later(const Submission& task) { return ask_later(engine_, task); }

std::vector<Submitted> TaskFace::submit_many(const std::vector<Submission>& tasks) {
  const Engine::Call call(engine_);
  std::vector<Reception<Submitted>> receptions(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) engine_.put(tasks[i], receptions[i].callback());
  engine_.hand_over();
  std::vector<Result<Submitted>> replies;
  replies.reserve(tasks.size());
  for (auto& reception : receptions) replies.push_back(reception.wait());
  std::vector<Submitted> submitted;
  submitted.reserve(tasks.size());
  for (auto& reply : replies) submitted.push_back(expect(std::move(reply)));
  return submitted;
}

std::vector<TaskLease> TaskFace::lease(const LeaseRequest& request, Millis block, std::stop_token stop) {
  return expect(ask_and_wait(engine_, request, block, std::move(stop)));
}

std::optional<Extended> TaskFace::extend(const TaskExtension& request) { return expect(ask(engine_, request)); }

Report TaskFace::complete(const Completion& request) { return expect(ask(engine_, request)); }

std::future<Report> TaskFace::complete_later(const Completion& request) { return ask_later(engine_, request); }

std::optional<TaskState> TaskFace::fail(const FailureReport& request) { return expect(ask(engine_, request)); }

void TaskFace::kill(const TaskKill& request) { expect(ask(engine_, request)); }

Submitted TaskFace::resubmit(const Resubmission& request) { return expect(ask(engine_, request)); }

std::optional<TaskStatus> TaskFace::get(std::string_view task_id) { return expect(ask(engine_, GetTask{task_id})); }

std::vector<TaskAttempt> TaskFace::history(std::string_view task_id) {
  return expect(ask(engine_, GetHistory{task_id}));
}

std::optional<TaskStatus> TaskFace::wait(std::string_view task_id, Millis block, std::stop_token stop) {
  return expect(ask_and_wait(engine_, AwaitTask{task_id}, block, std::move(stop)));
}

TaskPage TaskFace::list(const TaskListing& request) { return expect(ask(engine_, ListTasks{request})); }

QueuePage TaskFace::queues(const Paging& paging) { return expect(ask(engine_, ListQueues{paging})); }

void TaskFace::pause(std::string_view queue) { expect(ask(engine_, QueuePause{queue, true})); }

void TaskFace::resume(std::string_view queue) { expect(ask(engine_, QueuePause{queue, false})); }

WorkerPage TaskFace::workers(const Paging& paging) { return expect(ask(engine_, ListWorkers{paging})); }

// --- work leases ---

AcquireResult WorkFace::try_acquire(const WorkRequest& request) {
  return expect(ask(engine_, request), request.domain);
}

SucceedResult WorkFace::succeed(const WorkSuccess& request) { return expect(ask(engine_, request)); }

FailResult WorkFace::fail(const WorkFailure& request) { return expect(ask(engine_, request)); }

WorkExtended WorkFace::extend(const WorkExtension& request) { return expect(ask(engine_, request)); }

void WorkFace::trim(std::string_view domain, Offset below) {
  const Engine::Call call(engine_);
  while (!expect(ask(engine_, WorkTrim{domain, below})).complete) continue;
}

std::optional<DomainStatus> WorkFace::inspect(std::string_view domain) {
  return expect(ask(engine_, InspectDomain{domain}));
}

OffsetPage WorkFace::backlog(std::string_view domain, const Paging& paging) {
  return expect(ask(engine_, ListBacklog{domain, paging}));
}

OffsetPage WorkFace::failed(std::string_view domain, const Paging& paging) {
  return expect(ask(engine_, ListFailedOffsets{domain, paging}));
}

IntervalPage WorkFace::done(std::string_view domain, const Paging& paging) {
  return expect(ask(engine_, ListDone{domain, paging}));
}

DomainPage WorkFace::domains(const Paging& paging) { return expect(ask(engine_, ListDomains{paging})); }

// --- locks ---

std::optional<LockGrant> LockFace::acquire(const LockRequest& request, Millis wait, std::stop_token stop) {
  return expect_lock(ask_and_wait(engine_, LockAcquire{request}, wait, std::move(stop)), request.lock);
}

std::uint32_t LockFace::release(const LockRelease& request) {
  return expect_lock(ask(engine_, LockGiveBack{request}), request.lock);
}

bool LockFace::force(const LockName& lock, std::optional<Fence> fence) {
  return expect_lock(ask(engine_, LockForce{lock, fence}), lock);
}

bool LockFace::is_locked(const LockName& lock) { return get(lock).has_value(); }

LockExtended LockFace::extend(const LockExtension& request) { return expect_lock(ask(engine_, request), request.lock); }

std::optional<LockStatus> LockFace::get(const LockName& lock) { return expect_lock(ask(engine_, GetLock{lock}), lock); }

LockPage LockFace::list(const LockListing& request) { return expect(ask(engine_, ListLocks{request})); }

}  // namespace tenure
