#include "client/stream.h"

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "wire/word.h"

namespace tenure::client {
namespace {

constexpr std::string_view kDefaultPort = "8368";
constexpr std::uint64_t kPortMax = 65535;

tl::unexpected<Failure> system_failure(std::string_view what, int error) {
  return fail_with(ErrorCode::kUnavailable, "{}: {}", what, std::generic_category().message(error));
}

// Owns a socket that does not block. One thread.
class SocketStream final : public Stream {
 public:
  explicit SocketStream(int descriptor) : descriptor_(descriptor) {}
  ~SocketStream() override { ::close(descriptor_); }
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  [[nodiscard]] int descriptor() const override { return descriptor_; }
  [[nodiscard]] bool wants_to_write() const override { return false; }
  Result<bool> advance() override { return true; }
  Result<std::size_t> send(std::string_view bytes) override;
  Result<std::size_t> receive(std::string& to) override;

 private:
  const int descriptor_;
};

Result<std::size_t> SocketStream::send(std::string_view bytes) {
  const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EINTR) return 0;
  return system_failure("sending", errno);
}

Result<std::size_t> SocketStream::receive(std::string& to) {
  std::array<char, std::size_t{64} << 10> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written by recv
  const ssize_t count = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count == 0) return fail_with(ErrorCode::kUnavailable, "the server has closed the connection");
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (count < 0) return system_failure("receiving", errno);
  to.append(bytes.data(), static_cast<std::size_t>(count));
  return static_cast<std::size_t>(count);
}

}  // namespace

Result<HostAndPort> read_address(std::string_view address) {
  const auto wrong = [&] {
    return fail_with(ErrorCode::kInvalid, "address: expected host:port, found {}", wire::quote(address));
  };
  HostAndPort where{.host = std::string(address), .port = std::string(kDefaultPort)};
  const std::size_t colon = address.rfind(':');
  const bool is_v6 = !address.empty() && address.front() == '[';
  const std::size_t bracket = is_v6 ? address.find(']') : std::string_view::npos;
  if (is_v6 && bracket == std::string_view::npos) return wrong();
  if (is_v6) where.host = address.substr(1, bracket - 1);
  const bool has_port = colon != std::string_view::npos && (!is_v6 || colon > bracket);
  if (has_port) {
    if (is_v6 ? colon != bracket + 1 : address.find(':') != colon) return wrong();
    if (!is_v6) where.host = address.substr(0, colon);
    where.port = address.substr(colon + 1);
  } else if (is_v6 && bracket + 1 != address.size()) {
    return wrong();
  }
  const auto port = parse_decimal(where.port);
  if (where.host.empty() || !port || *port == 0 || *port > kPortMax) return wrong();
  return where;
}

std::unique_ptr<Stream> make_stream(int descriptor) { return std::make_unique<SocketStream>(descriptor); }

}  // namespace tenure::client
