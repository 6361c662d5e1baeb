// The cluster as a client sees it: connections to its members, which of them owns what, and calls that are on their
// way. Here nothing waits and nothing has a thread: whoever has the sockets and the time (loop.h) tells what has
// happened, and asks when something is due.
//
// - One connection is dialled first; the member at its end tells who the others are, and they are dialled too.
// - A call is sent to the owner of its key's partition; to any other member, which passes it on, while there is no
//   connection to the owner. Answers come in any order, so calls that wait hold up nobody.
// - A call whose connection breaks, or that meets a cluster in motion, is asked again under its reference until its
//   time is over: a member that has done it does not do it twice.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/hazelcast.h>
#include "base/entropy.h"
#include "base/result.h"
#include "hazelcast/codec.h"
#include "hazelcast/message.h"

namespace tenure::hazelcast {

struct HostAndPort {
  std::string host;
  std::uint16_t port = 0;

  friend auto operator<=>(const HostAndPort&, const HostAndPort&) = default;
};
Result<HostAndPort> read_address(std::string_view address);
std::string to_string(const HostAndPort& address);

// A connection's way out. Destroying it ends the connection, of which nothing is told any more.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  virtual void send(std::string bytes) = 0;
};
using LinkId = std::uint64_t;  // never given twice

class Network {
 public:
  virtual ~Network() = default;
  // Begins to connect. What becomes of it is told to Cluster::connected, received and closed; never before this
  // returns.
  virtual std::unique_ptr<Link> dial(const HostAndPort& address, LinkId id) = 0;
};

struct Call {
  LockCall what;
  Millis begun{0};
  Millis wait_until{0};  // of kTryLock
  Millis deadline{0};    // or earlier, if there is nobody to ask
  // Called once. False: nobody waits for it any more, and what was acquired is to be given back.
  std::function<bool(Result<bool>)> done{};
  // Acquiring what the thread holds already: must not be given back by a guess.
  bool is_reentry = false;

  // The cluster's own.
  bool was_sent = false;
  int failures = 0;
  Millis not_before{0};
};

// One thread.
class Cluster {
 public:
  // The settings' addresses can be read. Network and entropy outlive it.
  Cluster(Settings settings, Network& network, Entropy& entropy, Millis now);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Sent by the next tend().
  void invoke(std::shared_ptr<Call> call);

  void connected(LinkId id, Millis now);
  void received(LinkId id, std::string_view bytes, Millis now);
  void closed(LinkId id, const std::string& why, Millis now);
  // What time asks for; after everything else, and at next_due().
  void tend(Millis now);
  [[nodiscard]] Millis next_due() const { return due_; }

  // There is a member that can be asked, and the others are known.
  [[nodiscard]] bool is_up() const { return has_link() && !members_.empty(); }
  // Why not.
  [[nodiscard]] const Failure& trouble() const { return trouble_; }
  // Ends all connections, and calls with the failure.
  void close(const Failure& failure);

  [[nodiscard]] const Uuid& client() const { return client_; }
  // For tests: to how many members there is a connection.
  [[nodiscard]] std::size_t links() const;

 private:
  enum class State : std::uint8_t { kConnecting, kSigningIn, kUp };
  struct Connection {
    HostAndPort address;
    std::unique_ptr<Link> link{};
    State state = State::kConnecting;
    Uuid member{};
    MessageStream stream{};
    Millis due_by{0};  // of connecting and signing in
    Millis heard_at{0};
    Millis pinged_at{0};
  };
  using Connections = std::map<LinkId, Connection>;
  struct Flight {
    std::shared_ptr<Call> call;
    LinkId link = 0;
  };
  // When to dial an address again.
  struct Patience {
    int failures = 0;
    Millis dial_at{0};
  };

  // --- cluster.cc: calls ---
  void send_calls(Millis now);
  void send(const std::shared_ptr<Call>& call, Millis now);
  Connections::iterator link_for(std::int32_t partition);
  void answer(const Message& message, Millis now);
  void ask_again(const std::shared_ptr<Call>& call, Millis now);
  void finish(const std::shared_ptr<Call>& call, Result<bool> result);
  void give_back(const Call& call);
  void give_up_late_calls(Millis now);
  [[nodiscard]] Millis patience_with(const Call& call) const;
  [[nodiscard]] Failure unanswered(const Call& call) const;
  void need_at(Millis at) { due_ = std::min(due_, at); }

  // --- cluster_links.cc: connections ---
  void dial_missing(Millis now);
  // Those that were given, and those that were learnt.
  [[nodiscard]] std::vector<HostAndPort> known_addresses() const;
  void dial_first(Millis now);
  void dial(const HostAndPort& address, Millis now);
  void tend_links(Millis now);
  void take(LinkId id, const Message& message, Millis now);
  void welcome(LinkId id, const Message& message, Millis now);
  void learn(const News& news);
  void watch_somewhere();
  void drop(LinkId id, const std::string& why, Millis now);
  [[nodiscard]] bool has_link() const;
  [[nodiscard]] bool is_dialled(const HostAndPort& address) const;
  Millis backoff(int failures);

  const Settings settings_;
  std::vector<HostAndPort> addresses_;
  Network& network_;
  Entropy& entropy_;
  const Uuid client_;

  Connections connections_;
  LinkId links_ = 0;
  LinkId watched_ = 0;  // the connection whose member tells of the cluster; 0: none
  std::int64_t watch_correlation_ = 0;
  std::map<HostAndPort, Patience> patience_;
  std::size_t next_address_ = 0;
  int rounds_ = 0;         // of all addresses in vain
  Millis alone_since_{0};  // if there is no connection
  Millis dial_first_at_{0};

  std::optional<Uuid> cluster_;
  std::vector<Member> members_;
  std::vector<Uuid> owners_;  // of each partition; none: a new cluster, that has yet to share them out
  std::int32_t partitions_ = 0;

  std::int64_t correlations_ = 0;
  std::map<std::int64_t, Flight> flights_;  // by correlation
  std::deque<std::shared_ptr<Call>> waiting_;
  Millis earliest_deadline_ = Millis::max();  // of all calls, or before it
  Millis due_{0};
  Failure trouble_{.code = ErrorCode::kUnavailable, .message = "no member was asked"};
  std::int64_t references_ = 0;  // of what is given back; below zero, the callers' are above
};

}  // namespace tenure::hazelcast
