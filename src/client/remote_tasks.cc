#include "authority/validate.h"
#include "client/asking.h"

namespace tenure::client {
namespace {

// A submission as it is sent, with its request id.
std::string submission(Submission task, const RequestId& id) {
  task.request_id = id.text();
  return wire::write_request(task);
}

// With an id that nobody else has used, what "exists" is what this very call has made before.
Submitted submitted(const Answer& answer, bool is_own_id) {
  auto reply = expect_answer<Submitted>(answer);
  if (is_own_id) reply.created = true;
  return reply;
}

template <class Reply, class Read>
std::future<Reply> ask_later(const Desk& desk, const std::shared_ptr<Call>& call, Read read) {
  auto promise = std::make_shared<std::promise<Reply>>();
  auto future = promise->get_future();
  call->done = [promise, read](const Answer& answer) {
    try {
      promise->set_value(read(answer));
    } catch (const Error&) {
      promise->set_exception(std::current_exception());
    }
  };
  desk.board->ask(call);
  return future;
}

void check_block(Millis block) {
  if (const auto fault = fault_in_wait("block", block)) raise_remote(*fault);
}

}  // namespace

Submitted RemoteTasks::submit(const Submission& task) {
  const Desk desk = desk_;
  const RequestId id(desk, task.request_id);
  return submitted(ask(desk, make_call(desk, submission(task, id))), id.is_own());
}

std::future<Submitted> RemoteTasks::submit_later(const Submission& task) {
  const RequestId id(desk_, task.request_id);
  return ask_later<Submitted>(desk_, make_call(desk_, submission(task, id)),
                              [is_own = id.is_own()](const Answer& answer) { return submitted(answer, is_own); });
}

std::vector<Submitted> RemoteTasks::submit_many(const std::vector<Submission>& tasks) {
  std::vector<std::future<Submitted>> futures;
  futures.reserve(tasks.size());
  for (const Submission& task : tasks) futures.push_back(submit_later(task));
  for (const auto& future : futures) future.wait();
  std::vector<Submitted> all;
  all.reserve(tasks.size());
  for (auto& future : futures) all.push_back(future.get());
  return all;
}

std::vector<TaskLease> RemoteTasks::lease(const LeaseRequest& request, Millis block, std::stop_token stop) {
  const Desk desk = desk_;
  check_block(block);
  const RequestId id(desk, request.request_id);
  wire::LeaseTasks lease{.request = request};
  lease.request.request_id = id.text();
  if (block == Millis{0}) return expect(desk, lease);
  const Answer answer = ask_and_wait(desk, wire::write_waiting(lease), block, true, std::move(stop));
  // A wait that was given up before it was sent has nothing.
  if (answer.reply && answer.reply->kind == wire::RespReply::Kind::kNull) return {};
  return expect_answer<std::vector<TaskLease>>(answer);
}

std::optional<Extended> RemoteTasks::extend(const TaskExtension& request) { return expect(Desk(desk_), request); }

Report RemoteTasks::complete(const Completion& request) { return expect(Desk(desk_), request); }

std::future<Report> RemoteTasks::complete_later(const Completion& request) {
  return ask_later<Report>(desk_, make_call(desk_, wire::write_request(request)),
                           [](const Answer& answer) { return expect_answer<Report>(answer); });
}

std::optional<TaskState> RemoteTasks::fail(const FailureReport& request) { return expect(Desk(desk_), request); }

void RemoteTasks::kill(const TaskKill& request) { expect(Desk(desk_), request); }

Submitted RemoteTasks::resubmit(const Resubmission& request) {
  const Desk desk = desk_;
  const RequestId id(desk, request.request_id);
  Resubmission again = request;
  again.request_id = id.text();
  return submitted(ask(desk, make_call(desk, wire::write_request(again))), id.is_own());
}

std::optional<TaskStatus> RemoteTasks::get(std::string_view task_id) { return expect(Desk(desk_), GetTask{task_id}); }

std::vector<TaskAttempt> RemoteTasks::history(std::string_view task_id) {
  return expect(Desk(desk_), GetHistory{task_id});
}

std::optional<TaskStatus> RemoteTasks::wait(std::string_view task_id, Millis block, std::stop_token stop) {
  const Desk desk = desk_;
  check_block(block);
  const wire::AwaitTaskEnd await{.request = {task_id}};
  if (block == Millis{0}) return expect(desk, await);
  return expect_answer<std::optional<TaskStatus>>(
      ask_and_wait(desk, wire::write_waiting(await), block, false, std::move(stop)));
}

TaskPage RemoteTasks::list(const TaskListing& request) { return expect(Desk(desk_), ListTasks{request}); }

QueuePage RemoteTasks::queues(const Paging& paging) { return expect(Desk(desk_), ListQueues{paging}); }

void RemoteTasks::pause(std::string_view queue) { expect(Desk(desk_), QueuePause{queue, true}); }

void RemoteTasks::resume(std::string_view queue) { expect(Desk(desk_), QueuePause{queue, false}); }

WorkerPage RemoteTasks::workers(const Paging& paging) { return expect(Desk(desk_), ListWorkers{paging}); }

}  // namespace tenure::client
