// Requests and replies as lines of text.
#include <algorithm>
#include <concepts>

#include <fmt/format.h>

#include "request.h"

namespace tenure::sim {
namespace {

// Collects words and named values. One thread.
class Line {
 public:
  explicit Line(std::string_view verb) : text_(verb) {}

  Line& word(std::string_view word) {
    if (!text_.empty()) text_ += ' ';
    text_ += word;
    return *this;
  }
  Line& add(std::string_view name, std::string_view value) {
    word(name) += '=';
    // Long payloads are shown by their size and first byte.
    if (value.size() > 60) {
      fmt::format_to(std::back_inserter(text_), "{}*{}", value[0], value.size());
    } else {
      text_ += value;
    }
    return *this;
  }
  Line& add(std::string_view name, Millis value) { return number(name, value.count()); }
  Line& add(std::string_view name, Instant value) { return number(name, value.ms); }
  Line& add(std::string_view name, Fence value) { return number(name, value.value); }
  Line& add(std::string_view name, Offset value) { return number(name, value.value); }
  template <std::integral T>
  Line& add(std::string_view name, T value) {
    return number(name, value);
  }
  template <class T>
  Line& add(std::string_view name, const std::optional<T>& value) {
    return value ? add(name, *value) : *this;
  }
  Line& add(const LockName& lock) { return word(lock.domain) += fmt::format("::{}", lock.identifier); }
  Line& operator+=(std::string_view text) {
    text_ += text;
    return *this;
  }
  Line& operator+=(char letter) {
    text_ += letter;
    return *this;
  }

  [[nodiscard]] std::string text() { return std::move(text_); }

 private:
  template <class T>
  Line& number(std::string_view name, T value) {
    word(name);
    fmt::format_to(std::back_inserter(text_), "={}", value);
    return *this;
  }

  std::string text_;
};

// --- requests ---

std::string show(const Submission& r) {
  Line line("submit");
  line.word(r.queue).add("payload", r.payload).add("id", r.id).add("request", r.request_id).add("window", r.window);
  line.add("retries", r.retries).add("attempts", r.attempts).add("delay", r.delay).add("priority", r.priority);
  return line.add("key", r.key).text();
}
std::string show(const LeaseRequest& r) {
  Line line("lease");
  line.word(r.worker);
  for (const std::string_view queue : r.queues) line.word(queue);
  return line.add("count", r.count).add("lease", r.lease).add("request", r.request_id).text();
}
std::string show(const TaskExtension& r) {
  return Line("extend").word(r.task_id).word(r.lease_id).add("lease", r.lease).text();
}
std::string show(const Completion& r) {
  return Line("complete").word(r.task_id).word(r.lease_id).add("result", r.result).text();
}
std::string show(const FailureReport& r) {
  return Line("fail").word(r.task_id).word(r.lease_id).add("final", r.final).text();
}
std::string show(const TaskKill& r) { return Line("kill").word(r.task_id).text(); }
std::string show(const Resubmission& r) { return Line("resubmit").word(r.task_id).add("request", r.request_id).text(); }
std::string show(const QueuePause& r) { return Line(r.paused ? "pause" : "resume").word(r.queue).text(); }
std::string show(const WorkRequest& r) {
  return Line("acquire-work").word(r.domain).add("offset", r.offset).add("lease", r.lease).text();
}
std::string show(const WorkSuccess& r) {
  return Line("succeed").word(r.domain).word(r.token).add("request", r.request_id).text();
}
std::string show(const WorkFailure& r) {
  return Line("fail-work").word(r.domain).word(r.token).add("request", r.request_id).text();
}
std::string show(const WorkExtension& r) {
  return Line("extend-work").word(r.domain).word(r.token).add("lease", r.lease).text();
}
std::string show(const WorkTrim& r) { return Line("trim").word(r.domain).add("below", r.below).text(); }
std::string show(const LockAcquire& r) {
  Line line("acquire-lock");
  line.add(r.lock).add("owner", r.owner).add("lease", r.lease);
  return line.add("request", r.request_id).add("session", r.session).text();
}
std::string show(const LockGiveBack& r) {
  Line line("release");
  line.add(r.lock).word(r.token).add("request", r.request_id);
  if (r.cause != ReleaseCause::kByHolder) line.word(to_string(r.cause));
  return line.text();
}
std::string show(const LockExtension& r) {
  return Line("extend-lock").add(r.lock).word(r.token).add("lease", r.lease).text();
}
std::string show(const LockForce& r) { return Line("force").add(r.lock).add("fence", r.fence).text(); }
std::string show(const GetTask& r) { return Line("get").word(r.task_id).text(); }
std::string show(const GetHistory& r) { return Line("history").word(r.task_id).text(); }
std::string show(const ListTasks& r) { return Line("list-tasks").word(r.queue).text(); }
std::string show(const ListQueues& /*r*/) { return "list-queues"; }
std::string show(const InspectDomain& r) { return Line("inspect").word(r.domain).text(); }
std::string show(const ListBacklog& r) { return Line("list-backlog").word(r.domain).text(); }
std::string show(const ListFailedOffsets& r) { return Line("list-failed").word(r.domain).text(); }
std::string show(const ListDone& r) { return Line("list-done").word(r.domain).text(); }
std::string show(const ListDomains& /*r*/) { return "list-domains"; }
std::string show(const GetLock& r) { return Line("get-lock").add(r.lock).text(); }
std::string show(const ListLocks& /*r*/) { return "list-locks"; }
std::string show(const AwaitTask& r) { return Line("await").word(r.task_id).text(); }
std::string show(const JoinSession& r) { return Line("join").word(r.session).add("grace", r.grace).text(); }

// --- replies ---

// A listing's entries in the order of their texts: two tables of the same things may have them in different orders.
std::string sorted(std::string_view cursor, std::vector<std::string> entries) {
  std::ranges::sort(entries);
  return fmt::format("LIST cursor={} [{}]", cursor, fmt::join(entries, "; "));
}

template <class Page, class Show>
std::string show_page(const std::string& cursor, const Page& entries, const Show& show_entry) {
  std::vector<std::string> lines;
  for (const auto& entry : entries) lines.push_back(show_entry(entry));
  return sorted(cursor, std::move(lines));
}

std::string show(const Submitted& r) { return Line(r.created ? "CREATED" : "EXISTING").word(r.task_id).text(); }
std::string show(const std::vector<TaskLease>& leases) {
  if (leases.empty()) return "NOTHING";
  Line line("LEASED");
  for (const TaskLease& r : leases) {
    line.word(r.task_id).word(r.lease_id).add("attempt", r.attempt).add("expires", r.expires_at);
    line.add("remaining", r.remaining).add("window", r.window_ends_at).add("payload", r.payload);
  }
  return line.text();
}
std::string show(const std::optional<Extended>& r) {
  if (!r) return "CANCELLED";
  return Line("EXTENDED").add("expires", r->expires_at).add("remaining", r->remaining).text();
}
std::string show(Report r) { return r == Report::kCommitted ? "COMMITTED" : "CANCELLED"; }
std::string show(const std::optional<TaskState>& r) {
  return r ? Line("COMMITTED").word(to_string(*r)).text() : "CANCELLED";
}
std::string show(Done /*r*/) { return "OK"; }
std::string show(const AcquireResult& r) {
  if (const auto* held = std::get_if<Acquired>(&r)) {
    Line line(held->already ? "ALREADY_ACQUIRED" : "ACQUIRED");
    line.word(held->token).add("since", held->acquired_at).add("retries", held->retry_count);
    return line.add("remaining", held->remaining).text();
  }
  if (const auto* queued = std::get_if<Enqueued>(&r)) return Line("ENQUEUED").add("at", queued->position).text();
  return std::holds_alternative<AlreadyProcessed>(r) ? "ALREADY_PROCESSED" : "ALREADY_FAILED";
}
std::string show(const SucceedResult& r) {
  return Line(r.next ? "NEXT_HINT" : "NO_BACKLOG").add("next", r.next).text();
}
std::string show(const FailResult& r) {
  if (const auto* retry = std::get_if<RetryScheduled>(&r)) {
    return Line("RETRY_SCHEDULED").add("retries", retry->retry_count).text();
  }
  const auto& next = std::get<GivenUp>(r).next;
  return Line(next ? "GIVE_UP_NEXT_HINT" : "GIVE_UP_NO_BACKLOG").add("next", next).text();
}
std::string show(const WorkExtended& r) {
  return Line("EXTENDED").add("expires", r.expires_at).add("remaining", r.remaining).text();
}
std::string show(const Trimmed& r) { return r.complete ? "OK" : "MORE"; }
std::string show(const std::optional<LockGrant>& r) {
  if (!r) return "HELD";
  return Line("GRANTED").word(r->token).add("remaining", r->remaining).add("holds", r->holds).text();
}
std::string show(std::uint32_t holds) { return Line("RELEASED").add("holds", holds).text(); }
std::string show(const LockExtended& r) {
  return Line("EXTENDED").add("fence", r.fence).add("remaining", r.remaining).text();
}
std::string show(bool r) { return r ? "FORCED" : "FREE"; }
std::string show(const std::optional<TaskStatus>& r) {
  if (!r) return "NIL";
  Line line("TASK");
  line.word(r->task_id).word(to_string(r->state)).add("queue", r->queue).add("attempt", r->attempt);
  line.add("failures", r->failures).add("priority", r->priority).add("key", r->key).add("created", r->created_at);
  line.add("not_before", r->not_before).add("lease", r->lease_id).add("worker", r->worker);
  line.add("expires", r->expires_at).add("result", r->result).add("reason", r->reason).add("late", r->late);
  return line.text();
}
std::string show(const std::vector<TaskAttempt>& attempts) {
  Line line("HISTORY");
  for (const TaskAttempt& r : attempts) {
    line.add("attempt", r.attempt).word(to_string(r.outcome)).word(r.worker).word(r.lease_id);
    line.add("granted", r.granted_at).add("ended", r.ended_at).add("reason", r.reason);
    line.add("extensions", r.extensions).add("late", r.late).word(";");
  }
  return line.text();
}
std::string show(const TaskPage& r) {
  return show_page(r.cursor, r.tasks, [](const auto& entry) {
    return Line(entry.task_id).word(to_string(entry.state)).add("attempt", entry.attempt).text();
  });
}
std::string show(const QueuePage& r) {
  return show_page(r.cursor, r.queues, [](const auto& entry) {
    Line line(entry.queue);
    line.add("waiting", entry.waiting).add("delayed", entry.delayed).add("leased", entry.leased);
    line.add("completed", entry.completed).add("failed", entry.failed).add("dead", entry.dead);
    return line.add("paused", entry.paused).text();
  });
}
std::string show(const std::optional<DomainStatus>& r) {
  if (!r) return "NIL";
  Line line("DOMAIN");
  line.add("offset", r->offset).add("fence", r->fence).add("retries", r->retry_count).add("since", r->acquired_at);
  line.add("expires", r->expires_at).add("backlog", r->backlog).add("head", r->backlog_head);
  return line.add("processed", r->processed).add("failed", r->failed).add("below", r->trimmed_below).text();
}
std::string show(const OffsetPage& r) {
  Line line("OFFSETS");
  for (const Offset offset : r.offsets) line.word(std::to_string(offset.value));
  return line.add("cursor", r.cursor).text();
}
std::string show(const IntervalPage& r) {
  return show_page(r.cursor, r.intervals,
                   [](Interval entry) { return fmt::format("{}-{}", entry.first.value, entry.last.value); });
}
std::string show(const DomainPage& r) {
  return show_page(r.cursor, r.domains, [](const std::string& entry) { return entry; });
}
// How many wait is soft state, and not told here.
std::string show(const LockStatus& r) {
  Line line(r.domain);
  line.word(r.identifier).add("owner", r.owner).add("fence", r.fence).add("holds", r.holds);
  return line.add("granted", r.granted_at).add("expires", r.expires_at).add("remaining", r.remaining).text();
}
std::string show(const std::optional<LockStatus>& r) { return r ? "LOCK " + show(*r) : "NIL"; }
std::string show(const LockPage& r) {
  return show_page(r.cursor, r.locks, [](const LockStatus& entry) { return show(entry); });
}

}  // namespace

std::string text_of(const Request& request) {
  return std::visit([](const auto& any) { return show(any); }, request);
}

std::string text_of(const Reply& reply) {
  return std::visit(
      [](const auto& any) {
        return any ? show(*any) : fmt::format("-{} {}", to_string(any.error().code), any.error().message);
      },
      reply);
}

const Failure* failure_in(const Reply& reply) {
  return std::visit([](const auto& any) { return any ? nullptr : &any.error(); }, reply);
}

std::optional<std::string_view> request_id_of(const Request& request) {
  return std::visit(
      [](const auto& any) -> std::optional<std::string_view> {
        if constexpr (requires { any.request_id; }) {
          return any.request_id;
        } else {
          return std::nullopt;
        }
      },
      request);
}

}  // namespace tenure::sim
