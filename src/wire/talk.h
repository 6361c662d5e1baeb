// One connection's talk, as whoever has its socket sees it: bytes in, bytes out, in whatever protocol.
//
//   room -> received ... take_output -> delivered
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <absl/types/span.h>

#include "users/user.h"

namespace tenure::wire {

// One thread.
class Talk {
 public:
  Talk() = default;
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;
  virtual ~Talk() = default;

  // --- input ---
  // Where to receive the next bytes, `least` or more.
  virtual absl::Span<char> room(std::size_t least) = 0;
  // So many bytes lie in `room`. Begins what can be begun.
  virtual void received(std::size_t count) = 0;
  // Begins what can be begun by now: called when there are answers, and after output was taken.
  virtual void go_on() = 0;
  // False: what is there is enough for the time being.
  [[nodiscard]] virtual bool wants_input() const = 0;
  // Called now and then: ends what takes its client too long. True: there is something to send.
  virtual bool check_time() { return false; }

  // --- output ---
  // Appends all that is to be sent to `to`.
  virtual void take_output(std::string& to) = 0;
  [[nodiscard]] virtual std::size_t output_bytes() const = 0;
  // The socket has taken so many more bytes.
  virtual void delivered(std::size_t count) = 0;
  // The next answers are the last: what is told to those who care.
  virtual void end() {}

  // Nothing more is read or begun: once the output is sent the connection is closed.
  [[nodiscard]] virtual bool is_ending() const = 0;
  // True: nothing is under way, and all output has been taken.
  [[nodiscard]] virtual bool is_idle() const = 0;
  // True: a request that may wait is under way.
  [[nodiscard]] virtual bool is_waiting() const = 0;
  // Memory of what was received.
  [[nodiscard]] virtual std::size_t input_bytes() const = 0;
  // The connection is gone. Ends its wait, gives back what was not delivered.
  virtual void close() = 0;

  // --- who is there ---
  [[nodiscard]] virtual std::uint64_t client_id() const = 0;
  // As CLIENT LIST shows it.
  struct Profile {
    std::string name{};
    std::string user = "default";
    std::string session{};
    std::string protocol{};
    std::string library_name{};
    std::string library_version{};
  };
  [[nodiscard]] virtual Profile profile() const = 0;

  // Who has signed in for the whole of it; null: nobody, or each request says for itself who asks.
  using UserPointer = std::shared_ptr<const users::User>;
  [[nodiscard]] virtual UserPointer user() const { return nullptr; }
  // True: somebody must sign in, and nobody has.
  [[nodiscard]] virtual bool is_stranger() const { return false; }
  // True: a request that signs in is under way.
  [[nodiscard]] virtual bool is_signing_in() const { return false; }
  // From now on it is this user's, or nobody's (null).
  virtual void sign_in(const UserPointer& /*user*/) {}
  // Whoever talks has proved to be of this name, which is that user's, or nobody's (null).
  virtual void certify(const std::string& /*name*/, const UserPointer& user) {
    if (user != nullptr) sign_in(user);
  }
};

}  // namespace tenure::wire
