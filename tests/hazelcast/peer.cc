#include "peer.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace tenure::testing {
namespace {

constexpr int kStarts = 5;

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

// One more flag of Java, instead of the one that makes it start quickly and run slowly.
bool Peer::try_start() {
  const std::string flag = from_environment("HAZELCAST_FLAG");
  process_.emplace(std::vector<std::string>{"java", "-Dhazelcast.logging.type=none", "-Xmx128m", "-XX:+UseSerialGC",
                                            flag.empty() ? "-XX:TieredStopAtLevel=1" : flag, "-cp",
                                            place_.jar + ":" + place_.classes, "Peer", place_.cluster,
                                            std::to_string(place_.port), std::to_string(place_.other_port)},
                   STDOUT_FILENO);
  return process_->hear() == "up";
}

void Peer::start() {
  int tries = 1;
  while (!try_start()) TENURE_CHECK(tries++ < kStarts, "the member at port {} does not start", place_.port);
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
  Child compiler({"javac", "-cp", hazelcast_jar(), "-d", folder_.path(), beside_peer("Peer.java")}, STDOUT_FILENO);
  TENURE_CHECK(compiler.succeeds(), "Peer.java cannot be compiled");
  cluster_ = "tenure-" + std::to_string(::getpid());
  int tries = 1;
  while (!try_start()) TENURE_CHECK(tries++ < kStarts, "the members do not start");
  await_safe();
}

// Two that start at once may each begin a cluster, and take long to find out.
bool Members::try_start() {
  const auto ports = free_ports();
  one_ = std::make_unique<Peer>(Peer::Place{hazelcast_jar(), folder_.path(), cluster_, ports[0], ports[1]});
  two_ = std::make_unique<Peer>(Peer::Place{hazelcast_jar(), folder_.path(), cluster_, ports[1], ports[0]});
  return one_->try_start() && two_->try_start();
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
