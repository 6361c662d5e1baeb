// `tenure top`: queues, workers, locks and rates, live.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tenure/locks.h>
#include <tenure/tasks.h>
#include "cli/errand.h"
#include "cli/server_commands.h"
#include "cli/signals.h"
#include "cli/terminal.h"

namespace tenure::cli {

struct TopOptions {
  Millis interval = std::chrono::seconds(1);
  bool once = false;  // one view, as lines
};
int show_top(const Errand& errand, Signals& signals, const TopOptions& options);

// What was seen at one time.
struct TopView {
  Millis at{0};  // by the boot clock
  Instant now{};
  std::optional<ServerFigures> figures{};  // none: an authority in this process
  QueuePage queues{};
  WorkerPage workers{};
  LockPage locks{};
};
// At most so many rows, each at most so wide; the rates are those since `before`.
std::vector<std::string> top_lines(const std::string& place, const TopView& view, const std::optional<TopView>& before,
                                   const TerminalSize& size);

}  // namespace tenure::cli
