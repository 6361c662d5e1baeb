// Acquires that wait: first come, first served, handed over in the round that set the lock free.
#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;

LockAcquire acquire_with_id(std::string_view owner, std::string_view id) {
  LockAcquire acquire = acquire_by(owner);
  acquire.request_id = id;
  return acquire;
}

TEST(LockWaitingTest, IsGrantedByTheRelease) {
  World world;
  const LockGrant held = world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  EXPECT_NE(0U, waiting.ticket);
  EXPECT_EQ(0U, world.release(held));
  EXPECT_GT(waiting.reply()->fence, held.fence);
  EXPECT_EQ("b", world.get(GetLock{lock_named("1")})->owner);
}

TEST(LockWaitingTest, DoesNotWaitForALockThatIsFreeOrItsOwn) {
  World world;
  EXPECT_EQ(0U, world.wait_for_lock("a").ticket);
  auto again = world.wait_for_lock("a");
  EXPECT_EQ(0U, again.ticket);
  EXPECT_EQ(2U, again.reply()->holds);
}

TEST(LockWaitingTest, FirstComeFirstServed) {
  World world;
  LockGrant held = world.acquire("a");
  std::vector<LockWaiting> waiting;
  const std::vector<std::string> owners{"b", "c", "d", "e"};
  for (const auto& owner : owners) waiting.push_back(world.wait_for_lock(owner));
  EXPECT_EQ(4U, world.get(GetLock{lock_named("1")})->waiters);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    world.release(held);
    held = waiting[i].reply().value();
    EXPECT_EQ(owners[i], world.get(GetLock{lock_named("1")})->owner);
    for (std::size_t later = i + 1; later < owners.size(); ++later) {
      EXPECT_FALSE(waiting[later].answered());
    }
  }
}

TEST(LockWaitingTest, ReleaseAndNextGrantAreOneRound) {
  World world;
  const LockGrant held = world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  const auto before = world.frame_count();
  // The newcomer's request reaches the engine together with the release, and finds the lock taken.
  Inbox<std::uint32_t> released;
  Inbox<std::optional<LockGrant>> newcomer;
  world.engine->put(release_of(held.token), released.callback());
  world.engine->put(acquire_by("c"), newcomer.callback());
  world.engine->hand_over();
  EXPECT_THAT(world.records(before), ElementsAre("LockReleased", "LockGranted"));
  EXPECT_TRUE(waiting.reply().has_value());
  EXPECT_FALSE(newcomer.reply().has_value());
}

TEST(LockWaitingTest, IsGrantedWhenTheLeaseExpires) {
  World world;
  world.acquire("a");
  auto waiting = world.wait_for_lock("b", "1", std::chrono::minutes(2));
  EXPECT_EQ(world.now() + Millis{60'001}, world.engine->run_due());
  world.pass(Millis{60'000});
  EXPECT_FALSE(waiting.answered());
  const auto before = world.frame_count();
  world.pass(Millis{1});
  EXPECT_TRUE(waiting.reply().has_value());
  EXPECT_EQ(std::chrono::minutes(1), waiting.reply()->remaining);
  EXPECT_THAT(world.records(before), ElementsAre("LockExpired", "LockGranted"));
}

TEST(LockWaitingTest, IsGrantedBeforeOneThatArrivesAfterTheExpiry) {
  World world;
  world.acquire("a");
  auto waiting = world.wait_for_lock("b", "1", std::chrono::minutes(2));
  world.advance(Millis{60'001});
  EXPECT_FALSE(world.get(acquire_by("c")).has_value());
  EXPECT_TRUE(waiting.reply().has_value());
}

TEST(LockWaitingTest, IsGrantedByForce) {
  World world;
  world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  EXPECT_TRUE(world.get(LockForce{lock_named("1")}));
  EXPECT_TRUE(waiting.reply().has_value());
}

TEST(LockWaitingTest, IsNotGrantedWhileHoldsAreLeft) {
  World world;
  const LockGrant held = world.acquire("a");
  world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  EXPECT_EQ(1U, world.release(held));
  EXPECT_FALSE(waiting.answered());
  EXPECT_EQ(0U, world.release(held));
  EXPECT_TRUE(waiting.reply().has_value());
}

TEST(LockWaitingTest, WaitersOfTheSameOwnerReenterWithIt) {
  World world;
  const LockGrant held = world.acquire("a");
  auto first = world.wait_for_lock("b");
  auto other = world.wait_for_lock("c");
  auto second = world.wait_for_lock("b");
  auto third = world.wait_for_lock("b");
  world.release(held);
  EXPECT_EQ(1U, first.reply()->holds);
  EXPECT_EQ(2U, second.reply()->holds);
  EXPECT_EQ(3U, third.reply()->holds);
  EXPECT_EQ(first.reply()->token, third.reply()->token);
  EXPECT_EQ(first.reply()->fence, third.reply()->fence);
  EXPECT_FALSE(other.answered());
  for (std::uint32_t left : {2U, 1U, 0U}) {
    EXPECT_EQ(left, world.release(*first.reply()));
  }
  EXPECT_TRUE(other.reply().has_value());
}

TEST(LockWaitingTest, AnotherUsersRequestIsNotTheSameOwner) {
  World world;
  const LockGrant held = world.acquire("a");
  LockAcquire by_user = acquire_by("b");
  by_user.user = "u";
  auto first = world.wait(by_user, Millis{1000});
  auto second = world.wait_for_lock("b");
  world.release(held);
  EXPECT_TRUE(first.answered());
  EXPECT_FALSE(second.answered());
}

TEST(LockWaitingTest, LocksOfOtherNamesDoNotServeIt) {
  World world;
  world.acquire("a");
  const LockGrant other = world.acquire("a", "2");
  auto waiting = world.wait_for_lock("b");
  world.release(other, "2");
  LockAcquire elsewhere = acquire_by("c");
  elsewhere.lock.space = "another-space";
  const LockGrant granted = world.get(elsewhere).value();
  LockGiveBack release = release_of(granted.token);
  release.lock.space = "another-space";
  EXPECT_EQ(0U, world.get(release));
  EXPECT_FALSE(waiting.answered());
}

TEST(LockWaitingTest, EndsWithNothingWhenItsTimeHasPassed) {
  World world;
  const LockGrant held = world.acquire("a");
  auto waiting = world.wait_for_lock("b", "1", Millis{100});
  EXPECT_EQ(world.now() + Millis{100}, world.engine->run_due());
  world.pass(Millis{99});
  EXPECT_FALSE(waiting.answered());
  world.pass(Millis{1});
  EXPECT_FALSE(waiting.reply().has_value());
  world.release(held);
  EXPECT_FALSE(world.is_held());
}

// etcd #9921: a lock given to one who no longer waited.
TEST(LockWaitingTest, ACancelledWaiterIsNeverGranted) {
  World world;
  const LockGrant held = world.acquire("a");
  auto gone = world.wait_for_lock("b");
  auto next = world.wait_for_lock("c");
  EXPECT_TRUE(world.engine->cancel(gone.ticket));
  EXPECT_FALSE(gone.reply().has_value());
  world.release(held);
  EXPECT_EQ("c", world.get(GetLock{lock_named("1")})->owner);
  EXPECT_TRUE(next.reply().has_value());
  EXPECT_EQ(1U, gone.size());
}

TEST(LockWaitingTest, ACancelBetweenGrantAndItsDurabilityComesTooLate) {
  World world;
  const LockGrant held = world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  world.journal.hold(true);
  Inbox<std::uint32_t> released;
  world.engine->ask(release_of(held.token), released.callback());
  EXPECT_FALSE(world.engine->cancel(waiting.ticket));
  world.journal.hold(false);
  EXPECT_TRUE(waiting.reply().has_value());
}

TEST(LockWaitingTest, AWaiterOfASessionThatWasLeftIsPassedOver) {
  World world;
  const LockGrant held = world.acquire("a");
  world.engine->join("s", Millis{10'000});
  auto gone = world.wait(bound_acquire_by("b", "s"), Millis{1000});
  auto next = world.wait_for_lock("c");
  world.engine->leave("s");
  world.release(held);
  EXPECT_FALSE(gone.answer().has_value() && gone.reply().has_value());
  EXPECT_TRUE(next.reply().has_value());
}

// --- request ids ---

TEST(LockWaitingTest, ARepeatedRequestTakesOverThePlaceAndTheOlderIsAnsweredNothing) {
  World world;
  const LockGrant held = world.acquire("a");
  auto older = world.wait(acquire_with_id("b", "r"), Millis{1000});
  auto behind = world.wait_for_lock("c");
  auto newer = world.wait(acquire_with_id("b", "r"), Millis{1000});
  EXPECT_FALSE(older.reply().has_value());
  EXPECT_FALSE(newer.answered());
  EXPECT_EQ(2U, world.get(GetLock{lock_named("1")})->waiters);
  world.release(held);
  EXPECT_EQ(1U, newer.reply()->holds);
  EXPECT_FALSE(behind.answered());
}

TEST(LockWaitingTest, ARepeatedRequestThatDoesNotWaitEndsTheOldersWait) {
  World world;
  const LockGrant held = world.acquire("a");
  auto older = world.wait(acquire_with_id("b", "r"), Millis{1000});
  EXPECT_FALSE(world.get(acquire_with_id("b", "r")).has_value());
  EXPECT_FALSE(older.reply().has_value());
  world.release(held);
  EXPECT_FALSE(world.is_held());
}

TEST(LockWaitingTest, AWaitingIdWithAnotherVerbOrArgumentIsInvalidAndTheOlderWaitsOn) {
  World world;
  const LockGrant held = world.acquire("a");
  auto older = world.wait(acquire_with_id("b", "r"), Millis{1000});
  EXPECT_EQ("INVALID", word(world.ask(acquire_with_id("c", "r"))));
  LockAcquire elsewhere = acquire_with_id("b", "r");
  elsewhere.lock.space = "another-space";
  EXPECT_EQ("INVALID", word(world.wait(elsewhere, Millis{1000}).answer()));
  LockGiveBack release = release_of(held.token);
  release.request_id = "r";
  EXPECT_EQ("INVALID", word(world.ask(release)));
  EXPECT_FALSE(older.answered());
  EXPECT_EQ("OK", word(world.release(held)));
  EXPECT_TRUE(older.reply().has_value());
}

TEST(LockWaitingTest, ARepeatAfterTheGrantIsGivenTheSameGrant) {
  World world;
  const LockGrant held = world.acquire("a");
  auto waiting = world.wait(acquire_with_id("b", "r"), Millis{1000});
  world.release(held);
  world.advance(Millis{10});
  const LockGrant again = world.get(acquire_with_id("b", "r")).value();
  EXPECT_EQ(waiting.reply()->token, again.token);
  EXPECT_EQ(1U, again.holds);
  EXPECT_EQ(Millis{59'990}, again.remaining);
}

TEST(LockWaitingTest, ARepeatWhoseGrantHasEndedIsAnsweredAsItsReleaseWouldBe) {
  World world;
  world.get(acquire_with_id("a", "r"));
  world.advance(Millis{60'001});
  EXPECT_EQ("EXPIRED", word(world.wait(acquire_with_id("a", "r"), Millis{1000}).answer()));
  const LockGrant second = world.get(acquire_with_id("a", "s")).value();
  world.release(second);
  EXPECT_EQ("NOTHELD", word(world.wait(acquire_with_id("a", "s"), Millis{1000}).answer()));
}

TEST(LockWaitingTest, OneFacesRequestIdsAreNotAnothers) {
  World world;
  world.acquire("a");
  auto lock = world.wait(acquire_with_id("b", "r"), Millis{1000});
  auto lease = world.wait(LeaseRequest{.worker = "w", .queues = {"q"}, .request_id = "r"}, Millis{1000});
  EXPECT_FALSE(lock.answered());
  EXPECT_FALSE(lease.answered());
}

// --- limits ---

TEST(LockWaitingTest, BeyondTheLimitOfWaitersForOneNameIsBackpressure) {
  World world(Settings{.waiters_max = 2});
  world.acquire("a");
  world.wait(acquire_with_id("b", "r"), Millis{1000});
  auto second = world.wait_for_lock("c");
  EXPECT_EQ("BACKPRESSURE", word(world.wait_for_lock("d").answer()));
  EXPECT_FALSE(world.wait(acquire_with_id("b", "r"), Millis{1000}).answered());
  EXPECT_TRUE(world.engine->cancel(second.ticket));
  EXPECT_FALSE(world.wait_for_lock("d").answered());
}

TEST(LockWaitingTest, AGrantThatMemoryRefusesIsToldToItsWaiter) {
  World world(Settings{.state_bytes_max = 1});
  // A lock is granted while memory is empty; its waiter then meets the limit that other work has filled.
  const LockGrant held = world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  world.release(held);
  ASSERT_TRUE(waiting.answered());
  EXPECT_TRUE(waiting.answer().has_value() || waiting.answer().error().code == ErrorCode::kBackpressure);
}

TEST(LockWaitingTest, NoWaiterIsServedTwice) {
  World world;
  LockGrant held = world.acquire("holder");
  std::vector<LockWaiting> waiting;
  std::vector<std::string> owners;
  for (int i = 0; i < 200; ++i) owners.push_back("o" + std::to_string(i % 20));
  for (const auto& owner : owners) waiting.push_back(world.wait_for_lock(owner));
  world.release(held);
  std::size_t served = 0;
  while (served < waiting.size()) {
    const auto lock = world.get(GetLock{lock_named("1")});
    ASSERT_TRUE(lock.has_value());
    EXPECT_EQ(10U, lock->holds);
    served += lock->holds;
    EXPECT_TRUE(world.get(LockForce{lock_named("1")}));
  }
  EXPECT_EQ(200U, served);
  for (const auto& one : waiting) {
    EXPECT_EQ(1U, one.size());
  }
}

}  // namespace
}  // namespace tenure
