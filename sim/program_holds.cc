// What a program holds, and until when it believes so: as LockDesk, LeaseKeeper and Workshop do.
#include <algorithm>

#include "program_send.h"

namespace tenure::sim {

Program::Attempt Program::begin_attempt(std::string name, Millis lease) {
  return {.call = begin_call(),
          .name = std::move(name),
          .lease = lease,
          .sent = now(),
          .basis = ports_.checker.beliefs().basis()};
}

void Program::take(Kind kind, const Attempt& attempt, const Granted& granted, CountAnew count_anew) {
  const Asked asked{.sent = attempt.sent, .answered = now()};
  const Millis deadline = local_deadline(asked, granted.remaining, margin_of(attempt.lease, granted.remaining));
  if (!is_worth_counting_anew(asked, margin_of(attempt.lease))) {
    return enter(kind, attempt, granted, deadline, attempt.basis);
  }
  ports_.tally.count(Fault::kGrantCountedAnew);
  count_anew([this, kind, attempt, granted, deadline, sent = now(), basis = ports_.checker.beliefs().basis()](
                 Count count, const Granted& same) {
    if (count == Count::kEnded) return;
    if (count == Count::kUnknown || same.token != granted.token) {
      return enter(kind, attempt, granted, deadline, attempt.basis);
    }
    const Millis later = local_deadline({sent, now()}, same.remaining, margin_of(attempt.lease, same.remaining));
    if (later > deadline) return enter(kind, attempt, granted, later, basis);
    enter(kind, attempt, granted, deadline, attempt.basis);
  });
}

void Program::enter(Kind kind, const Attempt& attempt, const Granted& granted, Millis deadline, Beliefs::Basis basis) {
  if (now() >= deadline) {
    ports_.tally.count(Fault::kGrantTooLate);
    if (kind == Kind::kLock) release(granted.name, granted.token);
    return;
  }
  if (const HoldNumber known = find(kind, granted.name, granted.token); known != 0) {
    Hold& hold = holds_.find(known)->second;
    if (!hold.is_lost) {
      ++hold.count;
      hold.deadline = std::max(hold.deadline, deadline);
      return ports_.checker.beliefs().prolong(hold.belief, deadline, basis);
    }
    // What was lost here, and not there, will not be released by anybody else.
    for (std::uint32_t stale = hold.count; kind == Kind::kLock && stale > 0; --stale) {
      release(granted.name, granted.token);
    }
    holds_.erase(known);
  }
  Hold hold{.kind = kind, .name = granted.name, .token = granted.token, .lease = attempt.lease, .deadline = deadline};
  const auto token = Token::parse(granted.token);
  require(token.has_value(), "{} was given a token that is none: {}", name_, granted.token);
  hold.belief = ports_.checker.beliefs().hold(
      {.who = name_, .what = granted.name, .token = *token, .clock = &clock_, .deadline = deadline, .basis = basis});
  const HoldNumber number = ++numbers_;
  holds_.emplace(number, std::move(hold));
  watch(number);
  if (dice_.one_in(2)) {
    const Millis due = first_renewal(attempt.sent, granted.remaining, attempt.lease);
    plan(clock_.until(std::max(due - now(), Millis{0})), [this, number] { renew(number, true); });
  }
}

Program::HoldNumber Program::find(Kind kind, const std::string& name, const std::string& token) const {
  for (const auto& [number, hold] : holds_) {
    if (hold.kind == kind && hold.name == name && hold.token == token) return number;
  }
  return 0;
}

Program::HoldNumber Program::pick(Kind kind) {
  std::vector<HoldNumber> numbers;
  for (const auto& [number, hold] : holds_) {
    if (hold.kind == kind) numbers.push_back(number);
  }
  return numbers.empty() ? 0 : dice_.pick(numbers);
}

// The last instant before the deadline is one of the world's, too: beliefs are judged at each.
void Program::watch(HoldNumber number) {
  const Millis left = holds_.find(number)->second.deadline - now();
  plan(clock_.until(std::max(left - Millis{1}, Millis{1})), [this, number] {
    const auto found = holds_.find(number);
    if (found == holds_.end() || found->second.is_lost) return;
    if (now() < found->second.deadline) return watch(number);
    ports_.tally.count(Fault::kDeadlinePassed);
    lose(number);
  });
}

void Program::lose(HoldNumber number) {
  Hold& hold = holds_.find(number)->second;
  ports_.story.tell("{} has lost {}", name_, hold.name);
  hold.is_lost = true;
  ports_.checker.beliefs().let_go(hold.belief);
}

void Program::drop(HoldNumber number) {
  const auto found = holds_.find(number);
  if (found == holds_.end()) return;
  ports_.checker.beliefs().let_go(found->second.belief);
  holds_.erase(found);
}

void Program::renew(HoldNumber number, bool is_kept_alive) {
  const auto found = holds_.find(number);
  if (found == holds_.end() || found->second.is_lost) return;
  const Hold& hold = found->second;
  const Millis sent = now();
  const auto take_answer = [this, number, is_kept_alive, sent, lease = hold.lease,
                            basis = ports_.checker.beliefs().basis()](const auto& reply, bool /*is_repeated*/) {
    std::optional<Millis> remaining;
    if constexpr (requires { (*reply)->remaining; }) {
      if (reply && *reply) remaining = (*reply)->remaining;
    } else {
      if (reply) remaining = reply->remaining;
    }
    const bool is_unknown = !reply && reply.error().code == ErrorCode::kUnavailable;
    if (!is_unknown) renewed(number, {.sent = sent, .answered = now()}, remaining, basis);
    if (!is_kept_alive) return;
    const Millis due = is_unknown ? renewal_after_failure(now(), lease) : next_renewal(sent, lease);
    plan(clock_.until(std::max(due - now(), Millis{0})), [this, number] { renew(number, true); });
  };
  const CallLaw::Number call = begin_call();
  switch (hold.kind) {
    case Kind::kLock:
      return send(call, LockExtension{.lock = {"locks", hold.name}, .token = hold.token, .lease = hold.lease},
                  take_answer);
    case Kind::kTask:
      return send(call, TaskExtension{.task_id = hold.name, .lease_id = hold.token, .lease = hold.lease}, take_answer);
    case Kind::kWork:
      return send(call, WorkExtension{.domain = hold.name, .token = hold.token, .lease = hold.lease}, take_answer);
  }
}

// `remaining` absent: the authority says that it is lost.
void Program::renewed(HoldNumber number, const Asked& asked, std::optional<Millis> remaining, Beliefs::Basis basis) {
  const auto found = holds_.find(number);
  if (found == holds_.end() || found->second.is_lost) return;
  Hold& hold = found->second;
  if (!remaining) {
    ports_.tally.count(Fault::kRefusedHolder);
    return lose(number);
  }
  ports_.tally.count(Fault::kRenewedInTime);
  const Millis deadline = local_deadline(asked, *remaining, margin_of(hold.lease, *remaining));
  hold.deadline = std::max(hold.deadline, deadline);
  ports_.checker.beliefs().prolong(hold.belief, deadline, basis);
}

}  // namespace tenure::sim
