// tenured, the server.
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
#include "server/config.h"
#include "server/listener.h"
#include "server/log.h"
#include "server/server.h"
#include "server/starts.h"
#include "server/tls.h"
#include "users/users.h"

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
  config.storage.tell = [](const std::string& line) { log_info("journal", line); };
  auto seat = Seat::open(config.folder, config.settings, config.storage);
  if (!seat) {
    Failure failure = seat.error();
    if (is_in_use(failure)) failure.message += "; stop it, or choose another folder with --data";
    return refuse(failure);
  }
  Addresses addresses;
  for (const auto& listener : *listeners) addresses.emplace_back(listener->face(), listener->address());
  Server server(config,
                {.io = io,
                 .engine = (*seat)->engine(),
                 .journal = (*seat)->journal(),
                 .snapshots = (*seat)->snapshots(),
                 .clock = (*seat)->clock(),
                 .users = *users,
                 .identity = *identity,
                 .replay_time = (*seat)->replay_time(),
                 .restarts = count_restarts(config.folder)},
                std::move(*listeners), SystemEntropy().next());
  if (const auto open = server.open(); !open) return refuse(open.error());
  tell_addresses(addresses, *identity != nullptr);
  const auto served = server.run();
  const auto closed = (*seat)->close();
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
