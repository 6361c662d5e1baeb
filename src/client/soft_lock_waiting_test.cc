// Soft locks and many threads: waits, interruption, and that no two are ever inside.
#include <latch>

#include <tenure/authority.h>
#include "client/lock_testing.h"

namespace tenure {
namespace {

TEST_F(SoftLockTest, AWaiterIsLetInByTheRelease) {
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
TEST_F(SoftLockTest, AWaitDoesNotUseUpTheLease) {
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

TEST_F(SoftLockTest, AGrantThatEndedUnheardIsAskedForAnew) {
  auto lock = manager.get_lock("d", "1");
  locks.endings = 2;
  lock.lock();
  EXPECT_EQ(3, locks.acquires);
  lock.release();
  locks.endings = 1;
  EXPECT_TRUE(lock.try_lock());
  lock.release();
}

TEST_F(SoftLockTest, AWaitEndsWithItsTime) {
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

TEST_F(SoftLockTest, AWaitIsInterrupted) {
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
  one.join();
  two.join();
  EXPECT_EQ(2, interrupted);
  EXPECT_EQ(2, metrics["softlock_acquire_attempts_total{d,interrupted}"]);
  EXPECT_EQ(0U, waiters("d", "1"));
  EXPECT_THROW(lock.lock(stop.get_token()), LockInterrupted);
  lock.release();
}

// A plain backend's wait is part of the lease, so it is cut into pieces and asked for again.
TEST_F(SoftLockTest, APlainBackendIsWaitedForInPieces) {
  PlainLocks plain(face);
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

// On the machine's own time: a counter that only the lock protects.
TEST(SoftLockThreadsTest, NoTwoAreInsideAtOnce) {
  auto authority = Authority::in_memory();
  auto manager = SoftLockManager::builder(authority->locks()).build();
  constexpr int kThreads = 8;
  constexpr int kRounds = 200;
  int counter = 0;
  std::atomic<int> inside{0};
  std::latch ready(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      auto lock = manager.get_lock("d", "counter");
      ready.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        const std::unique_lock guard(lock);
        EXPECT_EQ(1, ++inside);
        ++counter;
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(kThreads * kRounds, counter);
}

TEST(SoftLockThreadsTest, LockingSeveralAtOnceDoesNotDeadlock) {
  auto authority = Authority::in_memory();
  auto manager = SoftLockManager::builder(authority->locks()).build();
  std::vector<std::thread> threads;
  std::atomic<int> rounds{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      auto one = manager.get_lock("d", i % 2 == 0 ? "1" : "2");
      auto two = manager.get_lock("d", i % 2 == 0 ? "2" : "1");
      for (int round = 0; round < 50; ++round) {
        const std::scoped_lock guard(one, two);
        ++rounds;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(200, rounds);
}

TEST(SoftLockThreadsTest, EachThreadHasItsOwnHoldsOfOneObject) {
  auto authority = Authority::in_memory();
  auto manager = SoftLockManager::builder(authority->locks()).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  EXPECT_TRUE(elsewhere([&] {
    try {
      lock.release();
      return false;
    } catch (const NotHeld&) {
      return true;
    }
  }));
  lock.release();
}

// Short leases on real time: holders are told, and their threads end.
TEST(SoftLockThreadsTest, AHolderIsToldOnRealTime) {
  auto authority = Authority::in_memory();
  ShakyLocks counted(authority->locks());
  auto manager = SoftLockManager::builder(counted).lease_time(Millis{40}).log([](const std::string&) {}).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  await([&] { return lost.stop_requested(); });
  EXPECT_THROW(lock.release(), LockExpired);
  lock.lock();
  lock.keep_alive();
  const std::stop_token kept = lock.lost();
  // On a machine that is busy the renewal may come too late: then that is said.
  await([&] { return counted.extensions >= 5 || kept.stop_requested(); });
  EXPECT_EQ(!kept.stop_requested(), lock.is_held_by_current_thread());
  lock.unlock();
}

}  // namespace
}  // namespace tenure
