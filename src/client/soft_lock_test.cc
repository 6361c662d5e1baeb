// One thread's view of soft locks: what is held, until when, and how a holder learns that it is over.
#include <mutex>

#include "client/lock_testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SoftLockTest, AcquiresAndReleases) {
  auto lock = manager.get_lock("orders", "123");
  lock.lock();
  EXPECT_TRUE(lock.is_held_by_current_thread());
  EXPECT_TRUE(lock.is_locked());
  lock.release();
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_FALSE(lock.is_locked());
}

TEST_F(SoftLockTest, ExpiresAfterItsLeaseTime) {
  auto lock = manager.get_lock("orders", "456");
  lock.lock();
  pass(kLease + Millis{1});
  EXPECT_FALSE(lock.is_locked());
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_THROW(lock.release(), LockExpired);
  EXPECT_THROW(lock.release(), NotHeld);
}

TEST_F(SoftLockTest, KeepsOtherThreadsOut) {
  auto lock = manager.get_lock("orders", "789");
  lock.lock();
  EXPECT_FALSE(elsewhere([&] { return manager.get_lock("orders", "789").try_lock(); }));
  EXPECT_FALSE(elsewhere([&] { return lock.is_held_by_current_thread(); }));
  lock.release();
  EXPECT_TRUE(elsewhere([&] { return manager.get_lock("orders", "789").try_lock(); }));
}

TEST_F(SoftLockTest, CompetesWithAnotherClientOnTheSameThread) {
  LockFace other_face(*world.engine);
  auto other = manager_over(other_face, settings());
  auto mine = manager.get_lock("test", "shared");
  auto theirs = other.get_lock("test", "shared");
  mine.lock();
  EXPECT_FALSE(theirs.try_lock());
  mine.release();
  EXPECT_TRUE(theirs.try_lock());
  theirs.release();
}

TEST_F(SoftLockTest, IsReenteredThroughEveryLockAndManagerOfTheClient) {
  auto other = manager_of(settings());
  auto lock = manager.get_lock("d", "1");
  auto same = manager.get_lock("d", "1");
  auto through_other = other.get_lock("d", "1");
  lock.lock();
  EXPECT_TRUE(same.try_lock());
  EXPECT_TRUE(through_other.try_lock());
  EXPECT_EQ(lock.fence(), through_other.fence());
  lock.release();
  through_other.release();
  EXPECT_TRUE(lock.is_locked());
  same.release();
  EXPECT_FALSE(lock.is_locked());
}

TEST_F(SoftLockTest, EveryGrantHasAHigherFence) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const auto first = lock.fence();
  lock.release();
  lock.lock();
  EXPECT_GT(lock.fence().value(), first.value());
  lock.release();
  EXPECT_THROW(static_cast<void>(lock.fence()), NotHeld);
}

TEST_F(SoftLockTest, WorksWithTheStandardsGuards) {
  auto one = manager.get_lock("d", "1");
  auto two = manager.get_lock("d", "2");
  {
    std::unique_lock guard(one);
    EXPECT_TRUE(one.is_held_by_current_thread());
  }
  {
    std::scoped_lock guard(one, two);
    EXPECT_TRUE(two.is_held_by_current_thread());
  }
  std::lock(one, two);
  std::unique_lock first(one, std::adopt_lock);
  std::unique_lock second(two, std::adopt_lock);
  second.unlock();
  EXPECT_TRUE(second.try_lock_for(std::chrono::seconds(1)));
  second.unlock();
  EXPECT_TRUE(second.try_lock_until(std::chrono::steady_clock::now() + std::chrono::seconds(1)));
  first.unlock();
  EXPECT_FALSE(one.is_locked());
}

// --- names and settings ---

TEST_F(SoftLockTest, RefusesNamesThatCannotBeALocks) {
  EXPECT_THROW(static_cast<void>(manager.get_lock("", "1")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(manager.get_lock("d", "")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(manager.get_lock("a::b", "1")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(manager.get_lock("a", "b::1")), std::invalid_argument);
  EXPECT_EQ("a::1", manager.get_lock("a", "1").key());
}

TEST_F(SoftLockTest, ChecksItsOwnDelimiterToo) {
  SoftLockSettings with = settings();
  with.delimiter = "/";
  auto slashed = manager_of(with);
  EXPECT_THROW(static_cast<void>(slashed.get_lock("a/b", "1")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(slashed.get_lock("a::b", "1")), InvalidLockKey);
  EXPECT_EQ("a/1", slashed.get_lock("a", "1").key());
}

TEST_F(SoftLockTest, TheBuilderRefusesWhatCannotBe) {
  auto builder = SoftLockManager::builder(locks);
  EXPECT_THROW(builder.lease_time(Millis{0}), std::invalid_argument);
  EXPECT_THROW(builder.lease_time(Millis{-1}), std::invalid_argument);
  EXPECT_THROW(builder.lease_time(std::chrono::hours(25)), std::invalid_argument);
  EXPECT_THROW(builder.delimiter(""), std::invalid_argument);
  EXPECT_THROW(builder.space(""), std::invalid_argument);
  EXPECT_THROW(builder.session(""), std::invalid_argument);
  EXPECT_THROW(builder.margin(Millis{-1}), std::invalid_argument);
  builder.lease_time(Millis{100}).margin(Millis{100});
  EXPECT_THROW(static_cast<void>(builder.build()), std::invalid_argument);
}

TEST_F(SoftLockTest, TheBuildersDefaultsAreTheSeeds) {
  const auto plain = SoftLockManager::builder(locks).build();
  EXPECT_EQ(std::chrono::minutes(1), plain.lease_time());
  EXPECT_EQ("::", plain.delimiter());
  EXPECT_EQ("soft-locks", plain.space());
  const auto other = SoftLockManager::builder(locks).lease_time(Millis{7}).delimiter("/").space("s").build();
  EXPECT_EQ(Millis{7}, other.lease_time());
  EXPECT_EQ("/", other.delimiter());
  EXPECT_EQ("s", other.space());
}

TEST_F(SoftLockTest, SpacesAreApart) {
  SoftLockSettings with = settings();
  with.space = "elsewhere";
  auto other = manager_of(with);
  auto here = manager.get_lock("d", "1");
  auto there = other.get_lock("d", "1");
  here.lock();
  EXPECT_FALSE(there.is_locked());
  EXPECT_TRUE(elsewhere([&] { return there.try_lock(); }));
}

TEST_F(SoftLockTest, AClosedManagerGivesNothingNewAndTakesBackWhatIsHeld) {
  auto held = manager.get_lock("d", "1");
  auto other = manager.get_lock("d", "2");
  held.lock();
  manager.close();
  EXPECT_THROW(other.lock(), LockAcquisitionError);
  EXPECT_FALSE(other.try_lock());
  EXPECT_TRUE(held.is_held_by_current_thread());
  held.release();
  EXPECT_FALSE(held.is_locked());
}

// --- the local deadline ---

TEST_F(SoftLockTest, IsLostAMarginBeforeTheAuthoritySaysSo) {
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

TEST_F(SoftLockTest, IsLostEvenIfTheAuthorityCannotBeReached) {
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

TEST_F(SoftLockTest, CountsFromBeforeTheRequestWasSent) {
  SlowLocks slow(world, face, Millis{1000});
  auto far = manager_over(slow, settings());
  auto lock = far.get_lock("d", "1");
  lock.lock();
  EXPECT_EQ(kLease - Millis{1000} - desks.back()->margin(), lock.remaining_lease_time());
  lock.release();
}

TEST_F(SoftLockTest, AGrantThatCameTooLateIsGivenBack) {
  SlowLocks slow(world, face, kLease);
  auto far = manager_over(slow, settings());
  auto lock = far.get_lock("d", "1");
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.is_locked());
}

TEST_F(SoftLockTest, NeverFiresAfterAReleaseInTime) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  lock.release();
  pass(kLease * 2);
  EXPECT_FALSE(lost.stop_requested());
}

TEST_F(SoftLockTest, ReenteringMovesTheDeadline) {
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

TEST_F(SoftLockTest, AnOuterHoldThatWasLostStaysLostWhenTheLockIsTakenAgain) {
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

TEST_F(SoftLockTest, AHoldLostWithinTheMarginLeavesNothingBehindWhenTakenAgain) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  pass(kLease - desks.front()->margin());
  ASSERT_TRUE(lock.lost().stop_requested());
  lock.lock();  // for the authority a re-entry
  EXPECT_EQ(1U, face.get({.domain = "d", .identifier = "1"})->holds);
  lock.release();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), LockExpired);
}

TEST_F(SoftLockTest, ForceTakesItFromItsHolderWhoLearnsAtTheRelease) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  EXPECT_TRUE(manager.get_lock("d", "1").force_unlock());
  EXPECT_FALSE(lock.is_locked());
  EXPECT_FALSE(lock.force_unlock());
  EXPECT_THROW(lock.release(), LockExpired);
  EXPECT_TRUE(lost.stop_requested());
}

TEST_F(SoftLockTest, AllIsLostWithTheSession) {
  auto one = manager.get_lock("d", "1");
  one.lock();
  const std::stop_token lost = one.lost();
  manager.lose_all();
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_THROW(one.release(), LockExpired);
}

TEST_F(SoftLockTest, BoundLocksGoWithTheirSession) {
  SoftLockSettings with = settings();
  with.session = "s";
  auto bound = manager_of(with);
  world.engine->join("s", std::nullopt);
  auto lock = bound.get_lock("d", "1");
  lock.lock();
  world.engine->leave("s");
  world.pass(Millis{1});
  EXPECT_FALSE(lock.is_locked());
  EXPECT_THROW(lock.release(), LockExpired);
}

// --- extension ---

TEST_F(SoftLockTest, ExtendMovesTheDeadline) {
  auto lock = manager.get_lock("d", "1");
  EXPECT_THROW(lock.extend(kLease), NotHeld);
  lock.lock();
  const std::stop_token lost = lock.lost();
  lock.extend(kLease * 3);
  EXPECT_EQ(kLease * 3 - desks.front()->margin(), lock.remaining_lease_time());
  pass(kLease * 2);
  EXPECT_FALSE(lost.stop_requested());
  pass(kLease);
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_THROW(lock.extend(kLease), LockExpired);
}

TEST_F(SoftLockTest, ExtendingWhatWasForcedIsALoss) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  lock.force_unlock();
  EXPECT_THROW(lock.extend(kLease), LockExpired);
  EXPECT_TRUE(lock.lost().stop_requested());
}

TEST_F(SoftLockTest, KeepAliveRenewsAtAThirdOfTheLease) {
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
TEST_F(SoftLockTest, KeepAliveEndsWithTheRelease) {
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
TEST_F(SoftLockTest, KeepAliveSurvivesAnAuthorityThatIsAwayForAWhile) {
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

TEST_F(SoftLockTest, KeepAliveGivesUpAtOnceWhenTheLockWasTakenAway) {
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

TEST_F(SoftLockTest, KeepAliveNeedsAHold) {
  auto lock = manager.get_lock("d", "1");
  EXPECT_THROW(lock.keep_alive(), NotHeld);
  EXPECT_THROW(static_cast<void>(lock.lost()), NotHeld);
}

// --- another medium ---

TEST_F(SoftLockTest, APlainBackendHasNoFencesAndCannotExtend) {
  PlainLocks plain(face);
  auto other = manager_over(plain, settings());
  auto lock = other.get_lock("d", "1");
  lock.lock();
  EXPECT_EQ(std::nullopt, lock.fence());
  EXPECT_THROW(lock.extend(kLease), SoftLockError);
  EXPECT_THROW(lock.keep_alive(), SoftLockError);
  EXPECT_THROW(static_cast<void>(other.list("d")), SoftLockError);
  EXPECT_EQ(Millis{0}, elsewhere([&] { return lock.remaining_lease_time(); }));
  const std::stop_token lost = lock.lost();
  pass(kLease);
  EXPECT_TRUE(lost.stop_requested());
}

// --- what is told ---

TEST_F(SoftLockTest, TheManagerAndItsLocksKeepABackendThatTheyWereGiven) {
  auto plain = std::make_shared<PlainLocks>(locks);
  const std::weak_ptr<PlainLocks> watched = plain;
  {
    std::optional given = SoftLockManager::builder(std::shared_ptr<LockBackend>(std::move(plain))).build();
    const SoftLock lock = given->get_lock("orders", "1");
    given.reset();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_THROW(SoftLockManager::builder(std::shared_ptr<LockBackend>{}), std::invalid_argument);
}

TEST_F(SoftLockTest, TellsWhatHappens) {
  std::vector<std::string> told;
  const auto note = [&](const std::string& what) {
    return [&told, what](const LockEvent& event) {
      told.push_back(what + " " + event.domain + " " + event.identifier + (event.fence ? " fenced" : ""));
    };
  };
  SoftLockSettings with = settings();
  with.on_acquired = note("acquired");
  with.on_released = note("released");
  with.on_expired = note("expired");
  std::vector<std::string> lines;
  with.log = [&](const std::string& line) { lines.push_back(line); };
  auto telling = manager_of(with);
  auto lock = telling.get_lock("d", "1");
  lock.lock();
  lock.lock();
  lock.release();
  lock.release();
  EXPECT_THAT(told, ElementsAre("acquired d 1 fenced", "acquired d 1 fenced", "released d 1 fenced"));
  EXPECT_TRUE(lines.empty());
  told.clear();
  lock.lock();
  pass(kLease);
  lock.unlock();  // throws nothing
  EXPECT_THAT(told, ElementsAre("acquired d 1 fenced", "expired d 1 fenced"));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("lock d::1: lost"), HasSubstr("lock d::1: unlock")));
}

TEST_F(SoftLockTest, ACallbackThatThrowsChangesNothing) {
  SoftLockSettings with = settings();
  with.on_acquired = [](const LockEvent&) { throw std::runtime_error("no"); };
  auto telling = manager_of(with);
  auto lock = telling.get_lock("d", "1");
  lock.lock();
  EXPECT_TRUE(lock.is_held_by_current_thread());
  lock.release();
}

TEST_F(SoftLockTest, AnUnreachableAuthorityIsFalseForATryAndAnErrorForALock) {
  TallyRegistry metrics;
  SoftLockSettings with = settings();
  with.metrics = &metrics;
  auto measured = manager_of(with);
  auto lock = measured.get_lock("d", "1");
  locks.is_cut = true;
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(std::chrono::seconds(1)));
  EXPECT_THROW(lock.lock(), LockAcquisitionError);
  EXPECT_EQ(3, metrics["softlock_acquire_attempts_total{d,error}"]);
  locks.is_cut = false;
  lock.lock();
  locks.is_cut = true;
  EXPECT_THROW(lock.release(), SoftLockError);
  EXPECT_THROW(lock.release(), NotHeld);
  EXPECT_EQ(0, metrics["softlock_active{d}"]);
}

TEST_F(SoftLockTest, Measures) {
  TallyRegistry metrics;
  SoftLockSettings with = settings();
  with.metrics = &metrics;
  auto measured = manager_of(with);
  auto lock = measured.get_lock("d", "1");
  lock.lock();
  EXPECT_EQ(1, metrics["softlock_active{d}"]);
  EXPECT_FALSE(elsewhere([&] { return lock.try_lock(); }));
  pass(Millis{1000});
  lock.release();
  EXPECT_EQ(0, metrics["softlock_active{d}"]);
  EXPECT_EQ(1, metrics["softlock_held_time_seconds_sum{d}"]);
  EXPECT_EQ(1, metrics["softlock_acquire_attempts_total{d,acquired}"]);
  EXPECT_EQ(1, metrics["softlock_acquire_attempts_total{d,timeout}"]);
  EXPECT_EQ(1, metrics["softlock_acquire_seconds_count{d,acquired}"]);
  lock.lock();
  pass(kLease);
  EXPECT_EQ(1, metrics["softlock_expired_total{d}"]);
  EXPECT_EQ(0, metrics["softlock_active{d}"]);
  lock.unlock();
  EXPECT_EQ(1, metrics["softlock_expired_total{d}"]);
  EXPECT_EQ(0, metrics["softlock_active{d}"]);
}

TEST_F(SoftLockTest, NamesABoundedNumberOfDomains) {
  TallyRegistry metrics;
  SoftLockSettings with = settings();
  with.metrics = &metrics;
  auto measured = manager_of(with);
  for (int i = 0; i < 100; ++i) {
    auto lock = measured.get_lock("d" + std::to_string(i), "1");
    lock.lock();
    lock.release();
  }
  EXPECT_EQ(36, metrics["softlock_acquire_attempts_total{other,acquired}"]);
  EXPECT_EQ(1, metrics["softlock_acquire_attempts_total{d63,acquired}"]);
}

TEST_F(SoftLockTest, ListsADomain) {
  auto one = manager.get_lock("d", "1");
  auto two = manager.get_lock("d", "2");
  auto other = manager.get_lock("e", "1");
  one.lock();
  two.lock();
  other.lock();
  std::vector<std::string> listed;
  for (const LockStatus& status : manager.list("d")) listed.push_back(status.identifier);
  EXPECT_THAT(listed, ::testing::UnorderedElementsAre("1", "2"));
  EXPECT_EQ(other.fence(), manager.list("e").front().fence);
}

TEST_F(SoftLockTest, RemainingTimeOfAnothersLockIsTheAuthoritys) {
  auto lock = manager.get_lock("d", "1");
  EXPECT_EQ(Millis{0}, lock.remaining_lease_time());
  lock.lock();
  EXPECT_EQ(kLease, elsewhere([&] { return lock.remaining_lease_time(); }));
}

TEST_F(SoftLockTest, LocksOutliveTheirManagerAndHoldersAreToldWhenNobodyWatches) {
  std::optional<SoftLock> lock = manager_of(settings()).get_lock("d", "1");
  desks.pop_back();
  lock->lock();
  const std::stop_token lost = lock->lost();
  EXPECT_FALSE(lost.stop_requested());
  lock.reset();
  EXPECT_TRUE(lost.stop_requested());
}

}  // namespace
}  // namespace tenure
