// The only way to time. clock.cc is the one file that reads a clock.
#pragma once

#include <atomic>

#include <tenure/types.h>

namespace tenure {

class Clock {
 public:
  virtual ~Clock() = default;
  // What the machine believes the time of day is; may jump.
  [[nodiscard]] virtual Instant wall() const = 0;
  // Time since boot, suspension included; never runs backwards.
  [[nodiscard]] virtual Millis boot() const = 0;
};

// Thread-safe. The machine's clocks.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant wall() const override;
  [[nodiscard]] Millis boot() const override;
};

// Thread-safe. A clock that stands still until it is moved.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{}) : start_(start) {}
  [[nodiscard]] Instant wall() const override { return start_ + boot(); }
  [[nodiscard]] Millis boot() const override { return Millis{since_.load()}; }
  void advance(Millis by) { since_ += by.count(); }

 private:
  const Instant start_;
  std::atomic<std::int64_t> since_{0};
};

// The authority's time: the wall clock once, at the start, but never before `floor` (the last stamp of its journal);
// from then on the boot clock's advance, so that a wall clock that jumps changes nothing. Immutable.
class AuthorityTime {
 public:
  AuthorityTime(const Clock& clock, Instant floor)
      : clock_(clock), start_(std::max(clock.wall(), floor)), boot_at_start_(clock.boot()) {}

  [[nodiscard]] Instant now() const { return start_ + (clock_.boot() - boot_at_start_); }

 private:
  const Clock& clock_;
  const Instant start_;
  const Millis boot_at_start_;
};

}  // namespace tenure
