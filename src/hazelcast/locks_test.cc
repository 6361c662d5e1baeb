#include "hazelcast/locks.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "hazelcast/data.h"
#include "hazelcast/member_testing.h"

namespace tenure::hazelcast {
namespace {

using namespace std::chrono_literals;

class HazelcastLocksTest : public ::testing::Test {
 protected:
  static Settings settings_for(const PlayedMember& member) {
    Settings settings;
    settings.addresses = {member.address()};
    settings.timeout = 60s;
    return settings;
  }
  static LockRequest by(std::string_view owner) { return {.lock = kLock, .owner = owner}; }
  template <class Condition>
  static void await(const Condition& condition) {
    while (!condition()) std::this_thread::sleep_for(1ms);
  }

  static constexpr LockName kLock{.domain = "orders", .identifier = "1"};
  const std::string key = text_data("orders::1");
  PlayedMember member;
};

TEST_F(HazelcastLocksTest, AreEnteredAgainByTheirOwnerAndKeepOthersOut) {
  const auto locks = connect(settings_for(member));
  const auto grant = locks->acquire(by("me"));
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fence, std::nullopt);
  EXPECT_EQ(grant->holds, 1U);
  const auto again = locks->acquire(by("me"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->token, grant->token);
  EXPECT_EQ(again->holds, 2U);
  EXPECT_FALSE(locks->acquire(by("you")));
  EXPECT_TRUE(locks->is_locked(kLock));
  EXPECT_EQ(locks->release({.lock = kLock, .token = grant->token}), 1U);
  EXPECT_EQ(locks->release({.lock = kLock, .token = grant->token}), 0U);
  EXPECT_FALSE(locks->is_locked(kLock));
  EXPECT_THROW(locks->release({.lock = kLock, .token = grant->token}), NotHeld);
}

TEST_F(HazelcastLocksTest, AGrantIsNotLetGoByTheTokenOfAnother) {
  const auto locks = connect(settings_for(member));
  const auto first = locks->acquire(by("me"));
  member.free(key);
  const auto second = locks->acquire(by("you"));
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->token, second->token);
  EXPECT_THROW(locks->release({.lock = kLock, .token = first->token}), LockExpired);
  EXPECT_TRUE(locks->is_locked(kLock));
  EXPECT_EQ(locks->release({.lock = kLock, .token = second->token}), 0U);
}

TEST_F(HazelcastLocksTest, WhoHasLostALockAndWantsItAgainWaitsForIt) {
  const auto locks = connect(settings_for(member));
  ASSERT_TRUE(locks->acquire(by("me")));
  EXPECT_TRUE(locks->force(kLock));
  EXPECT_FALSE(locks->force(kLock));
  const auto other = locks->acquire(by("you"));
  ASSERT_TRUE(other);
  auto waiter = std::async(std::launch::async, [&] { return locks->acquire(by("me"), 1h); });
  await([&] { return member.waits == 1; });
  locks->release({.lock = kLock, .token = other->token});
  EXPECT_TRUE(waiter.get());
}

// Hazelcast cannot take back a wait: what it grants is given back.
TEST_F(HazelcastLocksTest, AWaitThatWasStoppedLeavesNothingBehind) {
  const auto locks = connect(settings_for(member));
  const auto grant = locks->acquire(by("me"));
  std::stop_source stop;
  auto waiter = std::async(std::launch::async, [&] { return locks->acquire(by("you"), 1h, stop.get_token()); });
  await([&] { return member.waits == 1; });
  stop.request_stop();
  EXPECT_FALSE(waiter.get());
  locks->release({.lock = kLock, .token = grant->token});
  await([&] { return member.is_free(key); });
}

TEST_F(HazelcastLocksTest, AWaitIsAskedForAgainWhenItsConnectionBreaks) {
  const auto locks = connect(settings_for(member));
  const auto grant = locks->acquire(by("me"));
  auto waiter = std::async(std::launch::async, [&] { return locks->acquire(by("you"), 1h); });
  for (int i = 1; i <= 3; ++i) {
    await([&] { return member.waits == i; });
    member.drop_all();
  }
  await([&] { return member.waits == 4; });
  locks->release({.lock = kLock, .token = grant->token});
  EXPECT_TRUE(waiter.get());
}

TEST_F(HazelcastLocksTest, WhatWasDoneBeforeTheConnectionBrokeIsDoneOnce) {
  const auto locks = connect(settings_for(member));
  member.is_mute = true;
  auto asker = std::async(std::launch::async, [&] { return locks->acquire(by("me")); });
  await([&] { return !member.is_free(key); });
  member.is_mute = false;
  member.drop_all();
  const auto grant = asker.get();
  ASSERT_TRUE(grant);
  EXPECT_EQ(locks->release({.lock = kLock, .token = grant->token}), 0U);
  EXPECT_TRUE(member.is_free(key));
}

TEST_F(HazelcastLocksTest, AMemberThatAnswersNonsenseIsLeftAndAskedAgain) {
  const auto locks = connect(settings_for(member));
  member.is_mad = true;
  auto asker = std::async(std::launch::async, [&] { return locks->acquire(by("me")); });
  await([&] { return !member.is_free(key); });
  member.is_mad = false;
  EXPECT_TRUE(asker.get());
}

TEST_F(HazelcastLocksTest, AHoldThatCouldNotBeGivenBackGoesWithTheLast) {
  Settings settings = settings_for(member);
  settings.timeout = 1s;
  settings.backoff_max = 20ms;  // it is back within the time of a call
  const auto locks = connect(settings);
  ASSERT_TRUE(locks->acquire(by("me")));
  const auto twice = locks->acquire(by("me"));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->holds, 2U);
  member.is_shut = true;
  member.drop_all();
  EXPECT_THROW(locks->release({.lock = kLock, .token = twice->token}), LockAcquisitionError);
  member.is_shut = false;
  EXPECT_EQ(locks->release({.lock = kLock, .token = twice->token}), 0U);
  EXPECT_TRUE(member.is_free(key));
}

TEST_F(HazelcastLocksTest, ACallThatIsNotAnsweredIsGivenUpAndItsLockGivenBack) {
  Settings settings = settings_for(member);
  settings.timeout = 100ms;
  const auto locks = connect(settings);
  member.is_mute = true;
  EXPECT_THROW(locks->acquire(by("me")), LockAcquisitionError);
  member.is_mute = false;
  await([&] { return member.is_free(key); });
}

TEST_F(HazelcastLocksTest, ThatCannotBeReachedAreAnErrorUntilTheyCan) {
  Settings settings = settings_for(member);
  settings.timeout = 100ms;
  const auto locks = connect(settings);
  member.is_shut = true;
  member.drop_all();
  EXPECT_THROW(locks->acquire(by("me")), LockAcquisitionError);
  EXPECT_THROW(locks->is_locked(kLock), LockAcquisitionError);
  EXPECT_THROW(connect(settings), Unavailable);
  member.is_shut = false;
  for (bool is_held = false; !is_held;) {
    try {
      is_held = locks->acquire(by("me")).has_value();
    } catch (const LockAcquisitionError&) {
      continue;  // not yet
    }
  }
}

TEST_F(HazelcastLocksTest, ThatDoNotWantThisClientSaySo) {
  member.refusal = 1;
  try {
    connect(settings_for(member));
    FAIL() << "it was let in";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNoAuth) << error.what();
  }
}

TEST_F(HazelcastLocksTest, WhatTheyCannotDoIsRefused) {
  const auto locks = connect(settings_for(member));
  EXPECT_THROW(locks->force(kLock, Fence{1}), InvalidRequest);
  LockRequest bound = by("me");
  bound.session = "s";
  EXPECT_THROW(locks->acquire(bound), InvalidRequest);
  LockRequest shapeless = by("me");
  shapeless.lock.domain = "a::b";
  EXPECT_THROW(locks->acquire(shapeless), InvalidRequest);
  LockRequest endless = by("me");
  endless.lease = 25h;
  EXPECT_THROW(locks->acquire(endless), InvalidRequest);
}

TEST_F(HazelcastLocksTest, SettingsThatCannotBeAreRefused) {
  const auto refuses = [&](auto change) {
    Settings wrong = settings_for(member);
    change(wrong);
    EXPECT_THROW(connect(wrong), InvalidRequest);
  };
  refuses([](Settings& wrong) { wrong.addresses.clear(); });
  refuses([](Settings& wrong) { wrong.addresses = {"127.0.0.1:port"}; });
  refuses([](Settings& wrong) { wrong.delimiter.clear(); });
  refuses([](Settings& wrong) { wrong.timeout = 0ms; });
  refuses([](Settings& wrong) { wrong.heartbeat_interval = -1ms; });
  refuses([](Settings& wrong) { wrong.tls = ClientTls{.ca_file = "there-is-no-such-file"}; });
}

TEST_F(HazelcastLocksTest, TheDelimiterIsThatOfTheSettings) {
  Settings settings = settings_for(member);
  settings.delimiter = "/";
  const auto locks = connect(settings);
  ASSERT_TRUE(locks->acquire(by("me")));
  EXPECT_TRUE(member.is_free(key));
  EXPECT_FALSE(member.is_free(text_data("orders/1")));
}

}  // namespace
}  // namespace tenure::hazelcast
