#include "server/connection.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

#include "server/listener.h"
#include "server/log.h"

namespace tenure::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Of a read for which the first bytes were not enough.
constexpr std::size_t kReadAtOnce = std::size_t{16} << 10;
// A connection that was busy keeps so much of its buffer.
constexpr std::size_t kOutputKept = std::size_t{16} << 10;

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

Connection::Connection(tcp::socket socket, std::shared_ptr<wire::Talk> talk, Owner& owner, const ClientLimits& limits,
                       const Clock& clock)
    : socket_(std::move(socket)),
      talk_(std::move(talk)),
      owner_(owner),
      limits_(limits),
      clock_(clock),
      address_(peer_of(socket_)),
      own_address_(own_of(socket_)),
      since_(clock.boot()),
      last_read_(since_),
      last_progress_(since_),
      stranger_since_(since_) {}

void Connection::start() {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  if (is_logged(LogLevel::kDebug)) {
    log_debug(
        "client.connected", "",
        {{"client", id()}, {"address", address_}, {"protocol", talk_->profile().protocol == "http" ? "http" : "resp"}});
  }
  wait_readable();
}

void Connection::wait_readable() {
  if (is_reading_ || is_closed_ || is_ending_ || has_hung_up_ || !talk_->wants_input()) return;
  is_reading_ = true;
  // To wait until there is something and then to read it would be a system call more for each request: Asio tells epoll
  // of every wait. Few bytes, because as many lie here for every connection that is idle.
  socket_.async_read_some(asio::buffer(first_bytes_),
                          [self = shared_from_this()](const error_code& error, std::size_t count) {
                            self->is_reading_ = false;
                            self->on_read(error, count);
                          });
}

void Connection::on_read(const error_code& error, std::size_t count) {
  if (is_closed_ || is_ending_) return;
  if (error == asio::error::eof) {
    has_hung_up_ = true;
  } else if (error) {
    return close();
  } else {
    last_read_ = clock_.boot();
    take_in(count);
  }
  owner_.on_input(*this);
}

// Whoever has filled the first bytes has sent more.
void Connection::take_in(std::size_t count) {
  const bool has_more = count == first_bytes_.size();
  const absl::Span<char> room = talk_->room(has_more ? kReadAtOnce : count);
  std::memcpy(room.data(), first_bytes_.data(), count);
  if (has_more) {
    const absl::Span<char> rest = room.subspan(count);
    const ssize_t more = ::recv(socket_.native_handle(), rest.data(), rest.size(), MSG_DONTWAIT);
    // An end or an error is met again by the next read.
    if (more > 0) count += static_cast<std::size_t>(more);
  }
  talk_->received(count);
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
      if (output_.size() >= kOutputBegun) {
        talk_->go_on();
        owner_.on_input(*this);
      }
    }
    const ssize_t count =
        ::send(socket_.native_handle(), output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      wait_writable();
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

void Connection::wait_writable() {
  is_writing_ = true;
  socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](const error_code& error) {
    self->is_writing_ = false;
    if (!error && !self->is_closed_) self->owner_.on_input(*self);
  });
}

void Connection::settle() {
  if (is_closed_) return;
  const bool is_all_sent = send();
  if (is_closed_) return;
  const std::size_t unsent = output_.size() - sent_ + talk_->output_bytes();
  count_bytes(talk_->input_bytes() + unsent);
  if (unsent > limits_.output_bytes) {
    return close("it does not take its answers");
  }
  if ((is_all_sent && is_over()) || (has_hung_up_ && talk_->is_waiting())) return close();
  // What it has sent would hide that it has gone, and nobody is granted anything who has.
  if (talk_->is_waiting() && !talk_->wants_input()) {
    return close("it has sent too much behind a request that waits");
  }
  wait_readable();
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
  error_code ignored;
  socket_.close(ignored);
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
  if (!talk_->is_stranger()) {
    stranger_since_ = clock_.boot();
  } else if (!talk_->is_signing_in() && clock_.boot() - stranger_since_ > limits_.sign_in) {
    close("it has not signed in");
  }
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
