// A whole terminal for a while.
#pragma once

#include <string>
#include <termios.h>
#include <vector>

namespace tenure::cli {

// The terminal's second screen, without a cursor, keys read one by one and not shown; as it was when this ends. One
// thread.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // From the top; what was below is gone.
  void draw(const std::vector<std::string>& lines) const;
  // A key, if one was pressed; 0: none, -1: there will be none any more.
  [[nodiscard]] int key() const;
  // Gives the terminal back, stops this process as Ctrl-Z does, and takes it again.
  void suspend();

 private:
  void take();
  void give_back() const;
  termios before_{};
};

}  // namespace tenure::cli
