#include <future>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "client/stream.h"

namespace tenure::client {
namespace {

// Listens at a free port of this machine.
class Listening {
 public:
  Listening() {
    auto* const address = reinterpret_cast<sockaddr_in*>(&endpoint_.address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    endpoint_.size = sizeof(sockaddr_in);
    EXPECT_EQ(0, ::bind(descriptor_, reinterpret_cast<sockaddr*>(&endpoint_.address), endpoint_.size));
    EXPECT_EQ(0, ::listen(descriptor_, 16));
    EXPECT_EQ(0, ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&endpoint_.address), &endpoint_.size));
  }
  ~Listening() { ::close(descriptor_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  const int descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Endpoint endpoint_;
};

void await_ready(const Stream& stream) {
  pollfd watched{.fd = stream.descriptor(), .events = POLLIN, .revents = 0};
  if (stream.wants_to_write()) watched.events = POLLIN | POLLOUT;
  EXPECT_EQ(1, ::poll(&watched, 1, 60'000));
}

TEST(TcpDialerTest, ANameIsLookedUpWhileNobodyWaits) {
  const Listening there;
  std::promise<void> go_on;
  auto dialer = make_tcp_dialer([&, allowed = go_on.get_future().share()](const HostAndPort& where) {
    allowed.wait();
    EXPECT_EQ("name", where.host);
    return Result<std::vector<Endpoint>>({there.endpoint()});
  });
  const auto one = dialer->dial("name:1").value();
  const auto two = dialer->dial("name:1").value();
  EXPECT_FALSE(one->advance().value());
  EXPECT_FALSE(one->wants_to_write());
  go_on.set_value();
  for (const auto* stream : {&one, &two}) {
    while (!(*stream)->advance().value()) await_ready(**stream);
    EXPECT_EQ(0U, (*stream)->send("").value());
  }
}

TEST(TcpDialerTest, EveryAddressIsTriedBeforeTheNameIsAskedForAgain) {
  const Listening there;
  std::atomic<int> asked{0};
  auto dialer = make_tcp_dialer([&](const HostAndPort& /*where*/) {
    ++asked;
    return Result<std::vector<Endpoint>>({there.endpoint(), there.endpoint()});
  });
  for (int i = 0; i < 3; ++i) {
    const auto stream = dialer->dial("name:1").value();
    while (!stream->advance().value()) await_ready(*stream);
  }
  EXPECT_EQ(2, asked);
}

TEST(TcpDialerTest, ANameThatIsNoneIsAFailure) {
  auto dialer = make_tcp_dialer([](const HostAndPort& where) -> Result<std::vector<Endpoint>> {
    return fail_with(ErrorCode::kUnavailable, "{}: nobody knows it", where.host);
  });
  const auto stream = dialer->dial("name:1").value();
  await_ready(*stream);
  const auto advanced = stream->advance();
  ASSERT_FALSE(advanced.has_value());
  EXPECT_EQ("name: nobody knows it", advanced.error().message);
}

}  // namespace
}  // namespace tenure::client
