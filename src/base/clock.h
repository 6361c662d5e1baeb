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
// from then on the boot clock's advance, so that a wall clock that jumps changes nothing. One that follows another's
// time does without the wall clock as soon as it has received a stamp. Thread-safe; one thread at a time changes it.
class AuthorityTime {
 public:
  AuthorityTime(const Clock& clock, Instant floor)
      : clock_(clock), ahead_ms_(std::max(clock.wall(), floor).ms - clock.boot().count()) {}

  [[nodiscard]] Instant now() const { return Instant{ahead_ms_.load() + clock_.boot().count()}; }

  // The other's time was this before it was received. It counts even if it puts this one back: time that is behind
  // makes leases last longer, but one that was behind may have granted some since, which must not end early here.
  void follow(Instant stamp) {
    ahead_ms_ = stamp.ms - clock_.boot().count();
    is_guess_ = false;
  }
  // The same of one that was read long after it was written: the wall clock is the better guess.
  void resume(Instant stamp) { is_guess_ ? at_least(stamp) : follow(stamp); }
  void at_least(Instant stamp) { ahead_ms_ = std::max(ahead_ms_.load(), stamp.ms - clock_.boot().count()); }
  // It is the time that others follow.
  void settle() { is_guess_ = false; }

 private:
  const Clock& clock_;
  std::atomic<std::int64_t> ahead_ms_;  // of the boot clock
  bool is_guess_ = true;                // the wall clock's
};

}  // namespace tenure
