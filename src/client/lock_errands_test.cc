#include "client/lock_errands.h"

#include <gtest/gtest.h>

namespace tenure::client {
namespace {

using Grant = Result<std::optional<LockGrant>>;

constexpr LockName kLock{"d", "i"};

LockStatus held_under(Fence fence) {
  LockStatus status;
  status.fence = fence;
  return status;
}

TEST(LockErrandsTest, AGrantThatEndedUnheardIsAskedForAnew) {
  const Grant ended = fail_with(ErrorCode::kExpired, "its lease ended");
  EXPECT_TRUE(is_to_ask_anew(ended, true, true));
  EXPECT_TRUE(is_to_ask_anew(Grant(fail_with(ErrorCode::kNotHeld, "released")), true, true));
  EXPECT_FALSE(is_to_ask_anew(ended, false, true)) << "the id is the caller's";
  EXPECT_FALSE(is_to_ask_anew(ended, true, false)) << "it was asked once";
}

TEST(LockErrandsTest, AnAnswerThatIsLostIsNotAskedForUnderAnotherId) {
  EXPECT_FALSE(is_to_ask_anew(Grant(fail_with(ErrorCode::kUnavailable, "no answer")), true, true));
  EXPECT_FALSE(is_to_ask_anew(Grant(std::optional<LockGrant>()), true, true));
}

TEST(ForceErrandTest, FreesTheHolderItFoundAndNobodyElse) {
  ForceErrand errand(kLock, std::nullopt);
  EXPECT_FALSE(errand.next()) << "first it asks who holds it";
  errand.take_holder(held_under(Fence{7}));
  ASSERT_TRUE(errand.next());
  EXPECT_EQ(Fence{7}, errand.next()->fence);
  errand.take_answer(true, false);
  EXPECT_TRUE(errand.result()->value());
}

TEST(ForceErrandTest, WhatWasFreedUnheardIsFreed) {
  ForceErrand errand(kLock, std::nullopt);
  errand.take_holder(held_under(Fence{7}));
  errand.take_answer(false, true);
  EXPECT_TRUE(errand.result()->value());
}

TEST(ForceErrandTest, FollowsALockThatChangesHands) {
  ForceErrand errand(kLock, std::nullopt);
  errand.take_holder(held_under(Fence{7}));
  errand.take_answer(false, false);
  EXPECT_FALSE(errand.result());
  EXPECT_FALSE(errand.next());
  errand.take_holder(held_under(Fence{9}));
  EXPECT_EQ(Fence{9}, errand.next()->fence);
}

TEST(ForceErrandTest, AFreeLockIsNotForced) {
  ForceErrand errand(kLock, std::nullopt);
  errand.take_holder(std::nullopt);
  EXPECT_FALSE(errand.result()->value());
}

TEST(ForceErrandTest, WithAFenceALostAnswerLeavesItOpen) {
  ForceErrand errand(kLock, Fence{7});
  EXPECT_EQ(Fence{7}, errand.next()->fence);
  errand.take_answer(false, true);
  ASSERT_TRUE(errand.result());
  EXPECT_EQ(ErrorCode::kUnavailable, errand.result()->error().code);

  ForceErrand other(kLock, Fence{7});
  other.take_answer(false, false);
  EXPECT_FALSE(other.result()->value());
}

}  // namespace
}  // namespace tenure::client
