// Local deadlines: what a holder must learn at a time of its own clock, whether or not the authority can be reached.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include <tenure/types.h>
#include "base/clock.h"
#include "base/mutex.h"

namespace tenure {

// Rings on one thread of its own, in order of time; a ring that blocks holds up the others. Thread-safe, destroyed by
// none of its rings. The clock outlives it. Destroying it rings nothing more.
class Alarms {
 public:
  // The time it is due, and a number that is used once.
  using Id = std::pair<Millis, std::uint64_t>;

  explicit Alarms(const Clock& clock) : clock_(clock) {}
  ~Alarms() { stop(); }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

  // Time since boot, which all deadlines are of.
  [[nodiscard]] Millis now() const { return clock_.boot(); }
  Id set(Millis due, std::function<void()> ring) TENURE_EXCLUDES(mutex_);
  // False: it has rung, or is just ringing.
  bool cancel(Id id) TENURE_EXCLUDES(mutex_);
  // Rings nothing more; what is ringing has ended when it returns.
  void stop() TENURE_EXCLUDES(mutex_);
  // For tests, after the clock was moved: returns when all that is due has rung.
  void settle() TENURE_EXCLUDES(mutex_);

 private:
  void run() TENURE_EXCLUDES(mutex_);
  void ring_what_is_due() TENURE_REQUIRES(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  Condition woken_;
  Condition settled_;
  std::map<Id, std::function<void()>> waiting_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t numbers_ TENURE_GUARDED_BY(mutex_) = 0;
  std::uint64_t looks_ TENURE_GUARDED_BY(mutex_) = 0;  // how often it has found nothing due
  Millis wakes_at_ TENURE_GUARDED_BY(mutex_) = Millis::min();
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
