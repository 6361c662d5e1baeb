// A connection's bytes, and who makes connections. Nothing here waits: the loop does (switchboard.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

#include <tenure/types.h>
#include "base/result.h"

namespace tenure::client {

// One thread. Failures are UNAVAILABLE, and final: the stream is of no more use.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  // To be polled; another one after each step of connecting.
  [[nodiscard]] virtual int descriptor() const = 0;
  // It has something to write on its own account: connecting, or what it was given and could not pass on.
  [[nodiscard]] virtual bool wants_to_write() const = 0;
  // After a failure: it is no accident, and the next connection would end alike.
  [[nodiscard]] virtual bool is_refused() const { return false; }
  // Goes on with connecting. True: it is done. Until then it is called when the descriptor can be written or read.
  virtual Result<bool> advance() = 0;
  // How many bytes were taken; 0: none for now. Nothing given: passes on what it has.
  virtual Result<std::size_t> send(std::string_view bytes) = 0;
  // How many bytes were appended; 0: none for now. That the other side has ended it is a failure.
  virtual Result<std::size_t> receive(std::string& to) = 0;
};

// One thread.
class Dialer {
 public:
  Dialer() = default;
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;
  virtual ~Dialer() = default;

  // Begins to connect.
  virtual Result<std::unique_ptr<Stream>> dial(const std::string& address) = 0;
};

// "host:port", "[v6]:port" or a host alone.
struct HostAndPort {
  std::string host;
  std::string port;
};
Result<HostAndPort> read_address(std::string_view address);

struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
};
// Where a host is; may take long.
using LookUp = std::function<Result<std::vector<Endpoint>>(const HostAndPort& where)>;
Result<std::vector<Endpoint>> look_up_name(const HostAndPort& where);

// Over TCP. Names are looked up on threads of their own.
std::unique_ptr<Dialer> make_tcp_dialer(LookUp look_up = look_up_name);
// Over a socket that is connected; it is closed with the stream.
std::unique_ptr<Stream> make_stream(int descriptor);

}  // namespace tenure::client
