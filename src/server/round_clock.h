// The time as it was when the loop last looked: what happens in one round happens at one time, and the clock is not
// asked again for each request.
#pragma once

#include <tenure/types.h>
#include "base/clock.h"
#include "base/stopwatch.h"

namespace tenure::server {

// One thread: the loop's.
class RoundClock final : public Clock {
 public:
  // The clock outlives it.
  explicit RoundClock(const Clock& clock) : clock_(clock) { look(); }

  void look() {
    boot_ = clock_.boot();
    seconds_ = watch_.seconds();
  }
  [[nodiscard]] Instant wall() const override { return clock_.wall(); }
  [[nodiscard]] Millis boot() const override { return boot_; }
  // Since it was made: for whoever measures how long something took.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  const Clock& clock_;
  const Stopwatch watch_;
  Millis boot_{0};
  double seconds_ = 0;
};

}  // namespace tenure::server
