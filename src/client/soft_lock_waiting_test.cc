// Waiting for soft locks: how it begins, ends and is interrupted.
#include "client/lock_testing.h"

namespace tenure {
namespace {

TEST_P(SoftLockTest, AWaiterIsLetInByTheRelease) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  std::thread waiter([&] {
    auto mine = manager.get_lock("d", "1");
    mine.lock();
    mine.release();
  });
  await([&] { return waiters("d", "1") == 1; });
  lock.release();
  waiter.join();
  EXPECT_FALSE(lock.is_locked());
}

// The lease of a grant that was waited for is counted from the grant, not from the beginning of the wait.
TEST_P(SoftLockTest, AWaitDoesNotUseUpTheLease) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  std::atomic<Millis::rep> remaining{0};
  std::thread waiter([&] {
    auto mine = manager.get_lock("d", "1");
    mine.lock();
    remaining = mine.remaining_lease_time().count();
    mine.release();
  });
  await([&] { return waiters("d", "1") == 1; });
  pass(kLease - Millis{1000});
  lock.release();
  waiter.join();
  EXPECT_EQ((kLease - desks.front()->margin()).count(), remaining);
}

TEST_P(SoftLockTest, AGrantThatEndedUnheardIsAskedForAnew) {
  auto lock = manager.get_lock("d", "1");
  locks.endings = 2;
  lock.lock();
  EXPECT_EQ(3, locks.acquires);
  lock.release();
  locks.endings = 1;
  EXPECT_TRUE(lock.try_lock());
  lock.release();
}

TEST_P(SoftLockTest, AWaitEndsWithItsTime) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  std::atomic<int> got{-1};
  std::thread waiter([&] { got = manager.get_lock("d", "1").try_lock_for(Millis{1000}) ? 1 : 0; });
  await([&] { return waiters("d", "1") == 1; });
  pass(Millis{1000});
  waiter.join();
  EXPECT_EQ(0, got);
  lock.release();
}

TEST_P(SoftLockTest, AWaitIsInterrupted) {
  TallyRegistry metrics;
  SoftLockSettings with = settings();
  with.metrics = &metrics;
  auto measured = manager_of(with);
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  std::stop_source stop;
  std::atomic<int> interrupted{0};
  const auto wait = [&](auto&& call) {
    return std::thread([&interrupted, call] {
      try {
        call();
      } catch (const LockInterrupted&) {
        ++interrupted;
      }
    });
  };
  std::thread one = wait([&] { measured.get_lock("d", "1").lock(stop.get_token()); });
  std::thread two = wait(
      [&] { static_cast<void>(measured.get_lock("d", "1").try_lock_for(std::chrono::hours(1), stop.get_token())); });
  await([&] { return waiters("d", "1") == 2; });
  stop.request_stop();
  // A client takes back a wait by asking for one of a millisecond, which must pass.
  await([&] {
    pass(Millis{1});
    return interrupted == 2;
  });
  one.join();
  two.join();
  EXPECT_EQ(2, interrupted);
  EXPECT_EQ(2, metrics["softlock_acquire_attempts_total{d,interrupted}"]);
  EXPECT_EQ(0U, waiters("d", "1"));
  EXPECT_THROW(lock.lock(stop.get_token()), LockInterrupted);
  lock.release();
}

// A plain backend's wait is part of the lease, so it is cut into pieces and asked for again.
TEST_P(SoftLockTest, APlainBackendIsWaitedForInPieces) {
  PlainLocks plain(authority);
  auto other = manager_over(plain, settings());
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  std::atomic<Millis::rep> remaining{0};
  std::thread waiter([&] {
    auto mine = other.get_lock("d", "1");
    mine.lock();
    remaining = mine.remaining_lease_time().count();
    mine.release();
  });
  await([&] { return waiters("d", "1") == 1; });
  pass(kLease / 2);
  await([&] { return waiters("d", "1") == 1; });
  lock.release();
  waiter.join();
  EXPECT_GE(remaining, (kLease - kLease / 4 - desks.back()->margin()).count());
}

}  // namespace
}  // namespace tenure
