#include "socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace tenure::bench {
namespace {

constexpr int kListenBacklog = 1024;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void send_at_once(const Descriptor& socket) {
  const int yes = 1;
  if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) throw_system_error("TCP_NODELAY");
}

void control(const Descriptor& poll, int operation, const Descriptor& watched, std::uint32_t events,
             std::uint64_t key) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  if (::epoll_ctl(poll.get(), operation, watched.get(), &event) != 0) throw_system_error("epoll_ctl");
}

}  // namespace

void throw_system_error(std::string_view what) {
  throw std::system_error(errno, std::generic_category(), std::string(what));
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor make_poll() {
  Descriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  if (poll.get() < 0) throw_system_error("epoll_create1");
  return poll;
}

void watch(const Descriptor& poll, const Descriptor& watched, std::uint32_t events, std::uint64_t key) {
  control(poll, EPOLL_CTL_ADD, watched, events, key);
}

void rewatch(const Descriptor& poll, const Descriptor& watched, std::uint32_t events, std::uint64_t key) {
  control(poll, EPOLL_CTL_MOD, watched, events, key);
}

Descriptor connect_to(std::uint16_t port) {
  // It blocks until it is connected: on this machine that is at once.
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw_system_error("socket");
  const sockaddr_in address = loopback(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw_system_error("connecting to 127.0.0.1:" + std::to_string(port));
  send_at_once(socket);
  const int yes = 1;
  if (::ioctl(socket.get(), FIONBIO, &yes) != 0) throw_system_error("FIONBIO");
  return socket;
}

Descriptor listen_at(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw_system_error("socket");
  const sockaddr_in address = loopback(port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kListenBacklog) != 0)
    throw_system_error("listening at 127.0.0.1:" + std::to_string(port));
  return socket;
}

std::uint16_t port_of(const Descriptor& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw_system_error("getsockname");
  return ntohs(address.sin_port);
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.get() >= 0) send_at_once(socket);
  return socket;
}

}  // namespace tenure::bench
