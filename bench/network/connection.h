// A non-blocking connection to the peer: what is to be sent, what has come, and which lanes wait for a reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "socket.h"
#include "speech.h"

namespace tenure::bench {

// One thread.
class Connection {
 public:
  explicit Connection(std::uint16_t port) : socket_(connect_to(port)) {}

  [[nodiscard]] const Descriptor& socket() const { return socket_; }

  // To be appended to; flush() sends it.
  std::string& output() { return output_; }
  // Whether all was sent; what was not stays.
  bool flush();

  // Takes in what has come, if anything; throws if the peer has closed.
  void receive();
  // What has come and was not consumed.
  [[nodiscard]] std::string_view input() const { return std::string_view(input_).substr(consumed_); }
  void consume(std::size_t bytes);

  // The next replies are this lane's, behind those that are awaited already.
  void await(Lane lane, std::size_t replies) { lanes_.insert(lanes_.end(), replies, lane); }
  [[nodiscard]] bool is_awaiting() const { return !lanes_.empty(); }
  // Whose reply the next one is.
  Lane take_lane();

 private:
  Descriptor socket_;
  std::string output_;
  std::string input_;
  std::size_t consumed_ = 0;
  std::deque<Lane> lanes_;
};

}  // namespace tenure::bench
