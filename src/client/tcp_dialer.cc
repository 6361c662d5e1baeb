// Connecting over TCP: looking up a name, which may take long, and then its addresses in turn.
#include <cerrno>
#include <cstring>
#include <map>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/mutex.h"
#include "client/stream.h"

namespace tenure::client {
namespace {

tl::unexpected<Failure> connecting_failed(int error) {
  return fail_with(ErrorCode::kUnavailable, "connecting: {}", std::generic_category().message(error));
}

// A name that is being looked up. Thread-safe.
class Inquiry {
 public:
  Inquiry() : bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Inquiry() { ::close(bell_); }
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;

  // Can be read once there is an answer, by however many wait for it.
  [[nodiscard]] int bell() const { return bell_; }
  std::optional<Result<std::vector<Endpoint>>> answer() {
    const MutexLock lock(mutex_);
    return answer_;
  }
  void tell(Result<std::vector<Endpoint>> answer) {
    {
      const MutexLock lock(mutex_);
      answer_ = std::move(answer);
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(bell_, &one, sizeof one);
  }

 private:
  const int bell_;
  Mutex mutex_;
  std::optional<Result<std::vector<Endpoint>>> answer_ TENURE_GUARDED_BY(mutex_);
};

// What is known of hosts: used until it fails. One thread.
class HostBook {
 public:
  explicit HostBook(LookUp look_up) : look_up_(std::move(look_up)) {}

  // The next of its addresses, all of which are tried in turn; null: the name must be asked for.
  const Endpoint* next(const std::string& address) {
    Host& host = hosts_[address];
    return host.next < host.endpoints.size() ? &host.endpoints[host.next++] : nullptr;
  }
  void learn(const std::string& address, std::vector<Endpoint> endpoints) {
    hosts_[address] = {.endpoints = std::move(endpoints), .next = 0, .asked = {}};
  }
  // On a thread that nobody waits for: it ends when the machine's resolver gives up.
  std::shared_ptr<Inquiry> ask(const std::string& address, const HostAndPort& where) {
    Host& host = hosts_[address];
    auto inquiry = host.asked.lock();
    if (inquiry != nullptr) return inquiry;
    inquiry = std::make_shared<Inquiry>();
    host.asked = inquiry;
    std::thread([inquiry, look_up = look_up_, where] { inquiry->tell(look_up(where)); }).detach();
    return inquiry;
  }

 private:
  struct Host {
    std::vector<Endpoint> endpoints{};
    std::size_t next = 0;
    std::weak_ptr<Inquiry> asked{};
  };
  const LookUp look_up_;
  std::map<std::string, Host> hosts_;
};

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

// Looks up, connects, and is then a stream over the socket. One thread.
class TcpStream final : public Stream {
 public:
  TcpStream(std::shared_ptr<HostBook> hosts, std::string address)
      : hosts_(std::move(hosts)), address_(std::move(address)) {}

  Result<Done> begin();
  [[nodiscard]] int descriptor() const override {
    return inquiry_ != nullptr ? inquiry_->bell() : socket_->descriptor();
  }
  [[nodiscard]] bool wants_to_write() const override { return inquiry_ == nullptr && !is_connected_; }
  Result<bool> advance() override;
  Result<std::size_t> send(std::string_view bytes) override { return socket_->send(bytes); }
  Result<std::size_t> receive(std::string& to) override { return socket_->receive(to); }

 private:
  Result<Done> connect(const Endpoint& endpoint);

  const std::shared_ptr<HostBook> hosts_;
  const std::string address_;
  std::shared_ptr<Inquiry> inquiry_;
  std::unique_ptr<Stream> socket_;
  bool is_connected_ = false;
};

Result<Done> TcpStream::begin() {
  if (const Endpoint* known = hosts_->next(address_)) return connect(*known);
  const auto where = read_address(address_);
  if (!where) return tl::unexpected(where.error());
  inquiry_ = hosts_->ask(address_, *where);
  return Done{};
}

Result<Done> TcpStream::connect(const Endpoint& endpoint) {
  const int descriptor = ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return connecting_failed(errno);
  socket_ = make_stream(descriptor);
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  watch_over(descriptor);
  const int error =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size) == 0 ? 0 : errno;
  if (error != 0 && error != EINPROGRESS) return connecting_failed(error);
  return Done{};
}

Result<bool> TcpStream::advance() {
  if (is_connected_) return true;
  if (inquiry_ != nullptr) {
    auto answer = inquiry_->answer();
    if (!answer) return false;
    inquiry_.reset();
    if (!*answer) return tl::unexpected(answer->error());
    hosts_->learn(address_, std::move(**answer));
    const Endpoint* const first = hosts_->next(address_);
    if (first == nullptr) return fail_with(ErrorCode::kUnavailable, "{}: no such host", address_);
    if (const auto begun = connect(*first); !begun) return tl::unexpected(begun.error());
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return connecting_failed(error);
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  is_connected_ = ::getpeername(descriptor(), reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0;
  return is_connected_;
}

// One thread.
class TcpDialer final : public Dialer {
 public:
  explicit TcpDialer(LookUp look_up) : hosts_(std::make_shared<HostBook>(std::move(look_up))) {}
  Result<std::unique_ptr<Stream>> dial(const std::string& address) override {
    auto stream = std::make_unique<TcpStream>(hosts_, address);
    if (const auto begun = stream->begin(); !begun) return tl::unexpected(begun.error());
    return stream;
  }

 private:
  const std::shared_ptr<HostBook> hosts_;
};

}  // namespace

Result<std::vector<Endpoint>> look_up_name(const HostAndPort& where) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(where.host.c_str(), where.port.c_str(), &wanted, &found);
  if (error != 0) return fail_with(ErrorCode::kUnavailable, "{}: {}", where.host, ::gai_strerror(error));
  std::vector<Endpoint> endpoints;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    Endpoint& endpoint = endpoints.emplace_back();
    std::memcpy(&endpoint.address, entry->ai_addr, entry->ai_addrlen);
    endpoint.size = entry->ai_addrlen;
  }
  ::freeaddrinfo(found);
  return endpoints;
}

std::unique_ptr<Dialer> make_tcp_dialer(LookUp look_up) { return std::make_unique<TcpDialer>(std::move(look_up)); }

}  // namespace tenure::client
