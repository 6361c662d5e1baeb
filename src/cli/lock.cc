#include <array>

#include "base/mutex.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/duration.h"
#include "cli/identity.h"
#include "cli/journal_text.h"
#include "cli/lock_commands.h"
#include "client/lease_keeper.h"

namespace tenure::cli {
namespace {

// One wait; the next follows at once.
constexpr Millis kOneLockWait = std::chrono::hours(1);

// A lock that is held, renewed, and watched over by the local clock. One thread, but that it is renewed on another.
class HeldLock {
 public:
  HeldLock(LockBackend& locks, const LockName& name, Millis lease, const Desk& desk)
      : locks_(locks),
        authority_(dynamic_cast<Locks*>(&locks)),
        name_(name),
        owner_(process_name(desk.entropy)),
        lease_(lease),
        keeper_(desk.clock) {}

  // False: not in time, or it was asked to stop.
  bool acquire(Entropy& entropy, std::optional<Millis> wait, const std::stop_token& stop) {
    // Elsewhere than on Tenure the time that is waited for a grant is part of its lease.
    const Millis piece = authority_ != nullptr ? kOneLockWait : std::max(lease_ / 4, Millis{1});
    const Millis began = keeper_.now();
    while (!stop.stop_requested()) {
      const std::string request_id = hex16(entropy.next()) + hex16(entropy.next());
      const LockRequest request{.lock = name_, .owner = owner_, .lease = lease_, .request_id = request_id};
      const Millis left = wait ? std::max(Millis{0}, *wait - (keeper_.now() - began)) : piece;
      const Millis sent = keeper_.now();
      const auto grant = ask(request, std::min(left, piece), stop);
      if (grant && keep(request, *grant, sent)) return true;
      if (!grant && wait && left <= piece) return false;
    }
    return false;
  }

  // Absent: where the lock is there are none.
  [[nodiscard]] std::optional<Fence> fence() const { return fence_; }
  [[nodiscard]] std::stop_token lost() const { return lost_.get_token(); }
  [[nodiscard]] const std::string& why_lost() const { return why_lost_; }

  // False: it was lost before.
  bool release(const Desk& desk) {
    const bool was_kept = keeper_.let_go(kept_);
    try {
      give_back();
      return true;
    } catch (const LockExpired& error) {
      why_lost_ = error.what();
    } catch (const NotHeld& error) {
      why_lost_ = error.what();
    } catch (const Error& error) {
      if (!was_kept) return false;
      desk.err << fmt::format("tenure: lock {} cannot be released: {}\n  It frees itself in {} at most.\n",
                              lock_name(name_), error.what(), short_duration(lease_));
      return true;
    }
    return false;
  }

 private:
  // Nothing also for a grant whose answer was lost, and which has ended meanwhile.
  std::optional<LockGrant> ask(const LockRequest& request, Millis wait, const std::stop_token& stop) {
    try {
      return locks_.acquire(request, wait, stop);
    } catch (const LockExpired&) {
      return std::nullopt;
    } catch (const NotHeld&) {
      return std::nullopt;
    }
  }

  // False: it has ended meanwhile.
  bool keep(const LockRequest& request, LockGrant grant, Millis sent) {
    token_ = grant.token;
    fence_ = grant.fence;
    try {
      if (authority_ == nullptr) {
        sent = keeper_.now();
        enter_again();
      } else if (keeper_.now() - sent > margin_of(lease_)) {
        // After a wait the same request again is the same grant, and what is left of it is counted from before that.
        sent = keeper_.now();
        auto same = locks_.acquire(request);
        if (!same) return false;
        grant = std::move(*same);
        token_ = grant.token;
        fence_ = grant.fence;
      }
    } catch (const LockExpired&) {
      return false;
    } catch (const NotHeld&) {
      return false;
    }
    kept_ = keeper_.keep(sent, grant.remaining, lease_, [this] { return renew(); }, lost_);
    return true;
  }

  LeaseKeeper::Renewed renew() {
    try {
      if (authority_ == nullptr) return renew_by_entering();
      return {.remaining = authority_->extend({.lock = name_, .token = token_, .lease = lease_}).remaining};
    } catch (const LockExpired&) {
      return {};
    } catch (const NotHeld&) {
      return {};
    }
  }

  // Elsewhere than on Tenure a lease is prolonged by entering again. But who has lost the lock would then enter anew,
  // and not know it. So the lock is held twice, and one hold is given back first: that is refused if the lock is lost.
  // If it was lost after that, the last time, there was only one hold to give back: then nobody has the lock now, or
  // another, who keeps us out.
  LeaseKeeper::Renewed renew_by_entering() {
    const MutexLock lock(mutex_);
    if (is_over_) return {.remaining = Millis{0}, .is_last = true};
    if (holds_ > 1) {
      --holds_;  // also if there is no answer
      locks_.release({.lock = name_, .token = token_});
    }
    if (!locks_.is_locked(name_)) raise_lost("it was freed by force, or with a member");
    enter_again_locked();
    return {.remaining = lease_};
  }

  void enter_again() {
    const MutexLock lock(mutex_);
    holds_ = 1;
    enter_again_locked();
  }

  void enter_again_locked() TENURE_REQUIRES(mutex_) {
    const auto again = locks_.acquire({.lock = name_, .owner = owner_, .lease = lease_});
    if (again && again->token == token_) {
      ++holds_;
      return;
    }
    // It was lost; what was acquired anew is another grant.
    if (again) locks_.release({.lock = name_, .token = again->token});
    raise_lost("somebody else has it");
  }

  [[noreturn]] void raise_lost(const std::string& why) const {
    throw LockExpired(ErrorCode::kExpired, why, std::string(name_.domain), std::string(name_.identifier));
  }

  void give_back() {
    const MutexLock lock(mutex_);
    is_over_ = true;
    for (; holds_ > 1; --holds_) locks_.release({.lock = name_, .token = token_});
    locks_.release({.lock = name_, .token = token_});
  }

  LockBackend& locks_;
  Locks* const authority_;  // the same, if it is Tenure's
  const LockName name_;
  const std::string owner_;
  const Millis lease_;
  std::string token_;
  std::optional<Fence> fence_;
  std::stop_source lost_;
  std::uint64_t kept_ = 0;
  std::string why_lost_;
  // A renewal that is under way must not follow the release.
  Mutex mutex_;
  int holds_ TENURE_GUARDED_BY(mutex_) = 1;
  bool is_over_ TENURE_GUARDED_BY(mutex_) = false;
  LeaseKeeper keeper_;  // the last: what it calls uses all the rest
};

int tell_busy(const LockErrand& errand, const LockName& name) {
  auto* const authority = dynamic_cast<Locks*>(&errand.locks);
  const auto holder = authority != nullptr ? find_holder(*authority, name) : std::nullopt;
  std::string message = fmt::format("lock {} is held by another", lock_name(name));
  if (holder) {
    message =
        fmt::format("lock {} is held by {} under fence {}, for another {} at most unless it is renewed",
                    lock_name(name), shown(holder->owner), holder->fence.value, short_duration(holder->remaining));
  }
  std::string advice = "Wait for it with --wait TIME";
  if (authority != nullptr) {
    advice += fmt::format(", or free it with `tenure force-unlock {} {}` if its holder is gone", name.domain,
                          name.identifier);
  }
  complain(errand.desk, errand.json, ErrorCode::kBackpressure, message, advice + ".");
  return kNotNow;
}

// The command's life: ended by itself, by a signal that was sent to us, or because the lock is lost.
void watch_child(const LockErrand& errand, Signals& signals, Child& child, const HeldLock& lock, Millis grace,
                 const std::string& name) {
  Bell lost_bell;
  const std::stop_callback ring(lock.lost(), [&] { lost_bell.ring(); });
  const std::array bells{signals.descriptor(), lost_bell.descriptor()};
  while (child.wait(bells, std::nullopt) != Child::Event::kEnded) {
    if (lock.lost().stop_requested() && !child.is_stopping()) {
      lost_bell.clear();
      const std::string fence = lock.fence() ? fmt::format(" (fence {})", lock.fence()->value) : "";
      errand.desk.err << fmt::format("tenure: lock {}{} is lost; stopping the command\n", name, fence) << std::flush;
      child.stop(grace);
    }
    while (const auto signal = signals.take()) {
      if (signal->number == SIGCHLD) {
        child.follow_stop();
      } else if (!signal->is_from_terminal || !child.is_in_our_group()) {
        child.signal(signal->number);
      }
    }
  }
}

// Absent where there is none, also if we have one: a lock around this one is another.
std::optional<std::string> fence_text(const HeldLock& lock) {
  return lock.fence() ? std::optional(std::to_string(lock.fence()->value)) : std::nullopt;
}

int report_unlocked(const LockErrand& errand, const HeldLock& lock, const Child& child, const std::string& name,
                    bool is_released) {
  if (is_released && !lock.lost().stop_requested()) return child.status();
  const char* const advice =
      lock.fence() ? "What it guards may have been entered by another meanwhile: only a resource that checks "
                     "TENURE_FENCE is safe from that."
                   : "What it guards may have been entered by another meanwhile. There is no fence here that could "
                     "keep the two apart.";
  complain(errand.desk, errand.json, ErrorCode::kExpired,
           fmt::format("lock {} was lost while the command ran, which ended with {}{}{}", name, child.ending(),
                       lock.why_lost().empty() ? "" : ": ", lock.why_lost()),
           advice);
  return kLost;
}

}  // namespace

// Who may take locks need not be allowed to look at them.
std::optional<LockStatus> find_holder(Locks& locks, const LockName& name) {
  try {
    return locks.get(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string lock_name(const LockName& lock) {
  const std::string name = fmt::format("{}::{}", shown(lock.domain), shown(lock.identifier));
  return lock.space == kDefaultSpace ? name : fmt::format("{} of space {}", name, shown(lock.space));
}

int run_locked(const LockErrand& errand, Signals& signals, const LockOptions& options) {
  const LockName name{.domain = options.domain, .identifier = options.identifier, .space = options.space};
  HeldLock lock(errand.locks, name, options.lease, errand.desk);
  {
    StopOnSignal stop(signals);
    const bool is_held = lock.acquire(errand.desk.entropy, options.wait, stop.token());
    const auto signal = stop.finish();
    if (signal) {
      if (is_held) lock.release(errand.desk);
      return kSignalled + *signal;
    }
    if (!is_held) return tell_busy(errand, name);
  }
  const std::string shown_name = lock_name(name);
  auto child = Child::start({.command = options.command,
                             .environment = {{"TENURE_FENCE", fence_text(lock)},
                                             {"TENURE_LOCK_DOMAIN", options.domain},
                                             {"TENURE_LOCK", options.identifier}},
                             .group = group_at_terminal(),
                             .mask = signals.mask_before()});
  if (!child) {
    lock.release(errand.desk);
    complain(errand.desk, errand.json, child.error().code, child.error().message);
    return child.error().code == ErrorCode::kNotFound ? kNoCommand : kNotRunnable;
  }
  watch_child(errand, signals, **child, lock, options.grace, shown_name);
  const bool is_released = lock.release(errand.desk);
  return report_unlocked(errand, lock, **child, shown_name, is_released);
}

}  // namespace tenure::cli
