#include "cli/terminal.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tenure::cli {

bool is_terminal_out() { return ::isatty(STDOUT_FILENO) != 0; }

bool wants_colours() {
  const char* refused = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  return is_terminal_out() && (refused == nullptr || *refused == '\0');
}

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

}  // namespace tenure::cli
