// A command that is run for somebody, and that can be stopped with all it has started.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <absl/types/span.h>

#include <tenure/types.h>
#include "base/result.h"
#include "cli/exit_status.h"

namespace tenure::cli {

struct ChildOrder {
  std::vector<std::string> command{};  // the program, found by PATH, and its words
  // Beyond ours; absent: without it, also if we have it.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment{};
  std::optional<std::string> input{};  // its standard input; absent: ours
  bool keeps_output = false;           // its standard output is for us
  // Its process group. Its own one can be signalled as a whole; with the terminal it is also the one that keys go to.
  // Ours it is where others share the terminal with us: a pipeline.
  enum class Group : std::uint8_t { kOwn, kOwnWithTerminal, kOurs };
  Group group = Group::kOwn;
  sigset_t mask{};  // the signals that it does not get
};

// The group for a command that has our standard input.
ChildOrder::Group group_at_terminal();

// It is killed if this process dies; and when this object does. One thread, which is the one that started it.
class Child {
 public:
  // Fails, as NOTFOUND or ERR, if it cannot be run.
  static Result<std::unique_ptr<Child>> start(const ChildOrder& order);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  enum class Event : std::uint8_t { kEnded, kBell, kTime };
  // Until it has ended, one of the descriptors is readable, or the time has passed; gives it its input and takes its
  // output meanwhile.
  Event wait(absl::Span<const int> bells, std::optional<Millis> time);
  // For a SIGCHLD: if it was stopped by a key, we stop with it, and it goes on when we do.
  void follow_stop();
  // All of its group, where that is its own.
  void signal(int number) const;
  // It gets what keys send to us.
  [[nodiscard]] bool is_in_our_group() const { return group_ == ChildOrder::Group::kOurs; }
  // Asks it to end, and kills it when the grace is over. Its end is still to be waited for.
  void stop(Millis grace);
  [[nodiscard]] bool is_stopping() const { return stopping_; }

  // Once it has ended: its status, or kSignalled and the signal.
  [[nodiscard]] int status() const { return status_; }
  // "exit status 3", "signal 9 (Killed)".
  [[nodiscard]] std::string ending() const;
  [[nodiscard]] const std::string& output() const { return output_; }
  // Too much to keep: the rest was thrown away.
  [[nodiscard]] bool has_too_much_output() const { return output_.size() > kOutputMax; }

 private:
  static constexpr std::size_t kOutputMax = std::size_t{16} << 20;

  Child() = default;
  [[noreturn]] void launch(const ChildOrder& order, char* const* words, char* const* variables, int failures,
                           pid_t parent) const;
  void feed();
  void drain();
  void reap();
  void give_terminal(pid_t group) const;

  ChildOrder::Group group_ = ChildOrder::Group::kOwn;
  pid_t pid_ = -1;
  int handle_ = -1;  // a pidfd
  int input_pipe_ = -1;
  int output_pipe_ = -1;
  std::string input_;
  std::size_t fed_ = 0;
  std::string output_;
  bool has_ended_ = false;
  bool stopping_ = false;
  std::optional<Millis> kill_at_{};  // by the boot clock
  int status_ = 0;
  int killed_by_ = 0;  // the signal; 0: it has ended by itself
};

}  // namespace tenure::cli
