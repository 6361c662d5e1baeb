// What clients ask of the server itself.
#include <algorithm>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "server/console.h"
#include "server/server.h"
#include "wire/resp_writer.h"

namespace tenure::server {

namespace asio = boost::asio;
using wire::RespWriter;

void Server::serve(wire::Conversation& conversation, const wire::Conversation::HouseRequests& request,
                   Promise promise) {
  std::visit([&](const auto& asked) { answer(conversation, asked, std::move(promise)); }, request);
}

void Server::answer(const wire::Conversation& /*asker*/, const wire::ListClients& /*request*/, Promise promise) {
  std::vector<Connection*> all;
  for (const auto& [id, connection] : connections_) all.push_back(connection.get());
  std::sort(all.begin(), all.end(), [](const Connection* a, const Connection* b) { return a->id() < b->id(); });
  std::string lines;
  for (const Connection* const connection : all) lines += connection->line() + "\n";
  std::move(promise).fulfil([&](RespWriter& out) { out.value(lines); });
}

void Server::answer(const wire::Conversation& asker, const wire::KillClient& request, Promise promise) {
  std::vector<Connection*> meant;
  for (const auto& [id, connection] : connections_) {
    if (request.id && static_cast<std::uint64_t>(*request.id) != id) continue;
    if (request.address && *request.address != connection->address()) continue;
    meant.push_back(connection.get());
  }
  std::move(promise).fulfil([&](RespWriter& out) {
    if (request.counts) {
      out.value(meant.size());
    } else if (meant.empty()) {
      out.error({ErrorCode::kErr, fmt::format("client: expected one at {}, found none", *request.address)});
    } else {
      out.simple("OK");
    }
  });
  for (Connection* const connection : meant) {
    // Who kills itself is told so first.
    if (connection->id() == asker.client_id()) {
      connection->end();
    } else {
      connection->close();
    }
  }
}

void Server::answer(const wire::Conversation& /*asker*/, const wire::DescribeServer& request, Promise promise) {
  const std::string text = describe(standing(), request.sections);
  std::move(promise).fulfil([&](RespWriter& out) { out.value(text); });
}

wire::HttpReply Server::show(const wire::ServerPage& page) {
  switch (page.subject) {
    case wire::ServerPage::Subject::kStatus:
      return {.body = describe_json(standing())};
    case wire::ServerPage::Subject::kEvents:
      return {.is_stream = true};
    case wire::ServerPage::Subject::kMetrics:
      return {.body = describe_metrics(standing()), .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    case wire::ServerPage::Subject::kReadiness:
      return readiness();
    case wire::ServerPage::Subject::kConsole:
      return console_page(page.path);
    default:
      return {.body = R"({"status":"alive"})"};
  }
}

wire::HttpReply Server::readiness() const {
  if (is_stopping_) return wire::http_error({ErrorCode::kUnavailable, "the server is stopping"});
  if (ports_.node == nullptr) return {.body = R"({"status":"ready"})"};
  const NodeStanding standing = ports_.node->standing();
  if (const auto fault = fault_in(standing)) return wire::http_error({ErrorCode::kUnavailable, *fault});
  return {.body = fmt::format(R"({{"status":"ready","role":"{}"}})", to_string(standing.role))};
}

std::optional<std::string> Server::leader() const {
  const auto other = ports_.node == nullptr ? std::nullopt : ports_.node->other_leader();
  return other ? std::optional(other->resp) : std::nullopt;
}

// The nodes of a cluster are alike: if this one speaks TLS the other does.
std::string Server::leader_url() const {
  const auto other = ports_.node == nullptr ? std::nullopt : ports_.node->other_leader();
  if (!other || other->http.empty()) return {};
  return fmt::format("{}://{}", identity_ != nullptr ? "https" : "http", other->http);
}

Standing Server::standing() const {
  Standing standing;
  for (const auto& listener : listeners_) {
    std::string& addresses = listener->face() == Face::kRedis ? standing.addresses : standing.http_addresses;
    addresses += (addresses.empty() ? "" : " ") + text_of(listener->address());
  }
  standing.folder = config_.cluster.is_given() ? config_.cluster.journal : config_.folder;
  standing.uptime = ports_.clock.boot() - since_;
  standing.started_at = started_at_;
  standing.now = engine_.now();
  standing.restarts = ports_.restarts;
  standing.replay_time = ports_.replay_time;
  standing.is_stopping = is_stopping_;
  standing.connections = connections_.size();
  standing.connections_max = config_.clients.connections;
  standing.waiting = static_cast<std::uint64_t>(std::count_if(
      connections_.begin(), connections_.end(), [](const auto& entry) { return entry.second->is_waiting(); }));
  standing.accepted = accepted_;
  standing.turned_away = turned_away_;
  standing.buffer_bytes = static_cast<std::uint64_t>(buffer_bytes_);
  standing.buffer_bytes_max = config_.clients.buffer_bytes;
  standing.signed_in = static_cast<std::uint64_t>(std::count_if(
      connections_.begin(), connections_.end(), [](const auto& entry) { return entry.second->user() != nullptr; }));
  standing.refused_sign_ins = sign_ins_.refused();
  standing.refused = refused_;
  standing.state_bytes_max = config_.settings.state_bytes_max;
  standing.engine = engine_.figures(kNamesShown);
  standing.domains = lock_figures_.by_domain();
  standing.durable = ports_.journal.durable();
  standing.has_room = ports_.journal.has_room();
  standing.journal = ports_.journal.figures();
  if (ports_.node == nullptr) return standing;
  standing.node = ports_.node->standing();
  standing.durable = standing.node->applied;
  return standing;
}

// Found by its connection's number; a flood of them is counted, and not written down.
void Server::on_refusal(const wire::Refusal& refusal) {
  ++refused_[static_cast<std::size_t>(refusal.code)];
  const bool is_all_told = is_logged(LogLevel::kDebug);
  if (!is_logged(LogLevel::kInfo) || (!is_all_told && !refusals_.lets_through())) return;
  tell_left_out();
  const auto found = connections_.find(refusal.client_id);
  const auto user = found == connections_.end() ? nullptr : found->second->user();
  log_event(is_all_told ? LogLevel::kDebug : LogLevel::kInfo, "request.refused", "",
            {{"client", refusal.client_id},
             {"address", found == connections_.end() ? "" : found->second->address()},
             {"user", user == nullptr ? "" : user->name},
             {"verb", refusal.verb},
             {"code", to_string(refusal.code)}});
}

void Server::tell_left_out() {
  const std::uint64_t count = refusals_.take_held_back();
  if (count > 0) log_info("request.refused.more", "--log-level debug tells of each", {{"count", count}});
}

// The last two are for tools that ask a Redis about its durability.
void Server::answer(const wire::Conversation& /*asker*/, const wire::GetConfig& request, Promise promise) {
  auto settings = config_.shown;
  settings.emplace_back("appendonly", "yes");
  settings.emplace_back("save", "");
  const auto is_unwanted = [&](const auto& setting) {
    return std::none_of(request.patterns.begin(), request.patterns.end(),
                        [&](std::string_view pattern) { return matches(pattern, setting.first); });
  };
  settings.erase(std::remove_if(settings.begin(), settings.end(), is_unwanted), settings.end());
  std::move(promise).fulfil([&](RespWriter& out) {
    out.map(settings.size());
    for (const auto& [name, value] : settings) out.field(name, std::string_view(value));
  });
}

void Server::answer(const wire::Conversation& /*asker*/, const wire::MakeSnapshot& /*request*/, Promise promise) const {
  if (ports_.snapshots == nullptr) return std::move(promise).answer(Result<Done>(Done{}));
  ports_.snapshots->ask([io = &ports_.io, promise = std::move(promise)](const Result<Done>& made) mutable {
    asio::post(*io, [made, promise = std::move(promise)]() mutable { std::move(promise).answer(made); });
  });
}

void Server::answer(const wire::Conversation& asker, const wire::ShutDown& /*request*/, Promise promise) {
  goodbyes_.push_back(std::move(promise));
  goodbye_ids_.push_back(asker.client_id());
  stop(fmt::format("SHUTDOWN by client {}", asker.client_id()));
}

}  // namespace tenure::server
