// TLS 1.2 and later on a connection's socket, by OpenSSL: tls.cc is the one file of the server that knows it.
//
// A session reads and writes the socket's descriptor itself, without waiting, and says what it waits for: that is
// awaited by whoever has the socket, as it is for a plain one. There is no resumption: every handshake looks at the
// certificates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <absl/types/span.h>

#include "base/files.h"
#include "base/result.h"

namespace tenure::server {

// What the server shows, and whom it believes. Immutable; what began with one goes on with it.
class TlsIdentity {
 public:
  struct Paths {
    std::string certificate;  // in PEM, and behind it those that lead to the one that clients trust
    std::string key;          // in PEM, without a passphrase
    std::string client_ca;    // empty: clients are not asked for certificates

    [[nodiscard]] bool is_given() const { return !certificate.empty() || !key.empty() || !client_ca.empty(); }
  };
  // Says what is missing, cannot be read or does not fit, with its flag.
  static Result<std::shared_ptr<const TlsIdentity>> load(Files& files, const Paths& paths);
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;
  ~TlsIdentity();

  // True: clients refuse it, or will not take it yet.
  [[nodiscard]] bool is_out_of_date() const;

 private:
  friend class TlsSession;
  struct Parts;

  explicit TlsIdentity(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

// What to tell of one that is out of date.
std::string out_of_date(const TlsIdentity::Paths& paths);

// One thread.
class TlsSession {
 public:
  // The socket does not block, and outlives it.
  TlsSession(const std::shared_ptr<const TlsIdentity>& identity, int socket);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession();

  enum class Outcome : std::uint8_t {
    kDone,
    kNeedsRead,   // the same again once the socket can be read,
    kNeedsWrite,  // or written
    kEnd,         // the client says nothing more
    kFailed,      // the connection is of no use
  };
  struct Step {
    Outcome outcome;
    std::size_t count = 0;
  };
  Step shake_hands();
  // The rest is for when that is done.
  Step read(absl::Span<char> into);
  // What is written again is the same.
  Step write(std::string_view bytes);
  // True: there may be something to read that the socket does not tell of.
  [[nodiscard]] bool has_more() const;
  // Tells the client that nothing follows, as far as that can be done at once.
  void say_goodbye();

  // The common name of the client's certificate, which has been verified; empty: it has shown none, or one without a
  // single such name.
  [[nodiscard]] std::string peer_name() const;
  // Why it has failed; empty: it has not.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  struct Parts;

  Step step_of(int result, std::size_t count);

  const std::unique_ptr<Parts> parts_;
  std::string why_;
};

}  // namespace tenure::server
