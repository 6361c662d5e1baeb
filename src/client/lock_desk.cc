#include "client/lock_desk.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"

namespace tenure {
namespace {

// In a row: then it is the lease that is too short, not the network that was slow.
constexpr int kTooLateMax = 5;

bool has_ended(const Error& error) {
  return error.code() == ErrorCode::kExpired || error.code() == ErrorCode::kNotHeld;
}

}  // namespace

LockClient::LockClient(Entropy& entropy) : id_(hex16(entropy.next())) { id_ += hex16(entropy.next()); }

std::shared_ptr<LockClient> LockClient::of(const LockBackend& backend, Entropy& entropy) {
  static Mutex mutex;
  static std::map<const LockBackend*, std::weak_ptr<LockClient>> clients;
  const MutexLock lock(mutex);
  std::erase_if(clients, [](const auto& entry) { return entry.second.expired(); });
  auto& known = clients[&backend];
  auto client = known.lock();
  if (!client) known = client = std::make_shared<LockClient>(entropy);
  return client;
}

std::uint64_t LockClient::thread_number() {
  static std::atomic<std::uint64_t> next{1};
  thread_local const std::uint64_t number = next.fetch_add(1);
  return number;
}

std::string LockClient::owner() const { return fmt::format("{}:{}", id_, thread_number()); }

std::string LockClient::new_request_id() { return fmt::format("{}/{}", id_, requests_.fetch_add(1)); }

LockDesk::LockDesk(LockBackend& backend, SoftLockSettings settings, const Clock& clock,
                   std::shared_ptr<LockClient> client)
    : backend_(backend),
      locks_(dynamic_cast<Locks*>(&backend)),
      settings_(std::move(settings)),
      margin_(settings_.margin.value_or(margin_of(settings_.lease))),
      client_(std::move(client)),
      deadlines_(clock),
      renewals_(clock) {
  bind();
}

void LockDesk::check_key(const Key& key) const {
  for (const auto& [what, value] : {std::pair{"domain", key.domain}, std::pair{"identifier", key.identifier}}) {
    if (value.empty()) throw InvalidLockKey(fmt::format("{} must not be empty", what));
    if (value.find(settings_.delimiter) != std::string_view::npos) {
      throw InvalidLockKey(fmt::format("{} must not contain the delimiter '{}': {}", what, settings_.delimiter, value));
    }
    Checker checker;
    checker.lock_name(what, value);
    if (checker.fault()) throw InvalidLockKey(checker.fault()->message);
  }
}

LockDesk::Place LockDesk::place_of(const Key& key) {
  return {std::string(key.domain), std::string(key.identifier), LockClient::thread_number()};
}

std::string_view LockDesk::word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAcquired:
      return "acquired";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kError:
      return "error";
  }
  return "error";
}

void LockDesk::lock(const Key& key, std::stop_token stop) {
  Outcome outcome = Outcome::kTimeout;
  while (outcome == Outcome::kTimeout) {
    try {
      outcome = acquire(key, kLeaseMax, stop);
    } catch (const LockAcquisitionError&) {
      throw;
    } catch (const Error& error) {
      throw LockAcquisitionError(error.code(), error.what(), std::string(key.domain), std::string(key.identifier));
    }
  }
  if (outcome == Outcome::kInterrupted) {
    throw LockInterrupted(ErrorCode::kErr, "asked to stop while waiting for the lock", std::string(key.domain),
                          std::string(key.identifier));
  }
}

bool LockDesk::try_lock(const Key& key, Millis wait, std::stop_token stop) {
  try {
    const Outcome outcome = acquire(key, wait, stop);
    if (outcome != Outcome::kInterrupted) return outcome == Outcome::kAcquired;
  } catch (const Error& error) {
    log(key, fmt::format("could not be tried: {}", error.what()));
    return false;
  }
  throw LockInterrupted(ErrorCode::kErr, "asked to stop while waiting for the lock", std::string(key.domain),
                        std::string(key.identifier));
}

LockDesk::Outcome LockDesk::acquire(const Key& key, Millis wait, const std::stop_token& stop) {
  const Millis began = deadlines_.now();
  try {
    if (closed_) {
      throw LockAcquisitionError(ErrorCode::kUnavailable, "the manager is closed", std::string(key.domain),
                                 std::string(key.identifier));
    }
    Outcome outcome = Outcome::kInterrupted;
    if (!stop.stop_requested()) {
      auto granted = ask(key, wait, stop);
      if (granted) {
        outcome = Outcome::kAcquired;
        enter(key, std::move(*granted));
      } else if (!stop.stop_requested()) {
        outcome = Outcome::kTimeout;
      }
    }
    count_attempt(key, outcome, began);
    return outcome;
  } catch (const Error&) {
    count_attempt(key, Outcome::kError, began);
    throw;
  }
}

std::optional<LockDesk::Granted> LockDesk::ask(const Key& key, Millis wait, const std::stop_token& stop) {
  const Millis give_up = deadlines_.now() + wait;
  int too_late = 0;
  while (true) {
    bool again = false;
    const Millis left = std::max(give_up - deadlines_.now(), Millis{0});
    auto granted = ask_once(key, left, stop, &again, &too_late);
    if (granted || stop.stop_requested()) return granted;
    if (too_late == kTooLateMax) {
      throw LockAcquisitionError(ErrorCode::kUnavailable,
                                 fmt::format("granted {} times, but its lease of {} ms was over before the grant came: "
                                             "expected a lease longer than the way to the authority and back",
                                             too_late, settings_.lease.count()),
                                 std::string(key.domain), std::string(key.identifier));
    }
    if (!again || (wait > Millis{0} && deadlines_.now() >= give_up)) return std::nullopt;
  }
}

// `again`: nothing was acquired, but there may be if it is asked for once more.
std::optional<LockDesk::Granted> LockDesk::ask_once(const Key& key, Millis wait, const std::stop_token& stop,
                                                    bool* again, int* too_late) {
  const std::string owner = client_->owner();
  const std::string request_id = client_->new_request_id();
  LockRequest request{.lock = name_of(key), .owner = owner, .lease = settings_.lease, .request_id = request_id};
  if (session_) request.session = *session_;
  // Only Tenure's authority can be asked how much is left of a grant that was waited for. Elsewhere the wait counts as
  // part of the lease, so it is cut into pieces.
  const Millis piece = locks_ != nullptr ? wait : std::min(wait, settings_.lease / 4);
  const std::uint64_t session_losses = session_losses_;
  const Millis sent = deadlines_.now();
  std::optional<LockGrant> grant;
  try {
    grant = backend_.acquire(request, piece, stop);
  } catch (const SoftLockError& error) {
    // An earlier try was granted, its answer lost, and the lock before it could be asked for again.
    if (!has_ended(error)) throw;
    *again = true;
    return std::nullopt;
  }
  if (!grant) {
    *again = piece < wait;
    return std::nullopt;
  }
  if (session_losses != session_losses_) {
    give_back(key, grant->token);
    *again = true;
    return std::nullopt;
  }
  const Asked asked{.sent = sent, .answered = deadlines_.now()};
  Millis deadline = deadline_of(asked, grant->remaining);
  *again = wait > Millis{0};
  if (locks_ != nullptr && is_worth_counting_anew(asked, margin_)) {
    const auto counted = count_anew(request, *grant, deadline);
    if (!counted) return std::nullopt;
    deadline = *counted;
  }
  if (deadlines_.now() < deadline) return Granted{std::move(*grant), deadline, session_losses};
  // It came too late to be of use.
  give_back(key, grant->token);
  ++*too_late;
  return std::nullopt;
}

Millis LockDesk::deadline_of(const Asked& asked, Millis remaining) const {
  return local_deadline(asked, remaining, settings_.margin.value_or(margin_of(settings_.lease, remaining)));
}

// After a wait: the same request again is the same grant, and what is left of it now is counted from before that.
// Nullopt: it has ended.
std::optional<Millis> LockDesk::count_anew(const LockRequest& request, const LockGrant& grant, Millis deadline) {
  const Millis sent = deadlines_.now();
  try {
    const auto same = backend_.acquire(request);
    if (same && same->token == grant.token) {
      return std::max(deadline, deadline_of({sent, deadlines_.now()}, same->remaining));
    }
  } catch (const Error& error) {
    if (has_ended(error)) return std::nullopt;
    // It cannot be asked about: the early deadline stands, and is most likely over.
    return deadline;
  }
  return deadline;
}

void LockDesk::give_back(const Key& key, const std::string& token, std::uint32_t holds) {
  try {
    for (; holds > 0; --holds) backend_.release({.lock = name_of(key), .token = token});
  } catch (const Error& error) {
    log(key, fmt::format("not given back, so its lease must end it: {}", error.what()));
  }
}

void LockDesk::enter(const Key& key, Granted granted) {
  const Place place = place_of(key);
  LockGrant& grant = granted.grant;
  std::optional<Loss> loss;
  std::uint32_t stale = 0;
  bool is_new = false;
  {
    const MutexLock lock(mutex_);
    std::vector<Hold>& holds = holds_[place];
    if (!holds.empty() && !holds.back().is_lost && !is_unbound(holds.back()) && holds.back().token == grant.token) {
      Hold& hold = holds.back();
      ++hold.count;
      hold.deadline = std::max(hold.deadline, granted.deadline);
    } else {
      is_new = true;
      // What was held before is no more, or this would have been a re-entry. If the authority sees it as one, because
      // the local deadline comes first, the holds that were lost are given back there: their releases will not.
      if (!holds.empty() && holds.back().token == grant.token && !holds.back().is_given_back) {
        stale = holds.back().count;
        holds.back().is_given_back = true;
      }
      if (!holds.empty() && !holds.back().is_lost) loss = mark_lost(place, holds.back(), "its lease was lost");
      const std::uint64_t number = ++numbers_;
      holds.push_back({.number = number,
                       .token = std::move(grant.token),
                       .fence = grant.fence,
                       .lease = settings_.lease,
                       .since = deadlines_.now(),
                       .deadline = granted.deadline,
                       .session_losses = granted.session_losses,
                       .alarm = watch(place, number, granted.deadline)});
    }
  }
  if (stale > 0) give_back(key, current(key).token, stale);
  if (loss) tell(*loss);
  if (is_new) move_active(key.domain, 1);
  // The session may have ended since the grant came: who tells of that may not have seen this hold.
  if (granted.session_losses != session_losses_) deadlines_.set(deadlines_.now(), [this] { lose_unbound(); });
  call(settings_.on_acquired, key, grant.fence);
}

void LockDesk::release(const Key& key) {
  const Place place = place_of(key);
  std::optional<Loss> loss;
  const GivenBack back = take_back(place, &loss);
  if (loss) tell(*loss);
  if (back.was_lost) {
    throw LockExpired(ErrorCode::kExpired, "the lease ended before the release: another may have been let in",
                      place.domain, place.identifier);
  }
  const std::string request_id = client_->new_request_id();
  try {
    backend_.release({.lock = name_of(key), .token = back.hold.token, .request_id = request_id});
  } catch (const SoftLockError& error) {
    const bool is_lost = error.code() == ErrorCode::kExpired || error.code() == ErrorCode::kNotHeld;
    if (!back.is_last) {
      if (is_lost) lose(place, back.hold.number, error.what());
    } else if (is_lost) {
      Hold hold = back.hold;
      tell(mark_lost(place, hold, error.what()));
    } else {
      ended(place, back.hold);
    }
    if (error.code() != ErrorCode::kNotHeld) throw;
    // This thread held it, so it was not let go by a release.
    throw LockExpired(ErrorCode::kExpired, error.what(), place.domain, place.identifier);
  } catch (const Error&) {
    if (back.is_last) ended(place, back.hold);
    throw;
  }
  if (back.is_last) {
    ended(place, back.hold);
    call(settings_.on_released, key, back.hold.fence);
  }
}

void LockDesk::unlock(const Key& key) noexcept {
  try {
    release(key);
  } catch (const std::exception& error) {
    log(key, fmt::format("unlock: {}", error.what()));
  }
}

bool LockDesk::is_locked(const Key& key) { return backend_.is_locked(name_of(key)); }

bool LockDesk::force(const Key& key) { return backend_.force(name_of(key)); }

Locks& LockDesk::extensible(const Key& key) {
  if (locks_ != nullptr) return *locks_;
  throw SoftLockError(ErrorCode::kErr, "this backend neither extends nor lists locks", std::string(key.domain),
                      std::string(key.identifier));
}

std::vector<LockStatus> LockDesk::list(std::string_view domain) {
  Locks& locks = extensible({.domain = domain, .identifier = {}});
  std::vector<LockStatus> all;
  Paging paging{.count = 1000};
  do {
    LockPage page = locks.list({.domain = domain, .space = settings_.space, .paging = paging});
    std::move(page.locks.begin(), page.locks.end(), std::back_inserter(all));
    paging.cursor = std::move(page.cursor);
  } while (paging.cursor != "0");
  return all;
}

}  // namespace tenure
