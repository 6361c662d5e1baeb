// What time asks for: run_due does it, in slices, and says exactly when it is next due.
#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;

// What run_due answers, as a distance from now.
Millis next_in(World& world) { return world.engine->run_due() - world.now(); }

TEST(RunDueTest, IsNeverDueWhenThereIsNothing) {
  World world;
  EXPECT_EQ(kNever, world.engine->run_due());
  world.submit("q");
  EXPECT_EQ(kNever, world.engine->run_due());
  world.get(Submission{.queue = "q", .payload = "p", .delay = Millis{500}});  // nobody waits for it
  world.get(WorkRequest{"d", Offset{1}});                                     // a lease without a lease time
  EXPECT_EQ(kNever, world.engine->run_due());
}

TEST(RunDueTest, IsDueOneMillisecondAfterATasksLease) {
  World world;
  const std::string task = world.submit("q");
  world.lease("w", {"q"});
  EXPECT_EQ(Millis{30'001}, next_in(world));
  world.pass(Millis{30'000});
  EXPECT_EQ(TaskState::kLeased, world.state_of(task));
  const auto before = world.frame_count();
  EXPECT_EQ(kNever, world.pass(Millis{1}));
  EXPECT_THAT(world.records(before), ElementsAre("LeaseExpired"));
}

TEST(RunDueTest, IsDueOneMillisecondAfterAWorkLease) {
  World world;
  world.get(WorkRequest{"d", Offset{1}, Millis{500}});
  EXPECT_EQ(Millis{501}, next_in(world));
  world.pass(Millis{500});
  const auto before = world.frame_count();
  world.pass(Millis{1});
  EXPECT_THAT(world.records(before), ElementsAre("WorkExpired"));
}

TEST(RunDueTest, IsDueOneMillisecondAfterALocksLease) {
  World world;
  world.acquire("a");
  EXPECT_EQ(Millis{60'001}, next_in(world));
  world.pass(Millis{60'000});
  const auto before = world.frame_count();
  world.pass(Millis{1});
  EXPECT_THAT(world.records(before), ElementsAre("LockExpired"));
}

TEST(RunDueTest, IsDueAtTheEndOfEachKindOfWait) {
  World world;
  const std::string task = world.submit("held");
  LockAcquire acquire = acquire_by("a");
  acquire.lease = std::chrono::hours(2);
  world.get(acquire);
  world.wait_for_task("w", {"q"}, Millis{300});
  world.wait_for_lock("b", "1", Millis{200});
  world.wait(AwaitTask{task}, Millis{100});
  EXPECT_EQ(Millis{100}, next_in(world));
  EXPECT_EQ(kStart + Millis{200}, world.pass(Millis{100}));
  EXPECT_EQ(kStart + Millis{300}, world.pass(Millis{100}));
  EXPECT_EQ(kStart + (std::chrono::hours(2) + Millis{1}), world.pass(Millis{100}));
}

TEST(RunDueTest, IsDueAtTheEndOfASessionsGrace) {
  World world;
  world.engine->join("s", Millis{500});
  EXPECT_EQ(kNever, world.engine->run_due());
  world.engine->leave("s");
  EXPECT_EQ(Millis{500}, next_in(world));
  EXPECT_EQ(kNever, world.pass(Millis{500}));
}

TEST(RunDueTest, IsDueWhenSomethingIsToBeForgotten) {
  World world;
  const std::string task = world.submit("q");
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  world.get(Completion{task, lease.lease_id});
  // The retention time is an hour; what has been kept for longer is forgotten.
  Instant next = world.engine->run_due();
  while (next < kStart + std::chrono::hours(1)) next = world.pass(next - world.now());
  EXPECT_EQ(kStart + std::chrono::hours(1) + Millis{1}, next);
  world.pass(next - world.now() - Millis{1});
  EXPECT_TRUE(world.get(GetTask{task}).has_value());
  const auto before = world.frame_count();
  EXPECT_EQ(kNever, world.pass(Millis{1}));
  EXPECT_THAT(world.records(before), ElementsAre("Forgotten"));
  EXPECT_FALSE(world.get(GetTask{task}).has_value());
}

TEST(RunDueTest, ForgetsInEachBookByTime) {
  World world(Settings{.retention_time = Millis{1000}});
  world.get(Submission{.queue = "q", .payload = "p", .request_id = "r"});
  const auto work = std::get<Acquired>(world.get(WorkRequest{"d", Offset{1}}));
  world.get(WorkSuccess{"d", work.token, "r"});
  LockAcquire acquire = acquire_by("a");
  acquire.request_id = "r";
  const LockGrant grant = world.get(acquire).value();
  world.get(LockForce{lock_named("1")});
  EXPECT_EQ(Millis{1001}, next_in(world));
  world.pass(Millis{1000});
  EXPECT_EQ("EXPIRED", word(world.release(grant)));
  const auto before = world.frame_count();
  world.pass(Millis{1});
  EXPECT_THAT(world.records(before), ElementsAre("Forgotten", "Forgotten", "Forgotten", "Forgotten"));
  EXPECT_EQ("NOTHELD", word(world.release(grant)));
  EXPECT_TRUE(world.get(Submission{.queue = "q", .payload = "other", .request_id = "r"}).created);
}

TEST(RunDueTest, ForgetsTheOldestBeyondTheCountAtOnce) {
  World world(Settings{.retention_count = 2});
  std::vector<std::string> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(world.submit("q"));
    world.get(TaskKill{tasks.back(), "reason"});
  }
  const auto before = world.frame_count();
  world.pass(Millis{0});
  EXPECT_THAT(world.records(before), ElementsAre("Forgotten", "Forgotten"));
  EXPECT_EQ(before + 1, world.frame_count()) << "together";
  EXPECT_FALSE(world.get(GetTask{tasks[1]}).has_value());
  EXPECT_TRUE(world.get(GetTask{tasks[2]}).has_value());
}

TEST(RunDueTest, OfManyAFewTooManyAreKeptAWhile) {
  World world(Settings{.retention_count = 128});
  std::vector<std::string> tasks;
  const auto end_one = [&] {
    tasks.push_back(world.submit("q"));
    world.get(TaskKill{tasks.back(), "reason"});
  };
  for (int i = 0; i < 129; ++i) end_one();
  world.pass(Millis{0});
  EXPECT_TRUE(world.get(GetTask{tasks[0]}).has_value());
  end_one();
  world.pass(Millis{0});
  EXPECT_FALSE(world.get(GetTask{tasks[1]}).has_value());
  EXPECT_TRUE(world.get(GetTask{tasks[2]}).has_value());
}

// Rounds are as long as there is work for them: at a bounded number for each, many requests would fill the memory.
TEST(RunDueTest, HoweverManyEndedBetweenTwoCallsForgettingKeepsUp) {
  constexpr std::size_t kKept = 100;
  World world(Settings{.retention_count = kKept});
  world.engine->run_due();
  std::vector<std::string> tasks;
  for (std::size_t i = 0; i < 1000 + kKept; ++i) {
    tasks.push_back(world.submit("q"));
    world.get(TaskKill{tasks.back(), "reason"});
  }
  EXPECT_LT(world.now(), world.engine->run_due()) << "nothing is left to be done at once";
  EXPECT_FALSE(world.get(GetTask{tasks[999]}).has_value());
  EXPECT_TRUE(world.get(GetTask{tasks[1000]}).has_value());
}

// It lets go of the mutex now and then: whoever is answered in the middle of it finds most still to be forgotten.
TEST(RunDueTest, OthersGetInWhileMuchIsForgotten) {
  constexpr std::size_t kKept = 100;
  World world(Settings{.retention_count = kKept});
  const auto kept = [&] {
    return world.engine->inspect([](const State& state) { return state.tasks().archive().count(); });
  };
  world.engine->run_due();
  world.acquire("a");
  std::uint64_t kept_then = 0;
  world.engine->wait(acquire_by("b"), Millis{100}, [&](const auto& /*reply*/) { kept_then = kept(); });
  for (std::size_t i = 0; i < 1000 + kKept; ++i) world.get(TaskKill{world.submit("q"), "reason"});
  world.advance(Millis{100});
  world.engine->run_due();
  EXPECT_LT(500U, kept_then);
  EXPECT_GE(kKept, kept());
}

TEST(RunDueTest, ForgetsTheOldestBeyondTheBytesAtOnce) {
  World world(Settings{.retention_bytes = 10'000});
  const std::string payload(8'000, 'x');
  const std::string first = world.submit("q", payload);
  const std::string second = world.submit("q", payload);
  world.get(TaskKill{first, "reason"});
  world.pass(Millis{0});
  EXPECT_TRUE(world.get(GetTask{first}).has_value());
  world.get(TaskKill{second, "reason"});
  world.pass(Millis{0});
  EXPECT_FALSE(world.get(GetTask{first}).has_value());
  EXPECT_TRUE(world.get(GetTask{second}).has_value());
}

TEST(RunDueTest, AnExtendedLeaseIsNotExpiredAtItsOldTime) {
  World world;
  const std::string task = world.submit("q");
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  world.pass(Millis{20'000});
  world.get(TaskExtension{task, lease.lease_id, std::nullopt});
  const auto before = world.frame_count();
  EXPECT_EQ(kStart + Millis{50'001}, world.pass(Millis{10'001}));
  EXPECT_EQ(before, world.frame_count());
  world.pass(Millis{20'000});
  EXPECT_THAT(world.records(before), ElementsAre("LeaseExpired"));
}

TEST(RunDueTest, TheEarliestOfManyIsNext) {
  World world;
  world.get(WorkRequest{"d", Offset{1}, Millis{700}});
  world.acquire("a");
  world.wait_for_task("w", {"q"}, Millis{900});
  EXPECT_EQ(Millis{701}, next_in(world));
  EXPECT_EQ(kStart + Millis{900}, world.pass(Millis{701}));
  EXPECT_EQ(kStart + Millis{60'001}, world.pass(Millis{199}));
}

TEST(RunDueTest, DoesTenThousandExpiriesInBoundedSlices) {
  World world;
  constexpr int kLeases = 10'000;
  for (int i = 0; i < kLeases; ++i) world.submit("q");
  for (int left = kLeases; left > 0; left -= 1000) {
    ASSERT_EQ(1000U, world.lease("w", {"q"}, 1000).size());
  }
  world.advance(Millis{30'001});
  std::uint64_t frames = world.frame_count();
  const std::uint64_t all = frames + kLeases;
  int calls = 0;
  Instant next;
  do {
    next = world.engine->run_due();
    ++calls;
    const std::uint64_t done = world.frame_count() - frames;
    frames += done;
    EXPECT_LE(done, 1000U);
    if (frames < all) {
      EXPECT_EQ(world.now(), next);
    }
  } while (next <= world.now());
  EXPECT_EQ(all + 1, frames);  // and the digest that is due by then
  EXPECT_GE(calls, 10);
  EXPECT_EQ(kNever, next);
}

TEST(RunDueTest, OthersAreAnsweredBetweenTheSlices) {
  World world;
  for (int i = 0; i < 1000; ++i) world.submit("q");
  world.lease("w", {"q"}, 1000);
  world.advance(Millis{30'001});
  EXPECT_EQ(world.now(), world.engine->run_due());
  EXPECT_EQ(1U, world.lease("w2", {"q"}).size());
  EXPECT_GT(world.pass(Millis{0}), world.now());
}

TEST(RunDueTest, ATouchedQueueOfManyExpiredLeasesIsDoneInSlicesToo) {
  World world;
  for (int i = 0; i < 5000; ++i) world.submit("q");
  for (int i = 0; i < 5; ++i) world.lease("w", {"q"}, 1000);
  world.get(QueuePause{"q", true});
  world.advance(Millis{30'001});
  const auto before = world.frame_count();
  EXPECT_TRUE(world.lease("w2", {"q"}).empty());
  EXPECT_LE(world.frame_count() - before, 1000U);
}

// --- the wake ---

class WakeTest : public ::testing::Test {
 protected:
  WakeTest() {
    world_.engine->on_earlier_due([this] { ++wakes_; });
    world_.engine->run_due();
  }
  // How often the engine called since this was last asked.
  int wakes() { return std::exchange(wakes_, 0); }

  World world_;
  int wakes_ = 0;
};

TEST_F(WakeTest, IsCalledWhenSomethingIsDueEarlierThanWasSaid) {
  world_.acquire("a");  // an expiry in a minute, where there was none
  EXPECT_EQ(1, wakes());
  world_.get(WorkRequest{"d", Offset{1}, Millis{500}});
  EXPECT_EQ(1, wakes());
  world_.wait_for_task("w", {"q"}, Millis{100});
  EXPECT_EQ(1, wakes());
}

TEST_F(WakeTest, IsNotCalledWhenNothingIsDueEarlier) {
  world_.get(WorkRequest{"d", Offset{1}, Millis{500}});
  EXPECT_EQ(1, wakes());
  world_.acquire("a");
  world_.get(WorkRequest{"e", Offset{1}, Millis{500}});
  world_.submit("q");
  world_.wait_for_task("w", {"r"}, Millis{600});
  world_.get(GetTask{"t"});
  EXPECT_EQ(0, wakes());
}

TEST_F(WakeTest, IsMeasuredAgainstWhatRunDueLastSaid) {
  world_.get(WorkRequest{"d", Offset{1}, Millis{500}});
  EXPECT_EQ(1, wakes());
  world_.pass(Millis{501});
  world_.acquire("a");
  EXPECT_EQ(1, wakes());
  world_.engine->run_due();
  world_.acquire("a", "2");
  EXPECT_EQ(0, wakes());
}

TEST_F(WakeTest, IsCalledForADelayedTaskThatSomebodyWaitsFor) {
  world_.get(Submission{.queue = "q", .payload = "p", .delay = Millis{500}});
  EXPECT_EQ(0, wakes());
  world_.wait_for_task("w", {"q"}, Millis{1000});
  EXPECT_EQ(1, wakes());
  EXPECT_EQ(world_.now() + Millis{500}, world_.engine->run_due());
}

TEST_F(WakeTest, IsCalledForTheEndOfASession) {
  world_.engine->join("s", Millis{500});
  EXPECT_EQ(0, wakes());
  world_.engine->leave("s");
  EXPECT_EQ(1, wakes());
}

TEST_F(WakeTest, IsCalledForWhatIsKeptBeyondItsCount) {
  World world(Settings{.retention_count = 1});
  int calls = 0;
  world.engine->on_earlier_due([&] { ++calls; });
  world.engine->run_due();
  world.get(TaskKill{world.submit("q"), "reason"});
  EXPECT_EQ(1, calls);  // an hour from now
  world.get(TaskKill{world.submit("q"), "reason"});
  EXPECT_EQ(2, calls);  // now
}

TEST_F(WakeTest, IsNotCalledOnceItIsTakenAway) {
  world_.engine->on_earlier_due(nullptr);
  world_.acquire("a");
  EXPECT_EQ(0, wakes());
}

}  // namespace
}  // namespace tenure
