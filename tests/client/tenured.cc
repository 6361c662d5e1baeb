#include "tenured.h"

#include <array>
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tenure::testing {
namespace {

constexpr int kTries = 100;

// The log, line by line until one has the mark; "": it ended before.
std::string line_with(int log, std::string_view mark) {
  std::string text;
  std::array<char, 512> bytes{};
  while (true) {
    const std::size_t at = text.find(mark);
    if (at != std::string::npos && text.find('\n', at) != std::string::npos) {
      return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
    }
    const ssize_t count = ::read(log, bytes.data(), bytes.size());
    if (count <= 0) return "";
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

// A port that was just left may be somebody else's for a moment.
void Tenured::start() {
  for (int i = 0; i < kTries; ++i) {
    if (try_start()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  TENURE_CHECK(false, "tenured does not start at port {}", port_);
}

bool Tenured::try_start() {
  std::array<int, 2> log{};
  TENURE_CHECK(::pipe(log.data()) == 0, "no pipe: error {}", errno);
  const std::string port = std::to_string(port_);
  const std::string folder = folder_.path();
  std::vector<const char*> words = {TENURED, "--data", folder.c_str(), "--port", port.c_str(), "--http-port", "0"};
  words.push_back(nullptr);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive a test that is killed
    ::dup2(log[1], STDERR_FILENO);
    ::close(log[0]);
    ::close(log[1]);
    ::execv(TENURED, const_cast<char* const*>(words.data()));  // NOLINT(cppcoreguidelines-pro-type-const-cast): POSIX
    ::_exit(127);
  }
  ::close(log[1]);
  const std::string address = line_with(log[0], "listening protocol=resp address=127.0.0.1:");
  // What it says later is thrown away, and it must not be stopped by a pipe that is full or gone.
  std::thread([from = log[0]] {
    std::array<char, 512> bytes{};
    while (::read(from, bytes.data(), bytes.size()) > 0) continue;
    ::close(from);
  }).detach();
  if (address.empty()) {
    kill();
    return false;
  }
  port_ = static_cast<std::uint16_t>(std::stoi(address));
  return true;
}

void Tenured::signal(int number) const { ::kill(process_, number); }

void Tenured::kill() {
  if (process_ <= 0) return;
  signal(SIGKILL);
  ::waitpid(std::exchange(process_, -1), nullptr, 0);
}

}  // namespace tenure::testing
