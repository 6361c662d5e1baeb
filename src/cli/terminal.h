// What is known of the terminal that standard output may be.
#pragma once

namespace tenure::cli {

// Standard output is one; and nobody has asked for none of that (NO_COLOR).
bool is_terminal_out();
bool wants_colours();

struct TerminalSize {
  int columns = 100;
  int rows = 30;
};
// Of the terminal; where there is none, what a reader of a file can take.
TerminalSize terminal_size();

}  // namespace tenure::cli
