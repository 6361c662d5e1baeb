// What a manager and its soft locks share: who of this process holds what, until when by the local clock, and the two
// threads that watch over it. One tells holders that their time is over and never waits for the authority; the other
// renews, and may.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tenure/locks.h>
#include <tenure/soft_lock.h>
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mutex.h"
#include "client/alarms.h"
#include "client/local_lease.h"
#include "client/session_keeper.h"

namespace tenure {

// Who asks: one for each backend, shared by all managers over it, so that a thread re-enters whatever it holds there.
// Thread-safe.
class LockClient {
 public:
  explicit LockClient(Entropy& entropy);
  // That of the backend while some manager has it.
  static std::shared_ptr<LockClient> of(const LockBackend& backend, Entropy& entropy);

  // The calling thread as an owner: a thread's number is never given to another.
  [[nodiscard]] std::string owner() const;
  // An id that no other request has.
  [[nodiscard]] std::string new_request_id();
  static std::uint64_t thread_number();

 private:
  std::string id_;
  std::atomic<std::uint64_t> requests_{0};
};

// Thread-safe. Backend, clock and metrics outlive it.
class LockDesk {
 public:
  LockDesk(LockBackend& backend, SoftLockSettings settings, const Clock& clock, std::shared_ptr<LockClient> client);
  // Whoever still holds something is told that nobody watches over it any more.
  ~LockDesk();
  LockDesk(const LockDesk&) = delete;
  LockDesk& operator=(const LockDesk&) = delete;

  struct Key {
    std::string_view domain;
    std::string_view identifier;
  };

  void check_key(const Key& key) const;
  void lock(const Key& key, std::stop_token stop);
  bool try_lock(const Key& key, Millis wait, std::stop_token stop);
  void release(const Key& key);
  void unlock(const Key& key) noexcept;
  std::optional<Fence> fence(const Key& key);
  std::stop_token lost(const Key& key);
  void extend(const Key& key, Millis lease);
  void keep_alive(const Key& key);
  Millis remaining(const Key& key);
  bool is_locked(const Key& key);
  bool is_held_here(const Key& key);
  bool force(const Key& key);
  std::vector<LockStatus> list(std::string_view domain);
  void close() { closed_ = true; }
  void lose_all();

  [[nodiscard]] const SoftLockSettings& settings() const { return settings_; }
  [[nodiscard]] Millis margin() const { return margin_; }
  // For tests, after the clock was moved.
  void settle();

 private:
  // One thread's hold of one lock.
  struct Place {
    std::string domain;
    std::string identifier;
    std::uint64_t thread;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Hold {
    std::uint64_t number = 0;  // never reused
    std::string token;
    std::optional<Fence> fence;
    std::uint32_t count = 1;
    Millis lease{0};
    Millis since{0};
    Millis deadline{0};
    std::uint64_t session_losses = 0;  // before it
    Alarms::Id alarm{};
    Alarms::Id renewal{};
    bool is_lost = false;
    bool is_given_back = false;  // by another than its holder, who was told that it is lost
    bool is_kept_alive = false;
    std::stop_source lost{};
  };
  // Something to be told once the mutex is let go.
  struct Loss {
    Place place;
    Hold hold;
    std::string why;
    std::uint32_t given_back = 0;  // holds that the authority may still count
  };
  struct Granted {
    LockGrant grant;
    Millis deadline;
    std::uint64_t session_losses;
  };
  enum class Outcome : std::uint8_t { kAcquired, kTimeout, kInterrupted, kError };
  static std::string_view word_of(Outcome outcome);

  // --- lock_desk.cc: asking ---
  Outcome acquire(const Key& key, Millis wait, const std::stop_token& stop);
  std::optional<Granted> ask(const Key& key, Millis wait, const std::stop_token& stop);
  std::optional<Granted> ask_once(const Key& key, Millis wait, const std::stop_token& stop, bool* again, int* too_late);
  [[nodiscard]] Millis deadline_of(const Asked& asked, Millis remaining) const;
  std::optional<Millis> count_anew(const LockRequest& request, const LockGrant& grant, Millis deadline);
  void give_back(const Key& key, const std::string& token, std::uint32_t holds = 1);
  void enter(const Key& key, Granted granted) TENURE_EXCLUDES(mutex_);
  [[nodiscard]] LockName name_of(const Key& key) const { return {key.domain, key.identifier, settings_.space}; }
  [[nodiscard]] static Place place_of(const Key& key);
  [[nodiscard]] static Key key_of(const Place& place) { return {place.domain, place.identifier}; }
  Locks& extensible(const Key& key);

  // --- lock_holds.cc: watching ---
  struct GivenBack {
    Hold hold;
    bool was_lost = false;
    bool is_last = false;
  };
  GivenBack take_back(const Place& place, std::optional<Loss>* loss) TENURE_EXCLUDES(mutex_);
  Hold current(const Key& key) TENURE_EXCLUDES(mutex_);
  Hold* find(const Place& place, std::uint64_t number) TENURE_REQUIRES(mutex_);
  Alarms::Id watch(const Place& place, std::uint64_t number, Millis deadline);
  void look_at(const Place& place, std::uint64_t number) TENURE_EXCLUDES(mutex_);
  void prolong(const Place& place, std::uint64_t number, Millis deadline) TENURE_EXCLUDES(mutex_);
  void lose(const Place& place, std::uint64_t number, std::string_view why) TENURE_EXCLUDES(mutex_);
  void bind();
  void lose_unbound() TENURE_EXCLUDES(mutex_);
  [[nodiscard]] bool is_unbound(const Hold& hold) const { return hold.session_losses != session_losses_; }
  // Whether it is over by now, also if nobody was told yet.
  std::optional<Loss> lose_if_over(const Place& place, Hold& hold) TENURE_REQUIRES(mutex_);
  static Loss mark_lost(const Place& place, Hold& hold, std::string_view why);
  void tell(const Loss& loss);
  void ended(const Place& place, const Hold& hold);
  void renew_at(Millis due, const Place& place, std::uint64_t number) TENURE_EXCLUDES(mutex_);
  void renew(const Place& place, std::uint64_t number) TENURE_EXCLUDES(mutex_);

  // --- lock_reports.cc: telling ---
  void call(const std::function<void(const LockEvent&)>& tell, const Key& key, std::optional<Fence> fence);
  void log(const Key& key, std::string_view what);
  std::string_view label_of(std::string_view domain) TENURE_EXCLUDES(labels_mutex_);
  void count_attempt(const Key& key, Outcome outcome, Millis began);
  void count(std::string_view counter, std::string_view domain);
  void observe(std::string_view histogram, std::string_view domain, Millis time);
  void move_active(std::string_view domain, int by);

  LockBackend& backend_;
  Locks* const locks_;  // the backend, if it can extend and list
  const SoftLockSettings settings_;
  const Millis margin_;
  const std::shared_ptr<LockClient> client_;
  std::optional<std::string> session_;  // that the locks are bound to
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> session_losses_{0};  // how often it may have ended

  Mutex mutex_;
  // A lock that was lost and acquired again before it was released has more than one; the last is the current one.
  std::map<Place, std::vector<Hold>> holds_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t numbers_ TENURE_GUARDED_BY(mutex_) = 0;

  Mutex labels_mutex_;
  std::set<std::string, std::less<>> labels_ TENURE_GUARDED_BY(labels_mutex_);

  // What rings uses all the rest: they are stopped first.
  Alarms deadlines_;
  Alarms renewals_;
  std::unique_ptr<SessionKeeper::Subscription> watching_;
};

}  // namespace tenure
