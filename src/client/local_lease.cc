#include "client/local_lease.h"

#include <algorithm>

#include "base/planted.h"

namespace tenure {

Millis margin_of(Millis lease) {
  if (is_planted(PlantedBug::kMarginMissing)) return Millis{0};
  return std::min(std::clamp<Millis>(lease / 20, Millis{1}, std::chrono::seconds(1)) + lease / 1000, lease / 2);
}

Millis margin_of(Millis lease, Millis remaining) { return std::max(margin_of(lease), margin_of(remaining)); }

Millis local_deadline(const Asked& asked, Millis remaining, Millis margin) {
  const Millis from = is_planted(PlantedBug::kDeadlineFromAnswer) ? asked.answered : asked.sent;
  return from + remaining - margin;
}

bool is_worth_counting_anew(const Asked& asked, Millis margin) { return asked.answered - asked.sent > margin; }

Millis first_renewal(Millis sent, Millis remaining, Millis lease) { return sent + std::min(lease, remaining) / 3; }

Millis next_renewal(Millis sent, Millis lease) { return sent + std::max<Millis>(lease / 3, Millis{1}); }

Millis renewal_after_failure(Millis now, Millis lease) { return now + std::max<Millis>(lease / 12, Millis{1}); }

}  // namespace tenure
