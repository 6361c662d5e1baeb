#include "server/readiness.h"

#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace tenure::server {
namespace {

// The others come with the next round.
constexpr std::size_t kSocketsAtOnce = 256;

int new_poll() {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  TENURE_CHECK(poll >= 0, "epoll_create1: {}", std::generic_category().message(errno));
  return poll;
}

}  // namespace

void OwnSocket::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0) ::close(descriptor);
}

Readiness::Readiness(boost::asio::io_context& io, std::function<void()> begin, Tell tell)
    : poll_(io, new_poll()), begin_(std::move(begin)), tell_(std::move(tell)) {
  wait();
}

Result<Done> Readiness::watch(const OwnSocket& socket, std::uint64_t id) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.u64 = id}};
  if (::epoll_ctl(poll_.native_handle(), EPOLL_CTL_ADD, socket.get(), &event) == 0) return Done{};
  return fail_with(ErrorCode::kUnavailable, "the socket cannot be watched: {}", std::generic_category().message(errno));
}

void Readiness::wait() {
  poll_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    look();
    wait();
  });
}

void Readiness::look() {
  std::array<epoll_event, kSocketsAtOnce> events;  // NOLINT(cppcoreguidelines-pro-type-member-init): it is read into
  const int count = ::epoll_wait(poll_.native_handle(), events.data(), static_cast<int>(events.size()), 0);
  begin_();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    tell_(event.data.u64, {.has_input = (event.events & EPOLLIN) != 0,
                           .takes_more = (event.events & EPOLLOUT) != 0,
                           .has_ended = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0});
  }
}

}  // namespace tenure::server
