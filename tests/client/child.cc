#include "child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace tenure::testing {

Child::Child(const std::vector<std::string>& words, int listened_to) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  TENURE_CHECK(::pipe2(in.data(), O_CLOEXEC) == 0 && ::pipe2(out.data(), O_CLOEXEC) == 0, "no pipe: error {}", errno);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: POSIX's type
  arguments.push_back(nullptr);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive a test that is killed
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], listened_to);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  TENURE_CHECK(process_ > 0, "no process: error {}", errno);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

void Child::tell(std::string_view line) const {
  const std::string bytes = std::string(line) + "\n";
  const ssize_t count = ::write(input_, bytes.data(), bytes.size());
  TENURE_CHECK(count == static_cast<ssize_t>(bytes.size()), "the child does not listen: error {}", errno);
}

std::optional<std::string> Child::hear() {
  std::array<char, 512> bytes{};
  while (heard_.find('\n') == std::string::npos) {
    const ssize_t count = ::read(output_, bytes.data(), bytes.size());
    if (count <= 0) return std::nullopt;
    heard_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end = heard_.find('\n');
  std::string line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return line;
}

void Child::stop_listening() {
  std::thread([from = std::exchange(output_, -1)] {
    std::array<char, 512> bytes{};
    while (::read(from, bytes.data(), bytes.size()) > 0) continue;
    ::close(from);
  }).detach();
}

void Child::signal(int number) const {
  ::kill(process_, number);
  siginfo_t ignored;
  if (number == SIGSTOP) ::waitid(P_PID, static_cast<id_t>(process_), &ignored, WSTOPPED | WEXITED | WNOWAIT);
}

int Child::end() {
  ::close(std::exchange(input_, -1));
  return wait();
}

int Child::wait() {
  while (hear()) continue;
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  close_pipes();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void Child::kill() {
  if (process_ <= 0) return;
  signal(SIGKILL);
  ::waitpid(std::exchange(process_, -1), nullptr, 0);
  close_pipes();
}

void Child::close_pipes() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
  if (output_ >= 0) ::close(std::exchange(output_, -1));
}

}  // namespace tenure::testing
