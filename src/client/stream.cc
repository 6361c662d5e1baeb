#include "client/stream.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/text.h"
#include "wire/word.h"

namespace tenure::client {
namespace {

constexpr std::string_view kDefaultPort = "8368";
constexpr std::uint64_t kPortMax = 65535;

tl::unexpected<Failure> system_failure(std::string_view what, int error) {
  return fail_with(ErrorCode::kUnavailable, "{}: {}", what, std::generic_category().message(error));
}

// Owns a socket that does not block. One thread.
class SocketStream final : public Stream {
 public:
  SocketStream(int descriptor, bool is_connected) : descriptor_(descriptor), is_connected_(is_connected) {}
  ~SocketStream() override { ::close(descriptor_); }
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  [[nodiscard]] int descriptor() const override { return descriptor_; }
  Result<bool> advance() override;
  Result<std::size_t> send(std::string_view bytes) override;
  Result<std::size_t> receive(std::string& to) override;

 private:
  const int descriptor_;
  bool is_connected_;
};

Result<bool> SocketStream::advance() {
  if (is_connected_) return true;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return system_failure("connecting", error);
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  is_connected_ = ::getpeername(descriptor_, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0;
  return is_connected_;
}

Result<std::size_t> SocketStream::send(std::string_view bytes) {
  const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EINTR) return 0;
  return system_failure("sending", errno);
}

Result<std::size_t> SocketStream::receive(std::string& to) {
  std::array<char, std::size_t{64} << 10> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written by recv
  const ssize_t count = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count == 0) return fail_with(ErrorCode::kUnavailable, "the server has closed the connection");
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (count < 0) return system_failure("receiving", errno);
  to.append(bytes.data(), static_cast<std::size_t>(count));
  return static_cast<std::size_t>(count);
}

// A peer that vanished without a word is noticed after half a minute, also where nothing is asked.
void watch_over(int descriptor) {
  const int yes = 1;
  const int idle_seconds = 15;
  const int interval_seconds = 5;
  const int probes = 3;
  ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
};

// Asking for names may take long, and holds up the loop meanwhile: what was found is used until it fails.
class TcpDialer final : public Dialer {
 public:
  Result<std::unique_ptr<Stream>> dial(const std::string& address) override;

 private:
  struct Known {
    std::vector<Endpoint> endpoints;
    std::size_t next = 0;  // all are tried in turn, then the name is asked for again
  };
  static Result<std::vector<Endpoint>> look_up(const std::string& address);

  std::map<std::string, Known> known_;
};

Result<std::vector<Endpoint>> TcpDialer::look_up(const std::string& address) {
  const auto where = read_address(address);
  if (!where) return tl::unexpected(where.error());
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(where->host.c_str(), where->port.c_str(), &wanted, &found);
  if (error != 0) return fail_with(ErrorCode::kUnavailable, "{}: {}", where->host, ::gai_strerror(error));
  std::vector<Endpoint> endpoints;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    Endpoint& endpoint = endpoints.emplace_back();
    std::memcpy(&endpoint.address, entry->ai_addr, entry->ai_addrlen);
    endpoint.size = entry->ai_addrlen;
  }
  ::freeaddrinfo(found);
  return endpoints;
}

Result<std::unique_ptr<Stream>> TcpDialer::dial(const std::string& address) {
  Known& known = known_[address];
  if (known.next == known.endpoints.size()) {
    auto endpoints = look_up(address);
    if (!endpoints) return tl::unexpected(endpoints.error());
    known = {.endpoints = std::move(*endpoints)};
    if (known.endpoints.empty()) return fail_with(ErrorCode::kUnavailable, "{}: no such host", address);
  }
  const Endpoint& endpoint = known.endpoints[known.next++];
  const int descriptor = ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return system_failure("socket", errno);
  auto stream = std::make_unique<SocketStream>(descriptor, false);
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  watch_over(descriptor);
  const int error =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size) == 0 ? 0 : errno;
  if (error != 0 && error != EINPROGRESS) return system_failure("connecting", error);
  return stream;
}

}  // namespace

Result<HostAndPort> read_address(std::string_view address) {
  const auto wrong = [&] {
    return fail_with(ErrorCode::kInvalid, "address: expected host:port, found {}", wire::quote(address));
  };
  HostAndPort where{.host = std::string(address), .port = std::string(kDefaultPort)};
  const std::size_t colon = address.rfind(':');
  const bool is_v6 = !address.empty() && address.front() == '[';
  const std::size_t bracket = is_v6 ? address.find(']') : std::string_view::npos;
  if (is_v6 && bracket == std::string_view::npos) return wrong();
  if (is_v6) where.host = address.substr(1, bracket - 1);
  const bool has_port = colon != std::string_view::npos && (!is_v6 || colon > bracket);
  if (has_port) {
    if (is_v6 ? colon != bracket + 1 : address.find(':') != colon) return wrong();
    if (!is_v6) where.host = address.substr(0, colon);
    where.port = address.substr(colon + 1);
  } else if (is_v6 && bracket + 1 != address.size()) {
    return wrong();
  }
  const auto port = parse_decimal(where.port);
  if (where.host.empty() || !port || *port == 0 || *port > kPortMax) return wrong();
  return where;
}

std::unique_ptr<Dialer> make_tcp_dialer() { return std::make_unique<TcpDialer>(); }

std::unique_ptr<Stream> make_stream(int descriptor) { return std::make_unique<SocketStream>(descriptor, true); }

}  // namespace tenure::client
