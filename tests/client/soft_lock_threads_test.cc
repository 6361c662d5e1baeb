// Soft locks and many threads, on the machine's own time, on an authority in this process and through a client: what
// only they promise. What all media do, such as that no two are ever inside, is in soft_lock_suite.h.
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/soft_lock.h>
#include "places.h"

namespace tenure::testing {
namespace {

template <class Place>
class SoftLockThreadsTest : public ::testing::Test {
 protected:
  Locks& locks() { return place_.authority->locks(); }

  Place place_;
  SoftLockManager manager_ = SoftLockManager::builder(locks()).build();
};
TYPED_TEST_SUITE(SoftLockThreadsTest, Places, PlaceNames);

// Whoever comes last finds what all before it have written, and the fences in order.
TYPED_TEST(SoftLockThreadsTest, WhatOneHasWrittenTheNextOneSees) {
  std::vector<Fence> written;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto lock = this->manager_.get_lock("d", "list");
      for (int round = 0; round < 50; ++round) {
        const std::unique_lock guard(lock);
        const Fence fence = lock.fence().value();
        if (!written.empty()) {
          EXPECT_LT(written.back(), fence);
        }
        written.push_back(fence);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(200U, written.size());
}

TYPED_TEST(SoftLockThreadsTest, AHolderIsToldOnRealTime) {
  auto manager = SoftLockManager::builder(this->locks()).lease_time(Millis{80}).log([](const std::string&) {}).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  std::latch told(1);
  const std::stop_callback tell(lock.lost(), [&] { told.count_down(); });
  told.wait();
  EXPECT_THROW(lock.release(), LockExpired);
}

TYPED_TEST(SoftLockThreadsTest, AHolderKeepsItsLockAliveOnRealTime) {
  auto manager = SoftLockManager::builder(this->locks()).lease_time(Millis{80}).log([](const std::string&) {}).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  lock.keep_alive();
  const std::stop_token lost = lock.lost();
  // On a machine that is busy the renewal may come too late: then that is said.
  std::set<Instant> expiries;
  while (expiries.size() < 5 && !lost.stop_requested()) {
    if (const auto status = this->locks().get({.domain = "d", .identifier = "1"})) expiries.insert(status->expires_at);
  }
  EXPECT_TRUE(lock.is_held_by_current_thread() || lost.stop_requested());
  lock.unlock();
}

}  // namespace
}  // namespace tenure::testing
