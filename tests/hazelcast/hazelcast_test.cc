// What is Hazelcast's alone: other clients of the cluster, and what it cannot do.
#include <future>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "members_testing.h"

namespace tenure::testing {
namespace {

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
  hazelcast::Settings with = settings();
  with.delimiter = "/";
  const auto manager = SoftLockManager::builder(hazelcast::connect(with)).space("keys").delimiter("/").build();
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
  Child proxy({"python3", beside_peer("tls_proxy.py"), folder.path(), std::to_string(java().port())}, STDOUT_FILENO);
  hazelcast::Settings secure = settings();
  secure.addresses = {"127.0.0.1:" + proxy.hear().value()};
  secure.timeout = 30s;
  secure.tls = ClientTls{.ca_file = folder.path() + "/authority.pem"};
  {
    const auto manager = HazelcastMembers::manager(10min, secure);
    auto lock = manager.get_lock("orders", "secure");
    lock.lock();
    EXPECT_EQ(java().ask("locked soft-locks orders::secure"), "true");
    lock.release();
  }
  secure.timeout = 500ms;
  secure.tls->server_name = "another.example";
  EXPECT_THROW(hazelcast::connect(secure), Unavailable);
  secure.tls->server_name.clear();
  secure.tls->ca_file = folder.path() + "/stranger.pem";
  EXPECT_THROW(hazelcast::connect(secure), Unavailable);
  secure.tls->ca_file = folder.path() + "/none.pem";
  EXPECT_THROW(hazelcast::connect(secure), InvalidRequest);
  secure.tls.reset();
  EXPECT_THROW(hazelcast::connect(secure), Unavailable);
}

}  // namespace
}  // namespace tenure::testing
