#include "members.h"

#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"

namespace tenure::testing {
namespace {

// Ports that are free now; all are held until the last is found, so that no two are the same.
std::vector<int> free_ports(int count) {
  std::vector<int> sockets;
  std::vector<int> ports;
  for (int i = 0; i < count; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);  // NOLINT: POSIX's type
    TENURE_CHECK(::bind(sockets.back(), any, size) == 0 && ::getsockname(sockets.back(), any, &size) == 0, "no port");
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int one : sockets) ::close(one);
  return ports;
}

}  // namespace

bool run(const std::vector<std::string>& words) {
  std::vector<std::string> silent{"sh", "-c", R"(exec "$0" "$@" >/dev/null 2>&1)"};
  silent.insert(silent.end(), words.begin(), words.end());
  Child child(silent, STDOUT_FILENO);
  while (child.hear()) continue;
  return child.succeeds();
}

bool can_start_etcd() {
  ::setenv("ETCDCTL_API", "3", 1);  // NOLINT(concurrency-mt-unsafe): there is one thread yet
#if defined(__aarch64__)
  ::setenv("ETCD_UNSUPPORTED_ARCH", "arm64", 1);  // NOLINT(concurrency-mt-unsafe)
#endif
  return run({"etcd", "--version"}) && run({"etcdctl", "version"});
}

bool await(const std::function<bool()>& is_so, Millis patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(Millis{10});
  }
  return true;
}

EtcdMembers::EtcdMembers(int count, const std::vector<std::string>& words, bool is_plain)
    : words_(words), scheme_(is_plain ? "http" : "https"), members_(static_cast<std::size_t>(count)) {
  const auto ports = free_ports(2 * count);
  for (int i = 0; i < count; ++i) {
    addresses_.push_back(fmt::format("127.0.0.1:{}", ports[static_cast<std::size_t>(2 * i)]));
    peers_.push_back(fmt::format("http://127.0.0.1:{}", ports[static_cast<std::size_t>(2 * i + 1)]));
  }
  for (std::size_t i = 0; i < members_.size(); ++i) start(i);
  if (is_plain) TENURE_CHECK(await_serving(), "etcd does not serve");
}

void EtcdMembers::start(std::size_t which) {
  std::string all;
  for (std::size_t i = 0; i < peers_.size(); ++i) all += fmt::format("{}m{}={}", i == 0 ? "" : ",", i, peers_[i]);
  const std::string url = fmt::format("{}://{}", scheme_, addresses_[which]);
  std::vector<std::string> words{"etcd",
                                 fmt::format("--name=m{}", which),
                                 fmt::format("--data-dir={}/m{}", folder_.path(), which),
                                 "--listen-client-urls=" + url,
                                 "--advertise-client-urls=" + url,
                                 "--listen-peer-urls=" + peers_[which],
                                 "--initial-advertise-peer-urls=" + peers_[which],
                                 "--initial-cluster=" + all,
                                 "--initial-cluster-token=" + folder_.path(),
                                 "--logger=zap",
                                 "--log-level=panic"};
  words.insert(words.end(), words_.begin(), words_.end());
  members_[which] = std::make_unique<Child>(words, STDOUT_FILENO);
  members_[which]->stop_listening();
}

bool EtcdMembers::await_serving() const {
  const auto store = connect();
  return await([&] { return store->range_now({.keys = etcd::KeyRange::one("x")}, Millis{1'000}).has_value(); });
}

std::unique_ptr<etcd::GrpcStore> EtcdMembers::connect() const {
  return std::make_unique<etcd::GrpcStore>(etcd::GrpcStore::Options{.members = addresses_});
}

EtcdMembers& EtcdMembers::shared() {
  static EtcdMembers members;
  return members;
}

std::string unused_prefix() {
  static std::atomic<int> count{0};
  return fmt::format("tenure/{}", ++count);
}

}  // namespace tenure::testing
