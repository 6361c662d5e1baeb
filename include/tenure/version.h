// Tenure's version, by semantic versioning.
#pragma once

#include <string_view>

namespace tenure {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace tenure
