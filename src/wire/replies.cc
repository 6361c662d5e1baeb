#include "wire/replies.h"

namespace tenure::wire {
namespace {

// A verdict, and what it comes with.
template <class... Values>
void write_verdict(RespWriter& out, std::string_view verdict, const Values&... values) {
  out.array(1 + sizeof...(values));
  out.value(verdict);
  (out.value(values), ...);
}

void write_hint(RespWriter& out, std::string_view none, std::string_view some, std::optional<Offset> next) {
  if (next) {
    write_verdict(out, some, *next);
  } else {
    write_verdict(out, none);
  }
}

// The next cursor and the page's entries, each written by write(entry).
template <class Entries, class Write>
void write_page(RespWriter& out, std::string_view cursor, const Entries& entries, const Write& write) {
  out.array(2);
  out.value(cursor);
  out.array(entries.size());
  for (const auto& entry : entries) write(entry);
}

void write_lease(RespWriter& out, const TaskLease& lease) {
  out.map(9);
  out.field("task_id", lease.task_id);
  out.field("lease_id", lease.lease_id);
  out.field("fence", lease.fence);
  out.field("attempt", lease.attempt);
  out.field("expires_at", lease.expires_at);
  out.field("remaining_ms", lease.remaining);
  out.field("window_ends_at", lease.window_ends_at);
  out.field("queue", lease.queue);
  out.field("payload", lease.payload);
}

void write_attempt(RespWriter& out, const TaskAttempt& attempt) {
  out.map(10);
  out.field("attempt", attempt.attempt);
  out.field("worker", attempt.worker);
  out.field("lease_id", attempt.lease_id.empty() ? std::nullopt : std::optional<std::string_view>(attempt.lease_id));
  out.field("fence", attempt.fence);
  out.field("granted_at", attempt.granted_at);
  out.field("ended_at", attempt.ended_at);
  out.field("outcome", to_string(attempt.outcome));
  out.field("reason", attempt.reason);
  out.field("extensions", attempt.extensions);
  out.field("late", attempt.late);
}

void write_queue(RespWriter& out, const QueuePage::Entry& queue) {
  out.map(8);
  out.field("queue", queue.queue);
  out.field("waiting", queue.waiting);
  out.field("delayed", queue.delayed);
  out.field("leased", queue.leased);
  out.field("completed", queue.completed);
  out.field("failed", queue.failed);
  out.field("dead", queue.dead);
  out.field("paused", queue.paused);
}

void write_lock(RespWriter& out, const LockStatus& lock) {
  out.map(9);
  out.field("domain", lock.domain);
  out.field("identifier", lock.identifier);
  out.field("owner", lock.owner);
  out.field("fence", lock.fence);
  out.field("holds", lock.holds);
  out.field("granted_at", lock.granted_at);
  out.field("expires_at", lock.expires_at);
  out.field("remaining_ms", lock.remaining);
  out.field("waiters", lock.waiters);
}

}  // namespace

// --- tasks ---

void write_reply(RespWriter& out, Done /*reply*/) { out.simple("OK"); }

void write_reply(RespWriter& out, const Submitted& reply) {
  out.array(2);
  out.value(reply.task_id);
  out.value(reply.created ? "CREATED" : "EXISTING");
}

void write_reply(RespWriter& out, const std::vector<TaskLease>& reply) {
  out.array(reply.size());
  for (const TaskLease& lease : reply) write_lease(out, lease);
}

void write_reply(RespWriter& out, const std::optional<Extended>& reply) {
  if (!reply) return write_verdict(out, "CANCELLED");
  write_verdict(out, "EXTENDED", reply->expires_at, reply->remaining);
}

void write_reply(RespWriter& out, Report reply) { out.simple(reply == Report::kCommitted ? "COMMITTED" : "CANCELLED"); }

void write_reply(RespWriter& out, std::optional<TaskState> reply) {
  if (!reply) return write_verdict(out, "CANCELLED");
  write_verdict(out, "COMMITTED", to_string(*reply));
}

void write_reply(RespWriter& out, const std::optional<TaskStatus>& reply) {
  if (!reply) return out.null();
  out.map(16);
  out.field("task_id", reply->task_id);
  out.field("queue", reply->queue);
  out.field("state", to_string(reply->state));
  out.field("attempt", reply->attempt);
  out.field("failures", reply->failures);
  out.field("priority", reply->priority);
  out.field("key", reply->key);
  out.field("created_at", reply->created_at);
  out.field("not_before", reply->not_before);
  out.field("fence", reply->fence);
  out.field("lease_id", reply->lease_id);
  out.field("worker", reply->worker);
  out.field("expires_at", reply->expires_at);
  out.field("result", reply->result);
  out.field("reason", reply->reason);
  out.field("late", reply->late);
}

void write_reply(RespWriter& out, const std::vector<TaskAttempt>& reply) {
  out.array(reply.size());
  for (const TaskAttempt& attempt : reply) write_attempt(out, attempt);
}

void write_reply(RespWriter& out, const TaskPage& reply) {
  write_page(out, reply.cursor, reply.tasks, [&](const TaskPage::Entry& task) {
    out.map(3);
    out.field("task_id", task.task_id);
    out.field("state", to_string(task.state));
    out.field("attempt", task.attempt);
  });
}

void write_reply(RespWriter& out, const QueuePage& reply) {
  write_page(out, reply.cursor, reply.queues, [&](const QueuePage::Entry& queue) { write_queue(out, queue); });
}

void write_reply(RespWriter& out, const WorkerPage& reply) {
  write_page(out, reply.cursor, reply.workers, [&](const WorkerPage::Entry& worker) {
    out.map(3);
    out.field("worker", worker.worker);
    out.field("leases", worker.leases);
    out.field("last_seen", worker.last_seen);
  });
}

// --- work leases ---

void write_reply(RespWriter& out, const AcquireResult& reply) {
  if (const auto* lease = std::get_if<Acquired>(&reply)) {
    write_verdict(out, lease->already ? "ALREADY_ACQUIRED" : "ACQUIRED", lease->token, lease->fence, lease->acquired_at,
                  lease->retry_count, lease->remaining);
  } else if (const auto* enqueued = std::get_if<Enqueued>(&reply)) {
    write_verdict(out, "ENQUEUED", enqueued->position);
  } else {
    write_verdict(out, std::holds_alternative<AlreadyProcessed>(reply) ? "ALREADY_PROCESSED" : "ALREADY_FAILED");
  }
}

void write_reply(RespWriter& out, SucceedResult reply) { write_hint(out, "NO_BACKLOG", "NEXT_HINT", reply.next); }

void write_reply(RespWriter& out, const FailResult& reply) {
  if (const auto* retry = std::get_if<RetryScheduled>(&reply)) {
    write_verdict(out, "RETRY_SCHEDULED", retry->retry_count);
  } else {
    write_hint(out, "GIVE_UP_NO_BACKLOG", "GIVE_UP_NEXT_HINT", std::get<GivenUp>(reply).next);
  }
}

void write_reply(RespWriter& out, const WorkExtended& reply) {
  write_verdict(out, "EXTENDED", reply.expires_at, reply.remaining);
}

void write_reply(RespWriter& out, const std::optional<DomainStatus>& reply) {
  if (!reply) return out.null();
  out.map(12);
  out.field("domain", reply->domain);
  out.field("state", std::string_view(reply->in_flight ? "IN_FLIGHT" : "IDLE"));
  out.field("offset", reply->offset);
  out.field("fence", reply->fence);
  out.field("retry_count", reply->retry_count);
  out.field("acquired_at", reply->acquired_at);
  out.field("expires_at", reply->expires_at);
  out.field("backlog", reply->backlog);
  out.field("backlog_head", reply->backlog_head);
  out.field("processed", reply->processed);
  out.field("failed", reply->failed);
  out.field("trimmed_below", reply->trimmed_below);
}

void write_reply(RespWriter& out, const OffsetPage& reply) {
  write_page(out, reply.cursor, reply.offsets, [&](Offset offset) { out.value(offset); });
}

void write_reply(RespWriter& out, const IntervalPage& reply) {
  write_page(out, reply.cursor, reply.intervals, [&](Interval interval) {
    out.array(2);
    out.value(interval.first);
    out.value(interval.last);
  });
}

void write_reply(RespWriter& out, const DomainPage& reply) {
  write_page(out, reply.cursor, reply.domains, [&](const std::string& domain) { out.value(domain); });
}

void write_reply(RespWriter& out, Trimmed /*reply*/) { out.simple("OK"); }

// --- locks ---

void write_reply(RespWriter& out, const std::optional<LockGrant>& reply) {
  if (!reply) return out.null();
  out.array(4);
  out.value(reply->token);
  out.value(reply->fence);
  out.value(reply->remaining);
  out.value(reply->holds);
}

void write_reply(RespWriter& out, std::uint32_t holds) { write_verdict(out, holds == 0 ? "RELEASED" : "HELD", holds); }

void write_reply(RespWriter& out, const LockExtended& reply) {
  out.array(2);
  out.value(reply.fence);
  out.value(reply.remaining);
}

void write_reply(RespWriter& out, bool forced) { out.value(forced); }

void write_reply(RespWriter& out, const std::optional<LockStatus>& reply) {
  if (!reply) return out.null();
  write_lock(out, *reply);
}

void write_reply(RespWriter& out, const LockPage& reply) {
  write_page(out, reply.cursor, reply.locks, [&](const LockStatus& lock) { write_lock(out, lock); });
}

void hide_secrets(std::optional<TaskStatus>& reply) {
  if (reply) reply->lease_id.reset();
}

void hide_secrets(std::vector<TaskAttempt>& reply) {
  for (TaskAttempt& attempt : reply) attempt.lease_id.clear();
}

}  // namespace tenure::wire
