// A second engine on the first one's journal: it knows all that was durable, and nothing that was soft.
#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::HasSubstr;

// A little of everything: each book in each of its states, with request ids.
void live(World& world) {
  world.get(Submission{.queue = "q", .payload = "p", .id = "completed", .request_id = "submit"});
  world.get(Submission{.queue = "q", .payload = "p", .id = "retried", .retries = 1});
  world.get(Submission{.queue = "q", .payload = "p", .id = "delayed", .delay = std::chrono::hours(1)});
  world.get(Submission{.queue = "q", .payload = "p", .id = "keyed", .key = "k"});
  world.get(Submission{.queue = "q", .payload = "p", .id = "parked", .key = "k"});
  const auto leases = world.get(LeaseRequest{.worker = "w", .queues = {"q"}, .count = 3, .request_id = "lease"});
  world.get(Completion{"completed", leases.at(0).lease_id, "result"});
  world.get(FailureReport{"retried", leases.at(1).lease_id, "reason"});
  world.get(Completion{"keyed", "1-0000000000000000"});
  world.get(TaskKill{"parked", "not wanted"});
  world.get(QueuePause{"r", true});

  const auto work = std::get<Acquired>(world.get(WorkRequest{"d", Offset{7}}));
  world.get(WorkRequest{"d", Offset{8}});
  world.get(WorkFailure{"d", work.token, "reason", "fail"});
  world.get(WorkSuccess{"d", work.token, "succeed"});
  world.get(WorkRequest{"e", Offset{1}, Millis{10}});

  LockAcquire acquire = acquire_by("a");
  acquire.request_id = "acquire";
  world.get(acquire);
  const LockGrant second = world.acquire("a", "2");
  LockGiveBack release = release_of(second.token, "2");
  release.request_id = "release";
  world.get(release);
  world.acquire("a", "3");
  world.get(LockForce{lock_named("3")});
  world.pass(Millis{11});
}

TEST(RestartTest, GivesTheSameDigest) {
  World world;
  live(world);
  const Digest before = world.digest();
  world.restart();
  EXPECT_EQ(before, world.digest());
  world.engine->inspect([](const State& state) { EXPECT_EQ(state.digest(), state.recompute_digest()); });
}

TEST(RestartTest, GivesTheSameDigestAfterEveryFrame) {
  World world;
  std::vector<Digest> digests{world.digest()};
  std::uint64_t appended = 0;
  world.engine->observe([&](const State& state, Instant /*stamp*/, std::string_view /*record*/) {
    // Frames of several records end with the last of them.
    appended = world.frame_count();
    digests.resize(appended + 1);
    digests.back() = state.digest();
  });
  live(world);
  ASSERT_GT(appended, 20U);
  for (std::uint64_t kept = appended; kept > 0; --kept) {
    world.engine.reset();
    world.journal.cut_after(kept);
    world.start();
    EXPECT_EQ(digests.at(kept), world.digest()) << "after frame " << kept;
  }
}

TEST(RestartTest, WritesNothingAndForgetsNothing) {
  World world;
  live(world);
  const auto frames = world.frame_count();
  world.restart();
  EXPECT_EQ(frames, world.frame_count());
}

TEST(RestartTest, TimeDoesNotRunBackwardsWhenTheClockWasSetBack) {
  World world;
  world.advance(std::chrono::hours(10));
  world.submit("q");
  const Instant last = world.now();
  world.restart(kStart);
  EXPECT_EQ(last, world.now());
  world.advance(Millis{5});
  EXPECT_EQ(last + Millis{5}, world.now());
  EXPECT_EQ(last, world.get(GetTask{world.lease("w", {"q"}).at(0).task_id})->created_at);
}

TEST(RestartTest, LeasesLastWhileTheClockWasSetBackAndEndWhenItWentOn) {
  World world;
  world.submit("q");
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  world.restart(Instant{5});
  EXPECT_EQ(Report::kCommitted, world.get(Completion{lease.task_id, lease.lease_id}));

  const LockGrant grant = world.acquire("a");
  world.restart(kStart + std::chrono::minutes(2));
  EXPECT_EQ("EXPIRED", word(world.release(grant)));
}

TEST(RestartTest, AJumpOfTheWallClockWhileRunningIsNothing) {
  // ManualClock's wall and boot clocks advance together; this one's wall clock jumps.
  struct JumpingClock final : Clock {
    [[nodiscard]] Instant wall() const override { return shown; }
    [[nodiscard]] Millis boot() const override { return Millis{42}; }
    Instant shown = kStart;
  };
  JumpingClock clock;
  SeededEntropy entropy{1};
  MemoryJournal journal(MemoryJournal::Keep::kFrames);
  auto engine = Engine::start({}, {clock, entropy, journal}).value();
  clock.shown = kStart + std::chrono::hours(5);
  EXPECT_EQ(kStart, engine->now());
  clock.shown = Instant{};
  EXPECT_EQ(kStart, engine->now());
}

TEST(RestartTest, FencesGoOn) {
  World world;
  const Fence before = world.acquire("a").fence.value();
  world.restart();
  EXPECT_GT(world.acquire("a", "2").fence.value(), before);
}

TEST(RestartTest, RequestIdsAreRemembered) {
  World world;
  live(world);
  world.restart();
  const auto frames = world.frame_count();
  const Submitted submitted = world.get(Submission{.queue = "q", .payload = "p", .request_id = "submit"});
  EXPECT_EQ("completed", submitted.task_id);
  EXPECT_FALSE(submitted.created);
  // Of its three leases one still lasts.
  const auto leases = world.get(LeaseRequest{.worker = "w", .queues = {"q"}, .count = 3, .request_id = "lease"});
  ASSERT_EQ(1U, leases.size());
  EXPECT_EQ("keyed", leases.at(0).task_id);
  EXPECT_EQ(Millis{29'989}, leases.at(0).remaining);
  LockAcquire acquire = acquire_by("a");
  acquire.request_id = "acquire";
  EXPECT_EQ(1U, world.get(acquire)->holds);
  EXPECT_EQ("INVALID", word(world.ask(Submission{.queue = "q", .payload = "p", .request_id = "lease"})));
  acquire.lock.identifier = "2";
  EXPECT_EQ("INVALID", word(world.ask(acquire)));
  EXPECT_EQ(frames, world.frame_count());
}

TEST(RestartTest, WorkRequestIdsAreRemembered) {
  World world;
  const auto work = std::get<Acquired>(world.get(WorkRequest{"d", Offset{7}}));
  world.get(WorkRequest{"d", Offset{8}});
  world.get(WorkFailure{"d", work.token, "reason", "fail"});
  world.get(WorkSuccess{"d", work.token, "succeed"});
  world.restart();
  EXPECT_EQ(1U, std::get<RetryScheduled>(world.get(WorkFailure{"d", work.token, "other", "fail"})).retry_count);
  EXPECT_EQ(Offset{8}, world.get(WorkSuccess{"d", work.token, "succeed"}).next);
  EXPECT_EQ("NOLEASE", word(world.ask(WorkSuccess{"d", work.token})));
  EXPECT_EQ("INVALID", word(world.ask(WorkSuccess{"d", work.token, "fail"})));
}

TEST(RestartTest, ALostLeaseIsRememberedWithItsCause) {
  World world;
  const LockGrant expired = world.acquire("a");
  const LockGrant forced = world.acquire("a", "2");
  world.get(LockForce{lock_named("2")});
  world.pass(std::chrono::minutes(2));
  world.acquire("b");
  world.restart();
  EXPECT_THAT(why(world.release(expired)), HasSubstr("expired"));
  EXPECT_THAT(why(world.release(forced, "2")), HasSubstr("force"));
}

TEST(RestartTest, WaitersAndWorkersAreForgotten) {
  World world;
  const LockGrant grant = world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  world.submit("q");
  world.lease("w", {"q"});
  EXPECT_EQ(1U, world.get(ListWorkers{}).workers.size());
  world.restart();
  EXPECT_TRUE(world.get(ListWorkers{}).workers.empty());
  EXPECT_EQ(0U, world.get(GetLock{lock_named("1")})->waiters);
  EXPECT_EQ("OK", word(world.release(grant)));
  EXPECT_FALSE(waiting.answered());
  EXPECT_FALSE(world.is_held());
}

TEST(RestartTest, SessionsStartWithoutAConnectionAndHaveTheirGrace) {
  World world;
  world.engine->join("s", Millis{500});
  const LockGrant grant = world.get(bound_acquire_by("a", "s")).value();
  world.restart();
  EXPECT_EQ(world.now() + Millis{500}, world.engine->run_due());
  EXPECT_EQ("INVALID", word(world.ask(bound_acquire_by("a", "s", "2"))));  // nobody has joined it yet
  world.pass(Millis{499});
  EXPECT_TRUE(world.is_held());
  world.pass(Millis{1});
  EXPECT_FALSE(world.is_held());
  EXPECT_THAT(why(world.release(grant)), HasSubstr("session"));
}

TEST(RestartTest, ASessionThatIsJoinedAgainInTimeKeepsItsLocksAndGrace) {
  World world;
  world.engine->join("s", Millis{500});
  world.get(bound_acquire_by("a", "s"));
  world.restart();
  world.pass(Millis{499});
  world.engine->join("s", {});
  world.pass(Millis{10'000});
  EXPECT_TRUE(world.is_held());
  world.engine->leave("s");
  world.pass(Millis{499});
  EXPECT_TRUE(world.is_held());
  world.pass(Millis{1});
  EXPECT_FALSE(world.is_held());
}

TEST(RestartTest, TheGraceIsThatOfTheLatestGrant) {
  World world;
  world.engine->join("s", Millis{500});
  world.get(bound_acquire_by("a", "s", "1"));
  world.engine->join("s", Millis{900});
  world.get(bound_acquire_by("a", "s", "2"));
  world.restart();
  EXPECT_EQ(world.now() + Millis{900}, world.engine->run_due());
}

TEST(RestartTest, ASessionWithoutGraceHasEndedWithTheRestart) {
  World world;
  world.engine->join("s", {});
  const LockGrant grant = world.get(bound_acquire_by("a", "s")).value();
  world.restart();
  // Asked before any upkeep: its time is over all the same.
  EXPECT_THAT(word(world.release(grant)), "EXPIRED");
  EXPECT_TRUE(world.get(acquire_by("b")).has_value());
}

// --- journals that are no journals ---

class BrokenJournalTest : public ::testing::Test {
 protected:
  void append(Instant stamp, const std::vector<Record>& records) {
    std::string payload;
    for (const Record& record : records) encode(record, payload);
    journal_.append(0, stamp, payload);
  }
  std::string why_not() {
    const ManualClock clock(kStart);
    SeededEntropy entropy{1};
    auto engine = Engine::start({}, {clock, entropy, journal_});
    return engine ? "it started" : engine.error().message;
  }
  static record::TaskCreated created(std::string_view id) {
    return {.task_id = id, .payload = "p", .execution_window = Millis{1000}, .retry_policy = {}};
  }

  MemoryJournal journal_{MemoryJournal::Keep::kFrames};
};

TEST_F(BrokenJournalTest, AnInvariantBrokenIsNamedWithItsSequenceNumberAndRecord) {
  append(Instant{1}, {created("a")});
  append(Instant{2}, {created("b")});
  append(Instant{3}, {created("a")});
  append(Instant{4}, {created("c")});
  const std::string why = why_not();
  EXPECT_THAT(why, HasSubstr("sequence number 3:"));
  EXPECT_THAT(why, HasSubstr("TaskCreated"));
  EXPECT_THAT(why, HasSubstr("task_id must not already exist"));
}

TEST_F(BrokenJournalTest, TheSecondRecordOfAFrameIsCheckedToo) {
  append(Instant{1}, {created("a"), record::LeaseExpired{"a", Token{Fence{1}, 1}}});
  EXPECT_THAT(why_not(), HasSubstr("sequence number 1: {\"record\":\"LeaseExpired\""));
}

TEST_F(BrokenJournalTest, TimeThatRunsBackwardsRefuses) {
  append(Instant{2}, {created("a")});
  append(Instant{1}, {created("b")});
  EXPECT_THAT(why_not(), HasSubstr("sequence number 2:"));
}

TEST_F(BrokenJournalTest, AnotherDigestRefuses) {
  append(Instant{1}, {created("a")});
  append(Instant{2}, {record::DigestTaken{Digest{1, 2}}});
  EXPECT_THAT(why_not(), HasSubstr("sequence number 2:"));
}

TEST_F(BrokenJournalTest, BytesThatAreNoRecordRefuse) {
  append(Instant{1}, {created("a")});
  std::string payload;
  encode(created("b"), payload);
  journal_.append(0, Instant{2}, payload.substr(0, payload.size() - 1));
  EXPECT_THAT(why_not(), HasSubstr("sequence number 2:"));
}

TEST_F(BrokenJournalTest, AnUnknownRecordTypeRefuses) {
  journal_.append(0, Instant{1}, std::string("\x7f\x00", 2));
  EXPECT_THAT(why_not(), HasSubstr("sequence number 1:"));
}

}  // namespace
}  // namespace tenure
