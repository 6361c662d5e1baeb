#include "hazelcast/locks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "hazelcast/data.h"

namespace tenure::hazelcast {
namespace {

// A hold that nobody gave back is forgotten so long after its end; who gives it back then is told NotHeld.
constexpr Millis kForgottenAfter = std::chrono::hours(1);
constexpr std::size_t kForgetFrom = 1024;
// Holds that were asked for in one name without an answer; each costs a round trip at its end.
constexpr int kRestMax = 16;

// Where a thread waits for its answer.
struct Desk {
  Mutex mutex;
  Condition changed;
  std::optional<Result<bool>> result TENURE_GUARDED_BY(mutex);
  bool is_stopped TENURE_GUARDED_BY(mutex) = false;
  bool is_left TENURE_GUARDED_BY(mutex) = false;

  // False: too late.
  bool put(Result<bool> answer) {
    const MutexLock lock(mutex);
    if (is_left) return false;
    result = std::move(answer);
    changed.notify_one();
    return true;
  }
  void stop() {
    const MutexLock lock(mutex);
    is_stopped = true;
    changed.notify_one();
  }
  // nullopt: left because of the stop.
  std::optional<Result<bool>> wait() {
    const MutexLock lock(mutex);
    while (!result && !is_stopped) changed.wait(mutex);
    is_left = !result;
    return result;
  }
};

// Without what is between its two parts: otherwise two locks could have the same key.
void check(const LockName& lock, std::string_view delimiter) {
  Checker checker;
  checker.name("space", lock.space).name("domain", lock.domain).name("identifier", lock.identifier);
  if (checker.fault()) raise(*checker.fault());
  for (const std::string_view name : {lock.domain, lock.identifier}) {
    if (name.find(delimiter) == std::string_view::npos) continue;
    throw InvalidRequest(ErrorCode::kInvalid, fmt::format("expected a name without '{}', found '{}'", delimiter, name));
  }
}

void check(const LockRequest& request, Millis wait, std::string_view delimiter) {
  check(request.lock, delimiter);
  Checker checker;
  checker.name("owner", request.owner).lease("lease", request.lease).range("wait", wait.count(), 0, kLeaseMax.count());
  if (checker.fault()) raise(*checker.fault());
  if (request.session) {
    throw InvalidRequest(ErrorCode::kInvalid,
                         "session: Hazelcast has none; a client's locks are freed when it is gone");
  }
}

Settings with_delimiter(const Settings& settings) {
  if (settings.delimiter.empty()) throw InvalidRequest(ErrorCode::kInvalid, "delimiter: expected a text, found none");
  return settings;
}

}  // namespace

HazelcastLocks::HazelcastLocks(const Settings& settings)
    : settings_(with_delimiter(settings)),
      forget_at_(kForgetFrom),
      loop_(settings),
      client_(to_string(loop_.client())) {
  if (const auto up = loop_.await_up(settings.timeout); !up) raise(up.error());
}

std::string HazelcastLocks::key_of(const LockName& lock) const {
  return fmt::format("{}{}{}", lock.domain, settings_.delimiter, lock.identifier);
}

// --- asking ---

LockCall HazelcastLocks::call_of(LockVerb verb, const LockName& lock) {
  const MutexLock guard(mutex_);
  return {.verb = verb, .map = std::string(lock.space), .key = text_data(key_of(lock)), .reference = ++references_};
}

Result<bool> HazelcastLocks::ask(LockCall what, Millis wait, bool is_reentry, const std::stop_token& stop) {
  const auto desk = std::make_shared<Desk>();
  auto call = std::make_shared<Call>();
  call->what = std::move(what);
  call->begun = loop_.now();
  call->wait_until = call->begun + wait;
  call->deadline = call->wait_until + settings_.timeout;
  call->is_reentry = is_reentry;
  call->done = [desk](Result<bool> result) { return desk->put(std::move(result)); };
  const std::stop_callback on_stop(stop, [&] { desk->stop(); });
  loop_.invoke(std::move(call));
  auto result = desk->wait();
  if (!result) return false;  // asked to stop
  return std::move(*result);
}

// --- acquiring ---

std::optional<LockGrant> HazelcastLocks::acquire(const LockRequest& request, Millis wait, std::stop_token stop) {
  check(request, wait, settings_.delimiter);
  const Place place{std::string(request.lock.space), key_of(request.lock), std::string(request.owner)};
  if (const auto held = hold_of(place); held && loop_.now() < held->until) {
    if (auto grant = reenter(request, place, held->thread)) return grant;
  }
  std::int64_t thread = 0;
  {
    const MutexLock guard(mutex_);
    thread = ++threads_;
  }
  const Millis sent = loop_.now();
  const auto answer = try_lock(request, thread, wait, false, stop);
  if (!answer) raise_lock(answer.error(), request.lock.domain, request.lock.identifier);
  if (!*answer) return std::nullopt;
  return enter(place, thread, sent, request.lease);
}

// Who holds it need not wait: if it is not had at once, it was taken away by force or lost with members.
std::optional<LockGrant> HazelcastLocks::reenter(const LockRequest& request, const Place& place, std::int64_t thread) {
  const Millis sent = loop_.now();
  const auto answer = try_lock(request, thread, Millis{0}, true, {});
  if (!answer) {
    doubt(place);
    raise_lock(answer.error(), request.lock.domain, request.lock.identifier);
  }
  if (*answer) return enter(place, thread, sent, request.lease);
  const MutexLock lock(mutex_);
  const auto found = holds_.find(place);
  if (found != holds_.end() && found->second.thread == thread) holds_.erase(found);
  return std::nullopt;
}

Result<bool> HazelcastLocks::try_lock(const LockRequest& request, std::int64_t thread, Millis wait, bool is_reentry,
                                      const std::stop_token& stop) {
  LockCall what = call_of(LockVerb::kTryLock, request.lock);
  what.thread = thread;
  what.lease_ms = request.lease.count();
  return ask(std::move(what), wait, is_reentry, stop);
}

std::optional<HazelcastLocks::Hold> HazelcastLocks::hold_of(const Place& place) {
  const MutexLock lock(mutex_);
  const auto found = holds_.find(place);
  return found == holds_.end() ? std::nullopt : std::optional(found->second);
}

LockGrant HazelcastLocks::enter(const Place& place, std::int64_t thread, Millis sent, Millis lease) {
  const MutexLock lock(mutex_);
  const Millis now = loop_.now();
  if (holds_.size() >= forget_at_) forget_the_long_gone(now);
  Hold& hold = holds_[place];
  if (hold.thread != thread) {
    hold = {.thread = thread};
  } else if (now >= hold.until) {
    // It may have ended before this was acquired, and another may have been in between: not the same grant any more.
    ++hold.grants;
    hold.count = 0;
    hold.is_uncertain = true;
  }
  ++hold.count;
  hold.until = sent + lease;
  return {.token = token_of(hold), .fence = std::nullopt, .remaining = lease, .holds = hold.count};
}

void HazelcastLocks::doubt(const Place& place) {
  const MutexLock lock(mutex_);
  const auto found = holds_.find(place);
  if (found != holds_.end()) found->second.is_uncertain = true;
}

void HazelcastLocks::doubt(const LockName& lock, std::string_view token) {
  const MutexLock guard(mutex_);
  const auto found = find(std::string(lock.space), key_of(lock), token);
  if (found != holds_.end()) found->second.is_uncertain = true;
}

void HazelcastLocks::forget_the_long_gone(Millis now) {
  std::erase_if(holds_, [&](const auto& entry) { return entry.second.until + kForgottenAfter < now; });
  forget_at_ = std::max(kForgetFrom, holds_.size() * 2);
}

std::string HazelcastLocks::token_of(const Hold& hold) const {
  return fmt::format("{}/{}.{}", client_, hold.thread, hold.grants);
}

// --- releasing ---

HazelcastLocks::Holds::iterator HazelcastLocks::find(const std::string& map, const std::string& key,
                                                     std::string_view token) {
  auto found = holds_.lower_bound(Place{map, key, ""});
  while (found != holds_.end() && found->first.map == map && found->first.key == key) {
    if (token_of(found->second) == token) return found;
    ++found;
  }
  return holds_.end();
}

std::uint32_t HazelcastLocks::release(const LockRelease& request) {
  const LockName& lock = request.lock;
  check(lock, settings_.delimiter);
  LockCall what = call_of(LockVerb::kUnlock, lock);
  std::uint32_t left = 0;
  bool is_uncertain = false;
  {
    // The hold is over in any case.
    const MutexLock guard(mutex_);
    const auto found = find(std::string(lock.space), key_of(lock), request.token);
    if (found == holds_.end()) {
      raise_lock({.code = ErrorCode::kNotHeld, .message = "the lock is not held under this token"}, lock.domain,
                 lock.identifier);
    }
    what.thread = found->second.thread;
    left = --found->second.count;
    is_uncertain = found->second.is_uncertain;
    if (left == 0) holds_.erase(found);
  }
  const std::int64_t thread = what.thread;
  const auto answer = ask(std::move(what), Millis{0}, false, {});
  if (!answer) {
    Failure failure = answer.error();
    // It was held: its lease ended, or it was freed by force, or with a member, or because the cluster had missed this
    // client; or this was asked again, and the first has let it go.
    if (failure.code == ErrorCode::kNotHeld) failure.code = ErrorCode::kExpired;
    // Nobody knows whether the members still count the hold.
    if (left > 0) doubt(lock, request.token);
    raise_lock(failure, lock.domain, lock.identifier);
  }
  if (left == 0 && is_uncertain) let_go_the_rest(lock, thread);
  return left;
}

void HazelcastLocks::let_go_the_rest(const LockName& lock, std::int64_t thread) {
  for (int i = 0; i < kRestMax; ++i) {
    LockCall what = call_of(LockVerb::kUnlock, lock);
    what.thread = thread;
    if (!ask(std::move(what), Millis{0}, false, {})) return;
  }
}

// --- for everybody ---

bool HazelcastLocks::is_locked(const LockName& lock) {
  check(lock, settings_.delimiter);
  const auto answer = ask(call_of(LockVerb::kIsLocked, lock), Millis{0}, false, {});
  if (!answer) raise_lock(answer.error(), lock.domain, lock.identifier);
  return *answer;
}

// Hazelcast does not tell whether there was a holder, so that is asked before.
bool HazelcastLocks::force(const LockName& lock, std::optional<Fence> fence) {
  if (fence) throw InvalidRequest(ErrorCode::kInvalid, "fence: Hazelcast's locks have none");
  if (!is_locked(lock)) return false;
  const auto answer = ask(call_of(LockVerb::kForceUnlock, lock), Millis{0}, false, {});
  if (!answer) raise_lock(answer.error(), lock.domain, lock.identifier);
  return true;
}

std::unique_ptr<LockBackend> connect(const Settings& settings) { return std::make_unique<HazelcastLocks>(settings); }

}  // namespace tenure::hazelcast
