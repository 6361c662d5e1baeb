// Locks that look like the standard's and free themselves: what std::mutex is to threads, these are to programs.
//
//   auto manager = tenure::SoftLockManager::builder(authority->locks()).lease_time(std::chrono::minutes(2)).build();
//   auto lock = manager.get_lock("orders", "12345");
//   std::unique_lock guard(lock);           // or lock.lock(), lock.try_lock_for(5s), std::scoped_lock, std::lock
//   write(order, lock.fence());             // the resource checks the fence: see fence_guard.h
//   if (lock.lost().stop_requested()) ...   // the lease has run out, by the clock of this machine
//
// What a lock with a lease can and cannot promise is in docs/locks.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/errors.h>
#include <tenure/export.h>
#include <tenure/locks.h>
#include <tenure/types.h>

namespace tenure {

// Where a manager counts and measures, if it is given one. The names are softlock_acquire_seconds,
// softlock_held_time_seconds (observed), softlock_acquire_attempts_total, softlock_expired_total (counted) and
// softlock_active (moved up and down). Labels: the domain, and for the acquire ones the result: acquired, timeout,
// interrupted or error. A manager names at most 64 domains, and calls the others "other". Thread-safe, and quick.
class TENURE_API MetricsRegistry {
 public:
  struct Labels {
    std::string_view domain;
    std::string_view result{};  // empty: there is no such label
  };

  MetricsRegistry() = default;
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;
  virtual ~MetricsRegistry() = default;

  virtual void count(std::string_view counter, const Labels& labels) = 0;
  virtual void observe(std::string_view histogram, const Labels& labels, double seconds) = 0;
  virtual void move(std::string_view gauge, const Labels& labels, double by) = 0;
};

// Of which lock something is told.
struct LockEvent {
  std::string domain;
  std::string identifier;
  std::optional<Fence> fence;
};

struct SoftLockSettings {
  Millis lease = kDefaultLockLease;
  // How long before the authority's expiry, at the least, a holder counts its lock as lost. Absent: a twentieth of the
  // lease but at most a second, and a thousandth more for clocks that run apart.
  std::optional<Millis> margin{};
  std::string delimiter = "::";
  std::string space = std::string(kDefaultSpace);
  // Over a Client, locks are bound to a session that the client keeps: when its process is gone they are free once the
  // grace is over, at once without one; and when the session may have ended, because the server was lost for longer
  // than the grace, holders are told. Elsewhere, or not bound, they live until released or expired.
  bool is_bound = true;
  Millis grace{0};
  // Bound to this session instead, whose grace is given where it is joined: see Authority::join.
  std::optional<std::string> session{};
  MetricsRegistry* metrics = nullptr;
  // Called on the thread that acquired or released; on_expired also on a thread of the manager. They must not block,
  // nor drop the last of a manager and its locks.
  std::function<void(const LockEvent&)> on_acquired{};
  std::function<void(const LockEvent&)> on_released{};
  std::function<void(const LockEvent&)> on_expired{};
  // Told what nobody else can be told: a lock lost before unlock(), a renewal that failed. Absent: standard error.
  std::function<void(const std::string& line)> log{};
};

class LockDesk;
class SoftLockManagerBuilder;

// One lock, for whichever thread calls: ownership belongs to the thread, not to this object, and is counted, so a
// thread that locks twice unlocks twice. Meets the standard's Lockable and TimedLockable. Thread-safe. Outlives its
// manager if need be; the backend must outlive both.
class TENURE_API SoftLock {
 public:
  // Waits for as long as it takes. Throws LockAcquisitionError when the authority cannot be asked.
  void lock();
  // The same, but throws LockInterrupted once `stop` is asked to stop.
  void lock(std::stop_token stop);
  // False: held by another, or the authority cannot be asked (counted as "error", and logged).
  [[nodiscard]] bool try_lock();
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    return try_lock_within(in_millis(time), {});
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_for(time - Clock::now());
  }
  // Throw LockInterrupted once `stop` is asked to stop.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time, std::stop_token stop) {
    return try_lock_within(in_millis(time), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time, std::stop_token stop) {
    return try_lock_for(time - Clock::now(), std::move(stop));
  }

  // Gives back one hold. Throws LockExpired if the lease ended before: what the lock guarded may have been entered by
  // another. Throws NotHeld if this thread does not hold it, LockAcquisitionError if the authority cannot be told; the
  // hold is over in any case.
  void release();
  // What the standard guards call: as release(), but what it would throw is logged instead.
  void unlock() noexcept;
  // A distributed lock has no conditions.
  void new_condition() = delete;

  // Proves the ownership to the resource. Throws NotHeld if this thread does not hold the lock; nullopt if the backend
  // has no fences.
  [[nodiscard]] std::optional<Fence> fence() const;
  // Asked to stop once the lease of this thread's hold is over: by the local clock, a margin before the authority's
  // expiry, whether or not the authority can be reached; or once the session that it is bound to may have ended. Never
  // after a release in time. Throws NotHeld if this thread does not hold the lock.
  [[nodiscard]] std::stop_token lost() const;
  // Prolongs the lease to at least that from now. Throws LockExpired or NotHeld.
  void extend(Millis lease);
  // Renews at a third of the lease, until released or lost. Throws NotHeld.
  void keep_alive();

  // Of this thread's hold by the local clock, margin taken off; of another's by the authority, where it can tell.
  [[nodiscard]] Millis remaining_lease_time() const;
  [[nodiscard]] bool is_locked() const;
  [[nodiscard]] bool is_held_by_current_thread() const;
  // Frees the lock whoever holds it; false if nobody did.
  bool force_unlock();

  // domain, delimiter, identifier.
  [[nodiscard]] std::string key() const;
  [[nodiscard]] const std::string& domain() const { return domain_; }
  [[nodiscard]] const std::string& identifier() const { return identifier_; }

 private:
  friend class SoftLockManager;
  SoftLock(std::shared_ptr<LockDesk> desk, std::string domain, std::string identifier);
  bool try_lock_within(Millis wait, std::stop_token stop);

  // Rounded up; what is longer than any wait may be becomes that.
  template <class Rep, class Period>
  static Millis in_millis(const std::chrono::duration<Rep, Period>& time) {
    constexpr Millis kLongest = std::chrono::hours(24);
    if (time <= time.zero()) return Millis{0};
    return time >= kLongest ? kLongest : std::chrono::ceil<Millis>(time);
  }

  std::shared_ptr<LockDesk> desk_;
  std::string domain_;
  std::string identifier_;
};

// Makes locks over one backend: an embedded authority, a client of a server, or anything that gives LockBackend.
// Thread-safe. Destroying it neither closes the backend nor releases locks.
class TENURE_API SoftLockManager {
 public:
  // The backend outlives the manager and its locks.
  static SoftLockManagerBuilder builder(LockBackend& locks);
  // They keep it. Not null.
  static SoftLockManagerBuilder builder(std::shared_ptr<LockBackend> locks);
  explicit SoftLockManager(std::shared_ptr<LockDesk> desk) : desk_(std::move(desk)) {}

  // Always a new object; the lock is the same for the same names. Throws InvalidLockKey for an empty name or one with
  // the delimiter in it.
  [[nodiscard]] SoftLock get_lock(std::string_view domain, std::string_view identifier) const;
  // Every lock of the domain that is held, by whomever. Throws SoftLockError if the backend cannot tell.
  [[nodiscard]] std::vector<LockStatus> list(std::string_view domain) const;

  [[nodiscard]] Millis lease_time() const;
  [[nodiscard]] const std::string& delimiter() const;
  [[nodiscard]] const std::string& space() const;
  // From now on nothing is acquired; what is held stays so, is watched over, and can be released.
  void close();
  // For whoever keeps the session that locks are bound to: it may have ended, so every lock held is lost. A Client
  // does this by itself, for its own sessions and those that were joined through it.
  void lose_all();

 private:
  std::shared_ptr<LockDesk> desk_;
};

// Throws std::invalid_argument for what cannot be. One thread.
class TENURE_API SoftLockManagerBuilder {
 public:
  explicit SoftLockManagerBuilder(LockBackend& locks) : locks_(&locks) {}
  explicit SoftLockManagerBuilder(std::shared_ptr<LockBackend> locks);

  SoftLockManagerBuilder& lease_time(Millis lease);             // 1 ms to 24 h; a minute by default
  SoftLockManagerBuilder& margin(Millis margin);                // less than the lease
  SoftLockManagerBuilder& delimiter(std::string_view between);  // not empty; "::" by default
  SoftLockManagerBuilder& space(std::string_view space);        // not empty; "soft-locks" by default
  SoftLockManagerBuilder& grace(Millis grace);                  // 0 to 24 h; 0 by default
  SoftLockManagerBuilder& unbound();                            // bound by default, where the backend keeps sessions
  SoftLockManagerBuilder& session(std::string_view session);    // not empty; instead of a grace or being unbound
  // Outlives the manager and its locks; null: none.
  SoftLockManagerBuilder& metrics(MetricsRegistry* registry);
  SoftLockManagerBuilder& on_acquired(std::function<void(const LockEvent&)> tell);
  SoftLockManagerBuilder& on_released(std::function<void(const LockEvent&)> tell);
  SoftLockManagerBuilder& on_expired(std::function<void(const LockEvent&)> tell);
  SoftLockManagerBuilder& log(std::function<void(const std::string&)> log);
  [[nodiscard]] SoftLockManager build() const;
  [[nodiscard]] const SoftLockSettings& settings() const { return settings_; }

 private:
  LockBackend* locks_;
  std::shared_ptr<LockBackend> kept_{};  // the same, if it is the manager's to keep
  SoftLockSettings settings_;
};

}  // namespace tenure
