// Connections: dialling, signing in, watching over them, and learning from them what the cluster looks like.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "hazelcast/cluster.h"

namespace tenure::hazelcast {
namespace {

constexpr std::uint16_t kDefaultPort = 5701;

}  // namespace

Result<HostAndPort> read_address(std::string_view address) {
  const auto wrong = [&] { return fail_with(ErrorCode::kInvalid, "address: expected host:port, found '{}'", address); };
  const bool is_v6 = !address.empty() && address.front() == '[';
  const std::size_t host_end = is_v6 ? address.find(']') : address.find(':');
  if (is_v6 && host_end == std::string_view::npos) return wrong();
  HostAndPort where{.host = std::string(is_v6 ? address.substr(1, host_end - 1) : address.substr(0, host_end)),
                    .port = kDefaultPort};
  std::string_view rest = host_end == std::string_view::npos ? "" : address.substr(host_end + (is_v6 ? 1 : 0));
  if (where.host.empty() || (!rest.empty() && rest.front() != ':')) return wrong();
  if (rest.empty()) return where;
  const auto port = parse_decimal(rest.substr(1));
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max()) return wrong();
  where.port = static_cast<std::uint16_t>(*port);
  return where;
}

std::string to_string(const HostAndPort& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address.host, address.port) : fmt::format("{}:{}", address.host, address.port);
}

bool Cluster::has_link() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& entry) { return entry.second.state == State::kUp; });
}

std::size_t Cluster::links() const {
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(),
                                                [](const auto& entry) { return entry.second.state == State::kUp; }));
}

bool Cluster::is_dialled(const HostAndPort& address) const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [&](const auto& entry) { return entry.second.address == address; });
}

Millis Cluster::backoff(int failures) {
  const Millis most = std::min(settings_.backoff_initial * (1 << std::min(failures - 1, 20)), settings_.backoff_max);
  const auto spread = static_cast<std::uint64_t>(most.count() / 2 + 1);
  return most - Millis{static_cast<std::int64_t>(entropy_.next() % spread)};
}

// --- dialling ---

void Cluster::dial_missing(Millis now) {
  if (!has_link()) return dial_first(now);
  for (const Member& member : members_) {
    const HostAndPort address{.host = member.host, .port = static_cast<std::uint16_t>(member.port)};
    const bool is_there = std::any_of(connections_.begin(), connections_.end(), [&](const auto& entry) {
      return entry.second.state == State::kUp && entry.second.member == member.uuid;
    });
    if (member.is_lite || is_there || is_dialled(address)) continue;
    const Millis at = patience_[address].dial_at;
    if (now >= at) {
      dial(address, now);
    } else {
      need_at(at);
    }
  }
}

std::vector<HostAndPort> Cluster::known_addresses() const {
  std::vector<HostAndPort> all = addresses_;
  for (const Member& member : members_) {
    const HostAndPort address{.host = member.host, .port = static_cast<std::uint16_t>(member.port)};
    if (std::find(all.begin(), all.end(), address) == all.end()) all.push_back(address);
  }
  return all;
}

// One address after the other; a pause after each round.
void Cluster::dial_first(Millis now) {
  if (!connections_.empty()) return;
  if (now < dial_first_at_) return need_at(dial_first_at_);
  const std::vector<HostAndPort> candidates = known_addresses();
  if (candidates.empty()) return;
  if (next_address_ >= candidates.size()) next_address_ = 0;
  const HostAndPort& address = candidates[next_address_++];
  if (next_address_ == candidates.size()) dial_first_at_ = now + backoff(++rounds_);
  dial(address, now);
}

void Cluster::dial(const HostAndPort& address, Millis now) {
  const LinkId id = ++links_;
  Connection connection{.address = address, .due_by = now + settings_.connect_timeout};
  need_at(connection.due_by);
  Patience& patience = patience_[address];
  patience.dial_at = now + backoff(++patience.failures);
  const auto placed = connections_.emplace(id, std::move(connection)).first;
  placed->second.link = network_.dial(address, id);
}

void Cluster::connected(LinkId id, Millis now) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  connection.state = State::kSigningIn;
  connection.heard_at = now;
  SignIn who{.cluster = settings_.cluster, .client = client_, .name = settings_.name};
  if (!settings_.user.empty()) who.user = settings_.user;
  if (!settings_.password.empty()) who.password = settings_.password;
  connection.link->send(std::string(kGreeting) + write_sign_in(who, ++correlations_));
}

// --- listening ---

void Cluster::received(LinkId id, std::string_view bytes, Millis now) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return;
  found->second.heard_at = now;
  found->second.stream.feed(bytes);
  // Each message may end the connection.
  for (; found != connections_.end(); found = connections_.find(id)) {
    auto message = found->second.stream.next();
    if (!message) return drop(id, message.error().message, now);
    if (!*message) return;
    take(id, **message, now);
  }
}

void Cluster::take(LinkId id, const Message& message, Millis now) {
  if (connections_.at(id).state == State::kSigningIn) return welcome(id, message, now);
  if (!message.is_event()) return answer(message, now);
  const auto news = read_news(message);
  if (!news) return drop(id, news.error().message, now);
  if (id == watched_) learn(*news);
}

void Cluster::welcome(LinkId id, const Message& message, Millis now) {
  Connection& connection = connections_.at(id);
  const auto welcome = read_welcome(message);
  if (!welcome) {
    const Failure failure{.code = welcome.error().code,
                          .message = fmt::format("{}: {}", to_string(connection.address), welcome.error().message)};
    drop(id, welcome.error().message, now);
    trouble_ = failure;
    // It answers, and does not want us; it will not do so because it is asked again.
    if (failure.code != ErrorCode::kNoAuth || has_link()) return;
    for (const auto& call : std::exchange(waiting_, {})) finish(call, tl::unexpected(failure));
    return;
  }
  if (cluster_ != welcome->cluster || partitions_ != welcome->partitions) {
    if (has_link()) return drop(id, "a member of another cluster of the same name", now);
    // The cluster was begun anew: what was known of it is of no use, and neither are its locks.
    cluster_ = welcome->cluster;
    partitions_ = welcome->partitions;
    members_.clear();
    owners_.clear();
  }
  for (const auto& [other, known] : connections_) {
    if (known.state == State::kUp && known.member == welcome->member) {
      connections_.erase(id);  // the same member under another name
      return;
    }
  }
  connection.state = State::kUp;
  connection.member = welcome->member;
  connection.pinged_at = now;
  patience_[connection.address] = {};
  rounds_ = 0;
  next_address_ = 0;
  if (watched_ == 0) watch_somewhere();
}

void Cluster::watch_somewhere() {
  watched_ = 0;
  for (auto& [id, connection] : connections_) {
    if (connection.state != State::kUp) continue;
    watched_ = id;
    watch_correlation_ = ++correlations_;
    connection.link->send(write_watch(watch_correlation_));
    return;
  }
}

void Cluster::learn(const News& news) {
  if (news.members) {
    members_ = *news.members;
    // Of those that are gone nothing is remembered.
    const auto known = known_addresses();
    std::erase_if(patience_,
                  [&](const auto& entry) { return std::find(known.begin(), known.end(), entry.first) == known.end(); });
  }
  if (!news.partitions) return;
  owners_.assign(static_cast<std::size_t>(partitions_), Uuid{});
  for (const Ownership& ownership : *news.partitions) {
    for (const std::int32_t partition : ownership.partitions) {
      if (partition >= 0 && partition < partitions_) owners_[static_cast<std::size_t>(partition)] = ownership.member;
    }
  }
}

// --- watching over them ---

void Cluster::tend_links(Millis now) {
  std::vector<std::pair<LinkId, std::string>> dead;
  for (auto& [id, connection] : connections_) {
    if (connection.state != State::kUp) {
      if (now >= connection.due_by) dead.emplace_back(id, "no connection in time");
      need_at(connection.due_by);
      continue;
    }
    if (now >= connection.heard_at + settings_.heartbeat_timeout) {
      dead.emplace_back(id, "it says nothing any more");
      continue;
    }
    // Also to one that is heard: it gives up clients that it does not hear.
    if (now >= connection.pinged_at + settings_.heartbeat_interval) {
      connection.pinged_at = now;
      connection.link->send(write_ping(++correlations_));
    }
    need_at(std::min(connection.heard_at + settings_.heartbeat_timeout,
                     connection.pinged_at + settings_.heartbeat_interval));
  }
  for (const auto& [id, why] : dead) drop(id, why, now);
}

void Cluster::closed(LinkId id, const std::string& why, Millis now) { drop(id, why, now); }

void Cluster::drop(LinkId id, const std::string& why, Millis now) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  trouble_ = {.code = ErrorCode::kUnavailable, .message = fmt::format("{}: {}", to_string(found->second.address), why)};
  const bool was_up = found->second.state == State::kUp;
  connections_.erase(found);
  if (was_up && !has_link()) {
    alone_since_ = now;
    earliest_deadline_ = std::min(earliest_deadline_, now + settings_.timeout);
  }
  if (watched_ == id) watch_somewhere();
  std::vector<std::shared_ptr<Call>> again;
  std::erase_if(flights_, [&](auto& entry) {
    if (entry.second.link != id) return false;
    again.push_back(std::move(entry.second.call));
    return true;
  });
  for (const auto& call : again) ask_again(call, now);
}

}  // namespace tenure::hazelcast
