// Where connections come in: one address.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "server/config.h"

namespace tenure::server {

// What is spoken to those who come in there.
enum class Face : std::uint8_t { kRedis, kHttp };

// One thread: the one that runs the context, which outlives it. When the machine has no more file descriptors, or the
// process only those that its journal may need, it pauses; who wants to connect waits.
class Listener {
 public:
  using Accept = std::function<void(boost::asio::ip::tcp::socket socket)>;

  // Takes the address; nobody can connect yet. Fails, saying what to do, if the address is not one that may be used.
  static Result<std::unique_ptr<Listener>> bind(boost::asio::io_context& io, const std::string& address,
                                                std::uint16_t port, Face face = Face::kRedis);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() = default;

  // From now on they can, until it is closed.
  Result<Done> listen(Accept accept);
  void close();

  [[nodiscard]] const boost::asio::ip::tcp::endpoint& address() const { return address_; }
  [[nodiscard]] Face face() const { return face_; }

 private:
  Listener(boost::asio::io_context& io, Face face) : face_(face), acceptor_(io), pause_(io) {}

  void wait();
  void accept_some();
  void pause(const boost::system::error_code& why);

  const Face face_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  boost::asio::ip::tcp::endpoint address_;
  Accept accept_;
  bool is_pause_told_ = false;
};

// All that the configuration names, those of Redis first. Refuses addresses that others can reach, unless that is
// allowed.
Result<std::vector<std::unique_ptr<Listener>>> bind_all(boost::asio::io_context& io, const Config& config);

// As people write it: 127.0.0.1:8368, [::1]:8368.
std::string text_of(const boost::asio::ip::tcp::endpoint& address);

}  // namespace tenure::server
