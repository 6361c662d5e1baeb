// Connections within TLS: the handshake, reading and writing.
#include <array>
#include <cerrno>
#include <cstring>

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include "server/connection.h"

namespace tenure::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Outcome = TlsSession::Outcome;

constexpr std::size_t kRecordBytes = std::size_t{16} << 10;
// Before others have their turn.
constexpr int kRecordsAtOnce = 4;

}  // namespace

void Connection::shake_hands() {
  const Outcome outcome = tls_->shake_hands().outcome;
  if (outcome == Outcome::kDone) return end_handshake();
  if (outcome == Outcome::kEnd || outcome == Outcome::kFailed) {
    spdlog::info("client {} at {}: no TLS: {}", id(), address_,
                 outcome == Outcome::kEnd ? "it has hung up" : tls_->why());
    return close();
  }
  const auto what = outcome == Outcome::kNeedsRead ? tcp::socket::wait_read : tcp::socket::wait_write;
  socket_.async_wait(what, [self = shared_from_this()](const error_code& error) {
    if (!error && !self->is_closed_) self->shake_hands();
  });
}

void Connection::end_handshake() {
  is_shaking_hands_ = false;
  stranger_since_ = clock_.boot();
  certified_name_ = tls_->peer_name();
  if (!certified_name_.empty()) owner_.on_certificate(*this, certified_name_);
  owner_.on_input(*this);
}

// What OpenSSL has read ahead is nothing that the socket tells of.
void Connection::wait_readable_within_tls() {
  auto read = [self = shared_from_this()](const error_code& error) {
    self->is_reading_ = false;
    if (!error) self->read_within_tls();
  };
  if (tls_->has_more() && !does_read_need_write_) {
    asio::post(socket_.get_executor(), [read = std::move(read)] { read({}); });
  } else {
    socket_.async_wait(does_read_need_write_ ? tcp::socket::wait_write : tcp::socket::wait_read, std::move(read));
  }
}

void Connection::read_within_tls() {
  if (is_closed_ || is_ending_) return;
  // Not where the talk keeps it: so much would lie there for every connection that is idle.
  std::array<char, kRecordBytes> record;  // NOLINT(cppcoreguidelines-pro-type-member-init): it is read into
  does_read_need_write_ = false;
  for (int i = 0; i < kRecordsAtOnce && talk_->wants_input(); ++i) {
    const TlsSession::Step step = tls_->read(absl::MakeSpan(record));
    if (step.outcome == Outcome::kFailed) return close();
    does_read_need_write_ = step.outcome == Outcome::kNeedsWrite;
    has_hung_up_ = step.outcome == Outcome::kEnd;
    if (step.outcome != Outcome::kDone) break;
    last_read_ = clock_.boot();
    std::memcpy(talk_->room(step.count).data(), record.data(), step.count);
    talk_->received(step.count);
  }
  owner_.on_input(*this);
}

ssize_t Connection::send_within_tls(std::string_view bytes) {
  const TlsSession::Step step = tls_->write(bytes);
  if (step.outcome == Outcome::kDone) return static_cast<ssize_t>(step.count);
  // Nothing but the socket's being full is to be waited for: nothing is negotiated again.
  errno = step.outcome == Outcome::kNeedsWrite ? EAGAIN : EPROTO;
  return -1;
}

}  // namespace tenure::server
