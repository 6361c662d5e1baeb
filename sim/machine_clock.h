// The clocks of the machine that the authority runs on: they drift, and the wall clock jumps.
#pragma once

#include "agenda.h"
#include "base/clock.h"

namespace tenure::sim {

// One thread. The boot clock counts suspension, and never runs backwards.
class MachineClock final : public Clock {
 public:
  static constexpr std::int64_t kTrue = 1000;  // of the world's time, in thousandths

  MachineClock(const Agenda& agenda, Instant start) : agenda_(agenda), offset_(start - Instant{0}) {}

  [[nodiscard]] Instant wall() const override { return Instant{0} + boot() + offset_; }
  [[nodiscard]] Millis boot() const override { return boot_ + (agenda_.now() - since_) * rate_ / kTrue; }

  void jump(Millis by) { offset_ += by; }
  void drift(std::int64_t rate) {
    boot_ = boot();
    since_ = agenda_.now();
    rate_ = rate;
  }
  // How long the world takes until the boot clock has gone on by this much.
  [[nodiscard]] Millis until(Millis ahead) const { return Millis{(ahead.count() * kTrue + rate_ - 1) / rate_}; }

 private:
  const Agenda& agenda_;
  Millis offset_;
  Millis boot_{0};
  Millis since_{0};
  std::int64_t rate_ = kTrue;
};

// The clock of a caller's machine. It gains on the authority's or loses, within what the margin of a short lease allows
// for: margin_of in client/local_lease.h. One thread.
class CallerClock final : public Clock {
 public:
  static constexpr std::int64_t kApart = 30;  // thousandths, at most

  explicit CallerClock(const MachineClock& authority) : authority_(authority) {}

  [[nodiscard]] Instant wall() const override { return Instant{0} + boot(); }
  [[nodiscard]] Millis boot() const override {
    return boot_ + (authority_.boot() - since_) * rate_ / MachineClock::kTrue;
  }
  void drift(std::int64_t rate) {
    boot_ = boot();
    since_ = authority_.boot();
    rate_ = rate;
  }
  // How long the world takes until it has gone on by this much, if no clock changes its pace.
  [[nodiscard]] Millis until(Millis ahead) const {
    return authority_.until(Millis{(ahead.count() * MachineClock::kTrue + rate_ - 1) / rate_});
  }

 private:
  const MachineClock& authority_;
  Millis boot_{0};
  Millis since_{0};
  std::int64_t rate_ = MachineClock::kTrue;
};

}  // namespace tenure::sim
