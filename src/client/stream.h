// A connection's bytes, and who makes connections. Nothing here waits: the loop does (switchboard.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

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

  // To be polled.
  [[nodiscard]] virtual int descriptor() const = 0;
  // Goes on with connecting. True: it is done. Until then it is called when the descriptor can be written or read.
  virtual Result<bool> advance() = 0;
  // How many bytes were taken; 0: none for now.
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

// Over TCP.
std::unique_ptr<Dialer> make_tcp_dialer();
// Over a socket that is connected; it is closed with the stream.
std::unique_ptr<Stream> make_stream(int descriptor);

}  // namespace tenure::client
