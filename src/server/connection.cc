#include "server/connection.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/planted.h"
#include "server/listener.h"
#include "server/log.h"

namespace tenure::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Before others have their turn.
constexpr std::size_t kReadAtOnce = std::size_t{16} << 10;
// A connection that was busy keeps so much of its buffer: enough for the leases of 32 small tasks.
constexpr std::size_t kOutputKept = std::size_t{32} << 10;

// As ::recv and ::send without waiting. Those are places where a thread may be cancelled, and to say so before and
// after each call costs more than all else that they do outside the kernel; here nobody cancels threads.
ssize_t receive(int socket, char* to, std::size_t size) {
  return ::syscall(SYS_recvfrom, socket, to, size, MSG_DONTWAIT, nullptr, nullptr);
}
ssize_t send(int socket, std::string_view bytes) {
  return ::syscall(SYS_sendto, socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
}

tcp::socket prepared(tcp::socket socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  return socket;
}

std::string peer_of(const tcp::socket& socket) {
  error_code error;
  const auto address = socket.remote_endpoint(error);
  return error ? "?" : text_of(address);
}

std::string own_of(const tcp::socket& socket) {
  error_code error;
  const auto address = socket.local_endpoint(error);
  return error ? "?" : text_of(address);
}

}  // namespace

Connection::Connection(tcp::socket socket, const std::shared_ptr<const TlsIdentity>& identity,
                       std::shared_ptr<wire::Talk> talk, Owner& owner, const ClientLimits& limits, const Clock& clock)
    : address_(peer_of(socket)),
      own_address_(own_of(socket)),
      socket_(prepared(std::move(socket))),
      tls_(identity == nullptr ? nullptr : std::make_unique<TlsSession>(identity, socket_.get())),
      talk_(std::move(talk)),
      owner_(owner),
      limits_(limits),
      clock_(clock),
      since_(clock.boot()),
      last_read_(since_),
      last_progress_(since_),
      stranger_since_(since_) {}

void Connection::start() {
  is_shaking_hands_ = tls_ != nullptr;
  tell_strangeness();
  if (is_logged(LogLevel::kDebug)) {
    log_debug(
        "client.connected", "",
        {{"client", id()}, {"address", address_}, {"protocol", talk_->profile().protocol == "http" ? "http" : "resp"}});
  }
}

void Connection::on_news(Readiness::News news) {
  if (is_closed_) return;
  will_end_ = will_end_ || news.has_ended;
  is_readable_ = is_readable_ || news.has_input || will_end_ || (news.takes_more && does_read_need_write_);
  if (news.takes_more && std::exchange(is_writing_, false)) owner_.on_input(*this);
  if (is_shaking_hands_) return shake_hands();
  read();
}

bool Connection::wants_to_read() const {
  return is_readable_ && !is_closed_ && !is_ending_ && !has_hung_up_ && talk_->wants_input();
}

void Connection::read() {
  if (!wants_to_read()) return;
  if (tls_ != nullptr) return read_within_tls();
  // Not where the talk keeps it: so much would lie there for every connection that is idle.
  std::array<char, kReadAtOnce> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): it is read into
  const ssize_t count = receive(socket_.get(), bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return owner_.on_input(*this);
  // Less than there was room for was all there was: of more there will be news. The end is no news twice.
  is_readable_ = will_end_ || count == static_cast<ssize_t>(bytes.size());
  if (count < 0 && errno == EAGAIN) return;
  if (count < 0) return close();
  if (count == 0) {
    has_hung_up_ = true;
  } else {
    take_in({bytes.data(), static_cast<std::size_t>(count)});
  }
  owner_.on_input(*this);
}

void Connection::take_in(std::string_view bytes) {
  last_read_ = clock_.boot();
  std::memcpy(talk_->room(bytes.size()).data(), bytes.data(), bytes.size());
  talk_->received(bytes.size());
}

bool Connection::send() {
  while (!is_closed_ && !is_writing_) {
    if (sent_ == output_.size()) {
      output_.clear();
      if (output_.capacity() > kOutputKept) output_.shrink_to_fit();
      sent_ = 0;
      talk_->take_output(output_);
      if (output_.empty()) return true;
      last_progress_ = clock_.boot();
      // It may have begun nothing more for so much output; and what is received while it could go on has no limit.
      if (output_.size() >= kOutputBegun || (output_.size() >= kStrangerBytes && talk_->is_stranger())) {
        talk_->go_on();
        owner_.on_input(*this);
      }
    }
    const std::string_view unsent = std::string_view(output_).substr(sent_);
    const ssize_t count = tls_ == nullptr ? server::send(socket_.get(), unsent) : send_within_tls(unsent);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      is_writing_ = true;
    } else if (count < 0) {
      close();
    } else {
      sent_ += static_cast<std::size_t>(count);
      last_progress_ = clock_.boot();
      talk_->delivered(static_cast<std::size_t>(count));
    }
  }
  return false;
}

void Connection::settle() {
  is_unsettled_ = false;
  if (is_closed_) return;
  if (is_stranger_) tell_strangeness();
  const bool is_all_sent = send();
  if (is_closed_) return;
  const std::size_t unsent = output_.size() - sent_ + talk_->output_bytes();
  count_bytes(talk_->input_bytes() + unsent);
  if (unsent > limits_.output_bytes && !is_planted(PlantedBug::kOutputWithoutLimit)) {
    return close("it does not take its answers");
  }
  if ((is_all_sent && is_over()) || (has_hung_up_ && talk_->is_waiting())) return close();
  // What it has sent would hide that it has gone, and nobody is granted anything who has.
  if (talk_->is_waiting() && !talk_->wants_input()) {
    return close("it has sent too much behind a request that waits");
  }
  if (wants_to_read()) owner_.on_unread(*this);
}

// Who has hung up may still read; but who has hung up while it waits has gone.
bool Connection::is_over() const { return (is_ending_ || has_hung_up_ || talk_->is_ending()) && talk_->is_idle(); }

void Connection::end() {
  is_ending_ = true;
  talk_->end();
  owner_.on_input(*this);
}

void Connection::close(std::string_view reason) {
  if (std::exchange(is_closed_, true)) return;
  const LogFields fields = {{"client", id()}, {"address", address_}};
  if (!reason.empty()) {
    log_warning("client.cut_off", reason, fields);
  } else {
    log_debug("client.closed", "", fields);
  }
  tell_strangeness();
  if (tls_ != nullptr) tls_->say_goodbye();
  socket_.close();
  talk_->close();
  owner_.on_bytes(-std::exchange(bytes_, 0));
  owner_.on_closed(*this);
}

void Connection::close_if_stalled() {
  if (is_closed_) return;
  if (is_writing_ && clock_.boot() - last_progress_ > limits_.stalled) return close("it does not take its answers");
  if (talk_->check_time()) owner_.on_input(*this);
}

// Whose password is being checked has done its part.
void Connection::close_if_stranger() {
  if (is_closed_) return;
  tell_strangeness();
  if (is_shaking_hands_) {
    if (clock_.boot() - since_ > limits_.sign_in) close("its TLS handshake takes too long");
  } else if (!talk_->is_stranger()) {
    stranger_since_ = clock_.boot();
  } else if (!talk_->is_signing_in() && clock_.boot() - stranger_since_ > limits_.sign_in) {
    close("it has not signed in");
  }
}

void Connection::tell_strangeness() {
  const bool is_stranger = !is_closed_ && (is_shaking_hands_ || talk_->is_stranger());
  if (is_stranger == std::exchange(is_stranger_, is_stranger)) return;
  owner_.on_stranger(*this, is_stranger);
}

void Connection::become(const wire::Talk::UserPointer& user) {
  const bool is_same = user != nullptr && *user == *talk_->user();
  if (!is_same && is_waiting()) return close("it waits for something, and its user has changed");
  talk_->sign_in(user);
}

void Connection::count_bytes(std::size_t bytes) {
  const auto now = static_cast<std::int64_t>(bytes);
  if (now != bytes_) owner_.on_bytes(now - std::exchange(bytes_, now));
}

std::string Connection::line() const {
  const auto seconds = [&](Millis from) { return (clock_.boot() - from).count() / 1000; };
  const wire::Talk::Profile profile = talk_->profile();
  return fmt::format(
      "id={} addr={} laddr={} name={} age={} idle={} flags={} qbuf={} omem={} user={} session={} resp={} lib-name={} "
      "lib-ver={}",
      id(), address_, own_address_, profile.name, seconds(since_), seconds(last_read_), is_waiting() ? "b" : "N",
      talk_->input_bytes(), output_.size() - sent_, profile.user, profile.session, profile.protocol,
      profile.library_name, profile.library_version);
}

}  // namespace tenure::server
