// `tenure demo`: how Tenure works, told on an embedded authority with simulated time.
#pragma once

#include <string>

#include "cli/desk.h"

namespace tenure::cli {

struct DemoOptions {
  bool plain = false;
  std::string keep{};  // a folder for its journal, empty or missing; none: in memory
};

// Prints three stories; the exit status of the command.
int run_demo(const Desk& desk, const DemoOptions& options);

}  // namespace tenure::cli
