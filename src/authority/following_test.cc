// Several engines on one journal: one leads, the others follow and take over.
#include <fmt/format.h>

#include "authority/shared_testing.h"
#include "authority/testing.h"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One machine of several: its own clock, its own engine, and its end of the journal.
struct Node {
  explicit Node(SharedMedium& medium, Instant wall = kStart) : medium_(medium), clock(wall), journal(medium) {
    engine = Engine::stand_by({}, {.clock = clock,
                                   .entropy = entropy,
                                   .journal = journal,
                                   .is_certain = [this] { return clock.boot() < certain_until; }})
                 .value();
  }

  SharedMedium& medium_;
  ManualClock clock;
  SeededEntropy entropy{1};
  SharedMemoryJournal journal;
  Millis certain_until = 24h;
  std::unique_ptr<Engine> engine;

  void follow() const { TENURE_CHECK(engine->catch_up().has_value(), "it cannot follow"); }
  void lead() {
    const auto led = engine->lead(medium_.elect());
    TENURE_CHECK(led.has_value(), "{}", led.error().message);
  }
  template <class Request>
  Result<ReplyOf<Request>> ask(const Request& request) {
    Inbox<ReplyOf<Request>> inbox;
    engine->ask(request, inbox.callback());
    return inbox.answer();
  }
  LockGrant acquire(std::string_view owner, std::string_view identifier = "1") {
    return ask(acquire_by(owner, identifier)).value().value();
  }
  [[nodiscard]] bool is_held(std::string_view identifier = "1") {
    return ask(GetLock{lock_named(identifier)}).value().has_value();
  }
  Instant pass(Millis by) {
    clock.advance(by);
    return engine->run_due();
  }
  [[nodiscard]] Digest digest() const {
    return engine->inspect([](const State& state) { return state.digest(); });
  }
  [[nodiscard]] Names records(std::uint64_t skip) const {
    Names names;
    for (const auto& frame : medium_.after(skip)) {
      for (const std::string& name : World::names_in(frame.payload)) names.push_back(name);
    }
    return names;
  }
};

class FollowingTest : public ::testing::Test {
 protected:
  SharedMedium medium_;
  Node first_{medium_};
  Node second_{medium_};
};

// --- standing by ---

TEST_F(FollowingTest, AStandByRefusesEverything) {
  EXPECT_EQ("UNAVAILABLE", word(first_.ask(acquire_by("o"))));
  EXPECT_EQ("UNAVAILABLE", word(first_.ask(GetTask{"t"})));
  EXPECT_EQ("UNAVAILABLE", word(first_.engine->join("s", 1s)));
  EXPECT_EQ("UNAVAILABLE", word(first_.engine->leave("s")));
  LockWaiting waiting;
  EXPECT_EQ(0U, first_.engine->wait(acquire_by("o"), 1min, waiting.callback()));
  EXPECT_EQ("UNAVAILABLE", word(waiting.answer()));
  Inbox<std::uint64_t> digest;
  first_.engine->take_digest(digest.callback());
  EXPECT_EQ("UNAVAILABLE", word(digest.answer()));
  EXPECT_FALSE(first_.engine->is_leading());
}

TEST_F(FollowingTest, AStandByTellsWhoLeads) {
  first_.engine->refuse_with({ErrorCode::kMoved, "0 other:1"});
  const auto refused = first_.ask(acquire_by("o"));
  EXPECT_EQ("MOVED", word(refused));
  EXPECT_EQ("0 other:1", why(refused));
}

TEST_F(FollowingTest, WhatIsAppendedIsTakenIn) {
  first_.lead();
  first_.acquire("o");
  second_.follow();
  EXPECT_EQ(first_.digest(), second_.digest());
  first_.acquire("o", "2");
  EXPECT_NE(first_.digest(), second_.digest());
  second_.follow();
  EXPECT_EQ(first_.digest(), second_.digest());
  EXPECT_EQ(medium_.size(), second_.engine->applied());
}

TEST_F(FollowingTest, AJournalThatCannotBeReadIsReadLater) {
  first_.lead();
  first_.acquire("o");
  medium_.cut_off(true);
  EXPECT_EQ("UNAVAILABLE", word(second_.engine->catch_up()));
  medium_.cut_off(false);
  second_.follow();
  EXPECT_EQ(first_.digest(), second_.digest());
}

TEST_F(FollowingTest, FramesThatAreGoneAndInNoSnapshotCannotBeReplayed) {
  second_.follow();
  first_.lead();
  first_.acquire("o");
  medium_.drop(1);
  EXPECT_EQ("INVALID", word(second_.engine->catch_up()));
}

TEST_F(FollowingTest, WhoeverListensIsToldOfFramesOfOthers) {
  first_.lead();
  second_.follow();
  EXPECT_EQ(0U, second_.engine->follow());
  first_.acquire("o");
  second_.follow();
  const auto frames = second_.engine->take_durable();
  ASSERT_EQ(1U, frames.size());
  EXPECT_THAT(World::names_in(frames.front().payload), ElementsAre("LockGranted"));
}

// --- nodes of several versions ---

TEST_F(FollowingTest, WhatANodeCouldNotReadIsNotWritten) {
  const std::uint64_t unknown = Record(record::QueuePaused{}).index();
  first_.engine->write_for(unknown, "b:1 (version 0.0.9)");
  first_.lead();
  const Digest before = first_.digest();
  const auto refused = first_.ask(QueuePause{.queue = "q"});
  EXPECT_EQ("UNAVAILABLE", word(refused));
  EXPECT_EQ("this needs QueuePaused, which node b:1 (version 0.0.9) does not know: upgrade it first", why(refused));
  EXPECT_EQ(before, first_.digest());
  EXPECT_EQ(0U, medium_.size());
  first_.acquire("o");
  EXPECT_THAT(first_.records(0), ElementsAre("LockGranted"));

  first_.engine->write_for(unknown + 1, "b:1 (version 0.1.0)");
  EXPECT_TRUE(first_.ask(QueuePause{.queue = "q"}).has_value());
  EXPECT_EQ("UNAVAILABLE", word(first_.ask(QueuePause{.queue = "q", .paused = false})));
  EXPECT_THAT(first_.records(1), ElementsAre("QueuePaused"));
}

TEST_F(FollowingTest, WhoeverWaitedForSomethingNewIsToldWhenItsTurnComes) {
  first_.lead();
  first_.acquire("o");
  LockWaiting waiting;
  EXPECT_NE(0U, first_.engine->wait(acquire_by("p"), 10min, waiting.callback()));
  first_.engine->write_for(Record(record::LockGranted{}).index(), "b:1");
  first_.pass(61s);  // the lease expires, which all know
  EXPECT_EQ("UNAVAILABLE", word(waiting.answer()));
}

TEST_F(FollowingTest, WhatANewerVersionHasWrittenEndsAnOlderOne) {
  medium_.append(medium_.elect(), {{kStart, std::string("\x46\x00", 2)}});  // type 70, with no fields
  const auto refused = second_.engine->catch_up();
  EXPECT_EQ("INVALID", word(refused));
  EXPECT_EQ("sequence number 1: unknown record type 70: a newer version has written it, upgrade this one",
            why(refused));
}

// --- taking over ---

TEST_F(FollowingTest, TheNextLeaderGoesOnWhereTheLastOneWas) {
  first_.lead();
  const LockGrant grant = first_.acquire("o");
  second_.follow();
  first_.acquire("o", "2");  // not seen before it was elected
  second_.lead();
  EXPECT_EQ(first_.digest(), second_.digest());
  EXPECT_EQ(0U, second_.ask(release_of(grant.token)).value());
  EXPECT_TRUE(second_.is_held("2"));
}

TEST_F(FollowingTest, FencesIncreaseFromOneLeaderToTheNext) {
  std::uint64_t last = 0;
  Node* const nodes[] = {&first_, &second_};
  for (int i = 0; i < 6; ++i) {
    Node& node = *nodes[i % 2];
    node.engine->depose("a test");
    node.follow();
    node.lead();
    const LockGrant grant = node.acquire("o", fmt::format("{}", i));
    EXPECT_GT(grant.fence.value().value, last);
    last = grant.fence->value;
  }
}

TEST_F(FollowingTest, ARepeatedRequestHasItsAnswerFromTheNextLeader) {
  LockAcquire request = acquire_by("o");
  request.request_id = "r";
  first_.lead();
  const LockGrant grant = first_.ask(request).value().value();
  second_.lead();
  EXPECT_EQ(grant.token, second_.ask(request).value().value().token);
}

TEST_F(FollowingTest, TimeGoesOnFromTheLastStampWhateverTheWallClockSays) {
  Node early(medium_, kStart + Millis{-1h});
  Node late(medium_, kStart + 1h);
  early.follow();
  late.follow();
  first_.lead();
  first_.acquire("o");
  early.follow();
  late.follow();
  for (Node* node : {&early, &late}) {
    node->clock.advance(20s);
    EXPECT_EQ(kStart + 20s, node->engine->now());
  }
  late.lead();
  EXPECT_TRUE(late.is_held());
  late.pass(40s);
  EXPECT_TRUE(late.is_held());
  late.pass(1ms);
  EXPECT_FALSE(late.is_held());
}

TEST_F(FollowingTest, SessionsHaveTheirGraceFromTheTakeOverOn) {
  first_.lead();
  ASSERT_TRUE(first_.engine->join("s", 10s).has_value());
  ASSERT_TRUE(first_.ask(bound_acquire_by("o", "s")).value().has_value());
  second_.follow();
  second_.clock.advance(30s);
  second_.lead();
  second_.pass(9s);
  EXPECT_TRUE(second_.is_held());
  second_.pass(1s);
  EXPECT_FALSE(second_.is_held());
}

TEST_F(FollowingTest, OnlyTheLeaderLetsThingsExpire) {
  first_.lead();
  first_.acquire("o");
  second_.follow();
  const std::uint64_t before = medium_.size();
  EXPECT_EQ(kNever, second_.pass(1h));
  EXPECT_EQ(before, medium_.size());
  first_.pass(1h);
  EXPECT_THAT(first_.records(before), ElementsAre("LockExpired"));
  second_.follow();
  EXPECT_EQ(first_.digest(), second_.digest());
}

TEST_F(FollowingTest, WhoeverDrivesTimeIsToldOfTheFirstThingDue) {
  first_.lead();
  first_.acquire("o");
  second_.engine->run_due();
  int told = 0;
  second_.engine->on_earlier_due([&] { ++told; });
  second_.follow();
  EXPECT_EQ(0, told);
  second_.lead();
  EXPECT_EQ(1, told);
}

// --- deposed ---

TEST_F(FollowingTest, ADeposedLeaderAnswersAllThatIsPending) {
  first_.lead();
  first_.acquire("o");
  LockWaiting lock;
  first_.engine->wait(acquire_by("p"), 1min, lock.callback());
  LeaseWaiting lease;
  first_.engine->wait(LeaseRequest{.worker = "w", .queues = {"q"}}, 1min, lease.callback());
  first_.journal.hold(true);
  Inbox<Submitted> submitted;
  first_.engine->ask(Submission{.queue = "other", .payload = "p"}, submitted.callback());
  EXPECT_FALSE(submitted.answered());
  first_.engine->refuse_with({ErrorCode::kMoved, "0 other:1"});
  first_.engine->depose("a test");
  EXPECT_EQ("UNAVAILABLE", word(lock.answer()));
  EXPECT_EQ("UNAVAILABLE", word(lease.answer()));
  EXPECT_EQ("UNAVAILABLE", word(submitted.answer()));  // not MOVED: it may have happened
  EXPECT_THAT(why(submitted.answer()), HasSubstr("may have happened: a test"));
  EXPECT_EQ("MOVED", word(first_.ask(acquire_by("o"))));
}

TEST_F(FollowingTest, AWaitGoesOnElsewhereWhenTheLeaderIsClosed) {
  first_.lead();
  first_.acquire("o");
  LockWaiting lock;
  first_.engine->wait(acquire_by("p"), 1min, lock.callback());
  first_.engine->close();
  EXPECT_EQ("UNAVAILABLE", word(lock.answer()));
}

TEST_F(FollowingTest, WhatWasNotDurableIsDropped) {
  first_.lead();
  first_.acquire("o");
  second_.follow();
  first_.journal.hold(true);
  Inbox<std::optional<LockGrant>> lost;
  first_.engine->ask(acquire_by("o", "2"), lost.callback());
  second_.lead();
  const LockGrant grant = second_.acquire("p", "2");
  first_.journal.hold(false);  // its append comes too late
  EXPECT_TRUE(first_.journal.is_deposed());
  EXPECT_EQ("UNAVAILABLE", word(lost.answer()));
  EXPECT_FALSE(first_.engine->is_leading());
  first_.engine->depose("the journal says so");
  first_.follow();
  EXPECT_EQ(second_.digest(), first_.digest());
  first_.lead();
  EXPECT_EQ(grant.fence, first_.ask(GetLock{lock_named("2")}).value().value().fence);
}

TEST_F(FollowingTest, TheNodeIsToldEachTimeThatTheJournalFails) {
  std::vector<std::string> told;
  first_.engine->on_failure([&](const Failure& failure) { told.push_back(failure.message); });
  for (int i = 0; i < 2; ++i) {
    first_.lead();
    medium_.elect();
    Inbox<std::optional<LockGrant>> lost;
    first_.engine->ask(acquire_by("o"), lost.callback());
    EXPECT_EQ("UNAVAILABLE", word(lost.answer()));
    first_.engine->depose("the journal says so");
    first_.follow();
  }
  ASSERT_EQ(2U, told.size());
  EXPECT_THAT(told.front(), HasSubstr("another was elected"));
}

TEST_F(FollowingTest, ATermThatEndedWithoutLossNeedsNoReplay) {
  first_.lead();
  first_.acquire("o");
  first_.engine->depose("it resigned");
  medium_.drop(1);  // a replay from the start would fail
  first_.follow();
  first_.lead();
  EXPECT_TRUE(first_.is_held());
}

TEST_F(FollowingTest, SessionsOfAPassedTermAreForgotten) {
  first_.lead();
  ASSERT_TRUE(first_.engine->join("s", 10s).has_value());
  first_.engine->depose("it resigned");
  first_.lead();
  EXPECT_EQ("INVALID", word(first_.ask(bound_acquire_by("o", "s"))));
}

TEST_F(FollowingTest, WhoeverListensIsNotToldOfWhatWasDropped) {
  first_.lead();
  first_.engine->follow();
  first_.acquire("o");
  first_.journal.hold(true);
  Inbox<std::optional<LockGrant>> lost;
  first_.engine->ask(acquire_by("o", "2"), lost.callback());
  second_.lead();
  second_.acquire("p", "3");
  first_.journal.hold(false);
  first_.engine->depose("the journal says so");
  first_.follow();
  second_.acquire("p", "4");
  first_.follow();
  std::vector<std::uint64_t> sequences;
  for (const auto& frame : first_.engine->take_durable()) sequences.push_back(frame.sequence);
  EXPECT_THAT(sequences, ElementsAre(1, 2, 3));
}

// --- certainty ---

TEST_F(FollowingTest, NothingIsAnsweredOnceLeadershipIsNotCertain) {
  first_.lead();
  first_.acquire("o");
  first_.certain_until = first_.clock.boot();
  Inbox<std::optional<LockStatus>> looked;
  first_.engine->ask(GetLock{lock_named("1")}, looked.callback());
  Inbox<std::optional<LockGrant>> refused;
  first_.engine->put(acquire_by("p"), refused.callback());
  first_.engine->hand_over();
  Inbox<std::optional<LockGrant>> granted;
  first_.engine->ask(acquire_by("p", "2"), granted.callback());
  const auto now = first_.engine->ask_now(GetLock{lock_named("1")}, [&] { return looked.callback(); });
  EXPECT_FALSE(now.has_value());
  first_.pass(1s);
  EXPECT_FALSE(looked.answered() || refused.answered() || granted.answered());
  first_.engine->depose("its time is over");
  EXPECT_EQ("UNAVAILABLE", word(refused.answer()));
  EXPECT_EQ("UNAVAILABLE", word(granted.answer()));
  EXPECT_EQ(2U, looked.size());
}

TEST_F(FollowingTest, WhatWasHeldBackIsGivenWhenLeadershipIsCertainAgain) {
  first_.lead();
  first_.certain_until = first_.clock.boot();
  Inbox<std::optional<LockGrant>> granted;
  first_.engine->ask(acquire_by("o"), granted.callback());
  first_.engine->go_on();
  EXPECT_FALSE(granted.answered());
  first_.certain_until = 24h;
  first_.engine->go_on();
  EXPECT_TRUE(granted.reply().has_value());
}

TEST_F(FollowingTest, AHostIsWokenForWhatWasHeldBack) {
  first_.lead();
  int woken = 0;
  first_.engine->on_ready([&] { ++woken; });
  first_.certain_until = first_.clock.boot();
  Inbox<std::optional<LockStatus>> looked;
  first_.engine->put(GetLock{lock_named("1")}, looked.callback());
  first_.engine->hand_over();
  woken = 0;
  first_.certain_until = 24h;
  first_.engine->go_on();
  EXPECT_EQ(1, woken);
  first_.engine->hand_over();
  EXPECT_FALSE(looked.reply().has_value());
  first_.engine->go_on();
  EXPECT_EQ(1, woken);
  first_.engine->on_ready(nullptr);
}

TEST_F(FollowingTest, ARefusalNeedsNoCertainty) {
  first_.certain_until = Millis{0};
  EXPECT_EQ("UNAVAILABLE", word(first_.ask(acquire_by("o"))));
}

}  // namespace
}  // namespace tenure
