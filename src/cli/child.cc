#include "cli/child.h"

#include <array>
#include <cstring>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr Millis kKillAgain = std::chrono::milliseconds(200);

const SystemClock& boot_clock() {
  static const SystemClock clock;
  return clock;
}

// Pipes and the fork that follows are one, so that no other command inherits them: setting close-on-exec takes a
// moment.
Mutex& start_mutex() {
  static Mutex mutex;
  return mutex;
}

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  TENURE_CHECK(::pipe(ends.data()) == 0, "a pipe cannot be made: error {}", errno);
  for (const int end : ends) ::ioctl(end, FIOCLEX);
  return {ends[0], ends[1]};
}

void close_end(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

void make_nonblocking(int descriptor) {
  int yes = 1;
  ::ioctl(descriptor, FIONBIO, &yes);
}

// The environment with what is added in place of what had the same name.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::optional<std::string>>>& added) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const bool is_replaced = std::any_of(added.begin(), added.end(), [&](const auto& one) {
      return text.starts_with(one.first) && text.substr(one.first.size()).starts_with('=');
    });
    if (!is_replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) {
    if (value) all.push_back(fmt::format("{}={}", name, *value));
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

tl::unexpected<Failure> not_runnable(const std::string& command, int error) {
  return fail_with(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kErr, "{}: expected a command to run, found: {}",
                   command, std::strerror(error));  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

}  // namespace

ChildOrder::Group group_at_terminal() {
  const bool is_foreground = ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  if (!is_foreground) return ChildOrder::Group::kOwn;
  return ::isatty(STDOUT_FILENO) != 0 ? ChildOrder::Group::kOwnWithTerminal : ChildOrder::Group::kOurs;
}

// Between fork and exec, in a process that had threads: nothing here takes a lock or memory.
void Child::launch(const ChildOrder& order, char* const* words, char* const* variables, int failures,
                   pid_t parent) const {
  if (group_ != ChildOrder::Group::kOurs) ::setpgid(0, 0);
  if (group_ == ChildOrder::Group::kOwnWithTerminal) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool is_orphan = ::getppid() != parent;
  if (input_pipe_ >= 0) ::dup2(input_pipe_, STDIN_FILENO);
  if (output_pipe_ >= 0) ::dup2(output_pipe_, STDOUT_FILENO);
  ::pthread_sigmask(SIG_SETMASK, &order.mask, nullptr);
  if (!is_orphan) ::execvpe(words[0], words, variables);
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(failures, &error, sizeof error);
  ::_exit(kNoCommand);
}

Result<std::unique_ptr<Child>> Child::start(const ChildOrder& order) {
  std::vector<std::string> words = order.command;
  std::vector<std::string> variables = environment_with(order.environment);
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  std::unique_ptr<Child> child(new Child);
  child->group_ = order.group;

  int error = 0;
  {
    const MutexLock lock(start_mutex());
    Pipe failures = make_pipe();
    Pipe input = order.input ? make_pipe() : Pipe{};
    Pipe output = order.keeps_output ? make_pipe() : Pipe{};
    child->input_pipe_ = input.read;
    child->output_pipe_ = output.write;
    const pid_t parent = ::getpid();
    child->pid_ = ::fork();
    if (child->pid_ == 0) {
      child->launch(order, word_pointers.data(), variable_pointers.data(), failures.write, parent);
    }
    TENURE_CHECK(child->pid_ > 0, "a process cannot be made: error {}", errno);
    if (order.group != ChildOrder::Group::kOurs) ::setpgid(child->pid_, child->pid_);
    close_end(input.read);
    close_end(output.write);
    close_end(failures.write);
    child->input_pipe_ = input.write;
    child->output_pipe_ = output.read;
    if (::read(failures.read, &error, sizeof error) != sizeof error) error = 0;
    close_end(failures.read);
  }
  child->handle_ = static_cast<int>(::syscall(SYS_pidfd_open, child->pid_, 0));  // close-on-exec
  TENURE_CHECK(child->handle_ >= 0, "a pidfd cannot be made: error {}", errno);
  if (error != 0) return not_runnable(order.command.front(), error);
  if (child->input_pipe_ >= 0) make_nonblocking(child->input_pipe_);
  if (child->output_pipe_ >= 0) make_nonblocking(child->output_pipe_);
  child->input_ = order.input.value_or("");
  child->give_terminal(child->pid_);
  child->feed();
  return child;
}

Child::~Child() {
  if (!has_ended_) {
    signal(SIGKILL);
    reap();
  }
  close_end(handle_);
  close_end(input_pipe_);
  close_end(output_pipe_);
}

void Child::give_terminal(pid_t group) const {
  if (group_ == ChildOrder::Group::kOwnWithTerminal) ::tcsetpgrp(STDIN_FILENO, group);
}

void Child::signal(int number) const { ::kill(group_ == ChildOrder::Group::kOurs ? pid_ : -pid_, number); }

void Child::stop(Millis grace) {
  if (std::exchange(stopping_, true)) return;
  signal(SIGTERM);
  signal(SIGCONT);  // one that was stopped would never know
  kill_at_ = boot_clock().boot() + grace;
}

void Child::follow_stop() {
  siginfo_t state{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WNOHANG) != 0 || state.si_pid != pid_) return;
  if (group_ != ChildOrder::Group::kOwnWithTerminal) return;
  give_terminal(::getpgrp());
  ::kill(::getpid(), SIGSTOP);
  // The shell has told us to go on, and has given us the terminal if we are in its foreground.
  if (::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) give_terminal(pid_);
  signal(SIGCONT);
}

void Child::feed() {
  while (input_pipe_ >= 0 && fed_ < input_.size()) {
    const ssize_t written = ::write(input_pipe_, input_.data() + fed_, input_.size() - fed_);
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) break;  // it does not want more
    fed_ += static_cast<std::size_t>(written);
  }
  close_end(input_pipe_);
}

void Child::drain() {
  std::array<char, kReadBytes> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  while (output_pipe_ >= 0) {
    const ssize_t count = ::read(output_pipe_, buffer.data(), buffer.size());
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return close_end(output_pipe_);
    if (output_.size() <= kOutputMax) output_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Child::Event Child::wait(absl::Span<const int> bells, std::optional<Millis> time) {
  const std::optional<Millis> until = time ? std::optional(boot_clock().boot() + *time) : std::nullopt;
  while (!has_ended_) {
    std::vector<pollfd> watched = {{.fd = handle_, .events = POLLIN, .revents = 0},
                                   {.fd = input_pipe_, .events = POLLOUT, .revents = 0},
                                   {.fd = output_pipe_, .events = POLLIN, .revents = 0}};
    for (const int bell : bells) watched.push_back({.fd = bell, .events = POLLIN, .revents = 0});
    const Millis now = boot_clock().boot();
    Millis left{-1};
    for (const auto& due : {until, kill_at_}) {
      if (due) left = std::max(Millis{0}, left < Millis{0} ? *due - now : std::min(left, *due - now));
    }
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
    if (ready > 0 && watched[1].revents != 0) feed();
    if (ready > 0 && watched[2].revents != 0) drain();
    if (ready > 0 && watched[0].revents != 0) {
      reap();
      break;
    }
    if (kill_at_ && boot_clock().boot() >= *kill_at_) {
      signal(SIGKILL);
      kill_at_ = boot_clock().boot() + kKillAgain;
    }
    for (std::size_t i = 3; ready > 0 && i < watched.size(); ++i) {
      if (watched[i].revents != 0) return Event::kBell;
    }
    if (until && boot_clock().boot() >= *until) return Event::kTime;
  }
  return Event::kEnded;
}

void Child::reap() {
  // What it has left behind dies with one that was stopped; its number is not given away before it is waited for.
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  if (stopping_ && group_ != ChildOrder::Group::kOurs) signal(SIGKILL);
  give_terminal(::getpgrp());
  while (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED) != 0 && errno == EINTR) continue;
  killed_by_ = ended.si_code == CLD_EXITED ? 0 : ended.si_status;
  status_ = killed_by_ == 0 ? ended.si_status : kSignalled + killed_by_;
  has_ended_ = true;
  drain();
}

std::string Child::ending() const {
  if (killed_by_ == 0) return fmt::format("exit status {}", status_);
  return fmt::format("signal {} ({})", killed_by_, ::strsignal(killed_by_));  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace tenure::cli
