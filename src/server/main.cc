// tenured, the server.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <fmt/core.h>

#include <tenure/version.h>
#include "authority/seat.h"
#include "base/entropy.h"
#include "base/files.h"
#include "server/cluster.h"
#include "server/config.h"
#include "server/listener.h"
#include "server/log.h"
#include "server/node.h"
#include "server/server.h"
#include "server/starts.h"
#include "server/tls.h"
#include "users/users.h"

// What jemalloc begins with. Whoever asks may ask for any of millions of entries: in large pages their addresses are
// found with fewer misses (docs/decisions/9).
extern "C" {
__attribute__((visibility("default"))) extern const char* malloc_conf;
const char* malloc_conf = "thp:always";
}

namespace {

using namespace tenure;          // NOLINT(google-build-using-namespace): this file is the program
using namespace tenure::server;  // NOLINT(google-build-using-namespace)

// Files of the journal, listeners, what libraries need.
constexpr rlim_t kOtherFiles = 128;

// As many file descriptors as connections may need; tells if the system does not give them.
void raise_file_limit(std::uint64_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = connections + kOtherFiles;
  if (limit.rlim_cur >= wanted) return;
  rlimit raised{.rlim_cur = wanted, .rlim_max = std::max(limit.rlim_max, wanted)};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  log_warning("files.few",
              fmt::format("this process may have {} open files, which is too few for {} connections: raise "
                          "its limit (ulimit -n), or lower --connections",
                          raised.rlim_cur, connections));
}

int refuse(const Failure& failure) {
  log_error("not_started", failure.message);
  return 1;
}

using Addresses = std::vector<std::pair<Face, boost::asio::ip::tcp::endpoint>>;

void tell_addresses(const Addresses& addresses, bool has_tls) {
  for (const auto& [face, address] : addresses) {
    if (face == Face::kRedis) {
      log_info("listening", "", {{"protocol", "resp"}, {"address", text_of(address)}});
    } else {
      const std::string url = fmt::format("{}://{}", has_tls ? "https" : "http", text_of(address));
      log_info("listening", "", {{"protocol", "http"}, {"address", text_of(address)}, {"url", url}});
    }
  }
  const auto& first = addresses.front().second;
  log_info("started", fmt::format("try: redis-cli {}-h {} -p {} LOCK.ACQUIRE orders 12345 me", has_tls ? "--tls " : "",
                                  first.address().to_string(), first.port()));
}

// Null: there need be none.
Result<std::shared_ptr<const users::Users>> read_users(const std::string& path) {
  if (path.empty()) return nullptr;
  auto users = users::load_users(real_files(), path);
  if (!users) {
    return fail_with(users.error().code, "--users: {}; `tenure user add --users {} NAME` makes the file",
                     users.error().message, path);
  }
  return std::make_shared<const users::Users>(std::move(*users));
}

// Null: there need be none.
Result<std::shared_ptr<const TlsIdentity>> read_identity(const Config& config) {
  if (!config.tls.is_given()) return nullptr;
  if (!config.tls.client_ca.empty() && config.users.empty()) {
    return fail_with(ErrorCode::kInvalid,
                     "--tls-client-ca: expected --users, whom certificates name; found none: everybody may do all");
  }
  auto identity = TlsIdentity::load(real_files(), config.tls);
  if (identity && (*identity)->is_out_of_date()) log_warning("certificate.out_of_date", out_of_date(config.tls));
  return identity;
}

// Nobody is kept from working by it.
std::uint64_t count_restarts(const std::string& folder) {
  const auto before = count_start(real_files(), folder);
  if (!before) log_warning("start.not_counted", before.error().message);
  return before.value_or(0);
}

// What is served, and what it rests on.
struct Premises {
  std::unique_ptr<Cluster> cluster;  // null: it is alone
  std::unique_ptr<Seat> seat;
  std::unique_ptr<Node> node;  // null: likewise
};

Result<Premises> open_folder(const Config& config) {
  auto seat = Seat::open(config.folder, config.settings, config.storage);
  if (!seat) {
    Failure failure = seat.error();
    if (is_in_use(failure)) failure.message += "; stop it, or choose another folder with --data";
    return tl::unexpected(failure);
  }
  return Premises{.cluster = nullptr, .seat = std::move(*seat), .node = nullptr};
}

boost::asio::ip::tcp::endpoint first_of(Face face, const Addresses& addresses) {
  return std::find_if(addresses.begin(), addresses.end(), [&](const auto& entry) { return entry.first == face; })
      ->second;
}

// Where clients reach this node.
Result<NodeAddress> own_address(const Config& config, const Addresses& addresses) {
  const auto first = first_of(Face::kRedis, addresses);
  std::string text = config.cluster.advertise;
  if (text.empty()) {
    if (first.address().is_unspecified()) {
      return fail_with(ErrorCode::kInvalid,
                       "--advertise: expected where clients reach this node, since it listens everywhere; found none");
    }
    text = text_of(first);
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 ||
      text.find_first_not_of("0123456789,", colon + 1) != std::string::npos) {
    return fail_with(ErrorCode::kInvalid, "--advertise: expected HOST:PORT or HOST:PORT,HTTP-PORT, found '{}'", text);
  }
  if (text.find(',') == std::string::npos) text += fmt::format(",{}", first_of(Face::kHttp, addresses).port());
  return NodeAddress::parse(text);
}

Result<Premises> open_cluster(const Config& config, const Addresses& addresses) {
  const auto self = own_address(config, addresses);
  if (!self) return tl::unexpected(self.error());
  auto cluster = Cluster::open(config, *self);
  if (!cluster) return tl::unexpected(cluster.error());
  Premises premises{.cluster = std::move(*cluster), .seat = nullptr, .node = nullptr};
  std::unique_ptr<SharedJournal> journal = premises.cluster->take_journal();
  SharedJournal& shared = *journal;
  auto seat = Seat::among_several(
      std::move(journal), config.settings, [cluster = premises.cluster.get()] { return cluster->is_certain(); },
      config.storage.tell);
  if (!seat) return tl::unexpected(seat.error());
  premises.seat = std::move(*seat);
  premises.node = std::make_unique<Node>(Node::Ports{.engine = premises.seat->engine(),
                                                     .journal = shared,
                                                     .election = premises.cluster->election(),
                                                     .snapshots = premises.seat->snapshots(),
                                                     .clock = premises.seat->clock()},
                                         *self);
  log_info("cluster", "", {{"journal", config.cluster.journal}, {"address", self->text()}});
  return premises;
}

int serve(Config config) {
  log_info("starting", "", {{"version", kVersion}});
  std::signal(SIGPIPE, SIG_IGN);
  raise_file_limit(config.clients.connections);
  auto users = read_users(config.users);
  if (!users) return refuse(users.error());
  auto identity = read_identity(config);
  if (!identity) return refuse(identity.error());
  boost::asio::io_context io(1);
  auto listeners = bind_all(io, config);
  if (!listeners) return refuse(listeners.error());
  Addresses addresses;
  for (const auto& listener : *listeners) addresses.emplace_back(listener->face(), listener->address());
  config.storage.tell = [](const std::string& line) { log_info("journal", line); };
  auto premises = config.cluster.is_given() ? open_cluster(config, addresses) : open_folder(config);
  if (!premises) return refuse(premises.error());
  Seat& seat = *premises->seat;
  Server server(config,
                {.io = io,
                 .engine = seat.engine(),
                 .journal = seat.journal(),
                 .snapshots = seat.snapshots(),
                 .clock = seat.clock(),
                 .users = *users,
                 .identity = *identity,
                 .replay_time = seat.replay_time(),
                 .restarts = config.cluster.is_given() ? 0 : count_restarts(config.folder),
                 .node = premises->node.get()},
                std::move(*listeners), SystemEntropy().next());
  if (const auto open = server.open(); !open) return refuse(open.error());
  tell_addresses(addresses, *identity != nullptr);
  const auto served = server.run();
  const auto closed = seat.close();
  // Once all is durable that was begun: the next leads at once.
  if (premises->cluster != nullptr) premises->cluster->election().leave();
  if (!served) {
    log_error("failed", fmt::format("{}; start again, which reads the journal anew", served.error().message));
    return 1;
  }
  if (!closed) {
    log_error("failed", fmt::format("the journal could not be closed: {}", closed.error().message));
    return 1;
  }
  log_info("stopped", "");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  const auto read = read_config(argc, argv);
  if (const auto* farewell = std::get_if<Farewell>(&read)) {
    std::fputs(farewell->text.c_str(), farewell->status == 0 ? stdout : stderr);
    return farewell->status;
  }
  const auto& config = std::get<Config>(read);
  set_up_log(config.log_level, config.log_format);
  try {
    return serve(config);
  } catch (const std::exception& error) {
    log_error("failed", fmt::format("stopped by an error: {}", error.what()));
    return 1;
  }
}
