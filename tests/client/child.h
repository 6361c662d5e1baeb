// A process that a test has started, and talks with line by line. It does not outlive the test.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tenure::testing {

// One thread.
class Child {
 public:
  // `words` begin with the program's name or path. What is listened to is its STDOUT_FILENO or STDERR_FILENO.
  Child(const std::vector<std::string>& words, int listened_to);
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void tell(std::string_view line) const;
  // The next line that it says; nullopt: it has ended.
  std::optional<std::string> hear();
  // What it says from now on is thrown away, so that it is not stopped by a pipe that is full.
  void stop_listening();
  // SIGSTOP: returns when all its threads stand still; until then they may end what they are about.
  void signal(int number) const;
  // Waits for its end; whether it says that all went well.
  bool succeeds() { return wait() == 0; }
  // Its standard input ends, and its end is waited for. Its exit status; -1: a signal has ended it.
  int end();
  // With SIGKILL; returns when it is gone.
  void kill();

 private:
  int wait();
  void close_pipes();

  pid_t process_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string heard_;
};

}  // namespace tenure::testing
