// What a program asks for, and how: as the faces of remote.h do.
#include "program_send.h"

namespace tenure::sim {
namespace {

constexpr Millis kPause{40};  // before a report is repeated

}  // namespace

// --- locks ---

void Program::lock() {
  const HoldNumber held = dice_.one_in(3) ? pick(Kind::kLock) : 0;
  Attempt attempt = begin_attempt(held != 0 ? holds_.find(held)->second.name : some("l", 3), some_lease());
  const bool waits = dice_.one_in(2);
  if (waits) attempt.wait_until = now() + Millis{dice_.between(50, 1200)};
  try_lock(std::move(attempt), waits);
}

void Program::try_lock(Attempt attempt, bool waits) {
  attempt.request_id = new_request_id();
  attempt.who = process();
  const Millis block = waits ? std::max(attempt.wait_until - now(), Millis{0}) : Millis{0};
  const auto take_answer = [this, attempt, waits](const Result<std::optional<LockGrant>>& grant, bool is_repeated) {
    if (client::is_to_ask_anew(grant, true, is_repeated)) {
      ports_.tally.count(Fault::kGrantEndedUnheard);
      return try_lock(attempt, waits);
    }
    if (!grant || !*grant) return;
    take(Kind::kLock, attempt, {attempt.name, (*grant)->token, (*grant)->remaining},
         [this, attempt](Counted counted) { count_lock_anew(attempt, std::move(counted)); });
  };
  send(attempt.call, request_for_lock(attempt), take_answer, block);
}

wire::AcquireLock Program::request_for_lock(const Attempt& attempt) {
  wire::AcquireLock acquire;
  acquire.request.lock = {"locks", attempt.name};
  acquire.request.owner = attempt.who;
  acquire.request.lease = attempt.lease;
  acquire.request.request_id = attempt.request_id;
  return acquire;
}

void Program::count_lock_anew(const Attempt& attempt, Counted counted) {
  send(attempt.call, request_for_lock(attempt),
       [counted = std::move(counted), attempt](const Result<std::optional<LockGrant>>& again,
                                               bool /*is_repeated*/) mutable {
         if (again && *again) return counted(Count::kSame, {attempt.name, (*again)->token, (*again)->remaining});
         const bool has_ended =
             !again && (again.error().code == ErrorCode::kExpired || again.error().code == ErrorCode::kNotHeld);
         counted(has_ended ? Count::kEnded : Count::kUnknown, {});
       });
}

void Program::release(const std::string& lock, const std::string& token) {
  const std::string request_id = new_request_id();
  LockGiveBack request;
  request.lock = {"locks", lock};
  request.token = token;
  request.request_id = request_id;
  send(begin_call(), request, [](const auto& /*reply*/, bool /*is_repeated*/) {});
}

void Program::release_one() {
  const HoldNumber number = pick(Kind::kLock);
  if (number == 0) return;
  Hold& hold = holds_.find(number)->second;
  const bool is_lost = hold.is_lost || now() >= hold.deadline;
  const std::string lock = hold.name;
  const std::string token = hold.token;
  if (is_lost || --hold.count == 0) drop(number);
  if (!is_lost) release(lock, token);
}

void Program::force() {
  const auto lock = std::make_shared<std::string>(some("l", 3));
  // Two calls that force the same holder could not be told apart.
  if (!forcing_.insert(*lock).second) return;
  go_on(begin_call(), lock,
        std::make_shared<client::ForceErrand>(
            LockName{"locks", *lock}, dice_.one_in(4) ? std::optional(Fence{1 + dice_.roll(60)}) : std::nullopt));
}

void Program::go_on(CallLaw::Number call, const std::shared_ptr<std::string>& lock,
                    const std::shared_ptr<client::ForceErrand>& errand) {
  if (errand->result()) {
    forcing_.erase(*lock);
    return;
  }
  if (const auto force = errand->next()) {
    return send(call, *force, [this, call, lock, errand](const Result<bool>& reply, bool is_repeated) {
      if (!reply) return;
      if (is_repeated) ports_.tally.count(Fault::kForcedUnheard);
      errand->take_answer(*reply, is_repeated);
      go_on(call, lock, errand);
    });
  }
  send(call, GetLock{{"locks", *lock}},
       [this, call, lock, errand](const Result<std::optional<LockStatus>>& reply, bool /*is_repeated*/) {
         if (!reply) return;
         errand->take_holder(*reply);
         go_on(call, lock, errand);
       });
}

// --- tasks ---

void Program::submit() {
  const std::string queue = some("q", 3);
  const std::string request_id = new_request_id();
  const std::string payload(dice_.roll(40), 'p');
  Submission task;
  task.queue = queue;
  task.payload = payload;
  task.request_id = request_id;
  task.window = Millis{dice_.between(400, 4000)};
  task.backoff_initial = Millis{dice_.between(0, 200)};
  task.backoff_max = Millis{400};
  const CallLaw::Number call = begin_call();
  send(call, task, [this, call](const Result<Submitted>& reply, bool /*is_repeated*/) {
    if (!reply) return;
    ports_.checker.calls().end_submitted(call, reply->task_id);
    ports_.gossip.tasks.push_back(reply->task_id);
  });
}

void Program::lease() {
  Attempt attempt = begin_attempt("", some_lease());
  attempt.request_id = new_request_id();
  attempt.who = name_;
  attempt.queues = {some("q", 3)};
  if (const std::string second = some("q", 3); second != attempt.queues.front()) attempt.queues.push_back(second);
  const auto take_answer = [this, attempt](const Result<std::vector<TaskLease>>& leases, bool /*is_repeated*/) {
    if (!leases || leases->empty()) return;
    const TaskLease& taken = leases->front();
    take(Kind::kTask, attempt, {taken.task_id, taken.lease_id, taken.remaining},
         [this, attempt](Counted counted) { count_lease_anew(attempt, std::move(counted)); });
  };
  send(attempt.call, request_for_task(attempt), take_answer,
       dice_.one_in(2) ? Millis{dice_.between(50, 1200)} : Millis{0});
}

wire::LeaseTasks Program::request_for_task(const Attempt& attempt) {
  wire::LeaseTasks request;
  request.request.worker = attempt.who;
  request.request.queues = {attempt.queues.begin(), attempt.queues.end()};
  request.request.lease = attempt.lease;
  request.request.request_id = attempt.request_id;
  return request;
}

void Program::count_lease_anew(const Attempt& attempt, Counted counted) {
  send(attempt.call, request_for_task(attempt),
       [counted = std::move(counted)](const Result<std::vector<TaskLease>>& again, bool /*is_repeated*/) mutable {
         if (!again || again->empty()) return counted(Count::kUnknown, {});
         const TaskLease& lease = again->front();
         counted(Count::kSame, {lease.task_id, lease.lease_id, lease.remaining});
       });
}

// Repeated while there is no answer and the lease lasts.
template <class R>
void Program::insist(CallLaw::Number call, const R& request, std::shared_ptr<Texts> texts, HoldNumber number) {
  send(call, request, [this, call, request, texts, number](const auto& reply, bool /*is_repeated*/) {
    const auto found = holds_.find(number);
    if (found == holds_.end()) return;
    if (!reply && reply.error().code == ErrorCode::kUnavailable && !found->second.is_lost) {
      return plan(kPause, [this, call, request, texts, number] { insist(call, request, texts, number); });
    }
    if constexpr (std::is_same_v<R, WorkFailure>) {
      if (reply && std::holds_alternative<RetryScheduled>(*reply)) return;  // it goes on
    }
    drop(number);
  });
}

void Program::report_task() {
  const HoldNumber number = pick(Kind::kTask);
  if (number == 0) return;
  const Hold& hold = holds_.find(number)->second;
  const auto texts = std::make_shared<Texts>();
  const std::string_view task = texts->keep(hold.name);
  const std::string_view token = texts->keep(hold.token);
  if (dice_.one_in(3)) {
    return insist(begin_call(), FailureReport{.task_id = task, .lease_id = token, .reason = "no"}, texts, number);
  }
  insist(begin_call(), Completion{.task_id = task, .lease_id = token}, texts, number);
}

void Program::kill() {
  const auto& tasks = ports_.gossip.tasks;
  if (tasks.empty()) return;
  const std::string task = tasks[tasks.size() - 1 - dice_.roll(std::min<std::size_t>(tasks.size(), 20))];
  send(begin_call(), TaskKill{.task_id = task, .reason = "not wanted"}, [](const auto& /*reply*/, bool /*again*/) {});
}

// --- work leases ---

void Program::acquire_offset() {
  Attempt attempt = begin_attempt(some("d", 5), some_lease());
  attempt.offset = Offset{++next_[attempt.name]};
  send(attempt.call, WorkRequest{.domain = attempt.name, .offset = attempt.offset, .lease = attempt.lease},
       [this, attempt](const Result<AcquireResult>& reply, bool /*is_repeated*/) {
         if (!reply && reply.error().expected) next_[attempt.name] = reply.error().expected->value - 1;
         const auto* const acquired = reply ? std::get_if<Acquired>(&*reply) : nullptr;
         if (acquired == nullptr || !acquired->remaining) return;
         // No wait is part of it, so it is counted from before the first try.
         const Granted granted{attempt.name, acquired->token, *acquired->remaining};
         const Millis margin = margin_of(attempt.lease, granted.remaining);
         enter(Kind::kWork, attempt, granted, local_deadline({attempt.sent, now()}, granted.remaining, margin),
               attempt.basis);
       });
}

void Program::report_offset() {
  const HoldNumber number = pick(Kind::kWork);
  if (number == 0) return;
  const Hold& hold = holds_.find(number)->second;
  const auto texts = std::make_shared<Texts>();
  const std::string_view domain = texts->keep(hold.name);
  const std::string_view token = texts->keep(hold.token);
  const std::string_view request_id = texts->keep(new_request_id());
  if (dice_.one_in(2)) {
    return insist(begin_call(), WorkFailure{.domain = domain, .token = token, .request_id = request_id}, texts, number);
  }
  insist(begin_call(), WorkSuccess{.domain = domain, .token = token, .request_id = request_id}, texts, number);
}

}  // namespace tenure::sim
