#include "server/node.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/log.h"

namespace tenure::server {
namespace {

// Long pauses are cut: the boot clock counts suspension, the condition variable may not.
constexpr Millis kNodePauseMax = std::chrono::seconds(1);
// Frames behind the leader with which a node is as good as it: taken over within a moment.
constexpr std::uint64_t kLagReady = 10'000;

}  // namespace

NodeAddress NodeAddress::parse(std::string_view text) {
  const std::size_t comma = text.find(',');
  NodeAddress address{.resp = std::string(text.substr(0, comma)), .http = {}};
  if (comma == std::string_view::npos) return address;
  const std::string host = address.resp.substr(0, address.resp.rfind(':'));
  address.http = fmt::format("{}:{}", host, text.substr(comma + 1));
  return address;
}

std::string NodeAddress::text() const {
  return http.empty() ? resp : fmt::format("{},{}", resp, http.substr(http.rfind(':') + 1));
}

std::string_view to_string(NodeStanding::Role role) {
  switch (role) {
    case NodeStanding::Role::kLoading:
      return "loading";
    case NodeStanding::Role::kFollower:
      return "follower";
    default:
      return "leader";
  }
}

std::optional<std::string> fault_in(const NodeStanding& standing) {
  if (standing.role == NodeStanding::Role::kLeader) return std::nullopt;
  if (standing.role == NodeStanding::Role::kLoading) return "the journal is being loaded";
  if (!standing.leader) return "no node is known to lead";
  if (standing.lag <= kLagReady) return std::nullopt;
  return fmt::format("frames behind the leader: expected at most {}, found {}", kLagReady, standing.lag);
}

// --- the thread ---

void Node::start(Hooks hooks) {
  course_.begin({.wake = [this] { wake(); },
                 .on_role =
                     [this, on_role = std::move(hooks.on_role)](Course::Role role) {
                       on_role(role == Course::Role::kLeader);
                       if (role == Course::Role::kLeader && ports_.snapshots != nullptr) ports_.snapshots->look();
                     },
                 .on_broken = std::move(hooks.on_broken),
                 .on_turn = [this](Course::Turn turn, const std::string& text) { log_turn(turn, text); }});
  thread_ = std::thread([this] { run(); });
}

void Node::stop() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
    woken_.notify_one();
  }
  thread_.join();
  course_.end();
}

void Node::wake() {
  const MutexLock lock(mutex_);
  is_woken_ = true;
  woken_.notify_one();
}

void Node::run() {
  while (true) {
    const Millis due = course_.step();
    const MutexLock lock(mutex_);
    while (!is_woken_ && !is_stopping_) {
      const Millis pause = std::min(due - ports_.clock.boot(), kNodePauseMax);
      if (pause <= Millis{0}) break;
      woken_.wait_for(mutex_, pause);
    }
    if (is_stopping_) return;
    is_woken_ = false;
  }
}

void Node::log_turn(Course::Turn turn, const std::string& text) const {
  const std::uint64_t frame = ports_.engine.applied();
  switch (turn) {
    case Course::Turn::kLoaded:
      for (const std::string& why : ports_.engine.origin().passed_over) log_warning("snapshot.passed_over", why);
      return log_info("following", "the journal is loaded", {{"frame", frame}});
    case Course::Turn::kUnread:
      return log_warning("journal.unread", text);
    case Course::Turn::kReadAgain:
      return log_info("journal.read", "the journal can be read again");
    case Course::Turn::kLeads:
      return log_info("leading", text, {{"frame", frame}});
    case Course::Turn::kLeadFailed:
      return log_warning("lead.failed", text);
    case Course::Turn::kDeposed:
      return log_warning("deposed", text);
  }
}

// --- how it stands ---

std::optional<NodeAddress> Node::other_leader() const {
  const auto leader = course_.leader();
  if (!leader || leader->address == self_.text()) return std::nullopt;
  return NodeAddress::parse(leader->address);
}

NodeStanding Node::standing() const {
  NodeStanding standing{.self = self_, .leader = {}, .peers = {}};
  standing.role = course_.role();
  std::string leader;
  if (const auto known = course_.leader()) {
    standing.epoch = known->epoch;
    standing.leader = NodeAddress::parse(known->address);
    leader = known->address;
  }
  // A leader has more than is durable.
  standing.applied = standing.role == NodeStanding::Role::kLeader ? ports_.journal.durable() : ports_.engine.applied();
  std::uint64_t last = standing.applied;
  const auto members = ports_.election.members();
  for (const Election::Member& member : members) last = std::max(last, member.applied);
  standing.lag = last - standing.applied;
  for (const Election::Member& member : members) {
    standing.peers.push_back(
        {.address = NodeAddress::parse(member.address),
         .role = member.address == leader ? NodeStanding::Role::kLeader : NodeStanding::Role::kFollower,
         .applied = member.applied,
         .lag = last - member.applied});
  }
  return standing;
}

}  // namespace tenure::server
