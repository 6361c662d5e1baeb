// What a soft lock promises on every medium, on the machine's own time: one suite for an authority in this process, for
// a client of a server, and for other media. Leases are long where they must hold, short where they must end, and the
// tests wait for what must happen, however long that takes. What fences, extension and listing promise is not in here:
// not every medium has them.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/soft_lock.h>

namespace tenure::testing {

using namespace std::chrono_literals;

// A medium has one() and other(), two clients of it, as LockBackend&; and kRounds, for tests that try something often.
// Each test has a space of its own.
template <class Medium>
class SoftLockSuite : public ::testing::Test {
 protected:
  SoftLockManager manager(Millis lease = 10min) { return manager_over(medium_.one(), lease); }
  SoftLockManager other_manager(Millis lease = 10min) { return manager_over(medium_.other(), lease); }
  SoftLockManager manager_over(LockBackend& locks, Millis lease) {
    return SoftLockManager::builder(locks).lease_time(lease).space(space_).log([](const std::string&) {}).build();
  }
  template <class Work>
  static auto elsewhere(Work work) {
    return std::async(std::launch::async, std::move(work));
  }

  Medium medium_;
  const std::string space_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
};
TYPED_TEST_SUITE_P(SoftLockSuite);

TYPED_TEST_P(SoftLockSuite, IsAcquiredAndReleased) {
  const auto manager = this->manager();
  auto lock = manager.get_lock("orders", "123");
  EXPECT_FALSE(lock.is_locked());
  lock.lock();
  EXPECT_TRUE(lock.is_locked());
  EXPECT_TRUE(lock.is_held_by_current_thread());
  EXPECT_GT(lock.remaining_lease_time(), 5min);
  lock.release();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), NotHeld);
}

TYPED_TEST_P(SoftLockSuite, KeepsOtherThreadsAndOtherClientsOut) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  lock.lock();
  EXPECT_FALSE(this->elsewhere([&] { return manager.get_lock("orders", "1").try_lock(); }).get());
  EXPECT_FALSE(this->elsewhere([&] { return other.get_lock("orders", "1").try_lock(); }).get());
  EXPECT_TRUE(this->elsewhere([&] {
                    auto free = other.get_lock("orders", "2");
                    return free.try_lock() && (free.release(), true);
                  })
                  .get());
  lock.release();
  auto same = other.get_lock("orders", "1");
  EXPECT_TRUE(same.try_lock());
  same.release();
}

TYPED_TEST_P(SoftLockSuite, HoldsAreCounted) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  lock.lock();
  lock.lock();
  manager.get_lock("orders", "1").lock();
  lock.release();
  lock.release();
  EXPECT_FALSE(other.get_lock("orders", "1").try_lock());
  lock.release();
  auto free = other.get_lock("orders", "1");
  EXPECT_TRUE(free.try_lock());
  free.release();
}

TYPED_TEST_P(SoftLockSuite, FreesItselfWhenItsLeaseIsOverAndItsHolderIsTold) {
  const auto manager = this->manager(300ms);
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  lock.lock();
  const auto lost = lock.lost();
  auto next = other.get_lock("orders", "1");
  EXPECT_TRUE(next.try_lock_for(60s));
  // It was told before, but by a thread that may be late on a busy machine.
  while (!lost.stop_requested()) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_THROW(lock.release(), LockExpired);
  EXPECT_THROW(lock.release(), NotHeld);
  EXPECT_TRUE(next.is_locked());
  next.release();
}

TYPED_TEST_P(SoftLockSuite, AWaiterIsLetInByTheRelease) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  lock.lock();
  std::promise<void> waits;
  auto waiter = this->elsewhere([&] {
    auto same = other.get_lock("orders", "1");
    waits.set_value();
    same.lock();
    same.release();
  });
  waits.get_future().wait();
  EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
  lock.release();
  waiter.get();
}

TYPED_TEST_P(SoftLockSuite, WhoWaitsHoldsUpNobody) {
  const auto manager = this->manager();
  auto lock = manager.get_lock("orders", "held");
  lock.lock();
  std::vector<std::future<void>> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.push_back(this->elsewhere([&] {
      auto same = manager.get_lock("orders", "held");
      same.lock();
      same.release();
    }));
  }
  for (int i = 0; i < 50; ++i) {
    auto free = manager.get_lock("orders", std::to_string(i));
    free.lock();
    free.release();
  }
  lock.release();
  for (auto& waiter : waiters) waiter.get();
}

TYPED_TEST_P(SoftLockSuite, AWaitEndsWithItsTimeOrWhenItIsStopped) {
  const auto manager = this->manager();
  auto lock = manager.get_lock("orders", "1");
  lock.lock();
  EXPECT_FALSE(this->elsewhere([&] { return manager.get_lock("orders", "1").try_lock_for(50ms); }).get());
  std::stop_source stop;
  auto waiter = this->elsewhere([&] { manager.get_lock("orders", "1").lock(stop.get_token()); });
  EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
  stop.request_stop();
  EXPECT_THROW(waiter.get(), LockInterrupted);
  // What the stopped one asked for may be granted all the same; it is given back.
  lock.release();
  auto again = manager.get_lock("orders", "1");
  EXPECT_TRUE(again.try_lock_for(60s));
  again.release();
}

TYPED_TEST_P(SoftLockSuite, ForceTakesItFromItsHolderWhoLearnsAtTheRelease) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  EXPECT_FALSE(other.get_lock("orders", "1").force_unlock());
  lock.lock();
  EXPECT_TRUE(other.get_lock("orders", "1").force_unlock());
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), LockExpired);
}

TYPED_TEST_P(SoftLockSuite, WhatWasTakenAwayByForceIsWaitedForLikeAnybodyElses) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  auto next = other.get_lock("orders", "1");
  lock.lock();
  EXPECT_TRUE(next.force_unlock());
  EXPECT_TRUE(next.try_lock());
  EXPECT_FALSE(lock.try_lock_for(20ms));
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(20ms);
    stop.request_stop();
  });
  EXPECT_THROW(lock.lock(stop.get_token()), LockInterrupted);
  next.release();
  EXPECT_THROW(lock.release(), LockExpired);
}

TYPED_TEST_P(SoftLockSuite, ALockTakenAgainIsNotLetGoByTheReleaseOfTheOneThatWasLost) {
  const auto manager = this->manager(1s);
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  lock.lock();
  while (lock.is_locked()) std::this_thread::sleep_for(10ms);
  lock.lock();
  lock.release();  // the inner one, which is good
  EXPECT_THROW(lock.release(), LockExpired);
  auto next = other.get_lock("orders", "1");
  EXPECT_TRUE(next.try_lock());
  next.release();
}

TYPED_TEST_P(SoftLockSuite, SpacesAreApart) {
  const auto manager = this->manager();
  const auto elsewhere = SoftLockManager::builder(this->medium_.other()).space(this->space_ + "-other").build();
  auto lock = manager.get_lock("orders", "1");
  auto same = elsewhere.get_lock("orders", "1");
  lock.lock();
  EXPECT_TRUE(same.try_lock());
  same.release();
  lock.release();
}

TYPED_TEST_P(SoftLockSuite, CompetesWithAnotherClientOnTheSameThread) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  auto mine = manager.get_lock("test", "shared");
  auto theirs = other.get_lock("test", "shared");
  mine.lock();
  EXPECT_FALSE(theirs.try_lock());
  mine.release();
  EXPECT_TRUE(theirs.try_lock());
  theirs.release();
}

TYPED_TEST_P(SoftLockSuite, IsReenteredThroughEveryLockAndManagerOfTheClient) {
  const auto manager = this->manager();
  const auto same_client = this->manager();
  auto lock = manager.get_lock("d", "1");
  auto through_other = same_client.get_lock("d", "1");
  lock.lock();
  EXPECT_TRUE(through_other.try_lock());
  lock.release();
  EXPECT_TRUE(lock.is_locked());
  through_other.release();
  EXPECT_FALSE(lock.is_locked());
}

TYPED_TEST_P(SoftLockSuite, WorksWithTheStandardsGuards) {
  const auto manager = this->manager();
  auto one = manager.get_lock("d", "1");
  auto two = manager.get_lock("d", "2");
  {
    const std::unique_lock guard(one);
    EXPECT_TRUE(one.is_held_by_current_thread());
  }
  {
    const std::scoped_lock guard(one, two);
    EXPECT_TRUE(two.is_held_by_current_thread());
  }
  std::unique_lock timed(one, std::defer_lock);
  EXPECT_TRUE(timed.try_lock_for(1min));
  timed.unlock();
  EXPECT_TRUE(timed.try_lock_until(std::chrono::steady_clock::now() + 1min));
  timed.unlock();
  EXPECT_FALSE(one.is_locked());
}

TYPED_TEST_P(SoftLockSuite, AClosedManagerGivesNothingNewAndTakesBackWhatIsHeld) {
  auto manager = this->manager();
  auto held = manager.get_lock("d", "1");
  auto other = manager.get_lock("d", "2");
  held.lock();
  manager.close();
  EXPECT_THROW(other.lock(), LockAcquisitionError);
  EXPECT_FALSE(other.try_lock());
  held.release();
  EXPECT_FALSE(held.is_locked());
}

// --- many threads ---

// A counter that only the lock protects.
TYPED_TEST_P(SoftLockSuite, NoTwoAreInsideAtOnce) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  constexpr int kThreads = 8;
  int counter = 0;
  std::atomic<int> inside{0};
  std::latch ready(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      auto lock = (i % 2 == 0 ? manager : other).get_lock("d", "counter");
      ready.arrive_and_wait();
      for (int round = 0; round < TypeParam::kRounds; ++round) {
        const std::unique_lock guard(lock);
        EXPECT_EQ(1, ++inside);
        ++counter;
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(kThreads * TypeParam::kRounds, counter);
}

TYPED_TEST_P(SoftLockSuite, LockingSeveralAtOnceDoesNotDeadlock) {
  const auto manager = this->manager();
  std::vector<std::thread> threads;
  std::atomic<int> rounds{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      auto one = manager.get_lock("d", i % 2 == 0 ? "1" : "2");
      auto two = manager.get_lock("d", i % 2 == 0 ? "2" : "1");
      for (int round = 0; round < TypeParam::kRounds; ++round) {
        const std::scoped_lock guard(one, two);
        ++rounds;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(4 * TypeParam::kRounds, rounds);
}

TYPED_TEST_P(SoftLockSuite, EachThreadHasItsOwnHoldsOfOneObject) {
  const auto manager = this->manager();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  std::thread([&] {
    EXPECT_FALSE(lock.try_lock());
    EXPECT_THROW(lock.release(), NotHeld);
  }).join();
  lock.release();
}

// Who only tries is either inside or told that it is not, and leaves nothing behind.
TYPED_TEST_P(SoftLockSuite, TriesThatRaceLeaveNothingBehind) {
  const auto manager = this->manager();
  constexpr int kThreads = 4;
  std::atomic<int> inside{0};
  std::atomic<int> acquired{0};
  std::latch ready(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      auto lock = manager.get_lock("d", "1");
      ready.arrive_and_wait();
      for (int round = 0; round < TypeParam::kRounds; ++round) {
        if (!lock.try_lock()) continue;
        EXPECT_EQ(1, ++inside);
        ++acquired;
        --inside;
        lock.release();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(acquired, 0);
  EXPECT_FALSE(manager.get_lock("d", "1").is_locked());
}

REGISTER_TYPED_TEST_SUITE_P(SoftLockSuite, IsAcquiredAndReleased, KeepsOtherThreadsAndOtherClientsOut, HoldsAreCounted,
                            FreesItselfWhenItsLeaseIsOverAndItsHolderIsTold, AWaiterIsLetInByTheRelease,
                            WhoWaitsHoldsUpNobody, AWaitEndsWithItsTimeOrWhenItIsStopped,
                            ForceTakesItFromItsHolderWhoLearnsAtTheRelease,
                            WhatWasTakenAwayByForceIsWaitedForLikeAnybodyElses,
                            ALockTakenAgainIsNotLetGoByTheReleaseOfTheOneThatWasLost, SpacesAreApart,
                            CompetesWithAnotherClientOnTheSameThread, IsReenteredThroughEveryLockAndManagerOfTheClient,
                            WorksWithTheStandardsGuards, AClosedManagerGivesNothingNewAndTakesBackWhatIsHeld,
                            NoTwoAreInsideAtOnce, LockingSeveralAtOnceDoesNotDeadlock,
                            EachThreadHasItsOwnHoldsOfOneObject, TriesThatRaceLeaveNothingBehind);

}  // namespace tenure::testing
