// The three faces over an engine whose time stands still: each call works, and each error is the exception errors.h
// names, with its fields.
#include "authority/faces.h"

#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;

class FacesTest : public ::testing::Test {
 protected:
  World world_;
  TaskFace task_face_{*world_.engine};
  WorkFace work_face_{*world_.engine};
  LockFace lock_face_{*world_.engine};
  // Through the interfaces: their default arguments are what users meet.
  Tasks& tasks_ = task_face_;
  WorkLeases& work_ = work_face_;
  Locks& locks_ = lock_face_;
};

// Runs `call`, which must throw an E, and gives it back.
template <class E, class Call>
E thrown_by(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error;
  }
  throw std::logic_error("nothing was thrown");
}

// --- tasks ---

TEST_F(FacesTest, ATaskGoesItsWay) {
  const Submitted submitted = tasks_.submit({.queue = "q", .payload = "p", .request_id = "r"});
  EXPECT_TRUE(submitted.created);
  EXPECT_FALSE(tasks_.submit({.queue = "q", .payload = "p", .request_id = "r"}).created);
  const TaskLease lease = tasks_.lease({.worker = "w", .queues = {"q"}}).at(0);
  EXPECT_EQ("p", lease.payload);
  EXPECT_EQ("q", lease.queue);
  EXPECT_EQ(1U, lease.attempt);
  world_.advance(Millis{10});
  const auto extended = tasks_.extend({.task_id = lease.task_id, .lease_id = lease.lease_id});
  EXPECT_EQ(Millis{30'000}, extended.value().remaining);
  EXPECT_EQ(Report::kCommitted,
            tasks_.complete({.task_id = lease.task_id, .lease_id = lease.lease_id, .result = "done"}));
  EXPECT_EQ("done", tasks_.get(lease.task_id).value().result);
  EXPECT_EQ(AttemptOutcome::kCompleted, tasks_.history(lease.task_id).at(0).outcome);
  EXPECT_EQ(TaskState::kCompleted, tasks_.wait(lease.task_id, Millis{0}).value().state);
  EXPECT_EQ("q", tasks_.get(tasks_.resubmit({.task_id = lease.task_id}).task_id).value().queue);
}

TEST_F(FacesTest, LateReportsAreCancelled) {
  const std::string task = tasks_.submit({.queue = "q", .payload = "p"}).task_id;
  const TaskLease lease = tasks_.lease({.worker = "w", .queues = {"q"}}).at(0);
  world_.advance(Millis{30'001});
  EXPECT_FALSE(tasks_.extend({.task_id = task, .lease_id = lease.lease_id}).has_value());
  EXPECT_EQ(Report::kCancelled, tasks_.complete({.task_id = task, .lease_id = lease.lease_id}));
  EXPECT_FALSE(tasks_.fail({.task_id = task, .lease_id = lease.lease_id, .reason = "r"}).has_value());
  EXPECT_EQ(Report::kCancelled, tasks_.complete_later({.task_id = task, .lease_id = lease.lease_id}).get());
}

TEST_F(FacesTest, FailuresAreRetriedOrFinal) {
  const std::string task = tasks_.submit({.queue = "q", .payload = "p", .backoff_initial = Millis{0}}).task_id;
  const TaskLease first = tasks_.lease({.worker = "w", .queues = {"q"}}).at(0);
  EXPECT_EQ(TaskState::kWaiting, tasks_.fail({.task_id = task, .lease_id = first.lease_id, .reason = "r"}));
  const TaskLease second = tasks_.lease({.worker = "w", .queues = {"q"}}).at(0);
  EXPECT_EQ(TaskState::kFailed,
            tasks_.fail({.task_id = task, .lease_id = second.lease_id, .reason = "r", .final = true}));
}

TEST_F(FacesTest, ListingsAndPauses) {
  tasks_.submit({.queue = "q", .payload = "p", .id = "t"});
  tasks_.pause("q");
  EXPECT_TRUE(tasks_.lease({.worker = "w", .queues = {"q"}}).empty());
  EXPECT_TRUE(tasks_.queues({}).queues.at(0).paused);
  tasks_.resume("q");
  EXPECT_EQ("t", tasks_.list({.queue = "q", .state = TaskState::kWaiting}).tasks.at(0).task_id);
  EXPECT_EQ("w", tasks_.workers({}).workers.at(0).worker);
  tasks_.kill({.task_id = "t", .reason = "r"});
  EXPECT_EQ("r", tasks_.get("t").value().reason);
  EXPECT_FALSE(tasks_.get("none").has_value());
}

TEST_F(FacesTest, FuturesAnswerWhenDurable) {
  world_.journal.hold(true);
  auto first = tasks_.submit_later({.queue = "q", .payload = "p", .id = "a"});
  auto second = tasks_.submit_later({.queue = "q", .payload = "p", .id = "a"});
  EXPECT_EQ(std::future_status::timeout, first.wait_for(std::chrono::seconds(0)));
  world_.journal.hold(false);
  EXPECT_EQ("a", first.get().task_id);
  EXPECT_THROW(second.get(), TaskExists);
}

TEST_F(FacesTest, FuturesOfAJournalThatFailsThrow) {
  world_.journal.hold(true);
  auto submitted = tasks_.submit_later({.queue = "q", .payload = "p"});
  world_.journal.fail("gone");
  EXPECT_THROW(submitted.get(), Unavailable);
}

TEST_F(FacesTest, ManySubmissionsAreAnsweredInOrder) {
  const std::vector<Submission> many(10, Submission{.queue = "q", .payload = "p"});
  const auto submitted = tasks_.submit_many(many);
  ASSERT_EQ(10U, submitted.size());
  const auto leases = tasks_.lease({.worker = "w", .queues = {"q"}, .count = 10});
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(submitted[i].task_id, leases[i].task_id);
  }
  EXPECT_TRUE(tasks_.submit_many({}).empty());
}

TEST_F(FacesTest, TheFirstErrorOfManyIsThrownAfterAllWereTried) {
  const auto submit = [&] {
    tasks_.submit_many({{.queue = "q", .payload = "p", .id = "a"},
                        {.queue = "q", .payload = "p", .id = "a"},
                        {.queue = "", .payload = "p"},
                        {.queue = "q", .payload = "p", .id = "b"}});
  };
  EXPECT_EQ(ErrorCode::kTaskExists, thrown_by<TaskExists>(submit).code());
  EXPECT_TRUE(tasks_.get("a").has_value());
  EXPECT_TRUE(tasks_.get("b").has_value());
  ASSERT_EQ(1U, tasks_.queues({}).queues.size());
  EXPECT_EQ(2U, tasks_.queues({}).queues[0].waiting);
}

TEST_F(FacesTest, EachOfManyIsCheckedAsOneAloneIs) {
  const std::string long_name(256, 'x');
  const std::string large((1U << 20) + 1, 'x');
  const std::vector<Submission> bad = {
      {.queue = "", .payload = "p"},
      {.queue = long_name, .payload = "p"},
      {.queue = "q", .payload = large},
      {.queue = "q", .payload = "p", .id = long_name},
      {.queue = "q", .payload = "p", .request_id = ""},
      {.queue = "q", .payload = "p", .window = Millis{0}},
      {.queue = "q", .payload = "p", .retries = -1},
      {.queue = "q", .payload = "p", .attempts = 0},
      {.queue = "q", .payload = "p", .delay = Millis{-1}},
      {.queue = "q", .payload = "p", .priority = 256},
      {.queue = "q", .payload = "p", .key = "\n"},
  };
  for (const Submission& one : bad) {
    const std::string why = thrown_by<InvalidRequest>([&] { tasks_.submit(one); }).what();
    EXPECT_EQ(why, thrown_by<InvalidRequest>([&] { tasks_.submit_many({one}); }).what());
  }
  EXPECT_TRUE(tasks_.queues({}).queues.empty());
}

TEST_F(FacesTest, TaskErrorsAreTyped) {
  tasks_.submit({.queue = "q", .payload = "p", .id = "t"});
  EXPECT_EQ(ErrorCode::kTaskExists,
            thrown_by<TaskExists>([&] { tasks_.submit({.queue = "q", .payload = "p", .id = "t"}); }).code());
  EXPECT_EQ(ErrorCode::kNotTerminal, thrown_by<WrongTaskState>([&] { tasks_.resubmit({.task_id = "t"}); }).code());
  tasks_.kill({.task_id = "t", .reason = "r"});
  EXPECT_EQ(ErrorCode::kTerminal,
            thrown_by<WrongTaskState>([&] { tasks_.kill({.task_id = "t", .reason = "r"}); }).code());
  EXPECT_EQ(ErrorCode::kInvalid,
            thrown_by<InvalidRequest>([&] { tasks_.submit({.queue = "", .payload = "p"}); }).code());
  const std::string large((1U << 20) + 1, 'x');
  EXPECT_EQ(ErrorCode::kTooLarge,
            thrown_by<InvalidRequest>([&] { tasks_.submit({.queue = "q", .payload = large}); }).code());
}

TEST_F(FacesTest, AnUnknownTaskIsAnErrorEverywhereButInGet) {
  EXPECT_THROW(tasks_.extend({.task_id = "none", .lease_id = "l"}), NoSuchTask);
  EXPECT_THROW(tasks_.complete({.task_id = "none", .lease_id = "l"}), NoSuchTask);
  EXPECT_THROW(tasks_.complete_later({.task_id = "none", .lease_id = "l"}).get(), NoSuchTask);
  EXPECT_THROW(tasks_.fail({.task_id = "none", .lease_id = "l", .reason = "r"}), NoSuchTask);
  EXPECT_THROW(tasks_.kill({.task_id = "none", .reason = "r"}), NoSuchTask);
  EXPECT_THROW(tasks_.resubmit({.task_id = "none"}), NoSuchTask);
  EXPECT_THROW(tasks_.history("none"), NoSuchTask);
  EXPECT_THROW(tasks_.wait("none", Millis{10}), NoSuchTask);
  EXPECT_EQ(ErrorCode::kNoTask, thrown_by<NoSuchTask>([&] { tasks_.history("none"); }).code());
}

// --- work leases ---

TEST_F(FacesTest, WorkGoesItsWay) {
  const auto first = std::get<Acquired>(work_.try_acquire({.domain = "d", .offset = Offset{1}}));
  EXPECT_TRUE(std::get<Acquired>(work_.try_acquire({.domain = "d", .offset = Offset{1}})).already);
  EXPECT_EQ(1U, std::get<Enqueued>(work_.try_acquire({.domain = "d", .offset = Offset{2}})).position);
  const auto retry = work_.fail({.domain = "d", .token = first.token, .reason = "r"});
  EXPECT_EQ(1U, std::get<RetryScheduled>(retry).retry_count);
  EXPECT_FALSE(work_.extend({.domain = "d", .token = first.token, .lease = Millis{5}}).expires_at.has_value());
  EXPECT_EQ(Offset{2}, work_.succeed({.domain = "d", .token = first.token}).next);
  EXPECT_TRUE(std::holds_alternative<AlreadyProcessed>(work_.try_acquire({.domain = "d", .offset = Offset{1}})));
  const auto second =
      std::get<Acquired>(work_.try_acquire({.domain = "d", .offset = Offset{2}, .lease = Millis{1000}}));
  EXPECT_EQ(Millis{2000}, work_.extend({.domain = "d", .token = second.token, .lease = Millis{2000}}).remaining);
  for (int i = 0; i < 3; ++i) work_.fail({.domain = "d", .token = second.token});
  EXPECT_FALSE(std::get<GivenUp>(work_.fail({.domain = "d", .token = second.token})).next.has_value());
  EXPECT_TRUE(std::holds_alternative<AlreadyFailed>(work_.try_acquire({.domain = "d", .offset = Offset{2}})));
  EXPECT_THAT(work_.failed("d", {}).offsets, ElementsAre(Offset{2}));
  EXPECT_THAT(work_.done("d", {}).intervals, ElementsAre(Interval{Offset{1}, Offset{1}}));
  EXPECT_TRUE(work_.backlog("d", {}).offsets.empty());
  EXPECT_THAT(work_.domains({}).domains, ElementsAre("d"));
  work_.trim("d", Offset{10});
  EXPECT_EQ(Offset{10}, work_.inspect("d").value().trimmed_below);
  EXPECT_FALSE(work_.inspect("none").has_value());
}

TEST_F(FacesTest, ATrimOfManyIntervalsIsOneCall) {
  for (int i = 0; i < 3000; ++i) {
    const auto held = std::get<Acquired>(work_.try_acquire({.domain = "d", .offset = Offset{2 * i}}));
    work_.succeed({.domain = "d", .token = held.token});
  }
  work_.trim("d", Offset{5999});
  EXPECT_EQ(Offset{5999}, work_.inspect("d").value().trimmed_below);
  EXPECT_EQ(0U, work_.inspect("d").value().processed);
}

TEST_F(FacesTest, WorkErrorsAreTyped) {
  const auto held = std::get<Acquired>(work_.try_acquire({.domain = "d", .offset = Offset{1}}));
  work_.try_acquire({.domain = "d", .offset = Offset{5}});
  EXPECT_EQ(ErrorCode::kTokenMismatch,
            thrown_by<TokenMismatch>([&] { work_.succeed({.domain = "d", .token = "other"}); }).code());
  EXPECT_THROW(work_.fail({.domain = "d", .token = "other"}), TokenMismatch);
  work_.succeed({.domain = "d", .token = held.token});
  EXPECT_EQ(ErrorCode::kNoLease,
            thrown_by<LeaseNotFound>([&] { work_.succeed({.domain = "d", .token = held.token}); }).code());
  EXPECT_THROW(work_.extend({.domain = "none", .token = held.token, .lease = Millis{1}}), LeaseNotFound);
  const auto order = thrown_by<BacklogOrdering>([&] { work_.try_acquire({.domain = "d", .offset = Offset{7}}); });
  EXPECT_EQ(ErrorCode::kBacklogOrder, order.code());
  EXPECT_EQ("d", order.domain());
  EXPECT_EQ(Offset{5}, order.expected());
  EXPECT_EQ(Offset{7}, order.got());
  EXPECT_THROW(work_.try_acquire({.domain = "d", .offset = Offset{-1}}), InvalidRequest);
  EXPECT_THROW(work_.trim("d", Offset{6}), InvalidRequest);
}

// --- locks ---

TEST_F(FacesTest, ALockGoesItsWay) {
  const LockName name = lock_named("1");
  EXPECT_FALSE(locks_.is_locked(name));
  const LockGrant grant = locks_.acquire({.lock = name, .owner = "a"}).value();
  EXPECT_EQ(std::chrono::minutes(1), grant.remaining);
  EXPECT_TRUE(grant.fence.has_value());
  EXPECT_FALSE(locks_.acquire({.lock = name, .owner = "b"}).has_value());
  EXPECT_EQ(2U, locks_.acquire({.lock = name, .owner = "a"}).value().holds);
  EXPECT_TRUE(locks_.is_locked(name));
  EXPECT_EQ("a", locks_.get(name).value().owner);
  EXPECT_EQ(1U, locks_.list({.domain = "d"}).locks.size());
  world_.advance(Millis{10});
  EXPECT_EQ(Millis{60'000}, locks_.extend({.lock = name, .token = grant.token}).remaining);
  EXPECT_EQ(1U, locks_.release({.lock = name, .token = grant.token}));
  EXPECT_EQ(0U, locks_.release({.lock = name, .token = grant.token}));
  EXPECT_FALSE(locks_.force(name));
  const LockGrant second = locks_.acquire({.lock = name, .owner = "b"}).value();
  EXPECT_FALSE(locks_.force(name, grant.fence));
  EXPECT_TRUE(locks_.force(name, second.fence));
}

TEST_F(FacesTest, LockErrorsAreTypedAndNameTheLock) {
  const LockName name = lock_named("1");
  const LockGrant grant = locks_.acquire({.lock = name, .owner = "a"}).value();
  const auto unknown = thrown_by<NotHeld>([&] { locks_.release({.lock = name, .token = "other"}); });
  EXPECT_EQ(ErrorCode::kNotHeld, unknown.code());
  EXPECT_EQ("d", unknown.domain());
  EXPECT_EQ("1", unknown.identifier());
  EXPECT_THROW(locks_.extend({.lock = name, .token = "other"}), NotHeld);
  world_.advance(Millis{60'001});
  const auto expired = thrown_by<LockExpired>([&] { locks_.release({.lock = name, .token = grant.token}); });
  EXPECT_EQ(ErrorCode::kExpired, expired.code());
  EXPECT_EQ("d", expired.domain());
  EXPECT_EQ("1", expired.identifier());
  EXPECT_THROW(locks_.extend({.lock = name, .token = grant.token}), SoftLockError);
  EXPECT_THROW(locks_.acquire({.lock = {"d::e", "1"}, .owner = "a"}), InvalidRequest);
  EXPECT_THROW(locks_.list({.paging = {.count = 0}}), InvalidRequest);
}

TEST_F(FacesTest, LimitsAreBackpressure) {
  World small(Settings{.backlog_max = 1, .holds_max = 1});
  WorkFace work(*small.engine);
  work.try_acquire({.domain = "d", .offset = Offset{1}});
  work.try_acquire({.domain = "d", .offset = Offset{2}});
  const auto full = thrown_by<Backpressure>([&] { work.try_acquire({.domain = "d", .offset = Offset{3}}); });
  EXPECT_EQ(ErrorCode::kBackpressure, full.code());
  LockFace face(*small.engine);
  Locks& locks = face;
  locks.acquire({.lock = lock_named("1"), .owner = "a"});
  EXPECT_THROW(locks.acquire({.lock = lock_named("1"), .owner = "a"}), Backpressure);
}

TEST_F(FacesTest, AFailedJournalIsUnavailable) {
  world_.journal.fail("gone");
  EXPECT_EQ(ErrorCode::kUnavailable,
            thrown_by<Unavailable>([&] { tasks_.submit({.queue = "q", .payload = "p"}); }).code());
  EXPECT_THROW(tasks_.lease({.worker = "w", .queues = {"q"}}, Millis{1000}), Unavailable);
  EXPECT_THROW(work_.try_acquire({.domain = "d", .offset = Offset{1}}), Unavailable);
  const auto lock =
      thrown_by<LockAcquisitionError>([&] { locks_.acquire({.lock = lock_named("1"), .owner = "a"}, Millis{1000}); });
  EXPECT_EQ(ErrorCode::kUnavailable, lock.code());
  EXPECT_EQ("d", lock.domain());
  EXPECT_EQ("1", lock.identifier());
}

}  // namespace
}  // namespace tenure
