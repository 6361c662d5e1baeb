// One client's socket, and the talk over it, in whatever protocol, plain or within TLS.
//
// What is read goes to the talk at once; what that answers is sent at the end of the round, in one piece
// (`settle`). A socket that takes no more is waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/ip/tcp.hpp>

#include <tenure/types.h>
#include "base/clock.h"
#include "server/config.h"
#include "server/readiness.h"
#include "server/tls.h"
#include "wire/talk.h"

namespace tenure::server {

// A talk with so much output that is not taken begins nothing more.
inline constexpr std::size_t kOutputBegun = std::size_t{1} << 20;

// One thread: the loop's.
class Connection final {
 public:
  class Owner {
   public:
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    virtual ~Owner() = default;

    // It wants to be settled at the end of the round.
    virtual void on_input(Connection& connection) = 0;
    // There is more to be read than was; `read` is wanted when others have had their turn.
    virtual void on_unread(Connection& connection) = 0;
    // Its buffers have grown by so much, or shrunk.
    virtual void on_bytes(std::int64_t more) = 0;
    // Its client has shown a certificate that is good for this name.
    virtual void on_certificate(Connection& connection, const std::string& name) = 0;
    // From now on it is one of those of whom it is not known who they are, or is not.
    virtual void on_stranger(Connection& connection, bool is_stranger) = 0;
    // It is over; nothing follows. It must outlive this call: one of its own may be under way.
    virtual void on_closed(Connection& connection) = 0;
  };

  // Owner, limits and clock outlive it. `identity` is what it shows; null: it is plain.
  Connection(boost::asio::ip::tcp::socket socket, const std::shared_ptr<const TlsIdentity>& identity,
             std::shared_ptr<wire::Talk> talk, Owner& owner, const ClientLimits& limits, const Clock& clock);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  void start();
  // Of its socket, which is watched from the start.
  void on_news(Readiness::News news);
  // What has arrived, or some of it.
  void read();
  // There are answers: begins what waited for them.
  void go_on() { talk_->go_on(); }
  // It is to be settled at the end of the round; false: that was known.
  bool mark_unsettled() { return !std::exchange(is_unsettled_, true); }
  // The end of a round: sends what there is to send, and closes it if that was all there will be.
  void settle();
  // Reads no more; it is closed once everything begun is answered and sent.
  void end();
  // At once. The reason is for the log; empty: none.
  void close(std::string_view reason = {});
  // If it has answers to send, and the client has taken nothing of them for too long; or if the talk says so.
  void close_if_stalled();
  // If somebody must sign in, and nobody has for too long; or if TLS's handshake takes as long.
  void close_if_stranger();
  // Users have changed, and its user is now this one: null, or another than before, ends what it waits for, and with it
  // the connection.
  void become(const wire::Talk::UserPointer& user);
  // Its client has proved, for all of it, that it is this user; null: that nobody is it yet.
  void certify(const wire::Talk::UserPointer& user) { talk_->certify(certified_name_, user); }

  [[nodiscard]] const OwnSocket& socket() const { return socket_; }
  [[nodiscard]] std::uint64_t id() const { return talk_->client_id(); }
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  [[nodiscard]] bool is_waiting() const { return talk_->is_waiting(); }
  // Null: nobody has signed in.
  [[nodiscard]] wire::Talk::UserPointer user() const { return talk_->user(); }
  [[nodiscard]] bool is_signing_in() const { return talk_->is_signing_in(); }
  [[nodiscard]] bool has_session() const { return !talk_->profile().session.empty(); }
  // Of the client's certificate; empty: it has shown none.
  [[nodiscard]] const std::string& certified_name() const { return certified_name_; }
  // Of its buffers.
  [[nodiscard]] std::uint64_t bytes() const { return static_cast<std::uint64_t>(bytes_); }
  [[nodiscard]] const std::string& address() const { return address_; }
  // As CLIENT LIST shows it.
  [[nodiscard]] std::string line() const;

 private:
  [[nodiscard]] bool wants_to_read() const;
  void take_in(std::string_view bytes);
  void shake_hands();
  void end_handshake();
  void read_within_tls();
  // As ::send.
  ssize_t send_within_tls(std::string_view bytes);
  void tell_strangeness();
  // False: it is closed, or the socket takes no more for now.
  bool send();
  [[nodiscard]] bool is_over() const;
  void count_bytes(std::size_t bytes);

  const std::string address_;
  const std::string own_address_;
  OwnSocket socket_;
  const std::unique_ptr<TlsSession> tls_;  // null: it is plain
  const std::shared_ptr<wire::Talk> talk_;
  Owner& owner_;
  const ClientLimits& limits_;
  const Clock& clock_;
  const Millis since_;

  bool is_readable_ = false;           // there may be something to read
  bool will_end_ = false;              // reading will tell of the end
  bool is_writing_ = false;            // waits for the socket to take more
  bool is_shaking_hands_ = false;      // TLS is not there yet
  bool is_stranger_ = false;           // as the owner was told
  bool does_read_need_write_ = false;  // says TLS
  bool is_unsettled_ = false;          // will be settled in this round
  bool is_ending_ = false;
  bool has_hung_up_ = false;  // the client will say nothing more
  bool is_closed_ = false;
  std::string output_;    // taken from the talk,
  std::size_t sent_ = 0;  // and sent of it
  Millis last_read_{0};
  Millis last_progress_{0};  // of sending
  Millis stranger_since_{0};
  std::int64_t bytes_ = 0;
  std::string certified_name_;
};

}  // namespace tenure::server
