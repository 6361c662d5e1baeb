// `tenure demo`: how Tenure works, told on an embedded authority with simulated time.
#pragma once

namespace tenure::cli {

struct DemoOptions {
  bool plain = false;
};

// Prints three stories; the exit status of the command.
int run_demo(const DemoOptions& options);

}  // namespace tenure::cli
