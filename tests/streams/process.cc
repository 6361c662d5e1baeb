#include "process.h"

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;  // for hangs, not for speed

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool is_listening(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool is_connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return is_connected;
}

int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Process::Process(const std::vector<std::string>& words, const std::string& log, int output) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: POSIX
  arguments.push_back(nullptr);
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("no process");
  if (process_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(file, STDERR_FILENO);
  ::dup2(output < 0 ? file : output, STDOUT_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

Process::~Process() {
  if (has_ended()) return;
  signal(SIGKILL);
  wait();
}

void Process::signal(int number) const { ::kill(process_, number); }

void Process::pause() const {
  signal(SIGSTOP);
  ::waitpid(process_, nullptr, WUNTRACED);
}

bool Process::has_ended() {
  int status = 0;
  if (status_ < 0 && ::waitpid(process_, &status, WNOHANG) == process_) status_ = exit_status(status);
  return status_ >= 0;
}

int Process::wait() {
  int status = 0;
  if (status_ < 0 && ::waitpid(process_, &status, 0) == process_) status_ = exit_status(status);
  return status_;
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

void await_listening(Process& process, int port) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!is_listening(port)) {
    if (process.has_ended()) throw std::runtime_error("it does not start");
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("it does not listen");
    std::this_thread::sleep_for(10ms);
  }
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tenure::testing
