#include "server/listener.h"

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>
#include <fmt/format.h>

#include "server/log.h"

namespace tenure::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kPause = std::chrono::milliseconds(100);
// Those who are connected have their turn between two rounds of newcomers.
constexpr int kAcceptedAtOnce = 64;
// A journal that cannot open its next file has failed, so connections do not get the last descriptors.
constexpr rlim_t kSpareFiles = 64;

// The kernel gives the lowest number that is free: one as high as this means that few are left.
bool are_files_scarce(int any_file) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const int next = ::dup(any_file);
  if (next >= 0) ::close(next);
  return next < 0 || static_cast<rlim_t>(next) + std::min(kSpareFiles, limit.rlim_cur / 4) >= limit.rlim_cur;
}

std::string advice(const error_code& error, Face face) {
  const std::string_view flag = face == Face::kRedis ? "--port" : "--http-port";
  if (error == asio::error::address_in_use) {
    return fmt::format("another process listens there: stop it, or choose another port with {} (0: any free one)",
                       flag);
  }
  if (error == asio::error::access_denied) return fmt::format("choose a port above 1023 with {}", flag);
  if (error == error_code(EADDRNOTAVAIL, boost::system::system_category())) {
    return "this machine does not have that address: choose another with --bind";
  }
  return fmt::format("choose another with --bind and {}", flag);
}

bool is_guarded(const Config& config) { return config.is_insecure || (!config.users.empty() && config.tls.is_given()); }

std::string_view guards_of(const Config& config) {
  if (!config.users.empty()) return "users alone (--tls-cert FILE --tls-key FILE)";
  return config.tls.is_given() ? "TLS alone (--users FILE)" : "neither (--users FILE, --tls-cert FILE --tls-key FILE)";
}

}  // namespace

std::string text_of(const tcp::endpoint& address) {
  const std::string host = address.address().to_string();
  return fmt::format(fmt::runtime(address.address().is_v6() ? "[{}]:{}" : "{}:{}"), host, address.port());
}

Result<std::unique_ptr<Listener>> Listener::bind(asio::io_context& io, const std::string& address, std::uint16_t port,
                                                 Face face) {
  error_code error;
  const auto host = asio::ip::make_address(address, error);
  if (error) {
    return fail_with(ErrorCode::kInvalid, "--bind: expected an IPv4 or IPv6 address, found '{}'", address);
  }
  const tcp::endpoint wanted(host, port);
  std::unique_ptr<Listener> listener(new Listener(io, face));
  tcp::acceptor& acceptor = listener->acceptor_;
  acceptor.open(wanted.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && host.is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.non_blocking(true, error);
  if (!error) acceptor.bind(wanted, error);
  if (!error) listener->address_ = acceptor.local_endpoint(error);
  if (error) {
    return fail_with(ErrorCode::kUnavailable, "cannot listen at {}: {}; {}", text_of(wanted), error.message(),
                     advice(error, face));
  }
  return listener;
}

Result<Done> Listener::listen(Accept accept) {
  accept_ = std::move(accept);
  error_code error;
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return fail_with(ErrorCode::kUnavailable, "cannot listen at {}: {}; {}", text_of(address_), error.message(),
                     advice(error, face_));
  }
  wait();
  return Done{};
}

void Listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

void Listener::wait() {
  acceptor_.async_wait(tcp::acceptor::wait_read, [this](const error_code& error) {
    if (!error) accept_some();
  });
}

void Listener::accept_some() {
  for (int i = 0; i < kAcceptedAtOnce && acceptor_.is_open(); ++i) {
    if (are_files_scarce(acceptor_.native_handle())) return pause({EMFILE, boost::system::system_category()});
    error_code error;
    tcp::socket socket = acceptor_.accept(error);
    if (error == asio::error::would_block || error == asio::error::try_again) break;
    // Some went away before they were accepted; anything else is a lack of something.
    if (error == asio::error::connection_aborted || error == asio::error::interrupted) continue;
    if (error) return pause(error);
    is_pause_told_ = false;
    accept_(std::move(socket));
  }
  if (acceptor_.is_open()) wait();
}

void Listener::pause(const error_code& why) {
  if (!std::exchange(is_pause_told_, true)) {
    log_warning("accept.failed",
                fmt::format("cannot accept connections: {}; who wants to connect waits", why.message()),
                {{"address", text_of(address_)}});
  }
  pause_.expires_after(kPause);
  pause_.async_wait([this](const error_code& error) {
    if (!error && acceptor_.is_open()) accept_some();
  });
}

Result<std::vector<std::unique_ptr<Listener>>> bind_all(asio::io_context& io, const Config& config) {
  std::vector<std::unique_ptr<Listener>> listeners;
  for (const std::string& address : config.binds) {
    error_code error;
    const auto host = asio::ip::make_address(address, error);
    if (!error && !host.is_loopback() && !is_guarded(config)) {
      return fail_with(ErrorCode::kInvalid,
                       "--bind {}: others can reach this address: expected users and TLS, found {}; bind 127.0.0.1 or "
                       "::1, or allow it with --insecure",
                       address, guards_of(config));
    }
  }
  for (const Face face : {Face::kRedis, Face::kHttp}) {
    for (const std::string& address : config.binds) {
      auto listener = Listener::bind(io, address, face == Face::kRedis ? config.port : config.http_port, face);
      if (!listener) return tl::unexpected(listener.error());
      listeners.push_back(std::move(*listener));
    }
  }
  return listeners;
}

}  // namespace tenure::server
