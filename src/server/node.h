// One server of several: the thread on which it takes its course (authority/course.h), and how it stands among the
// others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "authority/course.h"
#include "authority/engine.h"
#include "authority/snapshot_maker.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/shared_journal.h"

namespace tenure::server {

// Where clients reach a node. Nodes tell each other both as one text: host:port,http-port.
struct NodeAddress {
  std::string resp;  // host:port
  std::string http;  // host:port; empty: not told

  static NodeAddress parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  bool operator==(const NodeAddress&) const = default;
};

// How it stands among the others.
struct NodeStanding {
  using Role = Course::Role;
  struct Peer {
    NodeAddress address;
    Role role = Role::kFollower;
    std::uint64_t applied = 0;  // the last frame that it had when it last told
    std::uint64_t lag = 0;      // frames
  };

  NodeAddress self;
  Role role = Role::kLoading;
  std::uint64_t epoch = 0;            // of who leads; 0: nobody is known to
  std::optional<NodeAddress> leader;  // likewise
  std::uint64_t applied = 0;
  std::uint64_t lag = 0;
  std::vector<Peer> peers;  // itself included
};
std::string_view to_string(NodeStanding::Role role);
// Why clients should not be sent here; nullopt: it leads, or knows who does and is close behind.
std::optional<std::string> fault_in(const NodeStanding& standing);

// Thread-safe, apart from starting and stopping it.
class Node {
 public:
  // All of it outlives the node.
  struct Ports {
    Engine& engine;
    SharedJournal& journal;
    Election& election;
    SnapshotMaker* snapshots;  // null: nothing to make
    const Clock& clock;
  };
  // Called on the node's thread; they must not block.
  struct Hooks {
    std::function<void(bool is_leading)> on_role;
    // The journal cannot be replayed: it does nothing any more.
    std::function<void(const Failure& failure)> on_broken;
  };

  Node(Ports ports, NodeAddress self)
      : ports_(ports),
        self_(std::move(self)),
        course_({ports.engine, ports.journal, ports.election, ports.clock}, self_.text()) {}
  ~Node() { stop(); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void start(Hooks hooks);
  // Leaves roles as they are: whoever leads may still make durable what it was asked for.
  void stop();

  [[nodiscard]] NodeStanding standing() const;
  // Nullopt: none is known, or this node itself.
  [[nodiscard]] std::optional<NodeAddress> other_leader() const;

 private:
  void run();
  void wake() TENURE_EXCLUDES(mutex_);
  void log_turn(Course::Turn turn, const std::string& text) const;

  const Ports ports_;
  const NodeAddress self_;
  Course course_;
  std::thread thread_;

  Mutex mutex_;
  Condition woken_;
  bool is_woken_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_stopping_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::server
