#include "connection.h"

#include <array>
#include <cerrno>
#include <stdexcept>
#include <sys/socket.h>

#include "expect.h"

namespace tenure::bench {

bool Connection::flush() {
  std::size_t sent = 0;
  while (sent < output_.size()) {
    const ssize_t bytes = ::send(socket_.get(), output_.data() + sent, output_.size() - sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) break;
    if (bytes < 0) throw_system_error("sending to the peer");
    sent += static_cast<std::size_t>(bytes);
  }
  output_.erase(0, sent);
  return output_.empty();
}

void Connection::receive() {
  std::array<char, std::size_t{64} << 10> chunk;  // not filled: 64 KiB for nothing
  const ssize_t bytes = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes < 0) throw_system_error("receiving from the peer");
  if (bytes == 0) throw std::runtime_error("the peer has closed the connection");
  input_.append(chunk.data(), static_cast<std::size_t>(bytes));
}

void Connection::consume(std::size_t bytes) {
  consumed_ += bytes;
  if (consumed_ < input_.size()) return;
  input_.clear();
  consumed_ = 0;
}

Lane Connection::take_lane() {
  if (lanes_.empty()) unexpected("no reply, as none is awaited", input());
  const Lane lane = lanes_.front();
  lanes_.pop_front();
  return lane;
}

}  // namespace tenure::bench
