// One domain's turns: what goes first, what is offered, and what a report leads to.
#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <tenure/errors.h>
#include "base/limits.h"
#include "client/orchestra.h"
#include "client/pause.h"

namespace tenure {

// Asks until there is an answer, an error that asking again does not change, or a stop.
template <class Ask>
auto Orchestra::insist_on(const Ask& ask) {
  Pause pause;
  while (true) {
    try {
      return ask();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnavailable && error.code() != ErrorCode::kBackpressure &&
          error.code() != ErrorCode::kMoved) {
        throw;
      }
      log(fmt::format("ordered work: {}", error.what()));
      if (stopping_.stop_requested()) throw Stopped{};
      pause.wait(stopping_.get_token());
    }
  }
}

void Orchestra::take_in(OrderedItem item) {
  const std::shared_ptr<Domain> owner = domain_of(item.domain);
  Domain& domain = *owner;
  const MutexLock lock(domain.mutex);
  domain.is_idle = false;
  if (!domain.is_known) look_for_what_was_left(domain);
  const bool is_new = domain.payloads.emplace(item.offset, std::move(item.payload)).second;
  if (is_new) {
    const MutexLock all(mutex_);
    ++held_;
  }
  // What the log gives again, while it waits or runs, changes nothing; the head is offered in its own turn.
  if (is_new && domain.head != item.offset) domain.later.push_back(item.offset);
  advance(domain);
}

// What was in flight or waiting when an earlier run ended goes before all that is new.
void Orchestra::look_for_what_was_left(Domain& domain) {
  const auto status = insist_on([&] { return work_.inspect(domain.name); });
  domain.is_known = true;
  if (status) domain.head = status->in_flight ? status->offset : status->backlog_head;
}

bool Orchestra::has_payload(Domain& domain, Offset offset) {
  if (domain.payloads.contains(offset)) return true;
  auto payload = source_->fetch(domain.name, offset);
  if (!payload) return false;
  domain.payloads.emplace(offset, std::move(*payload));
  const MutexLock all(mutex_);
  ++held_;
  return true;
}

// Follows the hint, if there is one; only then offers what is new. While something runs, the rest is queued behind it.
void Orchestra::advance(Domain& domain) {
  while (!domain.is_running) {
    if (domain.head) {
      const Offset head = *domain.head;
      if (!has_payload(domain, head)) return;
      domain.head.reset();
      offer(domain, head);
    } else if (!domain.later.empty()) {
      offer(domain, domain.later.front());
    } else {
      domain.is_idle = domain.payloads.empty();
      return;
    }
  }
  while (!domain.later.empty()) offer(domain, domain.later.front());
}

void Orchestra::offer(Domain& domain, Offset offset) {
  const Millis sent = keeper_.now();
  AcquireResult result;
  try {
    result = insist_on(
        [&] { return work_.try_acquire({.domain = domain.name, .offset = offset, .lease = options_.lease}); });
  } catch (const BacklogOrdering& error) {
    // An earlier run has left this one; the offered one stays where it is.
    domain.head = error.expected();
    if (std::ranges::find(domain.later, offset) == domain.later.end()) domain.later.push_front(offset);
    return;
  }
  if (!domain.later.empty() && domain.later.front() == offset) {
    domain.later.pop_front();
  } else {
    std::erase(domain.later, offset);
  }
  if (const auto* acquired = std::get_if<Acquired>(&result)) {
    start_turn(domain, offset, *acquired, sent);
  } else if (std::holds_alternative<Enqueued>(result)) {
    // Behind one that nobody here works on: an earlier run's, which this one takes up.
    if (!domain.is_running) look_for_what_was_left(domain);
  } else {
    note(&OrchestratorTally::skipped);
    drop(domain, offset, std::holds_alternative<AlreadyProcessed>(result));
  }
}

void Orchestra::start_turn(Domain& domain, Offset offset, const Acquired& acquired, Millis sent) {
  if (domain.is_running) return;  // the one that runs, given again by the log
  domain.is_running = true;
  const auto turn = std::make_shared<Turn>(Turn{.owner = domain.shared_from_this(),
                                                .domain = domain,
                                                .offset = offset,
                                                .token = acquired.token,
                                                .fence = acquired.fence,
                                                .acquired_at = acquired.acquired_at,
                                                .acquired = keeper_.now(),
                                                .is_adopted = acquired.already || acquired.retry_count > 0,
                                                .retry_count = acquired.retry_count});
  if (acquired.remaining) {
    turn->lost = std::stop_source();
    turn->kept = keeper_.keep(
        sent, *acquired.remaining, options_.lease.value_or(*acquired.remaining),
        [this, name = domain.name, token = acquired.token] { return renew(name, token); }, turn->lost);
  }
  {
    const MutexLock all(mutex_);
    ++turns_;
  }
  ready_at(retry_time(*turn), turn);
}

LeaseKeeper::Renewed Orchestra::renew(const std::string& domain, const std::string& token) {
  try {
    const auto extended = work_.extend({.domain = domain, .token = token, .lease = options_.lease.value_or(kLeaseMax)});
    return {.remaining = extended.remaining.value_or(kLeaseMax)};
  } catch (const TokenMismatch&) {
    return {};
  } catch (const LeaseNotFound&) {
    return {};
  }
}

// Counted from the first acquisition. If that was an earlier run's, its time is another machine's, so what comes of it
// is at most the last pause.
Millis Orchestra::retry_time(const Turn& turn) const {
  if (turn.retry_count == 0) return keeper_.now();
  const Instant due = retry_due(turn.acquired_at, turn.retry_count, options_.backoff);
  if (!turn.is_adopted) return turn.acquired + (due - turn.acquired_at);
  const Millis left = due - clock_.wall();
  return keeper_.now() + std::clamp(left, Millis{0}, pause_before(turn.retry_count, options_.backoff));
}

void Orchestra::drop(Domain& domain, Offset offset, bool is_processed) {
  {
    const MutexLock all(mutex_);
    held_ -= domain.payloads.erase(offset);
  }
  source_->done(domain.name, offset, is_processed);
}

void Orchestra::attempt(const TurnPtr& turn, const Orchestrator::Handler& handler) {
  try {
    if (turn->kept != 0 && keeper_.is_lost(turn->kept)) {
      lose(*turn);
    } else if (!report(turn, failure_of(*turn, handler))) {
      return;
    }
  } catch (const Stopped&) {
    log(fmt::format("ordered work: {} {}: left to the next run", turn->domain.name, turn->offset.value));
  } catch (const std::exception& error) {
    log(fmt::format("ordered work: {} {}: {}", turn->domain.name, turn->offset.value, error.what()));
  }
  if (turn->kept != 0) keeper_.let_go(turn->kept);
  end_turn();
}

std::optional<std::string> Orchestra::failure_of(const Turn& turn, const Orchestrator::Handler& handler) {
  OrderedWork work{.domain = turn.domain.name,
                   .offset = turn.offset,
                   .payload = {},
                   .attempt = turn.retry_count + 1,
                   .fence = turn.fence,
                   .lost = turn.lost.get_token()};
  {
    const MutexLock lock(turn.domain.mutex);
    work.payload = turn.domain.payloads.at(turn.offset);
  }
  try {
    handler(work);
    return std::nullopt;
  } catch (const std::exception& failure) {
    return failure.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

// It was lost before its retry: it is acquired anew, before anything else.
void Orchestra::lose(const Turn& turn) {
  const MutexLock lock(turn.domain.mutex);
  note(&OrchestratorTally::lost);
  turn.domain.head = turn.offset;
  turn.domain.is_running = false;
  if (!stopping_.stop_requested()) advance(turn.domain);
}

bool Orchestra::report(const TurnPtr& turn, const std::optional<std::string>& failure) {
  Domain& domain = turn->domain;
  const MutexLock lock(domain.mutex);
  const std::string request_id = new_request_id();
  try {
    if (!failure) {
      const auto succeeded = insist_on(
          [&] { return work_.succeed({.domain = domain.name, .token = turn->token, .request_id = request_id}); });
      note(&OrchestratorTally::processed);
      drop(domain, turn->offset, true);
      domain.head = succeeded.next;
    } else {
      const std::string reason = failure->substr(0, kReasonBytesMax);
      const auto failed = insist_on([&] {
        return work_.fail({.domain = domain.name, .token = turn->token, .reason = reason, .request_id = request_id});
      });
      if (const auto* retry = std::get_if<RetryScheduled>(&failed)) {
        note(&OrchestratorTally::retried);
        turn->retry_count = retry->retry_count;
        ready_at(retry_time(*turn), turn);
        return false;
      }
      note(&OrchestratorTally::given_up);
      drop(domain, turn->offset, false);
      domain.head = std::get<GivenUp>(failed).next;
    }
  } catch (const TokenMismatch&) {
    note(&OrchestratorTally::lost);
    domain.head = turn->offset;
  } catch (const LeaseNotFound&) {
    note(&OrchestratorTally::lost);
    domain.head = turn->offset;
  }
  domain.is_running = false;
  if (!stopping_.stop_requested()) advance(domain);
  return true;
}

}  // namespace tenure
