#include "wire/request_writer.h"

namespace tenure::wire {
namespace {

// What requests have unless told otherwise; verbs take their defaults from the same structs.
const Submission kPlainSubmission{};
const LeaseRequest kPlainLease{};
const LockRequest kPlainLock{};
const Paging kFirstPage{};

RequestWriter begin(std::string_view verb) {
  RequestWriter writer;
  writer.word(verb);
  return writer;
}

RequestWriter& add_paging(RequestWriter& writer, const Paging& paging) {
  return writer.option("COUNT", paging.count, kFirstPage.count).option("CURSOR", paging.cursor, kFirstPage.cursor);
}

RequestWriter page_of_domain(std::string_view verb, std::string_view domain, const Paging& paging) {
  RequestWriter writer = begin(verb);
  writer.word(domain);
  return add_paging(writer, paging);
}

RequestWriter begin_lock(std::string_view verb, const LockName& lock) {
  RequestWriter writer = begin(verb);
  writer.word(lock.domain).word(lock.identifier);
  return writer;
}

RequestWriter& add_space(RequestWriter& writer, std::string_view space) {
  return writer.option("SPACE", space, kDefaultSpace);
}

RequestWriter lease(const LeaseRequest& request) {
  RequestWriter writer = begin("TASK.LEASE");
  writer.word(request.worker).word(request.queues.size());
  for (const std::string_view queue : request.queues) writer.word(queue);
  writer.option("COUNT", request.count, kPlainLease.count)
      .option("LEASE", request.lease, kPlainLease.lease)
      .option("REQUEST", request.request_id);
  return writer;
}

RequestWriter acquire(const AcquireLock& acquire) {
  const LockRequest& request = acquire.request;
  RequestWriter writer = begin_lock("LOCK.ACQUIRE", request.lock);
  writer.word(request.owner)
      .option("LEASE", request.lease, kPlainLock.lease)
      .option("REQUEST", request.request_id)
      .flag("BOUND", acquire.is_bound);
  return add_space(writer, request.lock.space);
}

}  // namespace

void append_word(std::string& request, std::string_view word) {
  request.append(1, '$').append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
}

RequestWriter& RequestWriter::word(std::string_view text) {
  ++count_;
  append_word(words_, text);
  return *this;
}

std::string RequestWriter::finish(std::size_t words_to_come) const {
  std::string request = "*" + std::to_string(count_ + words_to_come) + "\r\n";
  request += words_;
  return request;
}

// --- tasks ---

std::string write_request(const Submission& request) {
  RequestWriter writer = begin("TASK.SUBMIT");
  writer.word(request.queue)
      .word(request.payload)
      .option("ID", request.id)
      .option("REQUEST", request.request_id)
      .option("WINDOW", request.window, kPlainSubmission.window)
      .option("RETRIES", request.retries, kPlainSubmission.retries);
  if (request.backoff_initial != kPlainSubmission.backoff_initial ||
      request.backoff_max != kPlainSubmission.backoff_max) {
    writer.word("BACKOFF").word(request.backoff_initial).word(request.backoff_max);
  }
  return writer.option("ATTEMPTS", request.attempts)
      .option("DELAY", request.delay, kPlainSubmission.delay)
      .option("PRIORITY", request.priority, kPlainSubmission.priority)
      .option("KEY", request.key)
      .finish();
}

std::string write_request(const LeaseTasks& request) { return lease(request.request).finish(); }
std::string write_waiting(const LeaseTasks& request) { return lease(request.request).word("BLOCK").finish(1); }

std::string write_request(const TaskExtension& request) {
  return begin("TASK.EXTEND").word(request.task_id).word(request.lease_id).option("LEASE", request.lease).finish();
}

std::string write_request(const Completion& request) {
  return begin("TASK.COMPLETE").word(request.task_id).word(request.lease_id).option("RESULT", request.result).finish();
}

std::string write_request(const FailureReport& request) {
  RequestWriter writer = begin("TASK.FAIL");
  writer.word(request.task_id).word(request.lease_id).word(request.reason);
  return writer.flag("FINAL", request.final).finish();
}

std::string write_request(const TaskKill& request) {
  return begin("TASK.KILL").word(request.task_id).word(request.reason).finish();
}

std::string write_request(const Resubmission& request) {
  return begin("TASK.RESUBMIT").word(request.task_id).option("REQUEST", request.request_id).finish();
}

std::string write_request(const GetTask& request) { return begin("TASK.GET").word(request.task_id).finish(); }
std::string write_request(const GetHistory& request) { return begin("TASK.HISTORY").word(request.task_id).finish(); }

std::string write_request(const AwaitTaskEnd& request) {
  return begin("TASK.WAIT").word(request.request.task_id).finish();
}
std::string write_waiting(const AwaitTaskEnd& request) {
  return begin("TASK.WAIT").word(request.request.task_id).word("BLOCK").finish(1);
}

std::string write_request(const ListTasks& request) {
  RequestWriter writer = begin("TASK.LIST");
  writer.word(request.queue);
  if (request.state) writer.word("STATE").word(to_string(*request.state));
  return add_paging(writer, request.paging).finish();
}

std::string write_request(const ListQueues& request) {
  RequestWriter writer = begin("QUEUE.LIST");
  return add_paging(writer, request.paging).finish();
}

std::string write_request(const QueuePause& request) {
  return begin(request.paused ? "QUEUE.PAUSE" : "QUEUE.RESUME").word(request.queue).finish();
}

std::string write_request(const ListWorkers& request) {
  RequestWriter writer = begin("WORKER.LIST");
  return add_paging(writer, request.paging).finish();
}

// --- work leases ---

std::string write_request(const WorkRequest& request) {
  return begin("WORK.ACQUIRE").word(request.domain).word(request.offset).option("LEASE", request.lease).finish();
}

std::string write_request(const WorkSuccess& request) {
  return begin("WORK.SUCCEED").word(request.domain).word(request.token).option("REQUEST", request.request_id).finish();
}

std::string write_request(const WorkFailure& request) {
  RequestWriter writer = begin("WORK.FAIL");
  writer.word(request.domain).word(request.token);
  return writer.option("REASON", request.reason).option("REQUEST", request.request_id).finish();
}

std::string write_request(const WorkExtension& request) {
  return begin("WORK.EXTEND").word(request.domain).word(request.token).word("LEASE").word(request.lease).finish();
}

std::string write_request(const InspectDomain& request) { return begin("WORK.INSPECT").word(request.domain).finish(); }

std::string write_request(const ListBacklog& request) {
  return page_of_domain("WORK.BACKLOG", request.domain, request.paging).finish();
}
std::string write_request(const ListFailedOffsets& request) {
  return page_of_domain("WORK.FAILED", request.domain, request.paging).finish();
}
std::string write_request(const ListDone& request) {
  return page_of_domain("WORK.DONE", request.domain, request.paging).finish();
}

std::string write_request(const WorkTrim& request) {
  return begin("WORK.TRIM").word(request.domain).word(request.below).finish();
}

std::string write_request(const ListDomains& request) {
  RequestWriter writer = begin("WORK.LIST");
  return add_paging(writer, request.paging).finish();
}

// --- locks ---

std::string write_request(const AcquireLock& request) { return acquire(request).finish(); }
std::string write_waiting(const AcquireLock& request) { return acquire(request).word("WAIT").finish(1); }

std::string write_request(const LockGiveBack& request) {
  RequestWriter writer = begin_lock("LOCK.RELEASE", request.lock);
  writer.word(request.token).option("REQUEST", request.request_id);
  return add_space(writer, request.lock.space).finish();
}

std::string write_request(const LockExtension& request) {
  RequestWriter writer = begin_lock("LOCK.EXTEND", request.lock);
  writer.word(request.token).option("LEASE", request.lease);
  return add_space(writer, request.lock.space).finish();
}

std::string write_request(const LockForce& request) {
  RequestWriter writer = begin_lock("LOCK.FORCE", request.lock);
  writer.option("FENCE", request.fence);
  return add_space(writer, request.lock.space).finish();
}

std::string write_request(const GetLock& request) {
  RequestWriter writer = begin_lock("LOCK.GET", request.lock);
  return add_space(writer, request.lock.space).finish();
}

std::string write_request(const ListLocks& request) {
  RequestWriter writer = begin("LOCK.LIST");
  if (request.domain) writer.word(*request.domain);
  add_paging(writer, request.paging);
  return add_space(writer, request.space).finish();
}

// --- the server ---

std::string write_request(const Hello& request) {
  RequestWriter writer = begin("HELLO");
  if (request.version) writer.word(*request.version);
  if (request.credentials) {
    writer.word("AUTH").word(request.credentials->user.value_or("default")).word(request.credentials->password);
  }
  return writer.option("SETNAME", request.name).finish();
}

std::string write_request(const JoinSession& request) {
  return begin("CLIENT").word("SESSION").word(request.session).option("GRACE", request.grace).finish();
}

std::string write_request(const Ping& request) {
  RequestWriter writer = begin("PING");
  if (request.message) writer.word(*request.message);
  return writer.finish();
}

std::string write_request(const Reset& /*request*/) { return begin("RESET").finish(); }
std::string write_request(const TellTime& /*request*/) { return begin("TIME").finish(); }
std::string write_request(const MakeSnapshot& /*request*/) { return begin("SNAPSHOT").finish(); }

}  // namespace tenure::wire
