#include "cli/top.h"

#include <array>
#include <poll.h>
#include <unistd.h>

#include "cli/columns.h"
#include "cli/screen.h"
#include "cli/viewer.h"

namespace tenure::cli {
namespace {

void mark_heading(std::vector<std::string>& lines, bool colours) {
  if (colours && !lines.empty()) lines.front() = "\x1b[7m" + lines.front() + "\x1b[0m";
}

std::vector<std::string> lines_now(const Errand& errand, const Viewer::Seen& seen) {
  const TerminalSize size = terminal_size();
  std::vector<std::string> lines;
  if (seen.view) {
    const TerminalSize room{.columns = size.columns, .rows = std::max(1, size.rows - 2)};
    lines = top_lines(errand.place, *seen.view, seen.before, room);
    mark_heading(lines, errand.colours);
  }
  const std::string state = seen.trouble.empty() ? "q quits" : fmt::format("q quits   NO ANSWER: {}", seen.trouble);
  lines.emplace_back();
  lines.push_back(cut_to(state, static_cast<std::size_t>(size.columns)));
  if (lines.size() > static_cast<std::size_t>(size.rows)) {
    lines.erase(lines.begin(), lines.end() - size.rows);
  }
  return lines;
}

int print_once(const Errand& errand) {
  const TopView view = look(errand);
  if (errand.json) {
    errand.print_json(view.queues);
    errand.print_json(view.workers);
    errand.print_json(view.locks);
    return kDone;
  }
  for (const std::string& line : top_lines(errand.place, view, std::nullopt, {.columns = 1000, .rows = 100'000})) {
    errand.print("{}\n", line);
  }
  return kDone;
}

// The status to end with, if a signal says so.
std::optional<int> obey(Signals& signals, Screen& screen) {
  while (const auto signal = signals.take()) {
    if (signal->number == SIGTSTP) {
      screen.suspend();
    } else if (signal->number != SIGWINCH) {
      return signal->number == SIGINT ? kDone : kSignalled + signal->number;
    }
  }
  return std::nullopt;
}

}  // namespace

int show_top(const Errand& errand, Signals& signals, const TopOptions& options) {
  const bool has_terminal = ::isatty(STDIN_FILENO) != 0 && is_terminal_out();
  if (options.once || !has_terminal || errand.json) return print_once(errand);
  Screen screen;
  Viewer viewer(errand, options.interval);
  while (true) {
    screen.draw(lines_now(errand, viewer.seen()));
    std::array<pollfd, 3> watched{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                   {.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = viewer.bell().descriptor(), .events = POLLIN, .revents = 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[2].revents != 0) viewer.bell().clear();
    if (const auto status = obey(signals, screen)) return *status;
    if (watched[0].revents == 0) continue;
    const int key = screen.key();
    if (key == 'q' || key == 'Q' || key < 0) return kDone;
  }
}

}  // namespace tenure::cli
