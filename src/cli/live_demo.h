// `tenure demo --live`: fills a running server with work, so that there is something to see.
#pragma once

#include <tenure/types.h>
#include "cli/errand.h"
#include "cli/signals.h"

namespace tenure::cli {

struct LiveDemoOptions {
  double pace = 1;  // how busy it is: 1 is as much as a person can follow
  Millis time{0};   // 0: until it is interrupted
};

// Tasks whose workers fail, stall and report too late; domains with a backlog; locks that are waited for and forgotten.
// The exit status of the command.
int run_live_demo(const Errand& errand, const Signals& signals, const LiveDemoOptions& options);

}  // namespace tenure::cli
