#include "cli/signals.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/exit_status.h"

namespace tenure::cli {

Bell::Bell() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  TENURE_CHECK(descriptor_ >= 0, "an eventfd cannot be made: error {}", errno);
}

Bell::~Bell() { ::close(descriptor_); }

void Bell::ring() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, &one, sizeof one);
}

void Bell::clear() const {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t count = ::read(descriptor_, &rings, sizeof rings);
}

Signals::Signals(std::initializer_list<int> numbers) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int number : numbers) ::sigaddset(&watched, number);
  sigset_t blocked = watched;
  // Writing to a closed pipe fails as well as it kills; and taking the terminal back must not stop us.
  ::sigaddset(&blocked, SIGPIPE);
  ::sigaddset(&blocked, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  descriptor_ = ::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
  TENURE_CHECK(descriptor_ >= 0, "a signalfd cannot be made: error {}", errno);
}

// What still stands in line would end the process now.
Signals::~Signals() {
  while (take()) continue;
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<Signals::Signal> Signals::take() const {
  signalfd_siginfo read{};
  if (::read(descriptor_, &read, sizeof read) != sizeof read) return std::nullopt;
  return Signal{.number = static_cast<int>(read.ssi_signo), .is_from_terminal = read.ssi_code == SI_KERNEL};
}

StopOnSignal::StopOnSignal(const Signals& signals) {
  watcher_ = std::thread([this, &signals] {
    std::array<pollfd, 2> watched{{{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = over_.descriptor(), .events = POLLIN, .revents = 0}}};
    while (!came_) {
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[1].revents != 0) return;
      const auto signal = signals.take();
      if (!signal || signal->number == SIGCHLD || signal->number == SIGWINCH) continue;
      came_ = signal->number;
      stop_.request_stop();
    }
  });
}

std::optional<int> StopOnSignal::finish() {
  over_.ring();
  if (watcher_.joinable()) watcher_.join();
  return came_;
}

EndOnSignal::EndOnSignal(const Signals& signals)
    : stop_(signals), end_(stop_.token(), [this] { std::_Exit(kSignalled + stop_.signal()); }) {}

}  // namespace tenure::cli
