// Settings under which every limit is met.
#pragma once

#include <tenure/settings.h>
#include "base/dice.h"

namespace tenure::sim {

// What values are held against, which is the same in all of them.
inline Settings value_limits() {
  Settings settings;
  settings.payload_bytes_max = 1000;
  return settings;
}

inline Settings small_settings(Dice& dice) {
  Settings settings = value_limits();
  settings.work_retries_max = static_cast<std::uint32_t>(dice.between(0, 2));
  settings.retention_time = Millis{dice.between(1000, 6000)};
  settings.retention_count = static_cast<std::uint64_t>(dice.one_in(2) ? 1000 : dice.between(10, 60));
  if (dice.one_in(4)) settings.retention_bytes = static_cast<std::uint64_t>(dice.between(4000, 20'000));
  settings.backlog_max = 4;
  settings.domains_max = 4;
  settings.holds_max = 3;
  settings.waiters_max = 2;
  if (dice.one_in(4)) settings.state_bytes_max = static_cast<std::uint64_t>(dice.between(15'000, 60'000));
  return settings;
}

}  // namespace tenure::sim
