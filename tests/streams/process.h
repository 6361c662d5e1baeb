// A process that a test has started, and that does not outlive it.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace tenure::testing {

// One thread.
class Process {
 public:
  // The first word is the program's path. `output` is its standard output, `log` the file of its standard error; both
  // are one file if there is no output.
  Process(const std::vector<std::string>& words, const std::string& log, int output = -1);
  // With SIGKILL, if it has not ended.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // With SIGSTOP. Returns when all its threads stand still: until then they may end what they are about.
  void pause() const;
  [[nodiscard]] bool has_ended();
  // Its exit status; 128 and the number of the signal that ended it.
  int wait();

 private:
  pid_t process_;
  int status_ = -1;  // once it has ended
};

// Nobody listens there, at this moment.
int free_port();
// Throws if the process ends, or does not listen for long.
void await_listening(Process& process, int port);
std::string text_of_file(const std::string& path);

}  // namespace tenure::testing
