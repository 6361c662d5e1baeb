#include "peer.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace tenure::testing {
namespace {

std::string hazelcast_jar() { return from_environment("HAZELCAST_JAR"); }

bool is_installed(const std::string& program) {
  const std::string path = from_environment("PATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (::access((path.substr(begin, end - begin) + "/" + program).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

// Ports that are free now; held together, so that they are not the same.
std::array<std::uint16_t, 2> free_ports() {
  std::array<std::uint16_t, 2> ports{};
  std::array<int, 2> sockets{};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    sockets[i] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    TENURE_CHECK(::bind(sockets[i], generic, sizeof address) == 0, "no port: error {}", errno);
    socklen_t size = sizeof address;
    TENURE_CHECK(::getsockname(sockets[i], generic, &size) == 0, "no port: error {}", errno);
    ports[i] = ntohs(address.sin_port);
  }
  for (const int socket : sockets) ::close(socket);
  return ports;
}

}  // namespace

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any meanwhile
  return value == nullptr ? "" : value;
}

Companion::Companion(const std::vector<std::string>& words) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  TENURE_CHECK(::pipe2(in.data(), O_CLOEXEC) == 0 && ::pipe2(out.data(), O_CLOEXEC) == 0, "no pipe: error {}", errno);
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));  // NOLINT: POSIX
  raw.push_back(nullptr);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive a test that is killed
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execvp(raw[0], raw.data());
    ::_exit(127);
  }
  TENURE_CHECK(process_ > 0, "no process: error {}", errno);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

void Companion::say(const std::string& line) const {
  const std::string bytes = line + "\n";
  TENURE_CHECK(::write(input_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "not told: {}", line);
}

std::string Companion::hear() {
  std::array<char, 512> bytes{};
  while (true) {
    const std::size_t end = heard_.find('\n');
    if (end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    const ssize_t count = ::read(output_, bytes.data(), bytes.size());
    if (count <= 0) return "";
    heard_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

int Companion::end() {
  ::close(std::exchange(input_, -1));
  int status = 0;
  ::waitpid(std::exchange(process_, -1), &status, 0);
  ::close(std::exchange(output_, -1));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void Companion::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(std::exchange(process_, -1), nullptr, 0);
  ::close(input_);
  ::close(output_);
}

// One more flag of Java, instead of the one that makes it start quickly and run slowly.
void Peer::start() {
  const std::string flag = from_environment("HAZELCAST_FLAG");
  companion_ = std::make_unique<Companion>(std::vector<std::string>{
      "java", "-Dhazelcast.logging.type=none", "-Xmx128m", "-XX:+UseSerialGC",
      flag.empty() ? "-XX:TieredStopAtLevel=1" : flag, "-cp", place_.jar + ":" + place_.classes, "Peer", place_.cluster,
      std::to_string(place_.port), std::to_string(place_.other_port)});
}

void Peer::await_up() {
  const std::string line = hear();
  TENURE_CHECK(line == "up", "the member at port {} does not start: '{}'", place_.port, line);
}

std::string Peer::ask(const std::string& line) {
  say(line);
  return hear();
}

Members& Members::get() {
  static Members members;
  return members;
}

Members::Members() {
  Companion compiler({"javac", "-cp", hazelcast_jar(), "-d", folder_.path(), beside_peer("Peer.java")});
  while (!compiler.hear().empty()) continue;
  const auto ports = free_ports();
  cluster_ = "tenure-" + std::to_string(::getpid());
  one_ = std::make_unique<Peer>(Peer::Place{hazelcast_jar(), folder_.path(), cluster_, ports[0], ports[1]});
  two_ = std::make_unique<Peer>(Peer::Place{hazelcast_jar(), folder_.path(), cluster_, ports[1], ports[0]});
  start();
}

void Members::start() {
  // Two that start at once may each begin a cluster, and take long to find out.
  one_->start();
  one_->await_up();
  two_->start();
  two_->await_up();
  await_safe();
}

void Members::kill() {
  one_->kill();
  two_->kill();
}

void Members::await_safe() {
  while (one_->ask("members") != "2" || one_->ask("safe") != "true") {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string beside_peer(const std::string& file) { return from_environment("HAZELCAST_PEER") + "/" + file; }

bool can_start_members() {
  return ::access(hazelcast_jar().c_str(), R_OK) == 0 && is_installed("java") && is_installed("javac");
}

}  // namespace tenure::testing
