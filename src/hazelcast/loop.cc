#include "hazelcast/loop.h"

#include <array>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "tls/credentials.h"

namespace tenure::hazelcast {

// Whom a socket tells. Not in the unnamed namespace: a member's type is of this kind.
class SocketListener {
 public:
  virtual ~SocketListener() = default;
  virtual void on_connected(LinkId id) = 0;
  virtual void on_received(LinkId id, std::string_view bytes) = 0;
  virtual void on_closed(LinkId id, const std::string& why) = 0;
};

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<tcp::socket>;

constexpr std::size_t kReadAtOnce = std::size_t{16} << 10;

// A socket, plain or under TLS; it lives on until its last operation has ended. One thread.
template <class Stream>
class Socket final : public std::enable_shared_from_this<Socket<Stream>> {
 public:
  template <class... Args>
  Socket(asio::io_context& io, SocketListener& listener, LinkId id, Args&... args)
      : listener_(listener), id_(id), resolver_(io), stream_(io, args...) {}

  void connect(const HostAndPort& address) {
    resolver_.async_resolve(address.host, std::to_string(address.port),
                            [self = this->shared_from_this()](const error_code& error, const auto& found) {
                              if (self->is_over(error)) return;
                              asio::async_connect(self->lowest(), found, [self](const error_code& failed, const auto&) {
                                if (!self->is_over(failed)) self->shake_hands();
                              });
                            });
  }

  void send(const std::string& bytes) {
    waiting_ += bytes;
    if (writing_.empty()) write();
  }

  // Nothing is told from now on.
  void shut() {
    is_shut_ = true;
    resolver_.cancel();
    error_code ignored;
    lowest().close(ignored);
  }

  Stream& stream() { return stream_; }

 private:
  tcp::socket& lowest() {
    if constexpr (std::is_same_v<Stream, tcp::socket>) {
      return stream_;
    } else {
      return stream_.next_layer();
    }
  }

  void shake_hands() {
    error_code ignored;
    lowest().set_option(tcp::no_delay(true), ignored);
    lowest().set_option(asio::socket_base::keep_alive(true), ignored);
    if constexpr (std::is_same_v<Stream, tcp::socket>) {
      begin();
    } else {
      stream_.async_handshake(asio::ssl::stream_base::client,
                              [self = this->shared_from_this()](const error_code& error) {
                                if (!self->is_over(error)) self->begin();
                              });
    }
  }

  void begin() {
    listener_.on_connected(id_);
    if (!is_shut_) read();
  }

  void read() {
    stream_.async_read_some(asio::buffer(input_),
                            [self = this->shared_from_this()](const error_code& error, std::size_t size) {
                              if (self->is_over(error)) return;
                              self->listener_.on_received(self->id_, {self->input_.data(), size});
                              if (!self->is_shut_) self->read();
                            });
  }

  void write() {
    if (waiting_.empty()) return;
    writing_.swap(waiting_);
    asio::async_write(stream_, asio::buffer(writing_),
                      [self = this->shared_from_this()](const error_code& error, std::size_t) {
                        if (self->is_over(error)) return;
                        self->writing_.clear();
                        self->write();
                      });
  }

  // Whether there is no going on; tells so, once.
  bool is_over(const error_code& error) {
    if (is_shut_) return true;
    if (!error) return false;
    shut();
    listener_.on_closed(id_, error == asio::error::eof ? "it has closed the connection" : error.message());
    return true;
  }

  SocketListener& listener_;
  const LinkId id_;
  tcp::resolver resolver_;
  Stream stream_;
  std::array<char, kReadAtOnce> input_{};
  std::string waiting_;
  std::string writing_;
  bool is_shut_ = false;
};

template <class Stream>
class SocketLink final : public Link {
 public:
  explicit SocketLink(std::shared_ptr<Socket<Stream>> socket) : socket_(std::move(socket)) {}
  ~SocketLink() override { socket_->shut(); }
  SocketLink(const SocketLink&) = delete;
  SocketLink& operator=(const SocketLink&) = delete;
  void send(std::string bytes) override { socket_->send(bytes); }

 private:
  std::shared_ptr<Socket<Stream>> socket_;
};

asio::ssl::context context_for(const std::optional<ClientTls>& given) {
  if (!given) return asio::ssl::context(asio::ssl::context::tls_client);  // which nobody uses
  auto context = tls::client_context(real_files(), *given);
  if (!context) raise(context.error());
  return asio::ssl::context(context->release());
}

void check(const Settings& settings) {
  if (settings.addresses.empty()) {
    throw InvalidRequest(ErrorCode::kInvalid, "addresses: expected one or more, found none");
  }
  for (const std::string& address : settings.addresses) {
    if (const auto where = read_address(address); !where) raise(where.error());
  }
  using Setting = std::pair<const char*, Millis>;
  for (const auto& [what, time] :
       {Setting{"timeout", settings.timeout}, Setting{"connect_timeout", settings.connect_timeout},
        Setting{"backoff_initial", settings.backoff_initial}, Setting{"backoff_max", settings.backoff_max},
        Setting{"heartbeat_interval", settings.heartbeat_interval},
        Setting{"heartbeat_timeout", settings.heartbeat_timeout}}) {
    if (time > Millis{0} && time <= kLeaseMax) continue;
    throw InvalidRequest(ErrorCode::kInvalid, fmt::format("{}: expected more than 0 and at most {} ms, found {}", what,
                                                          kLeaseMax.count(), time.count()));
  }
  if (settings.heartbeat_interval >= settings.heartbeat_timeout) {
    throw InvalidRequest(ErrorCode::kInvalid,
                         fmt::format("heartbeat_interval: expected less than heartbeat_timeout, {} ms, found {}",
                                     settings.heartbeat_timeout.count(), settings.heartbeat_interval.count()));
  }
}

}  // namespace

struct Loop::Parts final : Network, SocketListener {
  explicit Parts(const Settings& settings)
      : secrecy(settings.tls),
        context(context_for(settings.tls)),
        work(asio::make_work_guard(io)),
        timer(io),
        cluster(settings, *this, entropy, clock.boot()) {}

  std::unique_ptr<Link> dial(const HostAndPort& address, LinkId id) override {
    if (!secrecy) {
      auto socket = std::make_shared<Socket<tcp::socket>>(io, *this, id);
      socket->connect(address);
      return std::make_unique<SocketLink<tcp::socket>>(std::move(socket));
    }
    auto socket = std::make_shared<Socket<TlsStream>>(io, *this, id, context);
    const std::string& expected = secrecy->server_name.empty() ? address.host : secrecy->server_name;
    error_code is_name;
    asio::ip::make_address(expected, is_name);
    if (is_name) SSL_set_tlsext_host_name(socket->stream().native_handle(), expected.c_str());
    socket->stream().set_verify_callback(asio::ssl::host_name_verification(expected));
    socket->connect(address);
    return std::make_unique<SocketLink<TlsStream>>(std::move(socket));
  }

  void on_connected(LinkId id) override {
    cluster.connected(id, clock.boot());
    settle();
  }
  void on_received(LinkId id, std::string_view bytes) override {
    cluster.received(id, bytes, clock.boot());
    settle();
  }
  void on_closed(LinkId id, const std::string& why) override {
    cluster.closed(id, why, clock.boot());
    settle();
  }

  // After everything that happened.
  void settle() {
    const Millis now = clock.boot();
    cluster.tend(now);
    tell_state();
    const Millis due = cluster.next_due();
    if (due >= armed_for && armed_for > now) return;  // it rings early enough
    if (due == Millis::max()) return;
    armed_for = due;
    timer.expires_after(std::max(due - now, Millis{0}));
    timer.async_wait([this](const error_code& error) {
      if (error) return;
      armed_for = Millis::max();
      settle();
    });
  }

  void tell_state() {
    const MutexLock lock(mutex);
    if (is_up == cluster.is_up() && trouble == cluster.trouble()) return;
    is_up = cluster.is_up();
    trouble = cluster.trouble();
    changed.notify_all();
  }

  void put(std::shared_ptr<Call> call) {
    {
      const MutexLock lock(mutex);
      inbox.push_back(std::move(call));
      if (inbox.size() > 1) return;  // it has been told
    }
    asio::post(io, [this] {
      std::vector<std::shared_ptr<Call>> calls;
      {
        const MutexLock lock(mutex);
        calls.swap(inbox);
      }
      for (auto& each : calls) cluster.invoke(std::move(each));
      settle();
    });
  }

  const SystemClock clock;
  SystemEntropy entropy;
  const std::optional<ClientTls> secrecy;
  asio::ssl::context context;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work;
  asio::steady_timer timer;
  Millis armed_for = Millis::max();
  Cluster cluster;

  Mutex mutex;
  Condition changed;
  std::vector<std::shared_ptr<Call>> inbox TENURE_GUARDED_BY(mutex);
  bool is_up TENURE_GUARDED_BY(mutex) = false;
  Failure trouble TENURE_GUARDED_BY(mutex){.code = ErrorCode::kUnavailable, .message = "no member was asked"};

  std::thread thread;
};

Loop::Loop(const Settings& settings) {
  check(settings);
  parts_ = std::make_unique<Parts>(settings);
  parts_->thread = std::thread([parts = parts_.get()] {
    asio::post(parts->io, [parts] { parts->settle(); });
    parts->io.run();
  });
}

Loop::~Loop() {
  asio::post(parts_->io, [parts = parts_.get()] {
    parts->cluster.close({.code = ErrorCode::kUnavailable, .message = "the client is closed"});
    parts->io.stop();
  });
  parts_->thread.join();
}

Result<Done> Loop::await_up(Millis timeout) {
  const Millis until = now() + timeout;
  Parts& parts = *parts_;
  const MutexLock lock(parts.mutex);
  while (!parts.is_up) {
    const Millis left = until - now();
    if (left <= Millis{0} || parts.trouble.code == ErrorCode::kNoAuth) return tl::unexpected(parts.trouble);
    parts.changed.wait_for(parts.mutex, left);
  }
  return Done{};
}

void Loop::invoke(std::shared_ptr<Call> call) { parts_->put(std::move(call)); }

Millis Loop::now() const { return parts_->clock.boot(); }

Uuid Loop::client() const { return parts_->cluster.client(); }

}  // namespace tenure::hazelcast
