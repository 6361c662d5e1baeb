// What the server is told: by flags, by a file, and by the environment (TENURE_<FLAG>); the first that says something
// counts, in this order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tenure/authority.h>
#include <tenure/settings.h>
#include <tenure/types.h>
#include "server/log.h"
#include "server/tls.h"

namespace tenure::server {

// What connections may use before somebody has signed in, where that is needed: enough to do that. A request that is
// larger ends the connection.
inline constexpr std::uint64_t kStrangerBytes = std::uint64_t{16} << 10;  // of a request, pipelined, and of answers
inline constexpr std::uint64_t kStrangerWords = 16;

// What connections may use.
struct ClientLimits {
  std::uint64_t connections = 10'000;
  std::uint64_t request_bytes = std::uint64_t{16} << 20;
  // Received and not begun: then it is not read from, or cut off if that is because it waits.
  std::uint64_t pipelined_bytes = std::uint64_t{1} << 20;
  std::uint64_t output_bytes = std::uint64_t{64} << 20;  // answers not taken; beyond, the connection is cut off
  std::uint64_t buffer_bytes = std::uint64_t{1} << 30;   // of all together; beyond, the largest is cut off
  // Who takes nothing of an answer for so long, or has not sent all of an HTTP request in it, is cut off.
  Millis stalled = std::chrono::seconds(60);
  Millis sign_in = std::chrono::seconds(10);  // who has not signed in by then is cut off
  // Of whom it is not known who they are, where that is asked; beyond it the oldest is cut off.
  std::uint64_t strangers = 1'000;
  std::uint64_t event_streams = 64;
  std::uint64_t event_bytes = std::uint64_t{16} << 20;  // of the events kept for those who are behind or come again
  Millis event_heartbeat = std::chrono::seconds(15);
};

// Of a server that is one of several, on a journal in etcd.
struct ClusterConfig {
  std::string journal;    // etcd://...; empty: it is alone, with a folder
  std::string advertise;  // host:port, where clients reach this node; empty: the first address it listens at
  Millis leadership = std::chrono::seconds(5);
  std::string ca;  // files, of TLS with etcd
  std::string certificate;
  std::string key;
  std::string password;  // the file, of the user in etcd

  [[nodiscard]] bool is_given() const { return !journal.empty(); }
};
// Of a payload, and of a result: a batch must fit into one of etcd's requests.
inline constexpr std::uint64_t kClusterPayloadBytes = std::uint64_t{512} << 10;
// Snapshots of a journal in etcd are made sooner: etcd is small.
inline constexpr std::uint64_t kClusterSnapshotBytes = std::uint64_t{64} << 20;

struct Config {
  std::string folder = "tenure-data";
  ClusterConfig cluster;
  std::vector<std::string> binds = {"127.0.0.1"};
  std::uint16_t port = 8368;
  std::uint16_t http_port = 8369;
  std::string users;         // the file; empty: nobody needs to sign in
  TlsIdentity::Paths tls;    // without a certificate: what is said can be read on its way
  bool is_insecure = false;  // addresses that others can reach are allowed
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
  ClientLimits clients;
  Settings settings;
  Storage storage;
  // Every option and its value.
  std::vector<std::pair<std::string, std::string>> shown;
};

// What to print instead of starting, and the status to exit with.
struct Farewell {
  int status = 0;
  std::string text;
};

std::variant<Config, Farewell> read_config(int argc, const char* const* argv);

}  // namespace tenure::server
