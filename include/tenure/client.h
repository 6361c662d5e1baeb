// An authority that is elsewhere: a server, `tenured`, reached over TCP, with TLS if told so. It is an Authority, so a
// program goes from one in its own process to one on the network by changing the line that makes it:
//
//   auto authority = tenure::Authority::open("data");
//   auto authority = tenure::Client::connect("127.0.0.1:8368");
//
// What a network adds:
//
// - Every call has a time in which it must be answered, ClientSettings::timeout; waits have that beyond their own time.
// - A connection that breaks is made again, and calls whose answer was lost are asked again with the same request id
//   (one is made up where the caller gave none): none of them is done twice. The few that cannot be asked twice (kill,
//   and force with a fence) throw Unavailable when their answer is lost: they may or may not have happened.
// - Unavailable is thrown for a call that was not answered in time; its message says whether it was sent at all.
//   Locks throw LockAcquisitionError instead, as those of an authority in the process do.
// - Errors of the server are the exceptions of errors.h. Error with kNoAuth or kNoPerm is new: the user may not.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/authority.h>
#include <tenure/export.h>

namespace tenure {

// How the server proves who it is, and perhaps the client. Files are in PEM, and read when the client is made.
struct ClientTls {
  std::string ca_file{};           // whose certificates are believed; empty: those that the machine believes
  std::string certificate_file{};  // shown to a server that asks, and behind it those that lead to one it believes
  std::string key_file{};          // the certificate's, without a passphrase
  std::string server_name{};       // that the server's certificate must be for; empty: the host of the address
};

struct ClientSettings {
  // TLS 1.2 or later; absent: none.
  std::optional<ClientTls> tls{};
  // Who signs in; an empty password: nobody. An empty user: the server's default one.
  std::string user{};
  std::string password{};
  std::string name = "libtenure";  // for the server's list of connections
  // Further servers of the same authority, "host:port": asked in turn while none answers. Whoever leads is followed.
  std::vector<std::string> others{};
  Millis timeout = std::chrono::seconds(10);         // of a call, from its beginning, however often it is asked again
  Millis connect_timeout = std::chrono::seconds(3);  // of one try to connect
  // Between tries to connect: the first at once, then twice as long each time up to the longest, less a random part.
  Millis backoff_initial = Millis{20};
  Millis backoff_max = std::chrono::seconds(2);
  // Connections kept for the next calls that wait. Each call that waits has one of its own; one more than so many at
  // once is refused with Backpressure.
  std::size_t idle_connections = 4;
  std::size_t waiting_connections_max = 1000;
};

// Thread-safe. Destroying it ends calls under way with Unavailable; no call may begin once it is gone.
class TENURE_API Client : public Authority {
 public:
  // `address` is "host:port", "[v6]:port" or a host alone, at port 8368. Throws Unavailable if there is no answer in
  // ClientSettings::timeout, or the server is not the one that TLS expects; InvalidRequest for an address that is none
  // and for files of TLS that are not what they should be; Error where signing in is refused.
  static std::unique_ptr<Client> connect(const std::string& address, const ClientSettings& settings = {});

  // The same connections with another time for each call. Lives as long as it likes.
  [[nodiscard]] virtual std::unique_ptr<Client> within(Millis timeout) const = 0;

  // Joining a session connects, and stays connected until it is left: whoever has joined it can acquire locks bound to
  // it (LockRequest::session). When the connections of a session are gone for longer than its grace, its locks are
  // released: a grace longer than a restart of the server or a breath of the network keeps them.
  void join(std::string_view session, std::optional<Millis> grace = {}) override = 0;
  void leave(std::string_view session) override = 0;

  // What the server tells of itself (INFO): lines `name:value`, in sections that begin with a line `# Name`.
  [[nodiscard]] virtual std::string info() const = 0;

  // Asks the server: a round trip.
  [[nodiscard]] Instant now() const override = 0;
};

}  // namespace tenure
