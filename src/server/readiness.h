// Which sockets have something for us: many of them in one system call.
//
// Left to itself Asio tries to read before it waits, finds nothing, and makes a handler for each wait: a third of a
// request's system calls. So clients' sockets are in an epoll of their own, which Asio watches as if it were one
// socket. docs/decisions/14 has the figures.
#pragma once

#include <cstdint>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/result.h"

namespace tenure::server {

// A socket that Asio has let go of. Closed when it ends.
class OwnSocket {
 public:
  explicit OwnSocket(boost::asio::ip::tcp::socket socket) : descriptor_(socket.release()) {}
  OwnSocket(const OwnSocket&) = delete;
  OwnSocket& operator=(const OwnSocket&) = delete;
  ~OwnSocket() { close(); }

  [[nodiscard]] int get() const { return descriptor_; }
  void close();

 private:
  int descriptor_;
};

// One thread: the loop's.
class Readiness {
 public:
  // What has changed: each is told once, and again only after it has become otherwise in between.
  struct News {
    bool has_input;   // more than before
    bool takes_more;  // output, after it took none
    bool has_ended;   // the other side, or the connection: reading will tell
  };
  // Told of a socket's news, in no order; `id` is what it is watched as.
  using Tell = std::function<void(std::uint64_t id, News news)>;

  // `begin` is called before there is news to be told of.
  Readiness(boost::asio::io_context& io, std::function<void()> begin, Tell tell);

  // Until the socket is closed.
  Result<Done> watch(const OwnSocket& socket, std::uint64_t id);

 private:
  void wait();
  void look();

  boost::asio::posix::stream_descriptor poll_;
  const std::function<void()> begin_;
  const Tell tell_;
};

}  // namespace tenure::server
