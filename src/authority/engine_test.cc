// A request's way: nothing is answered before it is durable, one hand-over is one commit, and a journal that fails is
// the end.
#include "authority/engine.h"

#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;

TEST(EngineDurabilityTest, AnswersNothingBeforeItIsDurable) {
  World world;
  world.journal.hold(true);
  Inbox<Submitted> submitted;
  world.engine->ask(Submission{.queue = "q", .payload = "p"}, submitted.callback());
  EXPECT_FALSE(submitted.answered());
  world.journal.hold(false);
  EXPECT_TRUE(submitted.reply().created);
}

TEST(EngineDurabilityTest, AnswersNoReadBeforeWhatItSawIsDurable) {
  World world;
  world.journal.hold(true);
  Inbox<Submitted> submitted;
  Inbox<std::optional<TaskStatus>> seen;
  world.engine->ask(Submission{.queue = "q", .payload = "p", .id = "t"}, submitted.callback());
  world.engine->ask(GetTask{"t"}, seen.callback());
  EXPECT_FALSE(seen.answered());
  world.journal.hold(false);
  EXPECT_EQ("t", seen.reply().value().task_id);
}

TEST(EngineDurabilityTest, AnswersARefusalOnlyWhenWhatItRestsOnIsDurable) {
  World world;
  world.journal.hold(true);
  Inbox<std::optional<LockGrant>> granted;
  Inbox<std::optional<LockGrant>> refused;
  world.engine->ask(acquire_by("a"), granted.callback());
  world.engine->ask(acquire_by("b"), refused.callback());
  EXPECT_FALSE(refused.answered());
  world.journal.hold(false);
  EXPECT_TRUE(granted.reply().has_value());
  EXPECT_FALSE(refused.reply().has_value());
}

struct Refusal {
  World world;
  LockGrant held = world.acquire("a");
  Inbox<std::optional<LockGrant>> refused;
};

TEST(EngineDurabilityTest, RefusesAtOnceALockWhoseGrantIsDurable) {
  Refusal it;
  it.world.journal.hold(true);
  it.world.engine->put(acquire_by("x", "another"), Inbox<std::optional<LockGrant>>().callback());
  it.world.engine->put(acquire_by("b"), it.refused.callback());
  EXPECT_FALSE(it.refused.reply().has_value());
}

TEST(EngineDurabilityTest, RefusesALockOnlyWhenItsGrantIsDurable) {
  Refusal it;
  it.world.journal.hold(true);
  it.world.engine->put(release_of(it.held.token), Inbox<std::uint32_t>().callback());
  it.world.engine->put(acquire_by("c"), Inbox<std::optional<LockGrant>>().callback());
  it.world.engine->put(acquire_by("b"), it.refused.callback());
  it.world.engine->hand_over();
  EXPECT_FALSE(it.refused.answered());
  it.world.journal.hold(false);
  EXPECT_FALSE(it.refused.reply().has_value());
}

TEST(EngineDurabilityTest, RefusesAtOnceWhenAGrantHasBecomeDurable) {
  Refusal it;
  it.world.journal.hold(true);
  Inbox<std::optional<LockGrant>> granted;
  it.world.engine->ask(acquire_by("c", "2"), granted.callback());
  it.world.journal.hold(false);
  it.world.journal.hold(true);
  it.world.engine->put(acquire_by("x", "another"), Inbox<std::optional<LockGrant>>().callback());
  it.world.engine->put(acquire_by("b", "2"), it.refused.callback());
  EXPECT_FALSE(it.refused.reply().has_value());
}

TEST(EngineDurabilityTest, RefusesALockOnlyWhenItsExtensionIsDurable) {
  Refusal it;
  it.world.journal.hold(true);
  it.world.advance(Millis{10});
  it.world.engine->put(LockExtension{.lock = lock_named("1"), .token = it.held.token},
                       Inbox<LockExtended>().callback());
  it.world.engine->put(acquire_by("b"), it.refused.callback());
  EXPECT_FALSE(it.refused.answered());
}

TEST(EngineDurabilityTest, RefusesALockOnlyWhenItsReentryIsDurable) {
  Refusal it;
  it.world.journal.hold(true);
  it.world.engine->put(acquire_by("a"), Inbox<std::optional<LockGrant>>().callback());
  it.world.engine->put(acquire_by("b"), it.refused.callback());
  EXPECT_FALSE(it.refused.answered());
}

TEST(EngineDurabilityTest, ARequestWithAnIdIsRefusedWithTheOthers) {
  Refusal it;
  it.world.journal.hold(true);
  it.world.engine->put(acquire_by("x", "another"), Inbox<std::optional<LockGrant>>().callback());
  LockAcquire with_id = acquire_by("b");
  with_id.request_id = "r";
  it.world.engine->put(with_id, it.refused.callback());
  EXPECT_FALSE(it.refused.answered());
}

TEST(EngineDurabilityTest, AnswersAtOnceWhatRestsOnNothingThatIsOutstanding) {
  World world;
  world.submit("q");
  world.journal.hold(true);
  EXPECT_EQ(1U, world.get(ListQueues{}).queues.size());
  EXPECT_EQ("INVALID", word(world.ask(Submission{.queue = "", .payload = "p"})));
}

TEST(EngineDurabilityTest, WhoFollowsSeesFramesWhenTheyAreDurable) {
  World world;
  world.submit("before");
  const std::uint64_t since = world.engine->follow();
  EXPECT_TRUE(world.engine->take_durable().empty());
  world.journal.hold(true);
  Inbox<Submitted> submitted;
  world.engine->ask(Submission{.queue = "q", .payload = "p", .id = "t"}, submitted.callback());
  EXPECT_TRUE(world.engine->take_durable().empty());
  world.journal.hold(false);
  const auto frames = world.engine->take_durable();
  ASSERT_EQ(1U, frames.size());
  EXPECT_EQ(since + 1, frames.front().sequence);
  EXPECT_EQ(kStart, frames.front().stamp);
  ByteReader in(frames.front().payload);
  EXPECT_EQ("TaskCreated", name_of(decode(in).value()));
  EXPECT_TRUE(world.engine->take_durable().empty());
  world.submit("q");
  world.engine->unfollow();
  world.submit("q");
  EXPECT_TRUE(world.engine->take_durable().empty());
}

TEST(EngineDurabilityTest, TellsAWaiterOfItsGrantOnlyWhenItIsDurable) {
  World world;
  const LockGrant first = world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  world.journal.hold(true);
  Inbox<std::uint32_t> released;
  world.engine->ask(release_of(first.token), released.callback());
  EXPECT_FALSE(waiting.answered());
  EXPECT_FALSE(released.answered());
  world.journal.hold(false);
  EXPECT_TRUE(waiting.reply().has_value());
  EXPECT_EQ(0U, released.reply());
}

TEST(EngineDurabilityTest, EndsAWaitOnlyWhenWhatItSawIsDurable) {
  World world;
  world.journal.hold(true);
  Inbox<std::optional<LockGrant>> granted;
  world.engine->ask(acquire_by("a"), granted.callback());
  auto waiting = world.wait_for_lock("b", "1", Millis{10});
  world.advance(Millis{10});
  world.engine->run_due();
  EXPECT_FALSE(waiting.answered());
  world.journal.hold(false);
  EXPECT_FALSE(waiting.reply().has_value());
}

TEST(EngineDurabilityTest, AnswersInTheOrderInWhichItWasAsked) {
  World world;
  world.journal.hold(true);
  std::vector<int> order;
  const auto note = [&](int number) { return [&order, number](const auto& /*reply*/) { order.push_back(number); }; };
  world.engine->ask(Submission{.queue = "q", .payload = "p", .id = "t"}, note(1));
  world.engine->ask(GetTask{"t"}, note(2));
  world.engine->ask(acquire_by("a"), note(3));
  world.engine->ask(WorkRequest{"d", Offset{1}}, note(4));
  world.engine->ask(Submission{.queue = "", .payload = "p"}, note(5));
  world.engine->ask(LeaseRequest{.worker = "w", .queues = {"q"}}, note(6));
  EXPECT_TRUE(order.empty());
  world.journal.hold(false);
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(EngineHandOverTest, ManyRequestsAreOneCommit) {
  const ManualClock clock(kStart);
  SeededEntropy entropy{1};
  CountingJournal journal;
  auto engine = Engine::start({}, {clock, entropy, journal}).value();
  std::vector<Inbox<Submitted>> inboxes(100);
  for (auto& inbox : inboxes) engine->put(Submission{.queue = "q", .payload = "p"}, inbox.callback());
  EXPECT_EQ(100U, journal.appends);
  EXPECT_EQ(0, journal.commits);
  for (const auto& inbox : inboxes) {
    EXPECT_FALSE(inbox.answered());
  }
  engine->hand_over();
  EXPECT_EQ(1, journal.commits);
  for (const auto& inbox : inboxes) {
    EXPECT_TRUE(inbox.reply().created);
  }
}

TEST(EngineHandOverTest, WhatChangesNothingIsNoCommit) {
  const ManualClock clock(kStart);
  SeededEntropy entropy{1};
  CountingJournal journal;
  auto engine = Engine::start({}, {clock, entropy, journal}).value();
  Inbox<std::optional<TaskStatus>> nothing;
  Inbox<std::vector<TaskLease>> none;
  engine->ask(GetTask{"t"}, nothing.callback());
  engine->ask(LeaseRequest{.worker = "w", .queues = {"q"}}, none.callback());
  engine->run_due();
  engine->hand_over();
  EXPECT_FALSE(nothing.reply().has_value());
  EXPECT_TRUE(none.reply().empty());
  EXPECT_EQ(0U, journal.appends);
  EXPECT_EQ(0, journal.commits);
}

TEST(EngineHandOverTest, OneDecisionIsOneFrame) {
  World world;
  for (int i = 0; i < 3; ++i) world.submit("q");
  const auto before = world.frame_count();
  EXPECT_EQ(3U, world.lease("w", {"q"}, 10).size());
  EXPECT_THAT(world.frames(before), ElementsAre(ElementsAre("LeaseGranted", "LeaseGranted", "LeaseGranted")));
}

// --- a journal that fails ---

TEST(EngineFailureTest, AnswersUnavailableToWhatIsPending) {
  World world;
  world.journal.hold(true);
  Inbox<Submitted> submitted;
  Inbox<std::optional<TaskStatus>> seen;
  world.engine->ask(Submission{.queue = "q", .payload = "p", .id = "t"}, submitted.callback());
  world.engine->ask(GetTask{"t"}, seen.callback());
  world.journal.fail("no space left");
  EXPECT_EQ("UNAVAILABLE", word(submitted.answer()));
  EXPECT_EQ("UNAVAILABLE", word(seen.answer()));
  EXPECT_THAT(submitted.answer().error().message, ::testing::HasSubstr("no space left"));
}

TEST(EngineFailureTest, AnswersUnavailableToThoseWhoWait) {
  World world;
  const std::string task = world.submit("q");
  world.lease("w", {"q"});
  world.acquire("a");
  auto lease = world.wait_for_task("w", {"q"});
  auto lock = world.wait_for_lock("b");
  auto end = world.wait(AwaitTask{task}, Millis{1000});
  world.journal.fail("gone");
  EXPECT_EQ("UNAVAILABLE", word(lease.answer()));
  EXPECT_EQ("UNAVAILABLE", word(lock.answer()));
  EXPECT_EQ("UNAVAILABLE", word(end.answer()));
  EXPECT_FALSE(world.engine->cancel(lease.ticket));
}

TEST(EngineFailureTest, AnswersUnavailableForGoodAndWritesNothingMore) {
  World world;
  const LockGrant held = world.acquire("a");
  world.journal.fail("gone");
  const auto frames = world.frame_count();
  EXPECT_EQ("UNAVAILABLE", word(world.ask(Submission{.queue = "q", .payload = "p"})));
  EXPECT_EQ("UNAVAILABLE", word(world.ask(WorkRequest{"d", Offset{1}})));
  EXPECT_EQ("UNAVAILABLE", word(world.release(held)));
  EXPECT_EQ("UNAVAILABLE", word(world.ask(GetTask{"t"})));
  EXPECT_EQ("UNAVAILABLE", word(world.wait_for_lock("b").answer()));
  EXPECT_EQ(0U, world.wait_for_task("w", {"q"}).ticket);
  world.engine->take_digest();
  world.engine->raise_fence();
  world.advance(std::chrono::hours(2));
  EXPECT_EQ(kNever, world.engine->run_due());
  EXPECT_EQ(frames, world.frame_count());
}

TEST(EngineFailureTest, KeepsAnswersThatWereDurableBefore) {
  World world;
  Inbox<Submitted> submitted;
  world.engine->ask(Submission{.queue = "q", .payload = "p"}, submitted.callback());
  world.journal.fail("gone");
  EXPECT_TRUE(submitted.reply().created);
}

TEST(EngineFailureTest, RefusesSessionsToo) {
  World world;
  ASSERT_EQ("OK", word(world.engine->join("s", {})));
  world.journal.fail("gone");
  EXPECT_EQ("UNAVAILABLE", word(world.engine->join("t", {})));
  EXPECT_EQ("UNAVAILABLE", word(world.engine->leave("s")));
}

TEST(EngineFailureTest, TellsOfItOnceAndAfterWhatWasPendingIsAnswered) {
  World world;
  world.journal.hold(true);
  Inbox<Submitted> submitted;
  world.engine->ask(Submission{.queue = "q", .payload = "p"}, submitted.callback());
  Names told;
  world.engine->on_failure([&](const Failure& failure) {
    EXPECT_TRUE(submitted.answered());
    told.push_back(failure.message);
  });
  EXPECT_THAT(told, ::testing::IsEmpty());
  world.journal.fail("no space left");
  EXPECT_THAT(told, ::testing::ElementsAre(::testing::HasSubstr("no space left")));
  world.ask(GetTask{"t"});
  EXPECT_EQ(1U, told.size());
}

TEST(EngineFailureTest, TellsOfItAtOnceIfItWasBefore) {
  World world;
  world.journal.fail("gone");
  int told = 0;
  world.engine->on_failure([&](const Failure& failure) {
    EXPECT_EQ(ErrorCode::kUnavailable, failure.code);
    ++told;
  });
  EXPECT_EQ(1, told);
}

// --- callbacks that call back ---

TEST(EngineCallbackTest, ACallbackMayAskAgain) {
  World world;
  Inbox<std::vector<TaskLease>> leased;
  Inbox<Report> completed;
  const auto complete = [&](Result<std::vector<TaskLease>> leases) {
    const TaskLease& lease = leases->at(0);
    world.engine->ask(Completion{lease.task_id, lease.lease_id}, completed.callback());
  };
  world.engine->ask(Submission{.queue = "q", .payload = "p"}, [&](const Result<Submitted>& submitted) {
    ASSERT_TRUE(submitted.has_value());
    world.engine->ask(LeaseRequest{.worker = "w", .queues = {"q"}}, complete);
  });
  EXPECT_EQ(Report::kCommitted, completed.reply());
}

TEST(EngineCallbackTest, CallbacksThatAskAgainLoseNoAnswer) {
  World world;
  world.journal.hold(true);
  std::vector<std::string> answered;
  for (const std::string_view id : {"a", "b", "c"}) {
    world.engine->ask(Submission{.queue = "q", .payload = "p", .id = id}, [&](Result<Submitted> first) {
      answered.push_back(first->task_id);
      world.engine->ask(Submission{.queue = "q", .payload = "p", .id = first->task_id + "2"},
                        [&](Result<Submitted> second) { answered.push_back(second->task_id); });
    });
  }
  world.journal.hold(false);
  EXPECT_THAT(answered, ::testing::UnorderedElementsAre("a", "a2", "b", "b2", "c", "c2"));
}

TEST(EngineCallbackTest, ACallbackMayCancelAnothersWait) {
  World world;
  world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  bool cancelled = false;
  world.engine->ask(GetLock{lock_named("1")},
                    [&](const auto& /*lock*/) { cancelled = world.engine->cancel(waiting.ticket); });
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(waiting.reply().has_value());
}

TEST(EngineCallbackTest, ACallbackMayWait) {
  World world;
  LeaseWaiting waiting;
  world.engine->ask(GetTask{"t"}, [&](const auto& /*task*/) {
    waiting.ticket = world.engine->wait(LeaseRequest{.worker = "w", .queues = {"q"}}, Millis{1000}, waiting.callback());
  });
  EXPECT_FALSE(waiting.answered());
  world.submit("q");
  EXPECT_EQ(1U, waiting.reply().size());
}

// A client that answers each grant with the next request, as a server's connection does.
TEST(EngineCallbackTest, AWaiterServedInACallbackMayGiveBackInsideIt) {
  World world;
  const LockGrant first = world.acquire("a");
  int rounds = 0;
  for (const std::string_view owner : {"b", "c", "d"}) {
    world.engine->wait(acquire_by(owner), Millis{1000}, [&](Result<std::optional<LockGrant>> grant) {
      ++rounds;
      world.engine->ask(release_of((*grant)->token), [](const auto& /*holds*/) {});
    });
  }
  EXPECT_EQ("OK", word(world.release(first)));
  EXPECT_EQ(3, rounds);
  EXPECT_FALSE(world.is_held());
}

// --- what tests and tools see ---

TEST(EngineObserverTest, SeesEveryRecordWithTheStateAfterIt) {
  World world;
  std::vector<std::string> seen;
  world.engine->observe([&](const State& state, Instant stamp, std::string_view record) {
    EXPECT_EQ(kStart, stamp);
    EXPECT_EQ(state.digest(), state.recompute_digest());
    for (const auto& name : World::names_in(record)) seen.push_back(name);
  });
  world.submit("q");
  world.lease("w", {"q"});
  EXPECT_THAT(seen, ElementsAre("TaskCreated", "LeaseGranted"));
  EXPECT_EQ(seen, world.records());
}

TEST(EngineFenceTest, IsRaisedByTheCounterWhenTheWallClockIsLow) {
  World world;  // the wall clock shows 1,000,000 s: a million times 2^22 is below 2^32
  world.restart(Instant{1'000'000});
  world.acquire("a");
  world.engine->raise_fence();
  const LockGrant grant = world.acquire("b", "2");
  EXPECT_EQ(1 + (std::uint64_t{1} << 32) + 1, grant.fence->value);
}

TEST(EngineFenceTest, IsRaisedByTheWallClockWhenThatIsMore) {
  World world;
  world.restart(Instant{1'700'000'000'999});
  world.engine->raise_fence();
  EXPECT_EQ((std::uint64_t{1'700'000'000} << 22) + 1, world.acquire("a").fence->value);
  EXPECT_THAT(world.records(), ElementsAre("FenceRaised", "LockGranted"));
}

TEST(EngineFenceTest, RisesAgainEachTime) {
  World world;
  world.restart(Instant{1'700'000'000'000});
  world.engine->raise_fence();
  world.engine->raise_fence();
  EXPECT_EQ((std::uint64_t{1'700'000'000} << 22) + (std::uint64_t{1} << 32) + 1, world.acquire("a").fence->value);
}

TEST(EngineDigestTest, IsWrittenAndComparedByEveryReplay) {
  World world;
  world.submit("q");
  world.engine->take_digest();
  EXPECT_THAT(world.records(), ElementsAre("TaskCreated", "DigestTaken"));
  world.restart();
  EXPECT_EQ(1U, world.get(ListQueues{}).queues.at(0).waiting);
}

}  // namespace
}  // namespace tenure
