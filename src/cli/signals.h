// Signals as something to wait for, instead of something that interrupts.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stop_token>
#include <thread>

#include "cli/bell.h"

namespace tenure::cli {

// While there is one, these signals do nothing but stand in line here; also those that a terminal or a closed pipe
// would send. Made before other threads are, so that they leave the signals alone, too. One thread.
class Signals {
 public:
  Signals(std::initializer_list<int> numbers);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when one has come.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  struct Signal {
    int number = 0;
    bool is_from_terminal = false;  // by a key: all of the terminal's foreground has got it
  };
  // The next, if there is one.
  [[nodiscard]] std::optional<Signal> take() const;
  // What the mask was before: a command that is run gets it back.
  [[nodiscard]] const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

// Asks somebody to stop when a signal comes; until it ends. One thread.
class StopOnSignal {
 public:
  explicit StopOnSignal(const Signals& signals);
  // The signal that came, if one did. Nothing is watched any more.
  std::optional<int> finish();
  ~StopOnSignal() { finish(); }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  // For who is told by the token that one came.
  [[nodiscard]] int signal() const { return *came_; }

 private:
  std::stop_source stop_;
  Bell over_;
  std::optional<int> came_;
  std::thread watcher_;
};

// Lets a signal end the process, with the status that says so: for as long as there is nothing to put in order first.
// One thread.
class EndOnSignal {
 public:
  explicit EndOnSignal(const Signals& signals);

 private:
  StopOnSignal stop_;
  std::stop_callback<std::function<void()>> end_;
};

}  // namespace tenure::cli
