// tenure lock where a lease is prolonged by entering again, and who has lost the lock enters anew without being told.
#include <atomic>
#include <csignal>

#include <gtest/gtest.h>

#include "cli/errand_testing.h"
#include "cli/exit_status.h"
#include "cli/lock_commands.h"

namespace tenure::cli {
namespace {

using namespace std::chrono_literals;

// A lock that counts the holds of its one client, whoever has freed it in between; without leases. Thread-safe.
class CountedLock final : public LockBackend {
 public:
  std::optional<LockGrant> acquire(const LockRequest& request, Millis /*wait*/, std::stop_token /*stop*/) override {
    if (++acquires == force_before) holds = 0;
    ++holds;
    return LockGrant{.token = "mine", .fence = std::nullopt, .remaining = request.lease};
  }
  std::uint32_t release(const LockRelease& request) override {
    if (holds == 0) {
      throw LockExpired(ErrorCode::kExpired, "freed", std::string(request.lock.domain),
                        std::string(request.lock.identifier));
    }
    return --holds;
  }
  bool force(const LockName& /*lock*/, std::optional<Fence> /*fence*/) override { return holds.exchange(0) > 0; }
  bool is_locked(const LockName& /*lock*/) override { return holds > 0; }

  int force_before = 0;  // this acquire
  std::atomic<std::uint32_t> holds{0};
  std::atomic<int> acquires{0};
};

struct LockElsewhereTest : ::testing::Test {
  int run(std::vector<std::string> command) {
    Signals signals{SIGCHLD, SIGTERM};
    return run_locked({.desk = world.desk, .locks = lock}, signals,
                      {.domain = "orders", .identifier = "17", .command = std::move(command), .lease = 300ms});
  }
  ErrandWorld world;
  CountedLock lock;
};

TEST_F(LockElsewhereTest, KeepsWhatItHolds) {
  EXPECT_EQ(run({"sleep", "1"}), kDone) << world.take_err();
  EXPECT_GE(lock.acquires, 4);  // twice to begin with, and some renewals
  EXPECT_EQ(lock.holds, 0U);
}

// The third acquire is that of the first renewal, which has seen that the lock is held.
TEST_F(LockElsewhereTest, SeesALossThatFellBetweenTheTwoStepsOfARenewal) {
  for (const int unseen : {2, 3, 4}) {
    lock.force_before = lock.acquires + unseen;
    EXPECT_EQ(run({"sleep", "60"}), kLost) << unseen;
    EXPECT_EQ(lock.holds, 0U);
  }
}

}  // namespace
}  // namespace tenure::cli
