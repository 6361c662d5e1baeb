#include "script.h"

namespace tenure {
namespace {

constexpr int kAskOn = 5;  // steps
constexpr auto kIgnore = [](const auto& /*reply*/) {};

}  // namespace

void Script::run(int steps, AfterFailure after) {
  for (int i = 0; i < steps && !process_.has_failed(); ++i) {
    step();
    if (snapshots_ == Snapshots::kTwo && (i == kSteps * 2 / 5 || i == kSteps * 4 / 5)) process_.make_snapshot();
  }
  if (!process_.has_failed() || after == AfterFailure::kStop) return;
  for (int i = 0; i < kAskOn; ++i) step();
}

void Script::step() {
  process_.pass(Millis{static_cast<std::int64_t>(roll(400))});
  const std::uint64_t count = one_in(4) ? 2 + roll(5) : 1;
  for (std::uint64_t i = 0; i < count; ++i) ask_one();
  process_.flush();
  if (one_in(8)) {
    process_.pass(Millis{4000});
    process_.flush();
  }
  if (one_in(10)) process_.vouch();
  if (one_in(20)) {
    process_.engine().take_digest();
    process_.flush();
  }
  if (one_in(60)) {
    process_.engine().raise_fence();
    process_.flush();
  }
}

void Script::ask_one() {
  ++requests_;
  const std::uint64_t which = roll(20);
  if (which < 9) {
    ask_tasks();
  } else if (which < 14) {
    ask_work();
  } else if (which < 19) {
    ask_locks();
  } else {
    look();
  }
}

// --- tasks ---

void Script::submit() {
  const std::string queue = name("q", 3);
  const char letter = static_cast<char>('a' + roll(26));
  const std::string payload(one_in(12) ? 700 : roll(120), letter);
  const std::string request_id = "r" + std::to_string(seed_) + "-" + std::to_string(one_in(6) ? 0 : requests_);
  const std::string key = name("k", 2);
  Submission task{.queue = queue, .payload = payload};
  task.window = Millis{20'000};
  task.retries = 1;
  task.backoff_initial = Millis{100};
  task.priority = static_cast<std::int64_t>(roll(10));
  if (one_in(3)) task.request_id = request_id;
  if (one_in(4)) task.key = key;
  if (one_in(5)) task.delay = Millis{1000};
  process_.put(task, [this](const Submitted& reply) { tasks_.push_back(reply.task_id); });
}

void Script::lease() {
  LeaseRequest request{.worker = "w", .queues = {"q0", "q1", "q2"}};
  request.count = static_cast<std::int64_t>(1 + roll(3));
  request.lease = Millis{static_cast<std::int64_t>(1000 + roll(4000))};
  process_.put(request, [this](const std::vector<TaskLease>& reply) {
    for (const TaskLease& granted : reply) {
      leases_.push_back({granted.task_id, granted.lease_id});
      process_.note_fence(granted.fence);
    }
  });
}

void Script::ask_tasks() {
  const std::uint64_t which = roll(12);
  if (which < 4) return submit();
  if (which < 7) return lease();
  if (which < 9) {
    const Claim claim = take(leases_);
    const std::string result(roll(60), 'r');
    process_.put(Completion{.task_id = claim.name, .lease_id = claim.token, .result = result}, kIgnore);
  } else if (which == 9) {
    const Claim claim = take(leases_);
    const FailureReport report{
        .task_id = claim.name, .lease_id = claim.token, .reason = "it broke", .final = one_in(4)};
    process_.put(report, kIgnore);
  } else if (which == 10) {
    const Claim claim = pick(leases_);
    process_.put(TaskExtension{.task_id = claim.name, .lease_id = claim.token, .lease = Millis{3000}}, kIgnore);
  } else if (one_in(2)) {
    process_.put(QueuePause{.queue = "q2", .paused = one_in(2)}, kIgnore);
  } else {
    const std::string task = tasks_.empty() ? "none" : tasks_[roll(tasks_.size())];
    process_.put(TaskKill{.task_id = task, .reason = "not wanted"}, kIgnore);
    if (one_in(2)) process_.put(Resubmission{.task_id = task}, kIgnore);
  }
}

// --- work leases ---

void Script::acquire_work(const std::string& domain) {
  const auto head = heads_.find(domain);
  const Offset offset = head != heads_.end() && !one_in(3) ? head->second : Offset{++offset_};
  WorkRequest request{.domain = domain, .offset = offset};
  if (!one_in(3)) request.lease = Millis{6000};
  process_.put(request, [this, domain, offset](const AcquireResult& reply) {
    const auto* const acquired = std::get_if<Acquired>(&reply);
    if (acquired == nullptr) return;
    heads_[domain] = offset;
    works_.push_back({domain, acquired->token});
    process_.note_fence(acquired->fence);
  });
}

void Script::ask_work() {
  const std::uint64_t which = roll(11);
  const std::string domain = name("d", 3) + "/" + std::to_string(seed_);
  if (which < 4) return acquire_work(domain);
  if (which == 4 && one_in(4)) return process_.put(WorkTrim{domain, Offset{offset_ / 2}}, kIgnore);
  const Claim claim = which >= 8 ? pick(works_) : take(works_);
  const auto go_to = [this, domain = claim.name](std::optional<Offset> next) {
    if (next) heads_[domain] = *next;
  };
  if (which < 6) {
    process_.put(WorkSuccess{.domain = claim.name, .token = claim.token},
                 [go_to](const SucceedResult& reply) { go_to(reply.next); });
  } else if (which < 8) {
    process_.put(WorkFailure{.domain = claim.name, .token = claim.token, .reason = "no"},
                 [go_to](const FailResult& reply) {
                   if (const auto* const given_up = std::get_if<GivenUp>(&reply)) go_to(given_up->next);
                 });
  } else {
    process_.put(WorkExtension{.domain = claim.name, .token = claim.token, .lease = Millis{9000}}, kIgnore);
  }
}

// --- locks ---

void Script::acquire_lock() {
  const std::string lock = name("l", 5);
  const std::string owner = name("o", 3);
  const std::string request_id = "a" + std::to_string(seed_) + "-" + std::to_string(requests_);
  LockAcquire request;
  request.lock = lock_named(lock);
  request.owner = owner;
  request.lease = Millis{static_cast<std::int64_t>(1000 + roll(5000))};
  if (one_in(3)) request.request_id = request_id;
  process_.put(request, [this, lock](const std::optional<LockGrant>& reply) {
    if (!reply) return;
    locks_.push_back({lock, reply->token});
    process_.note_fence(reply->fence.value());
  });
}

void Script::ask_locks() {
  const std::uint64_t which = roll(10);
  if (which < 5) return acquire_lock();
  if (which < 8) {
    const Claim claim = take(locks_);
    process_.put(release_of(claim.token, claim.name), kIgnore);
  } else if (which == 8) {
    const Claim claim = pick(locks_);
    process_.put(LockExtension{.lock = lock_named(claim.name), .token = claim.token, .lease = Millis{4000}}, kIgnore);
  } else {
    const std::string lock = name("l", 5);
    process_.put(LockForce{lock_named(lock)}, kIgnore);
  }
}

// --- what only looks: it must not see what may still be lost ---

void Script::look() {
  const std::string lock = name("l", 5);
  if (tasks_.empty() || one_in(2)) {
    process_.put(GetLock{lock_named(lock)}, kIgnore);
  } else {
    process_.put(GetTask{tasks_[roll(tasks_.size())]}, kIgnore);
  }
}

Script::Claim Script::take(Claims& claims) {
  if (claims.empty()) return {"none", Token{Fence{1}, 1}.text()};
  const auto at = claims.begin() + static_cast<std::ptrdiff_t>(roll(claims.size()));
  Claim claim = std::move(*at);
  claims.erase(at);
  return claim;
}

Script::Claim Script::pick(const Claims& claims) {
  if (claims.empty()) return {"none", Token{Fence{1}, 1}.text()};
  return claims[roll(claims.size())];
}

}  // namespace tenure
