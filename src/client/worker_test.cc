// Workers on simulated time: leases kept alive while a job runs, outcomes reported, losses told.
#include "client/lock_testing.h"
#include "client/tasks_testing.h"
#include "client/workshop.h"

namespace tenure {
namespace {

// Tasks that may be cut off: reports and extensions are Unavailable then.
class ShakyTasks final : public TasksInFront {
 public:
  explicit ShakyTasks(Tasks& tasks) : TasksInFront(tasks) {}
  std::optional<Extended> extend(const TaskExtension& request) override {
    ++extensions;
    fail_if_cut();
    return tasks_.extend(request);
  }
  Report complete(const Completion& request) override {
    ++completions;
    fail_if_cut();
    return tasks_.complete(request);
  }

  std::atomic<bool> is_cut{false};
  std::atomic<int> extensions{0};
  std::atomic<int> completions{0};

 private:
  void fail_if_cut() const {
    if (is_cut) throw Unavailable(ErrorCode::kUnavailable, "cut off");
  }
};

class WorkerTest : public ::testing::Test {
 protected:
  static constexpr Millis kLease{3000};

  void start(const Worker::Handler& handler, int concurrency = 1) {
    workshop = std::make_unique<Workshop>(tasks,
                                          WorkerOptions{.name = "w",
                                                        .queues = {"q"},
                                                        .concurrency = concurrency,
                                                        .lease = kLease,
                                                        .on_cancelled = [this](const Job&) { ++cancelled; },
                                                        .log = [](const std::string&) {}},
                                          *world.clock);
    thread = std::thread([this, handler] { tally = workshop->run(handler, {}); });
  }
  void stop() {
    workshop->stop();
    thread.join();
  }
  void pass(Millis time) {
    world.advance(time);
    workshop->settle();
    world.pass(Millis{0});
  }
  std::string submit(std::string_view payload, Millis window = std::chrono::minutes(5)) {
    return face.submit({.queue = "q", .payload = payload, .window = window, .retries = 1}).task_id;
  }
  void await_state(const std::string& task_id, TaskState state) {
    await([&] { return face.get(task_id)->state == state; });
  }

  World world;
  TaskFace face{*world.engine};
  ShakyTasks tasks{face};
  std::unique_ptr<Workshop> workshop;
  std::thread thread;
  WorkerTally tally;
  std::atomic<int> cancelled{0};
};

TEST_F(WorkerTest, DoesTasksAndKeepsTheirResults) {
  const std::string first = submit("one");
  start([](const Job& job) {
    EXPECT_EQ("q", job.queue);
    EXPECT_EQ(1U, job.attempt);
    EXPECT_GT(job.fence.value, 0U);
    EXPECT_FALSE(job.lost.stop_requested());
    return Outcome::done("did " + job.payload);
  });
  await_state(first, TaskState::kCompleted);
  const std::string second = submit("two");
  await_state(second, TaskState::kCompleted);
  stop();
  EXPECT_EQ("did one", face.get(first)->result);
  EXPECT_EQ("did two", face.get(second)->result);
  EXPECT_EQ(2U, tally.completed);
}

TEST_F(WorkerTest, FailuresAndExceptionsAreFailures) {
  const std::string failing = submit("fail");
  const std::string throwing = submit("throw");
  const std::string hopeless = submit("hopeless");
  const std::string final_one = submit("final");
  start([](const Job& job) -> Outcome {
    if (job.payload == "throw") throw std::runtime_error("thrown");
    if (job.payload == "final") throw FinalFailure("never again");
    return job.payload == "fail" ? Outcome::failed("failed") : Outcome::failed_for_good("hopeless");
  });
  await_state(hopeless, TaskState::kFailed);
  await_state(final_one, TaskState::kFailed);
  EXPECT_EQ("failed", face.get(failing)->reason);
  EXPECT_EQ("thrown", face.get(throwing)->reason);
  EXPECT_EQ("hopeless", face.get(hopeless)->reason);
  EXPECT_EQ("never again", face.get(final_one)->reason);
  EXPECT_EQ(TaskState::kWaiting, face.get(failing)->state);
  pass(std::chrono::seconds(2));  // their retry
  await_state(failing, TaskState::kFailed);
  await_state(throwing, TaskState::kFailed);
  stop();
  EXPECT_EQ(4U, tally.failed);
  EXPECT_EQ(2U, tally.failed_for_good);
}

// A handler that waits until the test lets it go on, or its task is lost.
struct Gate {
  std::atomic<int> entered{0};
  std::atomic<int> lost{0};
  std::atomic<bool> is_open{false};

  Outcome operator()(const Job& job) {
    ++entered;
    await([&] { return is_open || job.lost.stop_requested(); });
    if (job.lost.stop_requested()) ++lost;
    return Outcome::done();
  }
};

TEST_F(WorkerTest, KeepsALongJobsLeaseAlive) {
  Gate gate;
  const std::string task = submit("long");
  start(std::ref(gate));
  await([&] { return gate.entered == 1; });
  for (int i = 0; i < 20; ++i) pass(kLease / 3);
  EXPECT_EQ(TaskState::kLeased, face.get(task)->state);
  EXPECT_EQ(1U, face.get(task)->attempt);
  gate.is_open = true;
  await_state(task, TaskState::kCompleted);
  stop();
  EXPECT_EQ(0, gate.lost);
  EXPECT_GE(tasks.extensions, 15);
}

TEST_F(WorkerTest, ALeaseThatWasWaitedForIsNotLostEarly) {
  Gate gate;
  start(std::ref(gate));
  await([&] { return face.workers({}).workers.size() == 1; });
  pass(std::chrono::seconds(20));
  const std::string task = submit("late");
  await([&] { return gate.entered == 1; });
  pass(kLease / 4);
  EXPECT_EQ(0, gate.lost);
  gate.is_open = true;
  await_state(task, TaskState::kCompleted);
  stop();
}

TEST_F(WorkerTest, AJobIsToldWhenItsWindowIsOver) {
  Gate gate;
  const std::string task = submit("slow", kLease * 2);
  start(std::ref(gate));
  await([&] { return gate.entered == 1; });
  for (int i = 0; i < 5; ++i) pass(kLease / 3);
  EXPECT_EQ(0, gate.lost);
  pass(kLease / 3);
  await([&] { return gate.lost == 1; });
  pass(Millis{1});
  gate.is_open = true;
  await_state(task, TaskState::kCompleted);  // by its report, or by its next attempt
  stop();
}

TEST_F(WorkerTest, AJobIsToldWhenItsTaskIsKilledAndTheReportIsSurfaced) {
  Gate gate;
  const std::string task = submit("killed");
  start(std::ref(gate));
  await([&] { return gate.entered == 1; });
  face.kill({.task_id = task, .reason = "no longer wanted"});
  pass(kLease / 3);
  await([&] { return cancelled == 1; });
  stop();
  EXPECT_EQ(1, gate.lost);
  EXPECT_EQ(1U, tally.cancelled);
  EXPECT_EQ(1, tasks.completions);  // CANCELLED is never retried
  EXPECT_EQ(TaskState::kDead, face.get(task)->state);
}

TEST_F(WorkerTest, AJobIsToldWhenTheAuthorityCannotBeReached) {
  Gate gate;
  submit("cut off");
  start(std::ref(gate));
  await([&] { return gate.entered == 1; });
  tasks.is_cut = true;
  for (int i = 0; i < 12 && gate.lost == 0; ++i) pass(kLease / 12);
  await([&] { return gate.lost == 1; });
  stop();
  EXPECT_EQ(1U, tally.unreported);
  EXPECT_GT(tasks.extensions, 1);
}

TEST_F(WorkerTest, AReportWithoutAnswerIsRepeated) {
  const std::string task = submit("one");
  tasks.is_cut = true;
  start([](const Job&) { return Outcome::done(); });
  await([&] { return tasks.completions >= 2; });
  tasks.is_cut = false;
  await_state(task, TaskState::kCompleted);
  stop();
  EXPECT_EQ(1U, tally.completed);
}

TEST_F(WorkerTest, AReportThatIsRefusedIsAFailure) {
  const std::string task = submit("one");
  start([](const Job&) { return Outcome::done(std::string(std::size_t{2} << 20, 'x')); });
  await([&] { return face.get(task)->failures == 1; });
  EXPECT_THAT(face.get(task)->reason.value(), ::testing::HasSubstr("TOOLARGE"));
  stop();
}

TEST_F(WorkerTest, DrainsWhenStopped) {
  Gate gate;
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(submit("drained"));
  start(std::ref(gate), 2);
  await([&] { return gate.entered == 2; });
  workshop->stop();
  gate.is_open = true;
  thread.join();
  EXPECT_EQ(2U, tally.completed);
  EXPECT_EQ(2, gate.entered);
  EXPECT_EQ(TaskState::kWaiting, face.get(ids.back())->state);
}

TEST_F(WorkerTest, RefusesOptionsThatCannotBe) {
  EXPECT_THROW(Worker(face, {.name = "", .queues = {"q"}}), std::invalid_argument);
  EXPECT_THROW(Worker(face, {.name = "w", .queues = {}}), std::invalid_argument);
  EXPECT_THROW(Worker(face, {.name = "w", .queues = {"q"}, .concurrency = 0}), std::invalid_argument);
  EXPECT_THROW(Worker(face, {.name = "w", .queues = {"q"}, .lease = Millis{0}}), std::invalid_argument);
}

}  // namespace
}  // namespace tenure
