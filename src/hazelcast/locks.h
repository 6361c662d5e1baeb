// Hazelcast's locks as the narrow interface that soft locks stand on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>

#include <tenure/hazelcast.h>
#include <tenure/locks.h>
#include "base/mutex.h"
#include "hazelcast/loop.h"

namespace tenure::hazelcast {

// A holder, to Hazelcast, is a client and the number of a thread. Here each lock that is acquired anew has a number of
// its own, whatever thread acquires it: so the number is a token, and nobody lets go what another holds, nor what the
// same thread has acquired later. Acquiring what an owner holds already goes under the number it has.
//
// Thread-safe.
class HazelcastLocks final : public LockBackend {
 public:
  explicit HazelcastLocks(const Settings& settings);

  std::optional<LockGrant> acquire(const LockRequest& request, Millis wait, std::stop_token stop) override;
  std::uint32_t release(const LockRelease& request) override;
  bool force(const LockName& lock, std::optional<Fence> fence) override;
  bool is_locked(const LockName& lock) override;

 private:
  struct Place {
    std::string map;
    std::string key;
    std::string owner;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Hold {
    std::int64_t thread = 0;
    std::uint32_t grants = 0;  // how often it was, perhaps, begun anew; part of the token
    std::uint32_t count = 0;
    Millis until{0};  // it is held at least so long, by the clock here
    // The members may have counted more holds than are known here.
    bool is_uncertain = false;
  };
  using Holds = std::map<Place, Hold>;

  // False also if it was asked to stop.
  Result<bool> ask(LockCall what, Millis wait, bool is_reentry, const std::stop_token& stop);
  LockCall call_of(LockVerb verb, const LockName& lock) TENURE_EXCLUDES(mutex_);
  [[nodiscard]] std::string key_of(const LockName& lock) const;
  std::optional<LockGrant> reenter(const LockRequest& request, const Place& place, std::int64_t thread)
      TENURE_EXCLUDES(mutex_);
  Result<bool> try_lock(const LockRequest& request, std::int64_t thread, Millis wait, bool is_reentry,
                        const std::stop_token& stop);
  std::optional<Hold> hold_of(const Place& place) TENURE_EXCLUDES(mutex_);
  LockGrant enter(const Place& place, std::int64_t thread, Millis sent, Millis lease) TENURE_EXCLUDES(mutex_);
  void doubt(const Place& place) TENURE_EXCLUDES(mutex_);
  void doubt(const LockName& lock, std::string_view token) TENURE_EXCLUDES(mutex_);
  void forget_the_long_gone(Millis now) TENURE_REQUIRES(mutex_);
  [[nodiscard]] std::string token_of(const Hold& hold) const;
  Holds::iterator find(const std::string& map, const std::string& key, std::string_view token) TENURE_REQUIRES(mutex_);
  void let_go_the_rest(const LockName& lock, std::int64_t thread);

  const Settings settings_;
  Mutex mutex_;
  Holds holds_ TENURE_GUARDED_BY(mutex_);
  std::int64_t threads_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t references_ TENURE_GUARDED_BY(mutex_) = 0;
  std::size_t forget_at_ TENURE_GUARDED_BY(mutex_);

  // Behind what its calls use, so that it goes before that.
  Loop loop_;
  const std::string client_;
};

}  // namespace tenure::hazelcast
