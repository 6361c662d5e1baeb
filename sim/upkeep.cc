#include "upkeep.h"

#include <utility>

namespace tenure::sim {

Upkeep::Upkeep(Ports ports) : ports_(std::move(ports)) {
  ports_.engine.on_earlier_due([this] { is_due_earlier_ = true; });
}

void Upkeep::plan(Millis delay) {
  Millis late{ports_.dice.between(0, 2)};
  if (!ports_.is_calm && ports_.dice.one_in(6)) {
    ports_.tally.count(Fault::kUpkeepLate);
    late = Millis{ports_.dice.between(20, 250)};
  }
  ports_.lives.plan(delay + late, [this, number = ++plans_] {
    if (number == plans_) run();
  });
}

void Upkeep::settle() {
  if (std::exchange(is_due_earlier_, false)) plan(Millis{0});
}

void Upkeep::run() {
  Instant next = ports_.engine.run_due();
  for (int i = 0; i < 100 && next <= ports_.engine.now(); ++i) next = ports_.engine.run_due();
  is_due_earlier_ = false;
  if (ports_.on_done) ports_.on_done();
  if (next != kNever) plan(ports_.clock.until(next - ports_.engine.now()));
}

}  // namespace tenure::sim
