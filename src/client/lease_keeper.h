// Keeps leases alive for those who work: renews each at a third of its time on one thread, and on another tells the
// holder, by the local clock and a margin before the authority's expiry, that it is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>

#include <tenure/types.h>
#include "base/clock.h"
#include "base/mutex.h"
#include "client/alarms.h"
#include "client/local_lease.h"

namespace tenure {

// Thread-safe. The clock outlives it.
class LeaseKeeper {
 public:
  struct Renewed {
    std::optional<Millis> remaining;  // absent: the lease is no longer the holder's
    bool is_last = false;             // it cannot be prolonged any further
  };
  // Called on the keeper's thread; throws Error if nobody can be asked, which is tried again. May be under way, and its
  // answer is then ignored, when the lease is let go.
  using Renew = std::function<Renewed()>;

  explicit LeaseKeeper(const Clock& clock) : deadlines_(clock), renewals_(clock) {}

  [[nodiscard]] Millis now() const { return deadlines_.now(); }
  // A lease of which `remaining` was left after `sent`.
  std::uint64_t keep(Millis sent, Millis remaining, Millis lease, Renew renew, std::stop_source lost)
      TENURE_EXCLUDES(mutex_);
  // Nothing more is told. True: the lease was not lost before.
  bool let_go(std::uint64_t number) TENURE_EXCLUDES(mutex_);
  [[nodiscard]] bool is_lost(std::uint64_t number) TENURE_EXCLUDES(mutex_);
  // For tests, after the clock was moved.
  void settle();

 private:
  struct Kept {
    Millis deadline;
    Millis lease;
    Renew renew;
    std::stop_source lost;
    Alarms::Id watching{};
    Alarms::Id renewing{};
  };
  [[nodiscard]] Alarms::Id watch(Millis deadline, std::uint64_t number);
  void look_at(std::uint64_t number) TENURE_EXCLUDES(mutex_);
  [[nodiscard]] Alarms::Id renew_at(Millis due, std::uint64_t number);
  void renew(std::uint64_t number) TENURE_EXCLUDES(mutex_);
  void lose(std::uint64_t number) TENURE_EXCLUDES(mutex_);

  Mutex mutex_;
  std::map<std::uint64_t, Kept> kept_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t numbers_ TENURE_GUARDED_BY(mutex_) = 0;
  // The last, so that they are the first to go.
  Alarms deadlines_;
  Alarms renewals_;
};

}  // namespace tenure
