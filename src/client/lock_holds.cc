// What this process holds, and how it learns that it does not any more.
#include <algorithm>

#include <fmt/format.h>

#include "client/lock_desk.h"

namespace tenure {
namespace {

[[noreturn]] void throw_not_held(const LockDesk::Key& key) {
  throw NotHeld(ErrorCode::kNotHeld, "this thread does not hold the lock", std::string(key.domain),
                std::string(key.identifier));
}

}  // namespace

LockDesk::~LockDesk() {
  // Each of them may set another.
  watching_.reset();
  deadlines_.stop();
  renewals_.stop();
  std::map<Place, std::vector<Hold>> left;
  {
    const MutexLock lock(mutex_);
    left.swap(holds_);
  }
  for (auto& [place, holds] : left) {
    for (Hold& hold : holds) hold.lost.request_stop();
  }
}

LockDesk::Hold* LockDesk::find(const Place& place, std::uint64_t number) {
  const auto found = holds_.find(place);
  if (found == holds_.end()) return nullptr;
  for (Hold& hold : found->second) {
    if (hold.number == number) return &hold;
  }
  return nullptr;
}

LockDesk::Hold LockDesk::current(const Key& key) {
  const MutexLock lock(mutex_);
  const auto found = holds_.find(place_of(key));
  if (found == holds_.end()) throw_not_held(key);
  return found->second.back();
}

// One hold less. A deadline that is over counts, even if its alarm has yet to ring.
LockDesk::GivenBack LockDesk::take_back(const Place& place, std::optional<Loss>* loss) {
  const MutexLock lock(mutex_);
  const auto found = holds_.find(place);
  if (found == holds_.end()) throw_not_held(key_of(place));
  Hold& hold = found->second.back();
  *loss = lose_if_over(place, hold);
  --hold.count;
  GivenBack back{.hold = hold, .was_lost = hold.is_lost, .is_last = hold.count == 0};
  if (back.is_last) {
    deadlines_.cancel(hold.alarm);
    renewals_.cancel(hold.renewal);
    found->second.pop_back();
    if (found->second.empty()) holds_.erase(found);
  }
  return back;
}

Alarms::Id LockDesk::watch(const Place& place, std::uint64_t number, Millis deadline) {
  return deadlines_.set(deadline, [this, place, number] { look_at(place, number); });
}

// The alarm has rung; the deadline may have been moved meanwhile.
void LockDesk::look_at(const Place& place, std::uint64_t number) {
  std::optional<Loss> loss;
  {
    const MutexLock lock(mutex_);
    Hold* const hold = find(place, number);
    if (hold == nullptr || hold->is_lost) return;
    loss = lose_if_over(place, *hold);
    if (!loss) hold->alarm = watch(place, number, hold->deadline);
  }
  if (loss) tell(*loss);
}

void LockDesk::prolong(const Place& place, std::uint64_t number, Millis deadline) {
  const MutexLock lock(mutex_);
  Hold* const hold = find(place, number);
  if (hold != nullptr && !hold->is_lost) hold->deadline = std::max(hold->deadline, deadline);
}

void LockDesk::lose(const Place& place, std::uint64_t number, std::string_view why) {
  std::optional<Loss> loss;
  {
    const MutexLock lock(mutex_);
    Hold* const hold = find(place, number);
    if (hold != nullptr && !hold->is_lost) loss = mark_lost(place, *hold, why);
  }
  if (loss) tell(*loss);
}

// --- the session ---

// A backend that keeps sessions has one of its own for every grace; or it may be the one that the user has joined.
void LockDesk::bind() {
  session_ = settings_.session;
  auto* const keeper = dynamic_cast<SessionKeeper*>(&backend_);
  if (keeper == nullptr || !settings_.is_bound) return;
  if (!session_) session_ = keeper->own_session(settings_.grace);
  watching_ = keeper->watch(*session_, [this] {
    ++session_losses_;
    // What holders have tied to their tokens must not run on the keeper's thread.
    deadlines_.set(deadlines_.now(), [this] { lose_unbound(); });
  });
}

void LockDesk::lose_all() {
  ++session_losses_;
  lose_unbound();
}

void LockDesk::lose_unbound() {
  std::vector<Loss> losses;
  {
    const MutexLock lock(mutex_);
    for (auto& [place, holds] : holds_) {
      for (Hold& hold : holds) {
        if (auto loss = lose_if_over(place, hold)) losses.push_back(std::move(*loss));
      }
    }
  }
  for (const Loss& loss : losses) tell(loss);
}

// The session may have ended, or not: if not, nobody else would free the lock before its lease ends.
std::optional<LockDesk::Loss> LockDesk::lose_if_over(const Place& place, Hold& hold) {
  if (hold.is_lost) return std::nullopt;
  if (is_unbound(hold)) {
    Loss loss = mark_lost(place, hold, "its session may have ended");
    hold.is_given_back = true;
    loss.given_back = hold.count;
    return loss;
  }
  if (deadlines_.now() >= hold.deadline) return mark_lost(place, hold, "its lease has run out");
  return std::nullopt;
}

LockDesk::Loss LockDesk::mark_lost(const Place& place, Hold& hold, std::string_view why) {
  hold.is_lost = true;
  return {.place = place, .hold = hold, .why = std::string(why)};
}

void LockDesk::tell(const Loss& loss) {
  std::stop_source lost = loss.hold.lost;
  lost.request_stop();
  ended(loss.place, loss.hold);
  count("softlock_expired_total", loss.place.domain);
  log(key_of(loss.place), fmt::format("lost: {}", loss.why));
  call(settings_.on_expired, key_of(loss.place), loss.hold.fence);
  if (loss.given_back == 0) return;
  renewals_.set(renewals_.now(), [this, place = loss.place, token = loss.hold.token, holds = loss.given_back] {
    give_back(key_of(place), token, holds);
  });
}

void LockDesk::ended(const Place& place, const Hold& hold) {
  move_active(place.domain, -1);
  observe("softlock_held_time_seconds", place.domain, deadlines_.now() - hold.since);
}

std::optional<Fence> LockDesk::fence(const Key& key) { return current(key).fence; }

std::stop_token LockDesk::lost(const Key& key) { return current(key).lost.get_token(); }

bool LockDesk::is_held_here(const Key& key) {
  const MutexLock lock(mutex_);
  const auto found = holds_.find(place_of(key));
  if (found == holds_.end()) return false;
  const Hold& hold = found->second.back();
  return !hold.is_lost && !is_unbound(hold) && deadlines_.now() < hold.deadline;
}

Millis LockDesk::remaining(const Key& key) {
  if (is_held_here(key)) return std::max(current(key).deadline - deadlines_.now(), Millis{0});
  if (locks_ == nullptr) return Millis{0};
  const auto status = locks_->get(name_of(key));
  return status ? status->remaining : Millis{0};
}

void LockDesk::extend(const Key& key, Millis lease) {
  Locks& locks = extensible(key);
  const Hold hold = current(key);
  const Place place = place_of(key);
  const Millis sent = deadlines_.now();
  if (hold.is_lost || is_unbound(hold) || sent >= hold.deadline) {
    look_at(place, hold.number);
    throw LockExpired(ErrorCode::kExpired, "the lease has run out", place.domain, place.identifier);
  }
  try {
    const LockExtended extended = locks.extend({.lock = name_of(key), .token = hold.token, .lease = lease});
    prolong(place, hold.number, deadline_of({sent, deadlines_.now()}, extended.remaining));
  } catch (const SoftLockError& error) {
    if (error.code() == ErrorCode::kExpired || error.code() == ErrorCode::kNotHeld) {
      lose(place, hold.number, error.what());
    }
    throw;
  }
}

// --- renewal ---

void LockDesk::keep_alive(const Key& key) {
  extensible(key);
  const Place place = place_of(key);
  std::uint64_t number = 0;
  Millis due{0};
  {
    const MutexLock lock(mutex_);
    const auto found = holds_.find(place);
    if (found == holds_.end()) throw_not_held(key);
    Hold& hold = found->second.back();
    if (hold.is_lost || hold.is_kept_alive) return;
    hold.is_kept_alive = true;
    number = hold.number;
    // A third of the lease after the last renewal; at once if that is over.
    due = hold.deadline + margin_ - hold.lease + hold.lease / 3;
  }
  renew_at(due, place, number);
}

void LockDesk::renew_at(Millis due, const Place& place, std::uint64_t number) {
  const MutexLock lock(mutex_);
  Hold* const hold = find(place, number);
  if (hold == nullptr || hold->is_lost) return;
  hold->renewal = renewals_.set(due, [this, place, number] { renew(place, number); });
}

void LockDesk::renew(const Place& place, std::uint64_t number) {
  std::string token;
  Millis lease{0};
  {
    const MutexLock lock(mutex_);
    const Hold* const hold = find(place, number);
    if (hold == nullptr || hold->is_lost) return;
    token = hold->token;
    lease = hold->lease;
  }
  const Millis sent = deadlines_.now();
  try {
    const LockExtended extended =
        locks_->extend({.lock = name_of(key_of(place)), .token = std::move(token), .lease = lease});
    prolong(place, number, deadline_of({sent, deadlines_.now()}, extended.remaining));
    renew_at(next_renewal(sent, lease), place, number);
  } catch (const Error& error) {
    // If it was released meanwhile there is nothing to lose any more, and the refusal means nothing.
    if (error.code() == ErrorCode::kExpired || error.code() == ErrorCode::kNotHeld) {
      lose(place, number, error.what());
      return;
    }
    // Tried again for as long as the local deadline allows: its alarm ends this.
    log(key_of(place), fmt::format("could not be renewed: {}", error.what()));
    renew_at(renewal_after_failure(deadlines_.now(), lease), place, number);
  }
}

void LockDesk::settle() {
  deadlines_.settle();
  renewals_.settle();
}

}  // namespace tenure
