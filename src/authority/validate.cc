#include "authority/validate.h"

#include <algorithm>

#include "base/limits.h"

namespace tenure {
namespace {

Checker& check_lock(Checker& check, const LockName& lock) {
  return check.lock_name("domain", lock.domain).lock_name("identifier", lock.identifier);
}

Checker& check_paging(Checker& check, const Paging& paging) { return check.range("count", paging.count, 1, kCountMax); }

std::optional<Failure> fault_in_name(std::string_view what, std::string_view value) {
  Checker check;
  return check.name(what, value).fault();
}

std::optional<Failure> fault_in_domain_page(std::string_view domain, const Paging& paging) {
  Checker check;
  return check_paging(check.name("domain", domain), paging).fault();
}

std::optional<Failure> fault_in_page(const Paging& paging) {
  Checker check;
  return check_paging(check, paging).fault();
}

}  // namespace

std::optional<Failure> fault_in(const Submission& request, const Settings& settings) {
  Checker check;
  check.name("queue", request.queue)
      .payload("payload", request.payload, settings.payload_bytes_max)
      .name("id", request.id)
      .name("request id", request.request_id)
      .lease("window", request.window)
      .range("retries", request.retries, 0, kRetriesMax)
      .range("backoff initial", request.backoff_initial.count(), 0, kDelayMax.count())
      .range("backoff max", request.backoff_max.count(), 0, kDelayMax.count())
      .range("backoff initial", request.backoff_initial.count(), 0, request.backoff_max.count());
  if (request.attempts) check.range("attempts", *request.attempts, 1, kRetriesMax);
  check.range("delay", request.delay.count(), 0, kDelayMax.count());
  check.range("priority", request.priority, 0, 9);
  return check.name("key", request.key).fault();
}

std::optional<Failure> fault_in(const LeaseRequest& request, const Settings& /*settings*/) {
  Checker check;
  check.name("worker", request.worker).range("number of queues", std::ssize(request.queues), 1, kCountMax);
  for (const std::string_view queue : request.queues) check.name("queue", queue);
  return check.range("count", request.count, 1, kCountMax)
      .lease("lease", request.lease)
      .name("request id", request.request_id)
      .fault();
}

std::optional<Failure> fault_in(const TaskExtension& request, const Settings& /*settings*/) {
  Checker check;
  check.name("task id", request.task_id).token("lease id", request.lease_id);
  if (request.lease) check.lease("lease", *request.lease);
  return check.fault();
}

std::optional<Failure> fault_in(const Completion& request, const Settings& settings) {
  Checker check;
  return check.name("task id", request.task_id)
      .token("lease id", request.lease_id)
      .payload("result", request.result.value_or(std::string_view{}), settings.payload_bytes_max)
      .fault();
}

std::optional<Failure> fault_in(const FailureReport& request, const Settings& /*settings*/) {
  Checker check;
  return check.name("task id", request.task_id)
      .token("lease id", request.lease_id)
      .reason("reason", request.reason)
      .fault();
}

std::optional<Failure> fault_in(const TaskKill& request, const Settings& /*settings*/) {
  Checker check;
  return check.name("task id", request.task_id).reason("reason", request.reason).fault();
}

std::optional<Failure> fault_in(const Resubmission& request, const Settings& /*settings*/) {
  Checker check;
  return check.name("task id", request.task_id).name("request id", request.request_id).fault();
}

std::optional<Failure> fault_in(const QueuePause& request, const Settings& /*settings*/) {
  return fault_in_name("queue", request.queue);
}

std::optional<Failure> fault_in(const WorkRequest& request, const Settings& /*settings*/) {
  Checker check;
  check.name("domain", request.domain).offset("offset", request.offset);
  if (request.lease) check.lease("lease", *request.lease);
  return check.fault();
}

std::optional<Failure> fault_in(const WorkSuccess& request, const Settings& /*settings*/) {
  Checker check;
  return check.name("domain", request.domain)
      .token("token", request.token)
      .name("request id", request.request_id)
      .fault();
}

std::optional<Failure> fault_in(const WorkFailure& request, const Settings& /*settings*/) {
  Checker check;
  return check.name("domain", request.domain)
      .token("token", request.token)
      .reason("reason", request.reason.value_or(std::string_view{}))
      .name("request id", request.request_id)
      .fault();
}

std::optional<Failure> fault_in(const WorkExtension& request, const Settings& /*settings*/) {
  Checker check;
  return check.name("domain", request.domain).token("token", request.token).lease("lease", request.lease).fault();
}

std::optional<Failure> fault_in(const WorkTrim& request, const Settings& /*settings*/) {
  Checker check;
  return check.name("domain", request.domain).offset("below", request.below).fault();
}

std::optional<Failure> fault_in(const LockAcquire& request, const Settings& /*settings*/) {
  Checker check;
  return check_lock(check, request.lock)
      .name("owner", request.owner)
      .lease("lease", request.lease)
      .name("request id", request.request_id)
      .name("session", request.session)
      .name("space", request.lock.space)
      .fault();
}

std::optional<Failure> fault_in(const LockGiveBack& request, const Settings& /*settings*/) {
  Checker check;
  return check_lock(check, request.lock)
      .token("token", request.token)
      .name("request id", request.request_id)
      .name("space", request.lock.space)
      .fault();
}

std::optional<Failure> fault_in(const LockExtension& request, const Settings& /*settings*/) {
  Checker check;
  check_lock(check, request.lock).token("token", request.token);
  if (request.lease) check.lease("lease", *request.lease);
  return check.name("space", request.lock.space).fault();
}

std::optional<Failure> fault_in(const LockForce& request, const Settings& /*settings*/) {
  Checker check;
  return check_lock(check, request.lock).name("space", request.lock.space).fault();
}

std::optional<Failure> fault_in(const GetTask& request, const Settings& /*settings*/) {
  return fault_in_name("task id", request.task_id);
}

std::optional<Failure> fault_in(const GetHistory& request, const Settings& /*settings*/) {
  return fault_in_name("task id", request.task_id);
}

std::optional<Failure> fault_in(const AwaitTask& request, const Settings& /*settings*/) {
  return fault_in_name("task id", request.task_id);
}

std::optional<Failure> fault_in(const ListTasks& request, const Settings& /*settings*/) {
  Checker check;
  return check_paging(check.name("queue", request.queue), request.paging).fault();
}

std::optional<Failure> fault_in(const ListQueues& request, const Settings& /*settings*/) {
  return fault_in_page(request.paging);
}

std::optional<Failure> fault_in(const ListWorkers& request, const Settings& /*settings*/) {
  return fault_in_page(request.paging);
}

std::optional<Failure> fault_in(const InspectDomain& request, const Settings& /*settings*/) {
  return fault_in_name("domain", request.domain);
}

std::optional<Failure> fault_in(const ListBacklog& request, const Settings& /*settings*/) {
  return fault_in_domain_page(request.domain, request.paging);
}

std::optional<Failure> fault_in(const ListFailedOffsets& request, const Settings& /*settings*/) {
  return fault_in_domain_page(request.domain, request.paging);
}

std::optional<Failure> fault_in(const ListDone& request, const Settings& /*settings*/) {
  return fault_in_domain_page(request.domain, request.paging);
}

std::optional<Failure> fault_in(const ListDomains& request, const Settings& /*settings*/) {
  return fault_in_page(request.paging);
}

std::optional<Failure> fault_in(const GetLock& request, const Settings& /*settings*/) {
  Checker check;
  return check_lock(check, request.lock).name("space", request.lock.space).fault();
}

std::optional<Failure> fault_in(const ListLocks& request, const Settings& /*settings*/) {
  Checker check;
  if (request.domain) check.lock_name("domain", *request.domain);
  return check_paging(check, request.paging).name("space", request.space).fault();
}

std::optional<Failure> fault_in(const Settings& settings) {
  // A frame of the journal holds a payload and more.
  constexpr std::int64_t kPayloadMax = std::int64_t{512} << 20;
  Checker check;
  check.range("retention time", settings.retention_time.count(), 0, kNever.ms);
  const auto payload = static_cast<std::int64_t>(std::min(settings.payload_bytes_max, std::uint64_t{kNever.ms}));
  return check.range("payload bytes max", payload, 0, kPayloadMax).fault();
}

std::optional<Failure> fault_in_wait(std::string_view what, Millis block) {
  Checker check;
  return check.range(what, block.count(), 0, kLeaseMax.count()).fault();
}

}  // namespace tenure
