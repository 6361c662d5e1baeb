// No critical section does more than a bounded piece of work; what is left is due at once, and nobody is overtaken by
// it. And how a round ends: what is committed, and where answers are given.
#include <algorithm>
#include <functional>

#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::HasSubstr;

constexpr int kMany = 200;  // more than any slice of those who are served

template <class Reply>
int answered_of(const std::vector<Waiting<Reply>>& all) {
  return static_cast<int>(std::count_if(all.begin(), all.end(), [](const auto& one) { return one.answered(); }));
}

std::vector<LeaseWaiting> many_workers(World& world) {
  std::vector<LeaseWaiting> workers;
  for (int i = 0; i < kMany; ++i) workers.push_back(world.wait_for_task("w" + std::to_string(i), {"q"}));
  return workers;
}

TEST(BoundsTest, AResumedQueueServesThoseWhoWaitInSlices) {
  World world;
  world.get(QueuePause{"q", true});
  for (int i = 0; i < kMany; ++i) world.submit("q", std::to_string(i));
  const auto workers = many_workers(world);
  world.get(QueuePause{"q", false});
  const int at_first = answered_of(workers);
  EXPECT_GT(at_first, 0);
  EXPECT_LT(at_first, kMany);
  world.pass(Millis{0});
  ASSERT_EQ(kMany, answered_of(workers));
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(std::to_string(i), workers[static_cast<std::size_t>(i)].reply().at(0).payload);
  }
}

// Those of one owner are served one after the other by re-entry; time may pass between two slices of them.
TEST(BoundsTest, ALockThatExpiresBetweenTwoSlicesIsServedAnew) {
  World world;
  const LockGrant grant = world.acquire("other");
  std::vector<LockWaiting> waiting;
  for (int i = 0; i < kMany; ++i) {
    LockAcquire request = acquire_by("svc");
    request.lease = Millis{5};
    waiting.push_back(world.wait(request, std::chrono::minutes(1)));
  }
  ASSERT_TRUE(world.release(grant));
  ASSERT_LT(answered_of(waiting), kMany);
  for (int i = 0; i < kMany && answered_of(waiting) < kMany; ++i) world.pass(Millis{6});
  EXPECT_EQ(kMany, answered_of(waiting));
  for (const LockWaiting& one : waiting) EXPECT_TRUE(one.reply().has_value());
}

TEST(BoundsTest, ManyGrantsForOneWhoWaitsCountAsMany) {
  World world;
  world.get(QueuePause{"q", true});
  for (int i = 0; i < 10 * kMany; ++i) world.submit("q");
  std::vector<LeaseWaiting> workers;
  for (int i = 0; i < 10; ++i) {
    workers.push_back(
        world.wait(LeaseRequest{.worker = "w", .queues = {"q"}, .count = kMany}, std::chrono::minutes(1)));
  }
  world.get(QueuePause{"q", false});
  EXPECT_EQ(1, answered_of(workers));
  world.pass(Millis{0});
  EXPECT_EQ(10, answered_of(workers));
}

TEST(BoundsTest, ManyExtendedLeasesAreLookedAtInPieces) {
  World world;
  std::vector<LockGrant> grants;
  for (int i = 0; i < 1000; ++i) grants.push_back(world.acquire("o", std::to_string(i)));
  world.advance(Millis{1000});
  for (int i = 1; i < 1000; ++i) {
    world.get(LockExtension{.lock = lock_named(std::to_string(i)), .token = grants[static_cast<std::size_t>(i)].token});
  }
  world.advance(grants[0].remaining - Millis{500});
  EXPECT_LE(world.engine->run_due(), world.now());
  world.pass(Millis{0});
  EXPECT_FALSE(world.is_held("0"));
  EXPECT_TRUE(world.is_held("999"));
}

// Nothing that time asks of finished work keeps those who wait from their answer.
TEST(BoundsTest, AWaitEndsBeforeWhatHasEndedIsForgotten) {
  World world(Settings{.retention_time = std::chrono::seconds(1)});
  for (int i = 0; i < 1000; ++i) {
    const std::string task = world.submit("q");
    world.get(TaskKill{task, "no"});
  }
  auto worker = world.wait_for_task("w", {"q"}, std::chrono::seconds(5));
  world.advance(std::chrono::seconds(5));
  world.engine->run_due();
  EXPECT_TRUE(worker.answered());
}

TEST(BoundsTest, APollOfEmptyQueuesLeavesNothingToServe) {
  World world;
  const auto worker = world.wait_for_task("w1", {"a", "b", "c"});
  EXPECT_TRUE(world.lease("w2", {"a", "b", "c"}).empty());
  EXPECT_GT(world.engine->run_due(), world.now());
}

TEST(BoundsTest, NothingIsAnsweredButUnavailableOnceItIsClosed) {
  World world;
  world.engine->close();
  EXPECT_EQ("UNAVAILABLE", word(world.ask(Submission{.queue = "q", .payload = "p"})));
  EXPECT_EQ("UNAVAILABLE", word(world.ask(GetLock{lock_named("1")})));
  auto worker = world.wait_for_task("w", {"q"});
  EXPECT_EQ(0U, worker.ticket);
  EXPECT_EQ("UNAVAILABLE", word(worker.answer()));
}

TEST(BoundsTest, SettingsHaveLimits) {
  const ManualClock clock(kStart);
  SeededEntropy entropy(1);
  MemoryJournal journal(MemoryJournal::Keep::kNothing);
  const auto why_not = [&](const Settings& settings) {
    const auto engine = Engine::start(settings, {clock, entropy, journal});
    return engine ? "" : engine.error().message;
  };
  EXPECT_EQ("", why_not({}));
  EXPECT_THAT(why_not({.retention_time = Millis{-1}}), HasSubstr("retention time: expected 0 to"));
  EXPECT_THAT(why_not({.payload_bytes_max = std::uint64_t{1} << 30}), HasSubstr("payload bytes max: expected 0 to"));
  EXPECT_THAT(why_not({.payload_bytes_max = ~std::uint64_t{0}}), HasSubstr("payload bytes max: expected 0 to"));
}

TEST(BoundsTest, WhatIsLeftToServeIsDueAtOnce) {
  World world;
  world.get(QueuePause{"q", true});
  for (int i = 0; i < kMany; ++i) world.submit("q");
  const auto workers = many_workers(world);
  int woken = 0;
  world.engine->on_earlier_due([&] { ++woken; });
  world.engine->run_due();
  world.get(QueuePause{"q", false});
  EXPECT_EQ(1, woken);
  EXPECT_EQ(world.now(), world.engine->run_due());
}

TEST(BoundsTest, NobodyOvertakesThoseStillToBeServed) {
  World world;
  world.get(QueuePause{"q", true});
  for (int i = 0; i < 3 * kMany; ++i) world.submit("q", std::to_string(i));
  std::vector<LeaseWaiting> workers;
  for (int i = 0; i < 3 * kMany; ++i) workers.push_back(world.wait_for_task("w", {"q"}));
  world.get(QueuePause{"q", false});
  ASSERT_LT(answered_of(workers), 3 * kMany - 100);
  EXPECT_TRUE(world.lease("late", {"q"}).empty());
  LeaseWaiting last = world.wait_for_task("last", {"q"});
  EXPECT_FALSE(last.answered());
  world.pass(Millis{0});
  EXPECT_EQ(3 * kMany, answered_of(workers));
  EXPECT_FALSE(last.answered());
  world.submit("q", "one more");
  EXPECT_EQ("one more", last.reply().at(0).payload);
}

TEST(BoundsTest, ARepeatedLeaseIsAnsweredThoughOthersAreStillToBeServed) {
  World world;
  world.submit("q", "mine");
  const LeaseRequest mine{.worker = "w", .queues = {"q"}, .count = 1, .request_id = "r"};
  const std::string lease_id = world.get(mine).at(0).lease_id;
  world.get(QueuePause{"q", true});
  for (int i = 0; i < 2 * kMany; ++i) world.submit("q");
  std::vector<LeaseWaiting> workers;
  for (int i = 0; i < 2 * kMany; ++i) workers.push_back(world.wait_for_task("w", {"q"}));
  world.get(QueuePause{"q", false});
  ASSERT_LT(answered_of(workers), 2 * kMany - 100);
  EXPECT_EQ(lease_id, world.get(mine).at(0).lease_id);
}

TEST(BoundsTest, ATasksEndIsToldInSlices) {
  World world;
  const std::string task = world.submit("q");
  std::vector<TaskWaiting> waiting;
  for (int i = 0; i < kMany; ++i) waiting.push_back(world.wait(AwaitTask{task}, Millis{60'000}));
  world.get(TaskKill{task, "enough"});
  EXPECT_LT(answered_of(waiting), kMany);
  world.pass(Millis{0});
  ASSERT_EQ(kMany, answered_of(waiting));
  for (const auto& one : waiting) EXPECT_EQ(TaskState::kDead, one.reply().value().state);
}

TEST(BoundsTest, AnOwnersManyRequestsReenterInSlices) {
  World world;
  const LockGrant held = world.acquire("other");
  std::vector<LockWaiting> waiting;
  for (int i = 0; i < kMany; ++i) waiting.push_back(world.wait_for_lock("mine"));
  LockWaiting next = world.wait_for_lock("third");
  world.release(held);
  EXPECT_LT(answered_of(waiting), kMany);
  world.pass(Millis{0});
  ASSERT_EQ(kMany, answered_of(waiting));
  for (int i = 0; i < kMany; ++i) {
    const auto& grant = waiting[static_cast<std::size_t>(i)].reply().value();
    EXPECT_EQ(static_cast<std::uint32_t>(i + 1), grant.holds);
    EXPECT_EQ(waiting[0].reply()->token, grant.token);
  }
  EXPECT_FALSE(next.answered());
}

TEST(BoundsTest, NobodyOvertakesThoseWhoWaitForALock) {
  World world;
  const LockGrant held = world.acquire("other");
  // They are all refused at their turn: that takes more than one slice.
  world.engine->join("gone", Millis{0});
  std::vector<LockWaiting> refused;
  for (int i = 0; i < kMany; ++i) {
    refused.push_back(world.wait(bound_acquire_by("b" + std::to_string(i), "gone"), Millis{60'000}));
  }
  world.engine->leave("gone");
  LockWaiting first = world.wait_for_lock("first");
  world.release(held);
  ASSERT_LT(answered_of(refused), kMany - 100);
  EXPECT_FALSE(world.get(acquire_by("late")).has_value());
  world.pass(Millis{0});
  EXPECT_EQ(kMany, answered_of(refused));
  EXPECT_TRUE(first.reply().has_value());
}

TEST(BoundsTest, OneAnswerCarriesABoundedPayload) {
  World world;
  const std::string large(700 << 10, 'x');
  for (int i = 0; i < 3; ++i) world.submit("q", large);
  EXPECT_EQ(2U, world.lease("w", {"q"}, 10).size());
  EXPECT_EQ(1U, world.lease("w", {"q"}, 10).size());
}

TEST(BoundsTest, ARequestExpiresNoMoreThanASlice) {
  World world;
  for (int i = 0; i < 300; ++i) world.get(Submission{.queue = "q", .payload = "p", .attempts = 1});
  ASSERT_EQ(300U, world.lease("w", {"q"}, 1000).size());
  world.advance(Millis{30'001});
  const auto before = world.frame_count();
  EXPECT_TRUE(world.lease("w", {"q"}).empty());
  EXPECT_EQ(256U, world.frame_count() - before);
  world.pass(Millis{0});
  EXPECT_EQ(300U, world.frame_count() - before);
}

TEST(BoundsTest, ASessionWithManyLocksIsEndedInSlicesBeforeItBeginsAnew) {
  World world;
  world.engine->join("s", Millis{500});
  for (int i = 0; i < 300; ++i) world.get(bound_acquire_by("a", "s", std::to_string(i)));
  world.engine->leave("s");
  world.advance(Millis{500});
  const auto refused = world.engine->join("s", {});
  EXPECT_EQ("BACKPRESSURE", word(refused));
  EXPECT_THAT(why(refused), HasSubstr("still ending"));
  EXPECT_EQ("BACKPRESSURE", word(world.engine->join("s", {})));
  EXPECT_EQ("OK", word(world.engine->join("s", {})));
  EXPECT_EQ(0U, world.engine->inspect([](const State& state) { return state.locks().locks(); }));
}

TEST(BoundsTest, WhatWouldBeNewIsRefusedWhenMemoryIsFull) {
  World world(Settings{.state_bytes_max = 1});
  world.submit("known");
  const auto before = world.frame_count();
  EXPECT_EQ("BACKPRESSURE", word(world.ask(QueuePause{"unknown", true})));
  EXPECT_EQ("BACKPRESSURE", word(world.ask(WorkTrim{"unknown", Offset{5}})));
  EXPECT_EQ(before, world.frame_count());
  EXPECT_EQ("OK", word(world.ask(QueuePause{"known", true})));
  EXPECT_EQ("OK", word(world.ask(QueuePause{"known", false})));
}

TEST(BoundsTest, WhatWouldBeNewIsRefusedWhenTheJournalIsFull) {
  const ManualClock clock(kStart);
  SeededEntropy entropy(1);
  CountingJournal journal;
  const auto engine = Engine::start({}, {clock, entropy, journal}).value();
  const auto ask = [&]<class Request>(const Request& request) {
    Inbox<ReplyOf<Request>> inbox;
    engine->ask(request, inbox.callback());
    return inbox.answer();
  };
  ASSERT_EQ("OK", word(ask(Submission{.queue = "q", .payload = "p", .id = "t"})));
  const std::string lease = ask(LeaseRequest{.worker = "w", .queues = {"q"}}).value().at(0).lease_id;
  const std::string token = ask(acquire_by("a")).value()->token;
  journal.room = false;
  const auto refused = ask(Submission{.queue = "q", .payload = "p"});
  EXPECT_EQ("BACKPRESSURE", word(refused));
  EXPECT_THAT(why(refused), HasSubstr("found it full"));
  EXPECT_EQ("BACKPRESSURE", word(ask(acquire_by("a", "2"))));
  EXPECT_EQ("BACKPRESSURE", word(ask(WorkRequest{"d", Offset{1}})));
  EXPECT_EQ("OK", word(ask(Completion{.task_id = "t", .lease_id = lease})));
  EXPECT_EQ("OK", word(ask(release_of(token))));
}

TEST(BoundsTest, APausedQueueCountsAsMemory) {
  World world;
  const auto bytes = [&] { return world.engine->inspect([](const State& state) { return state.bytes(); }); };
  EXPECT_EQ(0U, bytes());
  world.get(QueuePause{"q", true});
  EXPECT_GT(bytes(), 100U);
  world.get(QueuePause{"q", false});
  EXPECT_EQ(0U, bytes());
}

TEST(BoundsTest, ARepeatedBoundAcquireIsAnsweredAlsoWhenItsSessionIsGone) {
  World world;
  world.engine->join("s", {});
  LockAcquire acquire = bound_acquire_by("a", "s");
  acquire.request_id = "r";
  const std::string token = world.get(acquire)->token;
  EXPECT_EQ(token, world.get(acquire)->token);
  world.engine->leave("s");
  EXPECT_EQ("EXPIRED", word(world.ask(acquire)));
  acquire.request_id = "another";
  EXPECT_EQ("INVALID", word(world.ask(acquire)));
}

TEST(BoundsTest, EveryTenThousandFramesOneSaysWhatTheDigestIs) {
  World world;
  for (int i = 0; i < 9'999; ++i) world.get(WorkRequest{"d" + std::to_string(i), Offset{1}});
  EXPECT_EQ(Names{"WorkAcquired"}, world.records(9'998));
  world.submit("q");
  EXPECT_EQ((Names{"WorkAcquired", "TaskCreated", "DigestTaken"}), world.records(9'998));
  const Digest digest = world.digest();
  world.restart();
  EXPECT_EQ(digest, world.digest());
}

// --- how a round ends ---

TEST(RoundTest, CallbacksThatAskAgainDoNotNest) {
  World world;
  int asked = 0;
  int depth = 0;
  int deepest = 0;
  std::function<void()> ask_again = [&] {
    if (asked++ == 100'000) return;
    world.engine->ask(GetLock{lock_named("1")}, [&](const auto& /*reply*/) {
      deepest = std::max(deepest, ++depth);
      ask_again();
      --depth;
    });
  };
  ask_again();
  EXPECT_EQ(100'001, asked);
  EXPECT_EQ(1, deepest);
}

TEST(RoundTest, CallbacksOfOneEngineMayAskAnother) {
  World one;
  World other;
  int answers = 0;
  one.engine->ask(acquire_by("a"), [&](const auto& /*reply*/) {
    other.engine->ask(acquire_by("a"), [&](const auto& /*reply*/) {
      one.engine->ask(acquire_by("b", "2"), [&](const auto& reply) {
        EXPECT_TRUE(reply.value().has_value());
        ++answers;
      });
      ++answers;
    });
    EXPECT_EQ(1, answers);  // the other's has been given, this one's waits for us
    ++answers;
  });
  EXPECT_EQ(3, answers);
}

TEST(RoundTest, OnlyWhoeverPutHandsOver) {
  ManualClock clock(kStart);
  SeededEntropy entropy(1);
  CountingJournal journal(CountingJournal::kWhenTold);
  const auto engine = Engine::start({}, {clock, entropy, journal}).value();
  Inbox<std::optional<LockGrant>> first;
  Inbox<std::optional<LockGrant>> second;
  engine->ask(acquire_by("a"), first.callback());
  EXPECT_EQ(1, journal.commits);
  engine->put(acquire_by("b", "2"), second.callback());
  journal.report(1);
  EXPECT_TRUE(first.answered());
  EXPECT_FALSE(second.answered());
  EXPECT_EQ(1, journal.commits);
  engine->hand_over();
  EXPECT_EQ(2, journal.commits);
  journal.report(2);
  EXPECT_TRUE(second.answered());
}

}  // namespace
}  // namespace tenure
