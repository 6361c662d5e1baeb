#include "cli/task_commands.h"

#include "cli/errand_testing.h"

namespace tenure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct TaskCommandsTest : testing::Test {
  ErrandWorld world;
  Tasks& tasks = world.authority->tasks();

  TaskLease lease(std::string_view worker = "w1") { return tasks.lease({.worker = worker, .queues = {"mail"}}).at(0); }
};

TEST_F(TaskCommandsTest, SubmitPrintsTheIdAndAsJsonWhatHttpAnswers) {
  EXPECT_EQ(submit_task(world.errand(), {.queue = "mail", .payload = "hello", .id = "T1"}), kDone);
  EXPECT_EQ(world.take_out(), "T1\n");
  EXPECT_EQ(submit_task(world.errand(true), {.queue = "mail", .payload = "hello", .id = "T2"}), kDone);
  EXPECT_EQ(world.take_out(), "{\"task_id\":\"T2\",\"verdict\":\"CREATED\"}\n");
  EXPECT_EQ(lease().payload, "hello");
}

TEST_F(TaskCommandsTest, SubmitReadsTheInputAndOneTaskForEachLine) {
  SubmitOptions options{.queue = "mail", .input = [] { return std::string("one\n\ntwo"); }};
  submit_task(world.errand(), options);
  EXPECT_EQ(lease().payload, "one\n\ntwo");
  world.take_out();
  options.lines = true;
  submit_task(world.errand(), options);
  const std::string ids = world.take_out();
  EXPECT_EQ(std::count(ids.begin(), ids.end(), '\n'), 3);
  EXPECT_EQ(lease().payload, "one");
  EXPECT_EQ(lease().payload, "");
  EXPECT_EQ(lease().payload, "two");
}

TEST_F(TaskCommandsTest, SubmitRefusesTwoPayloads) {
  EXPECT_THROW(submit_task(world.errand(), {.queue = "mail", .payload = "a", .file = "b"}), InvalidRequest);
}

TEST_F(TaskCommandsTest, GetShowsTheHolderAndThenTheResult) {
  tasks.submit({.queue = "mail", .payload = "hello", .id = "T1", .key = "k"});
  const TaskLease held = lease();
  EXPECT_EQ(show_task(world.errand(), {.task = "T1"}), kDone);
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("state      LEASED"), HasSubstr("leased to  w1, fence 1, until 20"),
                                      HasSubstr("key        k"), Not(HasSubstr("result"))));
  tasks.complete({.task_id = "T1", .lease_id = held.lease_id, .result = "well"});
  show_task(world.errand(), {.task = "T1"});
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("COMPLETED"), HasSubstr("well")));
  show_task(world.errand(), {.task = "T1", .result = true});
  EXPECT_EQ(world.take_out(), "well");
  show_task(world.errand(true), {.task = "T1"});
  EXPECT_THAT(world.take_out(), AllOf(StartsWith("{\"task_id\":\"T1\""), HasSubstr("\"result\":\"well\"")));
}

TEST_F(TaskCommandsTest, AnUnknownTaskIsNoTask) {
  EXPECT_THROW(show_task(world.errand(), {.task = "T9"}), NoSuchTask);
  EXPECT_THROW(show_history(world.errand(), "T9"), NoSuchTask);
  EXPECT_THROW(kill_task(world.errand(), {.task = "T9"}), NoSuchTask);
}

TEST_F(TaskCommandsTest, WaitTellsHowItEnded) {
  tasks.submit({.queue = "mail", .payload = "", .id = "T1", .retries = 0});
  EXPECT_EQ(wait_for_task(world.errand(), {.task = "T1", .timeout = Millis{1}}), kNotNow);
  EXPECT_THAT(world.take_err(), HasSubstr("T1 has not ended"));
  EXPECT_EQ(wait_for_task(world.errand(true), {.task = "T1", .timeout = Millis{1}}), kNotNow);
  EXPECT_EQ(world.take_out(), "{\"verdict\":\"NONE\"}\n");
  tasks.fail({.task_id = "T1", .lease_id = lease().lease_id, .reason = "broken"});
  EXPECT_EQ(wait_for_task(world.errand(), {.task = "T1"}), kEndedBadly);
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("FAILED"), HasSubstr("broken")));
}

TEST_F(TaskCommandsTest, ListShowsQueuesAndTheTasksOfOne) {
  for (int i = 0; i < 3; ++i) tasks.submit({.queue = "mail", .payload = ""});
  lease();
  EXPECT_EQ(list_tasks(world.errand(), {}), kDone);
  EXPECT_THAT(world.take_out(), AllOf(StartsWith("QUEUE  WAITING"), HasSubstr("mail         2        0       1")));
  list_tasks(world.errand(), {.queue = "mail", .state = "leased"});
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("LEASED"), Not(HasSubstr("WAITING"))));
  list_tasks(world.errand(true), {.queue = "mail", .count = 2});
  const std::string page = world.take_out();
  EXPECT_THAT(page, Not(HasSubstr("\"cursor\":\"0\"")));
  list_tasks(world.errand(), {.queue = "none"});
  EXPECT_THAT(world.take_err(), HasSubstr("tenure list"));
  EXPECT_THROW(list_tasks(world.errand(), {.queue = "mail", .state = "lost"}), InvalidRequest);
}

TEST_F(TaskCommandsTest, KillAndResubmitChangeATask) {
  tasks.submit({.queue = "mail", .payload = "p", .id = "T1"});
  EXPECT_THROW(resubmit_task(world.errand(), {.task = "T1"}), WrongTaskState);
  EXPECT_EQ(kill_task(world.errand(), {.task = "T1", .reason = "no more"}), kDone);
  EXPECT_THAT(world.take_out(), HasSubstr("T1 is DEAD: no more"));
  EXPECT_EQ(resubmit_task(world.errand(), {.task = "T1"}), kDone);
  std::string id = world.take_out();
  id.pop_back();
  EXPECT_EQ(lease().task_id, id);
}

TEST_F(TaskCommandsTest, PauseKeepsTasksFromBeingLeased) {
  tasks.submit({.queue = "mail", .payload = ""});
  pause_queue(world.errand(), "mail");
  EXPECT_TRUE(tasks.lease({.worker = "w", .queues = {"mail"}}).empty());
  list_tasks(world.errand(), {});
  EXPECT_THAT(world.take_out(), HasSubstr("paused"));
  resume_queue(world.errand(), "mail");
  EXPECT_EQ(tasks.lease({.worker = "w", .queues = {"mail"}}).size(), 1U);
}

constexpr Instant kNoon{1'800'000'000'000};

TaskAttempt attempt_of(std::uint32_t number, const std::string& worker, std::uint64_t fence, Millis granted,
                       std::optional<Millis> ended, AttemptOutcome outcome) {
  TaskAttempt attempt;
  attempt.attempt = number;
  attempt.worker = worker;
  attempt.fence = {fence};
  attempt.granted_at = kNoon + granted;
  if (ended) attempt.ended_at = kNoon + *ended;
  attempt.outcome = outcome;
  return attempt;
}

TaskStatus task_of(TaskState state, std::uint32_t attempt) {
  TaskStatus task;
  task.task_id = "T1";
  task.queue = "mail";
  task.state = state;
  task.attempt = attempt;
  task.created_at = kNoon;
  return task;
}

TEST(TimelineTest, DrawsWhoHadItHowItEndedAndWhatWasRefused) {
  TaskStatus task = task_of(TaskState::kCompleted, 2);
  task.late = 2;
  std::vector<TaskAttempt> attempts = {
      attempt_of(1, "w1", 1, Millis{0}, Millis{50'000}, AttemptOutcome::kExpired),
      attempt_of(2, "worker2", 7, Millis{50'000}, Millis{100'000}, AttemptOutcome::kCompleted)};
  attempts[0].extensions = 1;
  attempts[0].late = 1;
  EXPECT_EQ(timeline_text(task, attempts, 39),
            "task T1 in queue mail: COMPLETED, 2 attempts, 2 late reports refused\n"
            "submitted 2027-01-15T08:00:00.000Z\n"
            "\n"
            "#1 w1 fence 1       |========x        |\n"
            "   granted 2027-01-15T08:00:00.000Z, extended 1 time, EXPIRED after 50s; 1 late report refused; so it ran "
            "again\n"
            "#2 worker2 fence 7  |        ========#|\n"
            "   granted 2027-01-15T08:00:50.000Z, COMPLETED after 50s\n"
            "\n"
            "1m40s from the first mark to the last;  # completed  ! failed  x expired  K killed  > still leased\n"
            "1 report refused that came under no lease id of these attempts\n");
}

TEST(TimelineTest, TellsOfATaskThatNobodyHadAndOfOneThatIsStillHeld) {
  TaskStatus task = task_of(TaskState::kWaiting, 0);
  EXPECT_THAT(timeline_text(task, {}, 80), HasSubstr("nobody has had it"));
  task = task_of(TaskState::kLeased, 30);
  task.expires_at = kNoon + Millis{10'000};
  const std::string text =
      timeline_text(task, {attempt_of(30, "w", 3, Millis{0}, std::nullopt, AttemptOutcome::kLeased)}, 80);
  EXPECT_THAT(text, AllOf(HasSubstr("the last 1 are remembered"), HasSubstr(">|"), HasSubstr("still LEASED")));
}

}  // namespace
}  // namespace tenure::cli
