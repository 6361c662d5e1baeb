// How long a soft lock is held, and how its holder learns that it is over: deadlines, sessions, extension.
#include "client/lock_testing.h"

namespace tenure {
namespace {

// --- the local deadline ---

TEST_P(SoftLockTest, IsLostAMarginBeforeTheAuthoritySaysSo) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  const Millis margin = desks.front()->margin();
  EXPECT_EQ(kLease - margin, lock.remaining_lease_time());
  pass(kLease - margin - Millis{1});
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_TRUE(lock.is_held_by_current_thread());
  pass(Millis{1});
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_TRUE(lock.lost().stop_requested());
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_TRUE(lock.is_locked());  // for the others it is still taken
  EXPECT_THROW(lock.release(), LockExpired);
}

TEST_P(SoftLockTest, IsLostEvenIfTheAuthorityCannotBeReached) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  lock.keep_alive();
  const std::stop_token lost = lock.lost();
  locks.is_cut = true;
  pass(kLease / 2);
  EXPECT_FALSE(lost.stop_requested());
  pass(kLease / 2);
  EXPECT_TRUE(lost.stop_requested());
}

// An authority whose answer takes its time.
class SlowLocks final : public LockBackend {
 public:
  SlowLocks(World& world, Locks& locks, Millis delay) : world_(world), locks_(locks), delay_(delay) {}
  std::optional<LockGrant> acquire(const LockRequest& request, Millis wait, std::stop_token stop) override {
    auto grant = locks_.acquire(request, wait, std::move(stop));
    world_.advance(delay_);
    return grant;
  }
  std::uint32_t release(const LockRelease& request) override { return locks_.release(request); }
  bool force(const LockName& lock, std::optional<Fence> fence) override { return locks_.force(lock, fence); }
  bool is_locked(const LockName& lock) override { return locks_.is_locked(lock); }

 private:
  World& world_;
  Locks& locks_;
  const Millis delay_;
};

TEST_P(SoftLockTest, CountsFromBeforeTheRequestWasSent) {
  SlowLocks slow(world, authority, Millis{1000});
  auto far = manager_over(slow, settings());
  auto lock = far.get_lock("d", "1");
  lock.lock();
  EXPECT_EQ(kLease - Millis{1000} - desks.back()->margin(), lock.remaining_lease_time());
  lock.release();
}

TEST_P(SoftLockTest, AGrantThatCameTooLateIsGivenBack) {
  SlowLocks slow(world, authority, kLease);
  auto far = manager_over(slow, settings());
  auto lock = far.get_lock("d", "1");
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.is_locked());
}

TEST_P(SoftLockTest, ALeaseThatIsAlwaysOverBeforeTheGrantComesIsAnError) {
  SlowLocks slow(world, authority, kLease);
  auto far = manager_over(slow, settings());
  auto lock = far.get_lock("d", "1");
  EXPECT_THROW(lock.lock(), LockAcquisitionError);
  EXPECT_FALSE(lock.try_lock_for(std::chrono::hours(1)));
  EXPECT_FALSE(lock.is_locked());
}

TEST_P(SoftLockTest, NeverFiresAfterAReleaseInTime) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  lock.release();
  pass(kLease * 2);
  EXPECT_FALSE(lost.stop_requested());
}

TEST_P(SoftLockTest, ReenteringMovesTheDeadline) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  pass(kLease / 2);
  lock.lock();
  pass(kLease / 2);
  EXPECT_FALSE(lost.stop_requested());
  lock.release();
  EXPECT_TRUE(lock.is_held_by_current_thread());
  pass(kLease / 2);
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_THROW(lock.release(), LockExpired);
}

TEST_P(SoftLockTest, AnOuterHoldThatWasLostStaysLostWhenTheLockIsTakenAgain) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  pass(kLease + Millis{1});
  lock.lock();
  EXPECT_TRUE(lock.is_held_by_current_thread());
  EXPECT_FALSE(lock.lost().stop_requested());
  lock.release();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), LockExpired);
  EXPECT_THROW(lock.release(), NotHeld);
}

TEST_P(SoftLockTest, AHoldLostWithinTheMarginLeavesNothingBehindWhenTakenAgain) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  pass(kLease - desks.front()->margin());
  ASSERT_TRUE(lock.lost().stop_requested());
  lock.lock();  // for the authority a re-entry
  EXPECT_EQ(1U, authority.get({.domain = "d", .identifier = "1"})->holds);
  lock.release();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), LockExpired);
}

TEST_P(SoftLockTest, ForceTakesItFromItsHolderWhoLearnsAtTheRelease) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  EXPECT_TRUE(manager.get_lock("d", "1").force_unlock());
  EXPECT_FALSE(lock.is_locked());
  EXPECT_FALSE(lock.force_unlock());
  EXPECT_THROW(lock.release(), LockExpired);
  EXPECT_TRUE(lost.stop_requested());
}

TEST_P(SoftLockTest, AllIsLostWithTheSession) {
  auto one = manager.get_lock("d", "1");
  one.lock();
  const std::stop_token lost = one.lost();
  manager.lose_all();
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_THROW(one.release(), LockExpired);
  // If the session has not ended, the lock must not wait for its lease.
  pass(Millis{0});
  EXPECT_FALSE(one.is_locked());
}

TEST_P(SoftLockTest, WhatIsTakenAgainAfterALossIsNotGivenBackWithIt) {
  auto one = manager.get_lock("d", "1");
  one.lock();
  one.lock();
  manager.lose_all();
  pass(Millis{0});
  one.lock();
  EXPECT_FALSE(one.lost().stop_requested());
  EXPECT_EQ(1U, authority.get({.domain = "d", .identifier = "1"})->holds);
  one.release();
  EXPECT_THROW(one.release(), LockExpired);
  EXPECT_THROW(one.release(), LockExpired);
  EXPECT_THROW(one.release(), NotHeld);
}

TEST_P(SoftLockTest, BoundLocksGoWithTheirSession) {
  SoftLockSettings with = settings();
  with.session = "s";
  auto bound = manager_of(with);
  join("s");
  auto lock = bound.get_lock("d", "1");
  lock.lock();
  leave("s");
  pass(Millis{1});
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), LockExpired);
}

// --- extension ---

TEST_P(SoftLockTest, ExtendMovesTheDeadline) {
  auto lock = manager.get_lock("d", "1");
  EXPECT_THROW(lock.extend(kLease), NotHeld);
  lock.lock();
  const std::stop_token lost = lock.lost();
  lock.extend(kLease * 3);
  EXPECT_EQ(kLease * 3 - margin_of(kLease * 3), lock.remaining_lease_time());
  pass(kLease * 2);
  EXPECT_FALSE(lost.stop_requested());
  pass(kLease);
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_THROW(lock.extend(kLease), LockExpired);
}

TEST_P(SoftLockTest, ExtendingWhatWasForcedIsALoss) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  lock.force_unlock();
  EXPECT_THROW(lock.extend(kLease), LockExpired);
  EXPECT_TRUE(lock.lost().stop_requested());
}

TEST_P(SoftLockTest, KeepAliveRenewsAtAThirdOfTheLease) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  lock.keep_alive();
  lock.keep_alive();
  for (int i = 0; i < 12; ++i) pass(kLease / 4);
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_TRUE(lock.is_held_by_current_thread());
  EXPECT_GE(locks.extensions, 5);
  EXPECT_LE(locks.extensions, 12);
  lock.release();
}

// Redisson #7272: renewal went on after the release.
TEST_P(SoftLockTest, KeepAliveEndsWithTheRelease) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  lock.keep_alive();
  const std::stop_token lost = lock.lost();
  lock.release();
  for (int i = 0; i < 8; ++i) pass(kLease / 4);
  EXPECT_EQ(0, locks.extensions);
  EXPECT_FALSE(lost.stop_requested());
}

// Redisson #775: renewal stopped after one failure.
TEST_P(SoftLockTest, KeepAliveSurvivesAnAuthorityThatIsAwayForAWhile) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  lock.keep_alive();
  const std::stop_token lost = lock.lost();
  locks.is_cut = true;
  for (int i = 0; i < 4; ++i) pass(kLease / 6);
  EXPECT_GE(locks.extensions, 1);
  locks.is_cut = false;
  for (int i = 0; i < 12; ++i) pass(kLease / 6);
  EXPECT_FALSE(lost.stop_requested());
  lock.release();
}

TEST_P(SoftLockTest, KeepAliveGivesUpAtOnceWhenTheLockWasTakenAway) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  lock.keep_alive();
  const std::stop_token lost = lock.lost();
  lock.force_unlock();
  pass(kLease / 3);
  EXPECT_TRUE(lost.stop_requested());
  pass(kLease * 2);
  EXPECT_EQ(1, locks.extensions);
}

TEST_P(SoftLockTest, KeepAliveNeedsAHold) {
  auto lock = manager.get_lock("d", "1");
  EXPECT_THROW(lock.keep_alive(), NotHeld);
  EXPECT_THROW(static_cast<void>(lock.lost()), NotHeld);
}

}  // namespace
}  // namespace tenure
