// What time did to the names a request touches is recorded before the request is decided, whether upkeep ran or not;
// and what only looks sees the same.
#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Millis kTaskLeaseOver{30'001};
constexpr Millis kLockLeaseOver{60'001};

// A world with one leased task, one work lease and one lock, all of whose time is over though no upkeep ran.
class TouchTest : public ::testing::Test {
 protected:
  TouchTest() {
    world_.get(Submission{.queue = "q", .payload = "p", .id = "t"});
    task_ = world_.lease("w", {"q"}).at(0);
    work_ = std::get<Acquired>(world_.get(WorkRequest{"d", Offset{1}, std::chrono::seconds(1)}));
    world_.get(WorkRequest{"d", Offset{2}});
    lock_ = world_.acquire("a");
    frames_ = world_.frame_count();
    world_.advance(kLockLeaseOver);
  }
  // What has been recorded since the leases ended.
  [[nodiscard]] Names records() const { return world_.records(frames_); }

  World world_;
  TaskLease task_;
  Acquired work_;
  LockGrant lock_;
  std::uint64_t frames_ = 0;
};

TEST_F(TouchTest, ACompletionIsTooLate) {
  EXPECT_EQ(Report::kCancelled, world_.get(Completion{"t", task_.lease_id}));
  EXPECT_THAT(records(), ElementsAre("LeaseExpired", "TaskCancelled"));
}

TEST_F(TouchTest, AFailureIsTooLate) {
  EXPECT_EQ(std::nullopt, world_.get(FailureReport{"t", task_.lease_id, "reason"}));
  EXPECT_THAT(records(), ElementsAre("LeaseExpired", "TaskCancelled"));
}

TEST_F(TouchTest, AnExtensionIsTooLate) {
  EXPECT_FALSE(world_.get(TaskExtension{"t", task_.lease_id, std::nullopt}).has_value());
  EXPECT_THAT(records(), ElementsAre("LeaseExpired"));
}

TEST_F(TouchTest, AnotherWorkerIsGivenTheTask) {
  EXPECT_EQ(2U, world_.lease("w2", {"q"}).at(0).attempt);
  EXPECT_THAT(records(), ElementsAre("LeaseExpired", "LeaseGranted"));
}

TEST_F(TouchTest, TheTaskIsSeenWaiting) {
  EXPECT_EQ(TaskState::kWaiting, world_.state_of("t"));
  EXPECT_EQ(AttemptOutcome::kExpired, world_.get(GetHistory{"t"}).at(0).outcome);
}

TEST_F(TouchTest, TheTaskIsListedWaiting) {
  EXPECT_EQ(TaskState::kWaiting, world_.get(ListTasks{{.queue = "q"}}).tasks.at(0).state);
}

TEST_F(TouchTest, TheQueueIsCountedWithoutIt) {
  const auto queue = world_.get(ListQueues{}).queues.at(0);
  EXPECT_EQ(1U, queue.waiting);
  EXPECT_EQ(0U, queue.leased);
}

TEST_F(TouchTest, AKillFindsItsAttemptExpired) {
  world_.get(TaskKill{"t", "reason"});
  EXPECT_EQ(AttemptOutcome::kExpired, world_.get(GetHistory{"t"}).at(0).outcome);
}

TEST_F(TouchTest, AResubmissionMeetsWhatTimeEnded) {
  world_.get(Submission{.queue = "r", .payload = "p", .id = "poison", .attempts = 1});
  world_.lease("w", {"r"});
  world_.advance(kTaskLeaseOver);
  EXPECT_TRUE(world_.get(Resubmission{"poison"}).created);
}

TEST_F(TouchTest, AWorkReportFindsNoLease) {
  EXPECT_EQ("NOLEASE", word(world_.ask(WorkSuccess{"d", work_.token})));
  EXPECT_EQ("NOLEASE", word(world_.ask(WorkFailure{"d", work_.token})));
  EXPECT_EQ("NOLEASE", word(world_.ask(WorkExtension{"d", work_.token, Millis{1}})));
  EXPECT_THAT(records(), ElementsAre("WorkExpired"));
}

TEST_F(TouchTest, TheOffsetIsAtTheHeadAgain) {
  EXPECT_EQ("BACKLOGORDER", word(world_.ask(WorkRequest{"d", Offset{2}})));
  const auto again = std::get<Acquired>(world_.get(WorkRequest{"d", Offset{1}}));
  EXPECT_FALSE(again.already);
  EXPECT_EQ(kStart, again.acquired_at);
  EXPECT_GT(again.fence, work_.fence);
  EXPECT_EQ("TOKENMISMATCH", word(world_.ask(WorkSuccess{"d", work_.token})));
}

TEST_F(TouchTest, TheDomainIsSeenIdle) {
  const auto domain = world_.get(InspectDomain{"d"}).value();
  EXPECT_FALSE(domain.in_flight);
  EXPECT_EQ(Offset{1}, domain.backlog_head);
}

TEST_F(TouchTest, TheBacklogIsSeenWithIt) {
  EXPECT_THAT(world_.get(ListBacklog{"d", {}}).offsets, ElementsAre(Offset{1}, Offset{2}));
}

TEST_F(TouchTest, ATrimMeetsTheOffsetInTheBacklog) { EXPECT_EQ("INVALID", word(world_.ask(WorkTrim{"d", Offset{2}}))); }

TEST_F(TouchTest, AReleaseIsTooLate) {
  EXPECT_EQ("EXPIRED", word(world_.release(lock_)));
  EXPECT_THAT(records(), ElementsAre("LockExpired"));
}

TEST_F(TouchTest, AnExtensionOfALockResurrectsNothing) {
  EXPECT_EQ("EXPIRED", word(world_.ask(LockExtension{lock_named("1"), lock_.token})));
}

TEST_F(TouchTest, AnotherOwnerIsGivenTheLock) {
  EXPECT_GT(world_.acquire("b").fence, lock_.fence);
  EXPECT_THAT(records(), ElementsAre("LockExpired", "LockGranted"));
}

TEST_F(TouchTest, TheSameOwnerDoesNotReenterWhatIsOver) {
  const LockGrant again = world_.acquire("a");
  EXPECT_EQ(1U, again.holds);
  EXPECT_NE(lock_.token, again.token);
}

TEST_F(TouchTest, ForceFindsItFree) { EXPECT_FALSE(world_.get(LockForce{lock_named("1")})); }

TEST_F(TouchTest, TheLockIsSeenFree) {
  EXPECT_FALSE(world_.is_held());
  EXPECT_THAT(world_.get(ListLocks{}).locks, IsEmpty());
}

TEST_F(TouchTest, OtherNamesAreLeftToUpkeep) {
  world_.get(GetTask{"other"});
  world_.get(GetLock{lock_named("2")});
  world_.get(InspectDomain{"e"});
  EXPECT_THAT(records(), IsEmpty());
  world_.pass(Millis{0});
  EXPECT_THAT(records(), ElementsAre("LeaseExpired", "WorkExpired", "LockExpired"));
}

TEST_F(TouchTest, AllOfItIsAtOneStamp) {
  world_.get(Completion{"t", task_.lease_id});
  std::vector<Instant> stamps;
  const auto read = world_.journal.read({.after = frames_}, [&](const Frame& frame) -> Result<Done> {
    stamps.push_back(frame.stamp);
    return Done{};
  });
  EXPECT_TRUE(read.has_value());
  EXPECT_THAT(stamps, ElementsAre(world_.now(), world_.now()));
}

TEST(TouchBoundaryTest, ALeaseIsValidAtItsLastInstant) {
  World world;
  const std::string task = world.submit("q");
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  const LockGrant lock = world.acquire("a");
  world.advance(Millis{30'000});
  EXPECT_EQ(lease.expires_at, world.now());
  EXPECT_EQ(Report::kCommitted, world.get(Completion{task, lease.lease_id}));
  world.advance(Millis{30'000});
  EXPECT_EQ("OK", word(world.release(lock)));
}

TEST(TouchDelayTest, ADelayedTaskIsLeasedWhenDueWithoutUpkeep) {
  World world;
  world.get(Submission{.queue = "q", .payload = "p", .delay = Millis{500}});
  EXPECT_EQ(1U, world.get(ListQueues{}).queues.at(0).delayed);
  world.advance(Millis{499});
  EXPECT_TRUE(world.lease("w", {"q"}).empty());
  world.advance(Millis{1});
  EXPECT_EQ(1U, world.get(ListQueues{}).queues.at(0).waiting);
  EXPECT_EQ(1U, world.lease("w", {"q"}).size());
}

// A request may have to catch up with a great deal of time, but never for longer than a slice.
TEST(TouchSliceTest, ListingManyQueuesOfManyExpiredLeasesIsBounded) {
  World world;
  for (int queue = 0; queue < 20; ++queue) {
    const std::string name = "q" + std::to_string(queue);
    for (int i = 0; i < 250; ++i) world.submit(name);
    world.lease("w", {name}, 1000);
  }
  world.advance(kTaskLeaseOver);
  const auto before = world.frame_count();
  EXPECT_EQ(20U, world.get(ListQueues{}).queues.size());
  EXPECT_LE(world.frame_count() - before, 1000U);
}

// --- the worker registry ---

TEST(WorkersTest, AreThoseWhoAskedWithTheirLeasesAndWhen) {
  World world;
  world.submit("q");
  world.submit("q");
  world.lease("b", {"q"}, 2);
  world.advance(Millis{10});
  world.lease("a", {"q"});
  world.wait_for_task("c", {"q"});
  const auto page = world.get(ListWorkers{});
  ASSERT_EQ(3U, page.workers.size());
  EXPECT_EQ("a", page.workers[0].worker);
  EXPECT_EQ(0U, page.workers[0].leases);
  EXPECT_EQ(kStart + Millis{10}, page.workers[0].last_seen);
  EXPECT_EQ("b", page.workers[1].worker);
  EXPECT_EQ(2U, page.workers[1].leases);
  EXPECT_EQ(kStart, page.workers[1].last_seen);
  EXPECT_EQ("c", page.workers[2].worker);
  EXPECT_EQ("0", page.cursor);
}

TEST(WorkersTest, LeasesThatEndedAreNotCounted) {
  World world;
  world.submit("q");
  world.submit("q");
  const auto leases = world.lease("w", {"q"}, 2);
  world.get(Completion{leases[0].task_id, leases[0].lease_id});
  EXPECT_EQ(1U, world.get(ListWorkers{}).workers.at(0).leases);
  world.pass(kTaskLeaseOver);
  EXPECT_EQ(0U, world.get(ListWorkers{}).workers.at(0).leases);
}

TEST(WorkersTest, SeenAgainIsSeenLater) {
  World world;
  world.lease("w", {"q"});
  world.advance(Millis{5});
  world.lease("w", {"q"});
  const auto page = world.get(ListWorkers{});
  ASSERT_EQ(1U, page.workers.size());
  EXPECT_EQ(kStart + Millis{5}, page.workers[0].last_seen);
}

TEST(WorkersTest, AreListedInPages) {
  World world;
  for (const std::string_view worker : {"0", "a", "b", "c", "d"}) world.lease(worker, {"q"});
  Names seen;
  std::string cursor = "0";
  do {
    const auto page = world.get(ListWorkers{{.count = 2, .cursor = cursor}});
    EXPECT_LE(page.workers.size(), 2U);
    for (const auto& entry : page.workers) seen.push_back(entry.worker);
    cursor = page.cursor;
  } while (cursor != "0");
  EXPECT_THAT(seen, ElementsAre("0", "a", "b", "c", "d"));
}

TEST(WorkersTest, TheOneNotSeenForLongestMakesRoom) {
  World world;
  for (int i = 0; i < 10'001; ++i) {
    if (i == 10'000) world.lease("w1", {"q"});
    world.advance(Millis{1});
    const std::string worker = "w" + std::to_string(i);
    world.lease(worker, {"q"});
  }
  const auto page = world.get(ListWorkers{{.count = 1000}});
  EXPECT_EQ("w1", page.workers.at(0).worker);  // w0 is gone; w1 was seen again
}

}  // namespace
}  // namespace tenure
