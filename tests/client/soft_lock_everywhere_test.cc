// What a soft lock promises on every medium, on an authority in this process and through clients of a server. On
// Hazelcast: tests/hazelcast/soft_lock_test.cc.
#include <memory>
#include <utility>

#include "places.h"
#include "soft_lock_suite.h"

namespace tenure::testing {
namespace {

// The same authority as somebody else: who asks is told apart by the object that is asked.
class SameLocks final : public Locks {
 public:
  explicit SameLocks(Locks& locks) : locks_(locks) {}

  std::optional<LockGrant> acquire(const LockRequest& request, Millis wait, std::stop_token stop) override {
    return locks_.acquire(request, wait, std::move(stop));
  }
  std::uint32_t release(const LockRelease& request) override { return locks_.release(request); }
  bool force(const LockName& lock, std::optional<Fence> fence) override { return locks_.force(lock, fence); }
  bool is_locked(const LockName& lock) override { return locks_.is_locked(lock); }
  LockExtended extend(const LockExtension& request) override { return locks_.extend(request); }
  std::optional<LockStatus> get(const LockName& lock) override { return locks_.get(lock); }
  LockPage list(const LockListing& request) override { return locks_.list(request); }

 private:
  Locks& locks_;
};

struct OnEmbedded {
  static constexpr int kRounds = 100;
  LockBackend& one() { return place.authority->locks(); }
  LockBackend& other() { return another; }

  Embedded place;
  SameLocks another{place.authority->locks()};
};

struct OnServer {
  static constexpr int kRounds = 100;
  LockBackend& one() { return place.authority->locks(); }
  LockBackend& other() { return another->locks(); }

  Remote place;
  std::unique_ptr<Client> another = Client::connect(place.host.address());
};

INSTANTIATE_TYPED_TEST_SUITE_P(Embedded, SoftLockSuite, OnEmbedded);
INSTANTIATE_TYPED_TEST_SUITE_P(Client, SoftLockSuite, OnServer);

}  // namespace
}  // namespace tenure::testing
