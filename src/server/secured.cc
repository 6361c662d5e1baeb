// Connections within TLS: the handshake, reading and writing.
#include <array>
#include <cerrno>

#include "server/connection.h"
#include "server/log.h"

namespace tenure::server {
namespace {

using Outcome = TlsSession::Outcome;

constexpr std::size_t kRecordBytes = std::size_t{16} << 10;
// Before others have their turn.
constexpr int kRecordsAtOnce = 4;

}  // namespace

void Connection::shake_hands() {
  const Outcome outcome = tls_->shake_hands().outcome;
  if (outcome == Outcome::kDone) return end_handshake();
  if (outcome == Outcome::kEnd || outcome == Outcome::kFailed) {
    log_info("tls.refused", outcome == Outcome::kEnd ? "it has hung up" : tls_->why(),
             {{"client", id()}, {"address", address_}});
    close();
  }
}

void Connection::end_handshake() {
  is_shaking_hands_ = false;
  is_readable_ = true;
  stranger_since_ = clock_.boot();
  certified_name_ = tls_->peer_name();
  if (!certified_name_.empty()) owner_.on_certificate(*this, certified_name_);
  owner_.on_input(*this);
}

// What OpenSSL has read ahead is nothing that the socket tells of: it is read until it asks for more.
void Connection::read_within_tls() {
  std::array<char, kRecordBytes> record;  // NOLINT(cppcoreguidelines-pro-type-member-init): it is read into
  does_read_need_write_ = false;
  for (int i = 0; i < kRecordsAtOnce && talk_->wants_input(); ++i) {
    const TlsSession::Step step = tls_->read(absl::MakeSpan(record));
    if (step.outcome == Outcome::kFailed) return close();
    does_read_need_write_ = step.outcome == Outcome::kNeedsWrite;
    has_hung_up_ = step.outcome == Outcome::kEnd;
    is_readable_ = step.outcome == Outcome::kDone;
    if (!is_readable_) break;
    take_in({record.data(), step.count});
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
