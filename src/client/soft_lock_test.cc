// One thread's view of soft locks, on an authority in the process and through a client. The tests that the design of
// soft locks asks for, and where they are:
//
//   shouldAcquireAndReleaseLock           AcquiresAndReleases
//   shouldExpireAfterLeaseTime            ExpiresAfterItsLeaseTime
//   shouldBlockConcurrentAcquisition      KeepsOtherThreadsOut
//   shouldHandleMultipleClientsCompeting  CompetesWithAnotherClientOnTheSameThread; with processes TwoProcessesCompete
//                                         in tests/client/puppet_test.cc
//   re-entry                              IsReenteredThroughEveryLockAndManagerOfTheClient, ReenteringMovesTheDeadline
//   failover                              tests/client/puppet_test.cc, from WhoIsKilledLetsTheNextOneInAtOnce on
//   races, visibility                     tests/client/soft_lock_suite.h, soft_lock_threads_test.cc
//   keys that are refused, the builder    RefusesNamesThatCannotBeALocks, TheBuilderRefusesWhatCannotBe, ...
#include <mutex>

#include "client/lock_testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_P(SoftLockTest, AcquiresAndReleases) {
  auto lock = manager.get_lock("orders", "123");
  lock.lock();
  EXPECT_TRUE(lock.is_held_by_current_thread());
  EXPECT_TRUE(lock.is_locked());
  lock.release();
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_FALSE(lock.is_locked());
}

TEST_P(SoftLockTest, ExpiresAfterItsLeaseTime) {
  auto lock = manager.get_lock("orders", "456");
  lock.lock();
  pass(kLease + Millis{1});
  EXPECT_FALSE(lock.is_locked());
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_THROW(lock.release(), LockExpired);
  EXPECT_THROW(lock.release(), NotHeld);
}

TEST_P(SoftLockTest, KeepsOtherThreadsOut) {
  auto lock = manager.get_lock("orders", "789");
  lock.lock();
  EXPECT_FALSE(elsewhere([&] { return manager.get_lock("orders", "789").try_lock(); }));
  EXPECT_FALSE(elsewhere([&] { return lock.is_held_by_current_thread(); }));
  lock.release();
  EXPECT_TRUE(elsewhere([&] { return manager.get_lock("orders", "789").try_lock(); }));
}

TEST_P(SoftLockTest, CompetesWithAnotherClientOnTheSameThread) {
  auto other = manager_over(another_client(), settings());
  auto mine = manager.get_lock("test", "shared");
  auto theirs = other.get_lock("test", "shared");
  mine.lock();
  EXPECT_FALSE(theirs.try_lock());
  mine.release();
  EXPECT_TRUE(theirs.try_lock());
  theirs.release();
}

TEST_P(SoftLockTest, IsReenteredThroughEveryLockAndManagerOfTheClient) {
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

TEST_P(SoftLockTest, EveryGrantHasAHigherFence) {
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const auto first = lock.fence();
  lock.release();
  lock.lock();
  EXPECT_GT(lock.fence().value(), first.value());
  lock.release();
  EXPECT_THROW(static_cast<void>(lock.fence()), NotHeld);
}

TEST_P(SoftLockTest, WorksWithTheStandardsGuards) {
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

TEST_P(SoftLockTest, RefusesNamesThatCannotBeALocks) {
  EXPECT_THROW(static_cast<void>(manager.get_lock("", "1")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(manager.get_lock("d", "")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(manager.get_lock("a::b", "1")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(manager.get_lock("a", "b::1")), std::invalid_argument);
  EXPECT_EQ("a::1", manager.get_lock("a", "1").key());
}

TEST_P(SoftLockTest, ChecksItsOwnDelimiterToo) {
  SoftLockSettings with = settings();
  with.delimiter = "/";
  auto slashed = manager_of(with);
  EXPECT_THROW(static_cast<void>(slashed.get_lock("a/b", "1")), InvalidLockKey);
  EXPECT_THROW(static_cast<void>(slashed.get_lock("a::b", "1")), InvalidLockKey);
  EXPECT_EQ("a/1", slashed.get_lock("a", "1").key());
}

TEST_P(SoftLockTest, TheBuilderRefusesWhatCannotBe) {
  auto builder = SoftLockManager::builder(locks);
  EXPECT_THROW(builder.lease_time(Millis{0}), std::invalid_argument);
  EXPECT_THROW(builder.lease_time(Millis{-1}), std::invalid_argument);
  EXPECT_THROW(builder.lease_time(std::chrono::hours(25)), std::invalid_argument);
  EXPECT_THROW(builder.delimiter(""), std::invalid_argument);
  EXPECT_THROW(builder.space(""), std::invalid_argument);
  EXPECT_THROW(builder.session(""), std::invalid_argument);
  EXPECT_THROW(builder.margin(Millis{-1}), std::invalid_argument);
  EXPECT_THROW(builder.grace(Millis{-1}), std::invalid_argument);
  EXPECT_THROW(builder.grace(std::chrono::hours(25)), std::invalid_argument);
  builder.lease_time(Millis{100}).margin(Millis{100});
  EXPECT_THROW(static_cast<void>(builder.build()), std::invalid_argument);
  const auto plain = [&] { return SoftLockManager::builder(locks); };
  EXPECT_THROW(static_cast<void>(plain().unbound().grace(Millis{1}).build()), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(plain().unbound().session("s").build()), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(plain().session("s").grace(Millis{1}).build()), std::invalid_argument);
}

TEST_P(SoftLockTest, TheBuildersDefaultsAreTheSeeds) {
  const auto plain = SoftLockManager::builder(locks).build();
  EXPECT_EQ(std::chrono::minutes(1), plain.lease_time());
  EXPECT_EQ("::", plain.delimiter());
  EXPECT_EQ("soft-locks", plain.space());
  const auto other = SoftLockManager::builder(locks).lease_time(Millis{7}).delimiter("/").space("s").build();
  EXPECT_EQ(Millis{7}, other.lease_time());
  EXPECT_EQ("/", other.delimiter());
  EXPECT_EQ("s", other.space());
}

TEST_P(SoftLockTest, SpacesAreApart) {
  SoftLockSettings with = settings();
  with.space = "elsewhere";
  auto other = manager_of(with);
  auto here = manager.get_lock("d", "1");
  auto there = other.get_lock("d", "1");
  here.lock();
  EXPECT_FALSE(there.is_locked());
  EXPECT_TRUE(elsewhere([&] { return there.try_lock(); }));
}

TEST_P(SoftLockTest, AClosedManagerGivesNothingNewAndTakesBackWhatIsHeld) {
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

// --- another medium ---

TEST_P(SoftLockTest, APlainBackendHasNoFencesAndCannotExtend) {
  PlainLocks plain(authority);
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

TEST_P(SoftLockTest, TheManagerAndItsLocksKeepABackendThatTheyWereGiven) {
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

TEST_P(SoftLockTest, TellsWhatHappens) {
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

TEST_P(SoftLockTest, ACallbackThatThrowsChangesNothing) {
  SoftLockSettings with = settings();
  with.on_acquired = [](const LockEvent&) { throw std::runtime_error("no"); };
  auto telling = manager_of(with);
  auto lock = telling.get_lock("d", "1");
  lock.lock();
  EXPECT_TRUE(lock.is_held_by_current_thread());
  lock.release();
}

TEST_P(SoftLockTest, AnUnreachableAuthorityIsFalseForATryAndAnErrorForALock) {
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

TEST_P(SoftLockTest, Measures) {
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

TEST_P(SoftLockTest, NamesABoundedNumberOfDomains) {
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

TEST_P(SoftLockTest, ListsADomain) {
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

TEST_P(SoftLockTest, RemainingTimeOfAnothersLockIsTheAuthoritys) {
  auto lock = manager.get_lock("d", "1");
  EXPECT_EQ(Millis{0}, lock.remaining_lease_time());
  lock.lock();
  EXPECT_EQ(kLease, elsewhere([&] { return lock.remaining_lease_time(); }));
}

TEST_P(SoftLockTest, LocksOutliveTheirManagerAndHoldersAreToldWhenNobodyWatches) {
  std::optional<SoftLock> lock = manager_of(settings()).get_lock("d", "1");
  desks.pop_back();
  lock->lock();
  const std::stop_token lost = lock->lost();
  EXPECT_FALSE(lost.stop_requested());
  lock.reset();
  EXPECT_TRUE(lost.stop_requested());
}

INSTANTIATE_TEST_SUITE_P(Everywhere, SoftLockTest, ::testing::Values(Where::kEmbedded, Where::kClient),
                         [](const auto& where) { return where.param == Where::kEmbedded ? "Embedded" : "Client"; });

}  // namespace
}  // namespace tenure
