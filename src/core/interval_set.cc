#include "core/interval_set.h"

namespace tenure {

bool IntervalSet::contains(Offset offset) const {
  const auto next = intervals_.upper_bound(offset.value);
  return next != intervals_.begin() && std::prev(next)->second >= offset.value;
}

}  // namespace tenure
