// What time asks for: expiries, forgetting, the end of waits and of sessions, delayed tasks that somebody waits for.
#include <algorithm>

#include "authority/engine.h"
#include "authority/validate.h"
#include "base/limits.h"
#include "base/planted.h"

namespace tenure {
namespace {

// Things done in one critical section: well below a millisecond's worth.
constexpr std::size_t kDueSlice = 128;
// A call of run_due does so many more for each that requests ended since the last one: however many end, forgetting is
// faster.
constexpr std::size_t kDueForEachKept = 2;
// Soft state, so it has a limit of its own.
constexpr std::size_t kSessionsMax = 1'000'000;

// The first instant at which something whose time ends with `last` is over.
Instant after(Instant last) { return last + Millis{1}; }

Instant next_forgetting(const Archive& archive, const Settings& settings, Instant now) {
  return archive.is_forgetting_due(settings, now) ? now : after(archive.due(settings));
}

}  // namespace

Instant Engine::run_due() {
  Instant next = kNever;
  std::optional<std::size_t> left;
  do {
    do_round([&]() TENURE_REQUIRES(mutex_) {
      if (!left) left = due_for_one_call();
      next = do_due_slice(*left);
    });
  } while (*left > 0);
  return next;
}

std::size_t Engine::due_for_one_call() {
  const std::uint64_t kept = state_->kept();
  const std::uint64_t before = std::exchange(kept_, kept).value_or(kept);
  return kDueSlice + kDueForEachKept * (kept - before);
}

Instant Engine::do_due_slice(std::size_t& left) {
  const bool goes_on = is_planted(PlantedBug::kExpiryByStaleLeader) && epoch_ != 0;
  if (failure_ && !goes_on) {
    end_waits();
    left = 0;
    return kNever;
  }
  stamp();
  serve();
  const std::size_t slice = std::min(left, kDueSlice);
  std::size_t done = 0;
  while (done < slice && all_served()) {
    const std::size_t more = do_next_due();
    if (more == 0) break;
    done += more;
    serve();
  }
  const bool is_cut = done >= slice;
  left = is_cut ? left - slice : 0;
  promised_due_ = is_cut ? now_ : next_due();
  return promised_due_;
}

std::size_t Engine::do_next_due() {
  if (const Task* task = state_->tasks().first_expired(now_)) {
    commit(TaskBook::decide_expiry(*task));
  } else if (const Domain* domain = state_->work().first_expired(now_)) {
    commit(WorkBook::decide_expiry(*domain));
  } else if (const Lock* lock = state_->locks().first_expired(now_)) {
    commit(LockBook::decide_expiry(*lock));
  } else if (next_expiry() < now_) {
    return 0;  // so many were extended that the next round goes on with them
  } else if (!end_one_session() && !promote_one_queue() && !end_one_wait()) {
    return forget_some();
  }
  return 1;
}

Instant Engine::next_expiry() const {
  return std::min({state_->tasks().next_expiry(), state_->work().next_expiry(), state_->locks().next_expiry()});
}

std::size_t Engine::forget_some() {
  Records forgotten = state_->tasks().decide_forgetting(settings_, now_);
  if (forgotten.empty()) forgotten = state_->work().decide_forgetting(settings_, now_);
  if (forgotten.empty()) forgotten = state_->locks().decide_forgetting(settings_, now_);
  commit(forgotten);
  return forgotten.size();
}

// Whoever could be served has been: an empty answer only goes to those for whom there is nothing.
bool Engine::end_one_wait() {
  if (auto lease = lease_waiters_.remove_due(now_)) {
    answer_nothing<LeaseWish>(std::move(*lease));
  } else if (auto lock = lock_waiters_.remove_due(now_)) {
    answer_nothing<LockWish>(std::move(*lock));
  } else if (auto task = task_waiters_.remove_due(now_)) {
    answer_nothing<TaskWish>(std::move(*task));
  } else {
    return false;
  }
  return true;
}

bool Engine::promote_one_queue() {
  if (promotions_.empty() || promotions_.begin()->first > now_) return false;
  const std::string queue = promotions_.begin()->second;
  promotions_.erase(promotions_.begin());
  promotion_of_.erase(queue);
  if (lease_waiters_.count(queue) > 0) {
    state_->tasks().promote(queue, now_, kPromotionSlice);
    free_queue(queue);
  }
  return true;
}

// A queue that is waited for is looked at again when its next delayed task is due.
void Engine::watch_queue(const std::string& queue) {
  const Instant next = state_->tasks().next_promotion(queue);
  if (next == kNever || lease_waiters_.count(queue) == 0) return;
  const auto [watched, is_new] = promotion_of_.emplace(queue, next);
  if (!is_new) promotions_.erase({std::exchange(watched->second, next), queue});
  promotions_.insert({next, queue});
}

Instant Engine::next_due() const {
  if (!all_served()) return now_;
  // Asked at the end of every request: one after the other, without a list of them.
  Instant next = after(next_expiry());
  const auto or_at = [&next](Instant due) { next = std::min(next, due); };
  or_at(next_forgetting(state_->tasks().archive(), settings_, now_));
  or_at(next_forgetting(state_->work().archive(), settings_, now_));
  or_at(next_forgetting(state_->locks().archive(), settings_, now_));
  or_at(lease_waiters_.next_deadline());
  or_at(lock_waiters_.next_deadline());
  or_at(task_waiters_.next_deadline());
  if (!session_ends_.empty()) or_at(session_ends_.begin()->first);
  if (!promotions_.empty()) or_at(promotions_.begin()->first);
  return next;
}

void Engine::on_earlier_due(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

// --- sessions ---

bool Engine::is_joined(std::string_view session) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.joined > 0;
}

bool Engine::is_over(std::string_view session) const {
  const auto found = sessions_.find(session);
  return found != sessions_.end() && found->second.joined == 0 && found->second.ends_at <= now_;
}

Result<Done> Engine::join(std::string_view session, std::optional<Millis> grace) {
  Checker check;
  check.name("session", session).range("grace", grace.value_or(Millis{0}).count(), 0, kLeaseMax.count());
  if (check.fault()) return tl::unexpected(*check.fault());
  Result<Done> result = Done{};
  do_round([&]() TENURE_REQUIRES(mutex_) {
    if (failure_ || is_closed_) {
      result = tl::unexpected(failure_.value_or(Failure{ErrorCode::kUnavailable, "the authority is being closed"}));
      return;
    }
    stamp();
    // One that comes too late finds its session ended, and begins another.
    const std::string name(session);
    for (std::size_t i = 0; i < kDueSlice && is_over(name); ++i) end_session(name);
    serve();
    if (is_over(name)) {
      result = fail_with(ErrorCode::kBackpressure, "session '{}': expected it to be free, found it still ending", name);
      return;
    }
    if (sessions_.size() >= kSessionsMax && !sessions_.contains(name)) {
      result = fail_with(ErrorCode::kBackpressure, "sessions: expected fewer than {}, found {}", kSessionsMax,
                         sessions_.size());
      return;
    }
    Session& joined = sessions_[name];
    session_ends_.erase({joined.ends_at, name});
    joined.ends_at = kNever;
    ++joined.joined;
    if (grace) joined.grace = *grace;
  });
  return result;
}

Result<Done> Engine::leave(std::string_view session) {
  Result<Done> result = Done{};
  do_round([&]() TENURE_REQUIRES(mutex_) {
    if (failure_ || is_closed_) {
      result = tl::unexpected(failure_.value_or(Failure{ErrorCode::kUnavailable, "the authority is being closed"}));
      return;
    }
    if (!is_joined(session)) {
      result = fail_with(ErrorCode::kInvalid, "session '{}': expected one that was joined, found none", session);
      return;
    }
    const auto found = sessions_.find(session);
    if (--found->second.joined > 0) return;
    stamp();
    const std::string name(session);
    end_when_left(name, found->second);
    // Without a grace its locks are free at once; if they are very many, upkeep frees the rest.
    for (std::size_t i = 0; i < kDueSlice && is_over(name); ++i) end_session(name);
    serve();
  });
  return result;
}

void Engine::end_when_left(const std::string& name, Session& session) {
  session.ends_at = now_ + session.grace;
  session_ends_.insert({session.ends_at, name});
}

bool Engine::end_one_session() {
  if (session_ends_.empty() || session_ends_.begin()->first > now_) return false;
  end_session(std::string(session_ends_.begin()->second));
  return true;
}

// Releases one lock of a session that has ended; with the last, the session is forgotten.
void Engine::end_session(const std::string& name) {
  if (const Lock* lock = state_->locks().first_of(name)) {
    commit(is_expired(lock->expires_at, now_) ? LockBook::decide_expiry(*lock) : LockBook::decide_disconnection(*lock));
  } else {
    session_ends_.erase({sessions_.find(name)->second.ends_at, name});
    sessions_.erase(name);
  }
}

}  // namespace tenure
