// Locks of a Hazelcast cluster (5.x), for those who run one already: what `IMap.lock(key, lease)` gives a Java program,
// a C++ program gets through the same soft locks as on Tenure, and the two contend for the same locks.
//
//   auto manager = tenure::SoftLockManager::builder(
//       tenure::hazelcast::connect({.addresses = {"10.0.0.1:5701", "10.0.0.2:5701"}})).build();
//
// The space of a lock is the map's name ("soft-locks" if none is given), the key is domain, delimiter and identifier in
// one text ("orders::12345").
//
// Hazelcast has leases and counted re-entry. It has no fences, no order among those who wait, no extension, no sessions
// and no listing: so what is given here is a LockBackend and not Locks, and its grants have no fence. What follows from
// that is in docs/hazelcast.md.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tenure/client.h>
#include <tenure/export.h>
#include <tenure/locks.h>
#include <tenure/types.h>

namespace tenure::hazelcast {

struct Settings {
  // Where members are, "host:port", "[v6]:port" or a host alone, at port 5701. One that answers is enough: it tells of
  // the others.
  std::vector<std::string> addresses{"127.0.0.1:5701"};
  std::string cluster = "dev";
  // Between domain and identifier; neither may contain it. A manager that is given another one than "::" is given it
  // for its own checks and texts, the keys have this one.
  std::string delimiter = "::";
  // Who signs in, if the cluster wants to know; empty: nobody.
  std::string user{};
  std::string password{};
  std::string name = "libtenure";  // for the members' list of clients
  // TLS 1.2 or later; absent: none. A server is a member here.
  std::optional<ClientTls> tls{};
  // Of a call beyond its own wait, however often it is asked again; and for how long it waits while there is nobody to
  // ask.
  Millis timeout = std::chrono::seconds(10);
  Millis connect_timeout = std::chrono::seconds(3);  // of one try to connect and sign in
  // Between tries to connect: the first at once, then twice as long each time up to the longest, less a random part.
  Millis backoff_initial = Millis{20};
  Millis backoff_max = std::chrono::seconds(2);
  // A member that has said nothing for so long is asked, and is given up if it goes on saying nothing.
  Millis heartbeat_interval = std::chrono::seconds(5);
  Millis heartbeat_timeout = std::chrono::seconds(15);
};

// Connects to every member, and stays connected until it is destroyed; what was acquired and not released is then freed
// by its lease, or by Hazelcast when it has missed the client for some seconds. Thread-safe. Calls throw
// LockAcquisitionError if no member answers in time.
//
// Throws Unavailable if no member answers in Settings::timeout, InvalidRequest for settings that cannot be, Error where
// signing in is refused.
TENURE_API std::unique_ptr<LockBackend> connect(const Settings& settings);

}  // namespace tenure::hazelcast
