// Lease requests that wait: first come, first served, once, and never after they have gone.
#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;

LeaseRequest request_with_id(std::string_view worker, std::string_view id) {
  return {.worker = worker, .queues = {"q"}, .request_id = id};
}

std::string task_of(const LeaseWaiting& waiting) { return waiting.reply().at(0).task_id; }

TEST(LeaseWaitingTest, IsServedByTheNextSubmission) {
  World world;
  auto waiting = world.wait_for_task("w", {"q"});
  EXPECT_NE(0U, waiting.ticket);
  EXPECT_FALSE(waiting.answered());
  const std::string task = world.submit("q");
  EXPECT_EQ(task, task_of(waiting));
  EXPECT_EQ("w", world.get(GetTask{task})->worker);
}

TEST(LeaseWaitingTest, DoesNotWaitWhenATaskIsThere) {
  World world;
  const std::string task = world.submit("q");
  auto waiting = world.wait_for_task("w", {"q"});
  EXPECT_EQ(0U, waiting.ticket);
  EXPECT_EQ(task, task_of(waiting));
}

TEST(LeaseWaitingTest, DoesNotWaitWithoutTime) {
  World world;
  auto waiting = world.wait_for_task("w", {"q"}, Millis{0});
  EXPECT_EQ(0U, waiting.ticket);
  EXPECT_TRUE(waiting.reply().empty());
}

TEST(LeaseWaitingTest, FirstComeFirstServed) {
  World world;
  auto first = world.wait_for_task("w1", {"q"});
  auto second = world.wait_for_task("w2", {"q"});
  auto third = world.wait_for_task("w3", {"q"});
  const std::string a = world.submit("q");
  EXPECT_EQ(a, task_of(first));
  EXPECT_FALSE(second.answered());
  const std::string b = world.submit("q");
  EXPECT_EQ(b, task_of(second));
  const std::string c = world.submit("q");
  EXPECT_EQ(c, task_of(third));
}

TEST(LeaseWaitingTest, IsServedBeforeOneThatArrivesLater) {
  World world;
  world.submit("q");
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  auto waiting = world.wait_for_task("w1", {"q"});
  // The lease ends, and before any upkeep another worker asks.
  world.advance(Millis{30'001});
  EXPECT_TRUE(world.lease("w2", {"q"}).empty());
  EXPECT_EQ(lease.task_id, task_of(waiting));
  EXPECT_EQ(2U, waiting.reply().at(0).attempt);
}

TEST(LeaseWaitingTest, WaitsForSeveralQueuesAndIsServedOnce) {
  World world;
  auto waiting = world.wait_for_task("w", {"q", "r", "q"});
  const std::string task = world.submit("r");
  EXPECT_EQ(task, task_of(waiting));
  world.submit("q");
  EXPECT_EQ(1U, waiting.size());
  EXPECT_EQ(1U, world.lease("w", {"q"}).size());
}

TEST(LeaseWaitingTest, TheLongestWaiterOfAnyOfItsQueuesIsServedFirst) {
  World world;
  auto both = world.wait_for_task("w1", {"q", "r"});
  auto one = world.wait_for_task("w2", {"r"});
  world.submit("r");
  EXPECT_TRUE(both.answered());
  EXPECT_FALSE(one.answered());
  world.submit("r");
  EXPECT_TRUE(one.answered());
}

TEST(LeaseWaitingTest, GetsUpToItsCount) {
  World world;
  world.get(QueuePause{"q", true});
  for (int i = 0; i < 5; ++i) world.submit("q");
  auto three = world.wait(LeaseRequest{.worker = "w1", .queues = {"q"}, .count = 3}, Millis{1000});
  auto ten = world.wait(LeaseRequest{.worker = "w2", .queues = {"q"}, .count = 10}, Millis{1000});
  world.get(QueuePause{"q", false});
  EXPECT_EQ(3U, three.reply().size());
  EXPECT_EQ(2U, ten.reply().size());
}

TEST(LeaseWaitingTest, EndsEmptyWhenItsTimeHasPassed) {
  World world;
  auto waiting = world.wait_for_task("w", {"q"}, Millis{100});
  world.pass(Millis{99});
  EXPECT_FALSE(waiting.answered());
  world.pass(Millis{1});
  EXPECT_TRUE(waiting.reply().empty());
  world.submit("q");
  EXPECT_EQ(1U, waiting.size());
  EXPECT_EQ(1U, world.lease("w2", {"q"}).size());
}

TEST(LeaseWaitingTest, IsCancelledOnceAndNeverServedAfterwards) {
  World world;
  auto gone = world.wait_for_task("w1", {"q"});
  auto next = world.wait_for_task("w2", {"q"});
  EXPECT_TRUE(world.engine->cancel(gone.ticket));
  EXPECT_TRUE(gone.reply().empty());
  EXPECT_FALSE(world.engine->cancel(gone.ticket));
  const std::string task = world.submit("q");
  EXPECT_EQ(task, task_of(next));
  EXPECT_EQ(1U, gone.size());
  EXPECT_FALSE(world.engine->cancel(next.ticket));
  EXPECT_FALSE(world.engine->cancel(0));
  EXPECT_FALSE(world.engine->cancel(999));
}

TEST(LeaseWaitingTest, AllAreEndedTogether) {
  World world;
  auto first = world.wait_for_task("w1", {"q"});
  auto second = world.wait_for_task("w2", {"r"});
  world.engine->close();
  EXPECT_TRUE(first.reply().empty());
  EXPECT_TRUE(second.reply().empty());
}

TEST(LeaseWaitingTest, TheOneBehindAServedWaiterGetsNoneOfItsTasks) {
  World world;
  auto first = world.wait_for_task("w1", {"q"});
  auto second = world.wait_for_task("w2", {"q"});
  const std::string task = world.submit("q");
  EXPECT_EQ("w1", world.get(GetTask{task})->worker);
  EXPECT_FALSE(second.answered());
  EXPECT_EQ(1U, first.size());
}

// --- what frees a task ---

TEST(LeaseWaitingTest, IsServedExactlyWhenADelayedTaskIsDue) {
  World world;
  auto waiting = world.wait_for_task("w", {"q"});
  world.get(Submission{.queue = "q", .payload = "p", .delay = Millis{500}});
  EXPECT_FALSE(waiting.answered());
  EXPECT_EQ(world.now() + Millis{500}, world.engine->run_due());
  world.pass(Millis{499});
  EXPECT_FALSE(waiting.answered());
  world.pass(Millis{1});
  EXPECT_EQ(1U, waiting.reply().size());
}

TEST(LeaseWaitingTest, IsServedExactlyWhenATaskDelayedBeforeIsDue) {
  World world;
  world.get(Submission{.queue = "q", .payload = "p", .delay = Millis{500}});
  EXPECT_EQ(kNever, world.engine->run_due());  // nobody waits for it yet
  auto waiting = world.wait_for_task("w", {"q"});
  EXPECT_EQ(world.now() + Millis{500}, world.engine->run_due());
  world.pass(Millis{500});
  EXPECT_EQ(1U, waiting.reply().size());
}

TEST(LeaseWaitingTest, TwoDelayedTasksServeTwoWaitersEachWhenDue) {
  World world;
  auto first = world.wait_for_task("w1", {"q"});
  auto second = world.wait_for_task("w2", {"q"});
  world.get(Submission{.queue = "q", .payload = "p", .id = "late", .delay = Millis{900}});
  world.get(Submission{.queue = "q", .payload = "p", .id = "soon", .delay = Millis{300}});
  world.pass(Millis{300});
  EXPECT_EQ("soon", task_of(first));
  EXPECT_FALSE(second.answered());
  EXPECT_EQ(world.now() + Millis{600}, world.engine->run_due());
  world.pass(Millis{600});
  EXPECT_EQ("late", task_of(second));
}

TEST(LeaseWaitingTest, OneThatWantsSeveralQueuesDoesNotPassWhoCameFirst) {
  World world;
  const std::string leased = world.submit("r");
  world.lease("w", {"r"});  // until 30 s
  const auto delayed = world.get(Submission{.queue = "q", .payload = "p", .delay = Millis{30'001}}).task_id;
  auto first = world.wait_for_task("w1", {"q"});
  auto second = world.wait(LeaseRequest{.worker = "w2", .queues = {"r", "q"}, .count = 2}, std::chrono::minutes(1));
  // What is due in both queues is noticed by a request, not by upkeep.
  world.advance(Millis{30'001});
  EXPECT_TRUE(world.lease("w3", {"q", "r"}).empty());
  EXPECT_EQ(delayed, task_of(first));
  ASSERT_EQ(1U, second.reply().size());
  EXPECT_EQ(leased, task_of(second));
}

TEST(LeaseWaitingTest, OneThatIsServedFindsEveryTaskWhoseDelayIsOver) {
  World world;
  const auto submit_later = [&](std::string_view queue, Millis delay) {
    return world.get(Submission{.queue = queue, .payload = "p", .delay = delay}).task_id;
  };
  const std::string in_q = submit_later("q", Millis{20});
  submit_later("r", Millis{10});
  auto waiting = world.wait_for_task("w", {"q", "r"});
  world.pass(Millis{20});
  EXPECT_EQ(in_q, task_of(waiting));  // its first queue, though the other's task has been due for longer
}

TEST(LeaseWaitingTest, ATaskDueWithTheWaitsEndIsServed) {
  World world;
  auto waiting = world.wait_for_task("w", {"q"}, Millis{500});
  world.get(Submission{.queue = "q", .payload = "p", .delay = Millis{500}});
  world.pass(Millis{500});
  EXPECT_EQ(1U, waiting.reply().size());
}

TEST(LeaseWaitingTest, IsServedWhenARetryIsDue) {
  World world;
  const std::string task =
      world.get(Submission{.queue = "q", .payload = "p", .backoff_initial = Millis{10}, .backoff_max = Millis{10}})
          .task_id;
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  auto waiting = world.wait_for_task("w2", {"q"});
  EXPECT_EQ(TaskState::kWaiting, world.get(FailureReport{task, lease.lease_id, "reason"}));
  const Instant due = world.get(GetTask{task})->not_before.value();
  EXPECT_EQ(due, world.engine->run_due());
  world.pass(due - world.now());
  EXPECT_EQ(task, task_of(waiting));
}

TEST(LeaseWaitingTest, IsServedWhenALeaseExpires) {
  World world;
  const std::string task = world.submit("q");
  world.lease("w1", {"q"});
  auto waiting = world.wait_for_task("w2", {"q"});
  world.pass(Millis{30'000});
  EXPECT_FALSE(waiting.answered());
  const auto before = world.frame_count();
  world.pass(Millis{1});
  EXPECT_EQ(task, task_of(waiting));
  EXPECT_THAT(world.records(before), ElementsAre("LeaseExpired", "LeaseGranted"));
}

TEST(LeaseWaitingTest, IsServedWhenAPausedQueueIsResumed) {
  World world;
  world.get(QueuePause{"q", true});
  auto waiting = world.wait_for_task("w", {"q"});
  const std::string task = world.submit("q");
  EXPECT_FALSE(waiting.answered());
  world.get(QueuePause{"q", false});
  EXPECT_EQ(task, task_of(waiting));
}

TEST(LeaseWaitingTest, ADelayedTaskOfAPausedQueueWaitsForBoth) {
  World world;
  world.get(QueuePause{"q", true});
  auto waiting = world.wait_for_task("w", {"q"});
  world.get(Submission{.queue = "q", .payload = "p", .delay = Millis{500}});
  world.pass(Millis{600});
  EXPECT_FALSE(waiting.answered());
  world.get(QueuePause{"q", false});
  EXPECT_EQ(1U, waiting.reply().size());
}

TEST(LeaseWaitingTest, IsServedWithTheKeysNextTask) {
  World world;
  const std::string first = world.get(Submission{.queue = "q", .payload = "p", .key = "k"}).task_id;
  const std::string second = world.get(Submission{.queue = "q", .payload = "p", .key = "k"}).task_id;
  const std::string third = world.get(Submission{.queue = "q", .payload = "p", .key = "k"}).task_id;
  const TaskLease lease = world.lease("w1", {"q"}).at(0);
  EXPECT_EQ(first, lease.task_id);
  auto waiting = world.wait_for_task("w2", {"q"});
  auto another = world.wait_for_task("w3", {"q"});
  EXPECT_FALSE(waiting.answered());
  world.get(Completion{first, lease.lease_id});
  EXPECT_EQ(second, task_of(waiting));
  EXPECT_FALSE(another.answered());
  world.get(TaskKill{second, "not wanted"});
  EXPECT_EQ(third, task_of(another));
}

TEST(LeaseWaitingTest, IsServedByAResubmission) {
  World world;
  const std::string task = world.submit("q");
  world.get(TaskKill{task, "reason"});
  auto waiting = world.wait_for_task("w", {"q"});
  const std::string again = world.get(Resubmission{task}).task_id;
  EXPECT_EQ(again, task_of(waiting));
}

// --- request ids ---

TEST(LeaseWaitingTest, ARepeatedRequestTakesOverThePlaceAndTheOlderIsAnsweredEmpty) {
  World world;
  auto older = world.wait(request_with_id("w1", "r"), Millis{1000});
  auto behind = world.wait_for_task("w2", {"q"});
  auto newer = world.wait(request_with_id("w1", "r"), Millis{1000});
  EXPECT_TRUE(older.reply().empty());
  EXPECT_FALSE(newer.answered());
  EXPECT_FALSE(world.engine->cancel(older.ticket));
  const std::string task = world.submit("q");
  EXPECT_EQ(task, task_of(newer));
  EXPECT_FALSE(behind.answered());
}

TEST(LeaseWaitingTest, TheOneWhoTookOverWaitsForItsOwnTime) {
  World world;
  world.wait(request_with_id("w", "r"), Millis{100});
  world.pass(Millis{50});
  auto newer = world.wait(request_with_id("w", "r"), Millis{100});
  world.pass(Millis{99});
  EXPECT_FALSE(newer.answered());
  world.pass(Millis{1});
  EXPECT_TRUE(newer.reply().empty());
}

TEST(LeaseWaitingTest, ARepeatedRequestThatDoesNotWaitEndsTheOldersWait) {
  World world;
  auto older = world.wait(request_with_id("w", "r"), Millis{1000});
  EXPECT_TRUE(world.get(request_with_id("w", "r")).empty());
  EXPECT_TRUE(older.reply().empty());
  world.submit("q");
  EXPECT_EQ(1U, older.size());
  EXPECT_EQ(1U, world.lease("w2", {"q"}).size());

  auto another = world.wait(request_with_id("w", "s"), Millis{1000});
  EXPECT_TRUE(world.wait(request_with_id("w", "s"), Millis{0}).reply().empty());
  EXPECT_TRUE(another.reply().empty());
}

TEST(LeaseWaitingTest, AWaitingIdWithAnotherVerbOrArgumentIsInvalidAndTheOlderWaitsOn) {
  World world;
  world.get(TaskKill{world.get(Submission{.queue = "x", .payload = "p", .id = "dead"}).task_id, "reason"});
  auto older = world.wait(request_with_id("w", "r"), Millis{1000});
  const auto frames = world.frame_count();
  EXPECT_EQ("INVALID", word(world.wait(request_with_id("w2", "r"), Millis{1000}).answer()));
  EXPECT_EQ("INVALID", word(world.ask(request_with_id("w2", "r"))));
  EXPECT_EQ("INVALID", word(world.ask(LeaseRequest{.worker = "w", .queues = {"q", "r"}, .request_id = "r"})));
  EXPECT_EQ("INVALID", word(world.ask(Submission{.queue = "q", .payload = "p", .request_id = "r"})));
  EXPECT_EQ("INVALID", word(world.ask(Resubmission{"dead", "r"})));
  EXPECT_FALSE(older.answered());
  EXPECT_EQ(frames, world.frame_count());
  world.submit("q");
  EXPECT_EQ(1U, older.reply().size());
}

TEST(LeaseWaitingTest, OtherOptionsAreNotCompared) {
  World world;
  world.wait(request_with_id("w", "r"), Millis{1000});
  LeaseRequest repeated = request_with_id("w", "r");
  repeated.count = 5;
  repeated.lease = Millis{77};
  auto newer = world.wait(repeated, Millis{2000});
  world.submit("q");
  EXPECT_EQ(Millis{77}, newer.reply().at(0).remaining);
}

TEST(LeaseWaitingTest, ARepeatAfterTheGrantIsGivenTheSameLease) {
  World world;
  auto waiting = world.wait(request_with_id("w", "r"), Millis{1000});
  world.submit("q");
  world.submit("q");
  world.advance(Millis{10});
  auto repeated = world.wait(request_with_id("w", "r"), Millis{1000});
  EXPECT_EQ(waiting.reply().at(0).lease_id, repeated.reply().at(0).lease_id);
  EXPECT_EQ(Millis{29'990}, repeated.reply().at(0).remaining);
}

TEST(LeaseWaitingTest, ARepeatWhoseLeasesHaveEndedIsEmptyAtOnce) {
  World world;
  const std::string task = world.submit("q");
  const TaskLease lease = world.get(request_with_id("w", "r")).at(0);
  world.get(Completion{task, lease.lease_id});
  auto repeated = world.wait(request_with_id("w", "r"), Millis{1000});
  EXPECT_EQ(0U, repeated.ticket);
  EXPECT_TRUE(repeated.reply().empty());
}

TEST(LeaseWaitingTest, AnEmptyAnswerIsNotKept) {
  World world;
  EXPECT_TRUE(world.get(request_with_id("w", "r")).empty());
  world.submit("q");
  EXPECT_EQ(1U, world.get(request_with_id("w", "r")).size());
}

TEST(LeaseWaitingTest, ARepeatMeetsWhatTimeFreedForTheOlder) {
  World world;
  const std::string task = world.submit("q");
  world.lease("w", {"q"});
  auto older = world.wait(request_with_id("w2", "r"), Millis{60'000});
  world.advance(Millis{30'001});
  auto newer = world.wait(request_with_id("w2", "r"), Millis{60'000});
  EXPECT_EQ(task, task_of(older));
  EXPECT_EQ(older.reply().at(0).lease_id, newer.reply().at(0).lease_id);
}

// --- limits ---

TEST(LeaseWaitingTest, BeyondTheLimitOfWaitersForOneNameIsBackpressure) {
  World world(Settings{.waiters_max = 2});
  auto first = world.wait(request_with_id("w1", "r"), Millis{1000});
  world.wait_for_task("w2", {"q"});
  EXPECT_EQ("BACKPRESSURE", word(world.wait_for_task("w3", {"q"}).answer()));
  EXPECT_EQ("BACKPRESSURE", word(world.wait_for_task("w3", {"other", "q"}).answer()));
  EXPECT_FALSE(world.wait_for_task("w3", {"other"}).answered());
  // A repeat is no more than was there.
  EXPECT_FALSE(world.wait(request_with_id("w1", "r"), Millis{1000}).answered());
  world.submit("q");
  EXPECT_FALSE(world.wait_for_task("w3", {"q"}).answered());
}

TEST(LeaseWaitingTest, AThousandWaitersAndTasksMeetInOrder) {
  World world;
  std::vector<LeaseWaiting> waiting;
  for (int i = 0; i < 1000; ++i) waiting.push_back(world.wait_for_task("w", {i % 2 == 0 ? "q" : "r"}));
  std::vector<std::string> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(world.submit(i % 2 == 0 ? "q" : "r"));
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(tasks[i], task_of(waiting[i]));
  }
}

// --- waiting for a task's end ---

TEST(TaskWaitingTest, IsAnsweredWhenTheTaskHasEnded) {
  World world;
  const std::string task = world.submit("q");
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  auto one = world.wait(AwaitTask{task}, Millis{1000});
  auto two = world.wait(AwaitTask{task}, Millis{1000});
  world.get(Completion{task, lease.lease_id, "result"});
  EXPECT_EQ("result", one.reply().value().result);
  EXPECT_EQ(TaskState::kCompleted, two.reply().value().state);
  EXPECT_EQ(0U, world.wait(AwaitTask{task}, Millis{1000}).ticket);
}

TEST(TaskWaitingTest, AFailureThatWillBeRetriedIsNoEnd) {
  World world;
  const std::string task = world.submit("q");
  const TaskLease lease = world.lease("w", {"q"}).at(0);
  auto waiting = world.wait(AwaitTask{task}, Millis{1000});
  world.get(FailureReport{task, lease.lease_id, "reason"});
  EXPECT_FALSE(waiting.answered());
  world.get(TaskKill{task, "enough"});
  EXPECT_EQ(TaskState::kDead, waiting.reply().value().state);
}

TEST(TaskWaitingTest, IsAnsweredWhenTimeMakesItPoison) {
  World world;
  const std::string task = world.get(Submission{.queue = "q", .payload = "p", .attempts = 1}).task_id;
  world.lease("w", {"q"});
  auto waiting = world.wait(AwaitTask{task}, std::chrono::minutes(5));
  const auto before = world.frame_count();
  world.pass(Millis{30'001});
  EXPECT_EQ("poison", waiting.reply().value().reason);
  EXPECT_THAT(world.frames(before), ElementsAre(ElementsAre("LeaseExpired", "TaskDead")));
}

TEST(TaskWaitingTest, EndsWithNothingWhenItsTimeHasPassedOrItIsCancelled) {
  World world;
  const std::string task = world.submit("q");
  auto timed = world.wait(AwaitTask{task}, Millis{100});
  auto cancelled = world.wait(AwaitTask{task}, Millis{200});
  EXPECT_EQ(world.now() + Millis{100}, world.engine->run_due());
  world.pass(Millis{100});
  EXPECT_FALSE(timed.reply().has_value());
  EXPECT_TRUE(world.engine->cancel(cancelled.ticket));
  EXPECT_FALSE(cancelled.reply().has_value());
  EXPECT_FALSE(world.get(AwaitTask{task}).has_value());
}

TEST(TaskWaitingTest, AnUnknownTaskIsAnError) {
  World world;
  EXPECT_EQ("NOTASK", word(world.wait(AwaitTask{"none"}, Millis{1000}).answer()));
  EXPECT_EQ("NOTASK", word(world.ask(AwaitTask{"none"})));
}

}  // namespace
}  // namespace tenure
