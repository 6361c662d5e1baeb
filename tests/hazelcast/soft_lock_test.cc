// What a soft lock promises on every medium, on a Hazelcast cluster.
#include <memory>

#include <tenure/hazelcast.h>
#include "../client/soft_lock_suite.h"
#include "peer.h"

namespace tenure::testing {
namespace {

// Two clients, each with connections of its own.
struct OnHazelcast {
  static constexpr int kRounds = 20;

  static std::unique_ptr<LockBackend> connect() {
    return hazelcast::connect({.addresses = Members::get().addresses(), .cluster = Members::get().cluster()});
  }
  LockBackend& one() { return *one_; }
  LockBackend& other() { return *other_; }

  std::unique_ptr<LockBackend> one_ = connect();
  std::unique_ptr<LockBackend> other_ = connect();
};

INSTANTIATE_TYPED_TEST_SUITE_P(Hazelcast, SoftLockSuite, OnHazelcast);

}  // namespace
}  // namespace tenure::testing
