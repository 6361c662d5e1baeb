// A Hazelcast member in a process of its own, with a Java client in it that does what it is told: see Peer.java.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../client/child.h"
#include "base/temporary_folder.h"

namespace tenure::testing {

// One thread.
class Peer {
 public:
  struct Place {
    std::string jar;
    std::string classes;
    std::string cluster;
    std::uint16_t port = 0;
    std::uint16_t other_port = 0;
  };
  explicit Peer(Place place) : place_(std::move(place)) {}

  // Until it is up. False: something is wrong, perhaps its port is somebody else's.
  bool try_start();
  // The same at the port that it had, which somebody else may have for a moment.
  void start();
  void kill() { process_.reset(); }

  // Asks, and answers with the answer.
  std::string ask(const std::string& line);
  void say(const std::string& line) { process_->tell(line); }
  std::string hear() { return process_->hear().value_or("nothing, it has ended"); }
  [[nodiscard]] std::uint16_t port() const { return place_.port; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(place_.port); }

 private:
  const Place place_;
  std::optional<Child> process_;
};

// Two members, for all tests of the program. One thread.
class Members {
 public:
  // Started when it is first asked for.
  static Members& get();

  Peer& one() { return *one_; }
  Peer& two() { return *two_; }
  [[nodiscard]] const std::string& cluster() const { return cluster_; }
  [[nodiscard]] std::vector<std::string> addresses() const { return {one_->address(), two_->address()}; }
  // Until both are there, and every lock has its backup.
  void await_safe();
  void kill();

 private:
  Members();
  bool try_start();

  TemporaryFolder folder_;
  std::string cluster_;
  std::unique_ptr<Peer> one_;
  std::unique_ptr<Peer> two_;
};

// Whether there are Java and the jar of the member.
bool can_start_members();
// "" if it is not set.
std::string from_environment(const char* name);
// A file that lies beside Peer.java.
std::string beside_peer(const std::string& file);

}  // namespace tenure::testing
