// `tenure work`: runs a command for each task of some queues; see docs/cli.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/errand.h"
#include "cli/signals.h"

namespace tenure::cli {

struct WorkOptions {
  std::vector<std::string> queues{};
  std::vector<std::string> command{};
  std::string name{};  // empty: host and process
  int concurrency = 1;
  Millis lease = std::chrono::seconds(30);
  Millis grace = std::chrono::seconds(10);
  std::uint64_t count = 0;            // tasks, and then it ends; 0: it does not
  std::vector<int> final_statuses{};  // of the command: not tried again
  bool result = false;                // the command's standard output is the task's result
  bool quiet = false;
};
// Until a signal, or as many as it shall do. The command's status decides on the task.
int do_work(const Errand& errand, Signals& signals, const WorkOptions& options);

}  // namespace tenure::cli
