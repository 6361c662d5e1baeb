// Times as people write and read them.
#pragma once

#include <string>
#include <string_view>

#include <tenure/types.h>
#include "base/result.h"

namespace tenure::cli {

// 250ms, 30s, 5m, 12h, 7d; also 1.5s and 1m30s. A unit is needed: the protocol's milliseconds and a shell's seconds
// are too easily taken for each other.
Result<Millis> parse_duration(std::string_view text);

// Rounded to what a glance needs: 250ms, 4.2s, 31s, 12m05s, 3h20m, 9d04h.
std::string short_duration(Millis time);

}  // namespace tenure::cli
