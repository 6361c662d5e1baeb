// What is Hazelcast's alone: other clients of the cluster, what it cannot do, and what goes wrong with it.
#include <chrono>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/hazelcast.h>
#include <tenure/soft_lock.h>
#include "peer.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

class HazelcastMembers : public ::testing::Test {
 protected:
  static hazelcast::Settings settings() {
    return {.addresses = Members::get().addresses(), .cluster = Members::get().cluster()};
  }
  // The seed's defaults, but for the lease.
  static SoftLockManager manager(Millis lease = 10min, const hazelcast::Settings& with = settings()) {
    return SoftLockManager::builder(hazelcast::connect(with)).lease_time(lease).log([](const std::string&) {}).build();
  }
  static Peer& java() { return Members::get().one(); }
};

TEST_F(HazelcastMembers, TheDefaultsAreTheSeeds) {
  const auto manager = SoftLockManager::builder(hazelcast::connect(settings())).build();
  EXPECT_EQ(manager.lease_time(), 1min);
  EXPECT_EQ(manager.delimiter(), "::");
  EXPECT_EQ(manager.space(), "soft-locks");
}

TEST_F(HazelcastMembers, AJavaClientKeepsThisOneOut) {
  const auto manager = HazelcastMembers::manager();
  auto lock = manager.get_lock("orders", "1");
  ASSERT_EQ(java().ask("try soft-locks orders::1 0 600000"), "true");
  EXPECT_TRUE(lock.is_locked());
  EXPECT_FALSE(lock.try_lock());
  auto waiter = std::async(std::launch::async, [&] {
    lock.lock();
    lock.release();
  });
  EXPECT_EQ(waiter.wait_for(50ms), std::future_status::timeout);
  EXPECT_EQ(java().ask("unlock soft-locks orders::1"), "done");
  waiter.get();
}

TEST_F(HazelcastMembers, ThisOneKeepsAJavaClientOut) {
  const auto manager = HazelcastMembers::manager();
  auto lock = manager.get_lock("orders", "2");
  lock.lock();
  lock.lock();
  EXPECT_EQ(java().ask("locked soft-locks orders::2"), "true");
  EXPECT_EQ(java().ask("try soft-locks orders::2 0 1000"), "false");
  EXPECT_EQ(java().ask("unlock soft-locks orders::2"), "IllegalMonitorStateException");
  lock.release();
  EXPECT_EQ(java().ask("try soft-locks orders::2 0 1000"), "false");
  java().say("try soft-locks orders::2 60000 600000");
  lock.release();
  EXPECT_EQ(java().hear(), "true");
  EXPECT_FALSE(lock.try_lock());
  EXPECT_EQ(java().ask("unlock soft-locks orders::2"), "done");
}

TEST_F(HazelcastMembers, EveryKeyIsTheSameLockToAJavaClient) {
  const auto manager = SoftLockManager::builder(hazelcast::connect(settings())).space("keys").delimiter("/").build();
  for (int i = 0; i < 100; ++i) {
    // Lengths of all remainders, and letters of one to four bytes.
    std::string name = std::string(static_cast<std::size_t>(i % 9), 'x') + std::to_string(i);
    if (i % 4 == 3) name += "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
    auto lock = manager.get_lock("d", name);
    lock.lock();
    ASSERT_EQ(java().ask("try keys d/" + name + " 0 1000"), "false") << name;
    lock.release();
    ASSERT_EQ(java().ask("locked keys d/" + name), "false") << name;
  }
}

TEST_F(HazelcastMembers, ALeaseThatEndsLetsTheOtherSideIn) {
  const auto manager = HazelcastMembers::manager(300ms);
  auto lock = manager.get_lock("orders", "3");
  lock.lock();
  EXPECT_EQ(java().ask("try soft-locks orders::3 60000 300"), "true");
  EXPECT_THROW(lock.release(), LockExpired);
  // And back: Java's lease ends too.
  EXPECT_TRUE(lock.try_lock_for(60s));
  EXPECT_EQ(java().ask("unlock soft-locks orders::3"), "IllegalMonitorStateException");
  lock.unlock();
}

TEST_F(HazelcastMembers, WhatHazelcastCannotDoIsSaid) {
  const auto manager = HazelcastMembers::manager();
  auto lock = manager.get_lock("orders", "4");
  lock.lock();
  EXPECT_EQ(lock.fence(), std::nullopt);
  EXPECT_THROW(lock.extend(1min), SoftLockError);
  EXPECT_THROW(lock.keep_alive(), SoftLockError);
  EXPECT_THROW((void)manager.list("orders"), SoftLockError);
  lock.release();
  const auto backend = hazelcast::connect(settings());
  EXPECT_THROW(backend->force({.domain = "d", .identifier = "1"}, Fence{1}), InvalidRequest);
  EXPECT_THROW(backend->acquire({.lock = {.domain = "d", .identifier = "1"}, .owner = "o", .session = "s"}),
               InvalidRequest);
  EXPECT_THROW(backend->release({.lock = {.domain = "d", .identifier = "1"}, .token = "none"}), NotHeld);
}

TEST_F(HazelcastMembers, AnotherClustersNameIsRefused) {
  hazelcast::Settings wrong = settings();
  wrong.cluster = "another";
  try {
    hazelcast::connect(wrong);
    FAIL() << "it was let in";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNoAuth) << error.what();
  }
}

TEST_F(HazelcastMembers, SpeaksTlsAndBelievesOnlyWhomItIsTold) {
  const TemporaryFolder folder;
  Companion proxy({"python3", beside_peer("tls_proxy.py"), folder.path(), std::to_string(java().port())});
  hazelcast::Settings secure = settings();
  secure.addresses = {"127.0.0.1:" + proxy.hear()};
  secure.timeout = 30s;
  secure.tls = hazelcast::Tls{.ca_file = folder.path() + "/authority.pem"};
  {
    const auto manager = HazelcastMembers::manager(10min, secure);
    auto lock = manager.get_lock("orders", "secure");
    lock.lock();
    EXPECT_EQ(java().ask("locked soft-locks orders::secure"), "true");
    lock.release();
  }
  secure.timeout = 500ms;
  secure.tls->ca_file = folder.path() + "/stranger.pem";
  EXPECT_THROW(hazelcast::connect(secure), Unavailable);
  secure.tls->ca_file = folder.path() + "/none.pem";
  EXPECT_THROW(hazelcast::connect(secure), InvalidRequest);
  secure.tls.reset();
  EXPECT_THROW(hazelcast::connect(secure), Unavailable);
}

TEST_F(HazelcastMembers, ALockOfAClientThatIsKilledIsFreedLongBeforeItsLeaseEnds) {
  Members& members = Members::get();
  Companion holder({"/proc/self/exe", "--hold", members.one().address(), members.cluster(), "orders", "5"});
  ASSERT_EQ(holder.hear(), "held");
  const auto manager = HazelcastMembers::manager();
  auto lock = manager.get_lock("orders", "5");
  EXPECT_FALSE(lock.try_lock());
  holder.kill();
  EXPECT_TRUE(lock.try_lock_for(60s));
  lock.release();
}

TEST_F(HazelcastMembers, AMemberIsKilledWhileLocksAreHeldAndWaitedFor) {
  Members& members = Members::get();
  const auto manager = HazelcastMembers::manager();
  const auto other = HazelcastMembers::manager();
  std::vector<SoftLock> locks;
  for (int i = 0; i < 20; ++i) locks.push_back(manager.get_lock("held", std::to_string(i)));
  for (auto& lock : locks) lock.lock();
  std::vector<std::future<void>> waiters;
  for (int i = 0; i < 20; ++i) {
    waiters.push_back(std::async(std::launch::async, [&, i] {
      auto same = other.get_lock("held", std::to_string(i));
      same.lock();
      same.release();
    }));
  }
  members.two().kill();
  // Held as before, by both members' locks: each had its backup.
  EXPECT_FALSE(std::async(std::launch::async, [&] { return other.get_lock("held", "7").try_lock(); }).get());
  for (auto& lock : locks) lock.release();
  for (auto& waiter : waiters) waiter.get();
  // And it goes on with the one that is left, and with the next that comes.
  auto lock = manager.get_lock("held", "again");
  lock.lock();
  members.two().start();
  members.two().await_up();
  members.await_safe();
  lock.release();
  for (auto& each : locks) {
    each.lock();
    each.release();
  }
}

// The last one: it leaves new members behind.
TEST_F(HazelcastMembers, TheClusterGoesAwayAndComesBack) {
  hazelcast::Settings impatient = settings();
  impatient.timeout = 1500ms;
  const auto manager = HazelcastMembers::manager(10min, impatient);
  auto held = manager.get_lock("orders", "6");
  held.lock();
  Members::get().kill();
  auto lock = manager.get_lock("orders", "7");
  EXPECT_THROW(lock.lock(), LockAcquisitionError);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_THROW((void)lock.is_locked(), LockAcquisitionError);
  EXPECT_THROW(hazelcast::connect(impatient), Unavailable);
  Members::get().start();
  while (!lock.try_lock()) std::this_thread::sleep_for(10ms);
  lock.release();
  // Its lock went with the cluster that was.
  EXPECT_THROW(held.release(), LockExpired);
}

}  // namespace
}  // namespace tenure::testing
