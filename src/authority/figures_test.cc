// What the engine tells whoever watches it.
#include "authority/figures.h"

#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FiguresTest, CountsWhatHappensToTasks) {
  World world;
  const std::string first = world.submit("q");
  world.submit("q");
  const auto leases = world.lease("w", {"q"}, 2);
  world.get(Completion{.task_id = first, .lease_id = leases[0].lease_id});
  world.get(FailureReport{.task_id = leases[1].task_id, .lease_id = leases[1].lease_id, .reason = "no"});
  world.get(Completion{.task_id = leases[1].task_id, .lease_id = leases[1].lease_id});  // failed before: too late
  world.get(TaskKill{leases[1].task_id, "enough"});
  const Tally tally = world.engine->figures(9).tally;
  EXPECT_EQ(2U, tally.tasks_submitted);
  EXPECT_EQ(2U, tally.leases_granted.tasks);
  EXPECT_EQ(1U, tally.tasks_completed);
  EXPECT_EQ(1U, tally.retries.tasks);
  EXPECT_EQ(0U, tally.tasks_failed);
  EXPECT_EQ(1U, tally.late_reports);
  EXPECT_EQ(1U, tally.tasks_dead);
}

TEST(FiguresTest, CountsLeasesThatRunOutInEachBook) {
  World world;
  world.submit("q");
  world.lease("w", {"q"});
  world.get(WorkRequest{"d", Offset{1}, Millis{500}});
  world.acquire("me");
  world.pass(std::chrono::hours(1));
  const Tally tally = world.engine->figures(9).tally;
  EXPECT_EQ(1U, tally.leases_granted.tasks);
  EXPECT_EQ(1U, tally.leases_granted.work);
  EXPECT_EQ(1U, tally.leases_granted.locks);
  EXPECT_EQ(1U, tally.leases_expired.tasks);
  EXPECT_EQ(1U, tally.leases_expired.work);
  EXPECT_EQ(1U, tally.leases_expired.locks);
}

TEST(FiguresTest, AReplayIsNotCountedButItsDigestsAre) {
  World world;
  world.submit("q");
  world.engine->take_digest();
  EXPECT_EQ(1U, world.engine->figures(9).digest_checks);
  world.restart();
  const EngineFigures figures = world.engine->figures(9);
  EXPECT_EQ(0U, figures.tally.tasks_submitted);
  EXPECT_EQ(1U, figures.tasks.waiting);
  EXPECT_EQ(1U, figures.digest_checks);
}

TEST(FiguresTest, ShowsAsManyQueuesAsAreWanted) {
  World world;
  for (const std::string_view queue : {"c", "a", "b"}) world.submit(queue);
  const EngineFigures figures = world.engine->figures(2);
  ASSERT_EQ(2U, figures.queues.size());
  EXPECT_EQ("a", figures.queues[0].queue);
  EXPECT_EQ("b", figures.queues[1].queue);
  EXPECT_EQ(3U, figures.queue_count);
  EXPECT_EQ(3U, figures.tasks.waiting);
}

TEST(FiguresTest, CountsThoseWhoWait) {
  World world;
  const std::string task = world.submit("other");
  world.acquire("me");
  const auto lease = world.wait_for_task("w", {"q"});
  const auto lock = world.wait_for_lock("you");
  const auto end = world.wait(AwaitTask{task}, Millis{1000});
  const EngineFigures figures = world.engine->figures(9);
  EXPECT_EQ(1U, figures.lease_waiters);
  EXPECT_EQ(1U, figures.lock_waiters);
  EXPECT_EQ(1U, figures.task_waiters);
  EXPECT_GT(figures.bytes.tasks, 0U);
  EXPECT_GT(figures.bytes.locks, 0U);
  EXPECT_EQ(0U, figures.bytes.work);
}

struct Watch final : LockWatch {
  void on_held(std::string_view domain) override { told.push_back(fmt::format("held {}", domain)); }
  void on_freed(std::string_view domain, Millis held, bool has_expired) override {
    told.push_back(fmt::format("freed {} after {}{}", domain, held.count(), has_expired ? ", expired" : ""));
  }
  Names told;
};

TEST(LockWatchTest, IsToldOfLocksThatAreHeldAndOfWhatBecomesOfThem) {
  World world;
  const LockGrant before = world.acquire("me", "before");
  Watch watch;
  world.engine->watch_locks(&watch);
  EXPECT_THAT(watch.told, ElementsAre("held d"));
  const LockGrant lock = world.acquire("me");
  world.acquire("me");  // again: it is held already
  world.advance(Millis{70});
  static_cast<void>(world.release(lock));
  static_cast<void>(world.release(lock));
  world.get(LockForce{.lock = lock_named("before")});
  world.acquire("me");
  world.pass(Millis{60'001});
  EXPECT_THAT(watch.told, ElementsAre("held d", "held d", "freed d after 70", "freed d after 70", "held d",
                                      "freed d after 60001, expired"));
  watch.told.clear();
  world.engine->watch_locks(nullptr);
  world.acquire("me");
  EXPECT_THAT(watch.told, IsEmpty());
}

}  // namespace
}  // namespace tenure
