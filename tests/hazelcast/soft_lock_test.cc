// What a soft lock promises on every medium: the same tests on an authority in this process and on Hazelcast. Time is
// the machine's: leases are long where they must hold, short where they must end, and the tests wait for what must
// happen, however long that takes.
#include <atomic>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/authority.h>
#include <tenure/hazelcast.h>
#include <tenure/soft_lock.h>
#include "peer.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

// Each client of it has connections of its own; and each test a space of its own.
struct OnHazelcast {
  static std::shared_ptr<LockBackend> new_client() {
    return hazelcast::connect({.addresses = Members::get().addresses(), .cluster = Members::get().cluster()});
  }
};

struct OnTenure {
  static std::shared_ptr<LockBackend> new_client() {
    static const std::shared_ptr<Authority> authority = Authority::in_memory();
    return {authority, &authority->locks()};
  }
};

template <class Medium>
class SoftLockMedium : public ::testing::Test {
 protected:
  SoftLockManager manager(Millis lease = 10min) {
    return SoftLockManager::builder(client_).lease_time(lease).space(space_).log(quietly()).build();
  }
  SoftLockManager other_manager(Millis lease = 10min) {
    return SoftLockManager::builder(other_).lease_time(lease).space(space_).log(quietly()).build();
  }
  static std::function<void(const std::string&)> quietly() {
    return [](const std::string&) {};
  }
  template <class Work>
  static auto elsewhere(Work work) {
    return std::async(std::launch::async, std::move(work));
  }

  const std::shared_ptr<LockBackend> client_ = Medium::new_client();
  const std::shared_ptr<LockBackend> other_ = Medium::new_client();
  const std::string space_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

class MediumNames {
 public:
  template <class T>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::is_same_v<T, OnTenure> ? "Tenure" : "Hazelcast";
  }
};
using Media = ::testing::Types<OnTenure, OnHazelcast>;
TYPED_TEST_SUITE(SoftLockMedium, Media, MediumNames);

TYPED_TEST(SoftLockMedium, IsAcquiredAndReleased) {
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

TYPED_TEST(SoftLockMedium, KeepsOtherThreadsAndOtherClientsOut) {
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

TYPED_TEST(SoftLockMedium, HoldsAreCounted) {
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

TYPED_TEST(SoftLockMedium, FreesItselfWhenItsLeaseIsOverAndItsHolderIsTold) {
  const auto manager = this->manager(300ms);
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  lock.lock();
  const auto lost = lock.lost();
  auto next = other.get_lock("orders", "1");
  EXPECT_TRUE(next.try_lock_for(60s));
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_THROW(lock.release(), LockExpired);
  EXPECT_THROW(lock.release(), NotHeld);
  EXPECT_TRUE(next.is_locked());
  next.release();
}

TYPED_TEST(SoftLockMedium, AWaiterIsLetInByTheRelease) {
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

TYPED_TEST(SoftLockMedium, WhoWaitsHoldsUpNobody) {
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

TYPED_TEST(SoftLockMedium, AWaitEndsWithItsTimeOrWhenItIsStopped) {
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

TYPED_TEST(SoftLockMedium, ForceTakesItFromItsHolderWhoLearnsAtTheRelease) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  auto lock = manager.get_lock("orders", "1");
  EXPECT_FALSE(other.get_lock("orders", "1").force_unlock());
  lock.lock();
  EXPECT_TRUE(other.get_lock("orders", "1").force_unlock());
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), LockExpired);
}

TYPED_TEST(SoftLockMedium, WhatWasTakenAwayByForceIsWaitedForLikeAnybodyElses) {
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

TYPED_TEST(SoftLockMedium, ALockTakenAgainIsNotLetGoByTheReleaseOfTheOneThatWasLost) {
  const auto manager = this->manager(300ms);
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

TYPED_TEST(SoftLockMedium, SpacesAreApart) {
  const auto manager = this->manager();
  const auto elsewhere = SoftLockManager::builder(this->other_).space(this->space_ + "-other").build();
  auto lock = manager.get_lock("orders", "1");
  auto same = elsewhere.get_lock("orders", "1");
  lock.lock();
  EXPECT_TRUE(same.try_lock());
  same.release();
  lock.release();
}

TYPED_TEST(SoftLockMedium, NoTwoAreInsideAtOnce) {
  const auto manager = this->manager();
  const auto other = this->other_manager();
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::vector<std::future<void>> workers;
  for (int i = 0; i < 4; ++i) {
    workers.push_back(this->elsewhere([&, i] {
      auto lock = (i % 2 == 0 ? manager : other).get_lock("orders", "1");
      for (int round = 0; round < 25; ++round) {
        const std::lock_guard guard(lock);
        if (++inside != 1) ++overlaps;
        std::this_thread::yield();
        --inside;
      }
    }));
  }
  for (auto& worker : workers) worker.get();
  EXPECT_EQ(overlaps, 0);
}

}  // namespace
}  // namespace tenure::testing
