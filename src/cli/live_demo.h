// `tenure demo --live`: fills a running server with work, so that there is something to see.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tenure/types.h>
#include "cli/desk.h"

namespace tenure::cli {

struct LiveDemoOptions {
  bool is_chosen = false;
  std::string server = "127.0.0.1:8368";
  double pace = 1;       // how busy it is: 1 is as much as a person can follow
  double seconds = 0;    // 0: until it is interrupted
  Millis settle{1'000};  // to wait before the server is asked again that did not answer
};

// Tasks whose workers fail, stall and report too late; domains with a backlog; locks that are waited for and forgotten.
// The exit status of the command. Throws Unavailable if there is no server.
int run_live_demo(const Desk& desk, const LiveDemoOptions& options);

// --live and what belongs to it, for the command `demo`.
std::shared_ptr<const LiveDemoOptions> add_live_demo(CLI::App& demo);

}  // namespace tenure::cli
