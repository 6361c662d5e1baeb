#include "network.h"

#include <algorithm>

namespace tenure::sim {

void Network::carry(const Agenda::Event& arrive) {
  if (is_calm_) return agenda_.after(Millis{1}, arrive);
  if (dice_.one_in(30)) return tally_.count(Fault::kMessageDropped);
  deliver(arrive);
  if (!dice_.one_in(25)) return;
  tally_.count(Fault::kMessageDoubled);
  deliver(arrive);
}

void Network::deliver(const Agenda::Event& arrive) {
  Millis delay{dice_.between(0, 3)};
  if (dice_.one_in(20)) {
    tally_.count(Fault::kMessageDelayed);
    delay = Millis{dice_.between(20, 600)};
  }
  const Millis arrival = agenda_.now() + delay;
  if (arrival < latest_) tally_.count(Fault::kMessageReordered);
  latest_ = std::max(latest_, arrival);
  agenda_.at(arrival, arrive);
}

}  // namespace tenure::sim
