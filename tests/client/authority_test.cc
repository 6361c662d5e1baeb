// Every interface, on an authority in this process and through a client: the same calls, the same answers, the same
// exceptions. Time is the machine's: leases are long where they must hold, short where they must end, and the tests
// wait for what must happen, however long that takes.
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "places.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr Millis kLong = 10min;

template <class Place>
class AuthorityTest : public ::testing::Test {
 protected:
  // While somebody waits for the lock.
  void until_waited_for(const LockName& lock, std::uint64_t waiters) {
    while (locks_.get(lock).value().waiters != waiters) std::this_thread::yield();
  }
  void until_seen(std::string_view worker) {
    const auto is_seen = [&] {
      for (const auto& entry : tasks_.workers({}).workers)
        if (entry.worker == worker) return true;
      return false;
    };
    while (!is_seen()) std::this_thread::yield();
  }

  Place place_;
  Authority& authority_ = *place_.authority;
  Tasks& tasks_ = authority_.tasks();
  WorkLeases& work_ = authority_.work();
  Locks& locks_ = authority_.locks();
  const LockName lock_{.domain = "d", .identifier = "1"};
};

TYPED_TEST_SUITE(AuthorityTest, Places, PlaceNames);

template <class Call>
auto start(Call call) {
  return std::async(std::launch::async, std::move(call));
}

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

TYPED_TEST(AuthorityTest, ATaskGoesItsWay) {
  Tasks& tasks = this->tasks_;
  EXPECT_TRUE(tasks.submit({.queue = "q", .payload = "p", .request_id = "r"}).created);
  EXPECT_FALSE(tasks.submit({.queue = "q", .payload = "p", .request_id = "r"}).created);
  const TaskLease lease = tasks.lease({.worker = "w", .queues = {"none", "q"}}).at(0);
  EXPECT_EQ("p", lease.payload);
  EXPECT_EQ("q", lease.queue);
  EXPECT_EQ(1U, lease.attempt);
  EXPECT_GT(lease.fence, Fence{0});
  const auto extended = tasks.extend({.task_id = lease.task_id, .lease_id = lease.lease_id, .lease = 1min});
  EXPECT_GT(extended.value().remaining, 30s);
  EXPECT_GE(extended->expires_at, lease.expires_at);
  EXPECT_EQ(Report::kCommitted,
            tasks.complete({.task_id = lease.task_id, .lease_id = lease.lease_id, .result = "done"}));
  const TaskStatus status = tasks.get(lease.task_id).value();
  EXPECT_EQ("done", status.result);
  EXPECT_EQ(TaskState::kCompleted, status.state);
  EXPECT_EQ(lease.lease_id, tasks.history(lease.task_id).at(0).lease_id);
  EXPECT_EQ(AttemptOutcome::kCompleted, tasks.history(lease.task_id).at(0).outcome);
  EXPECT_EQ(TaskState::kCompleted, tasks.wait(lease.task_id, 0ms).value().state);
  EXPECT_EQ("q", tasks.get(tasks.resubmit({.task_id = lease.task_id}).task_id).value().queue);
}

TYPED_TEST(AuthorityTest, EveryOptionOfATaskArrives) {
  Tasks& tasks = this->tasks_;
  const std::string payload("any\0bytes\r\n", 11);
  tasks.submit({.queue = "q",
                .payload = payload,
                .id = "t",
                .window = 1s,
                .retries = 0,
                .backoff_initial = 1ms,
                .backoff_max = 2ms,
                .attempts = 5,
                .delay = 1ms,
                .priority = 9,
                .key = "k"});
  const auto leases = tasks.lease({.worker = "w", .queues = {"q"}, .count = 5, .lease = 1h}, kLong);
  ASSERT_EQ(1U, leases.size());
  EXPECT_EQ(payload, leases[0].payload);
  EXPECT_LE(leases[0].remaining, 1s);  // the window's
  EXPECT_EQ("k", tasks.get("t").value().key);
  EXPECT_EQ(9, tasks.get("t").value().priority);
  EXPECT_EQ(TaskState::kFailed, tasks.fail({.task_id = "t", .lease_id = leases[0].lease_id, .reason = payload}));
  EXPECT_EQ(payload, tasks.get("t").value().reason);
}

TYPED_TEST(AuthorityTest, LateReportsAreCancelled) {
  Tasks& tasks = this->tasks_;
  const std::string task = tasks.submit({.queue = "q", .payload = "p"}).task_id;
  const TaskLease lease = tasks.lease({.worker = "w", .queues = {"q"}, .lease = 1ms}).at(0);
  tasks.lease({.worker = "w", .queues = {"q"}}, kLong).at(0);  // once the first has expired
  EXPECT_FALSE(tasks.extend({.task_id = task, .lease_id = lease.lease_id}).has_value());
  EXPECT_EQ(Report::kCancelled, tasks.complete({.task_id = task, .lease_id = lease.lease_id}));
  EXPECT_FALSE(tasks.fail({.task_id = task, .lease_id = lease.lease_id, .reason = "r"}).has_value());
  EXPECT_EQ(Report::kCancelled, tasks.complete_later({.task_id = task, .lease_id = lease.lease_id}).get());
}

TYPED_TEST(AuthorityTest, ListingsAndPauses) {
  Tasks& tasks = this->tasks_;
  tasks.submit({.queue = "q", .payload = "p", .id = "t"});
  tasks.pause("q");
  EXPECT_TRUE(tasks.lease({.worker = "w", .queues = {"q"}}).empty());
  EXPECT_TRUE(tasks.queues({}).queues.at(0).paused);
  tasks.resume("q");
  EXPECT_EQ(1U, tasks.queues({}).queues.at(0).waiting);
  EXPECT_EQ("t", tasks.list({.queue = "q", .state = TaskState::kWaiting}).tasks.at(0).task_id);
  EXPECT_EQ("w", tasks.workers({}).workers.at(0).worker);
  tasks.kill({.task_id = "t", .reason = "r"});
  EXPECT_EQ("r", tasks.get("t").value().reason);
  EXPECT_FALSE(tasks.get("none").has_value());
}

TYPED_TEST(AuthorityTest, PagesLeadToTheEnd) {
  Tasks& tasks = this->tasks_;
  for (int i = 0; i < 25; ++i) tasks.submit({.queue = "q", .payload = "p"});
  std::size_t found = 0;
  Paging paging{.count = 10};
  do {
    const TaskPage page = tasks.list({.queue = "q", .paging = paging});
    found += page.tasks.size();
    paging.cursor = page.cursor;
  } while (paging.cursor != "0");
  EXPECT_EQ(25U, found);
}

TYPED_TEST(AuthorityTest, ManySubmissionsAreAnsweredInOrder) {
  Tasks& tasks = this->tasks_;
  const std::vector<Submission> many(500, Submission{.queue = "q", .payload = "p"});
  const auto submitted = tasks.submit_many(many);
  const auto leases = tasks.lease({.worker = "w", .queues = {"q"}, .count = 500});
  ASSERT_EQ(500U, leases.size());
  for (std::size_t i = 0; i < 500; ++i) EXPECT_EQ(submitted[i].task_id, leases[i].task_id);
  std::vector<std::future<Report>> reports;
  for (const TaskLease& lease : leases)
    reports.push_back(tasks.complete_later({.task_id = lease.task_id, .lease_id = lease.lease_id}));
  for (auto& report : reports) EXPECT_EQ(Report::kCommitted, report.get());
  EXPECT_TRUE(tasks.submit_many({}).empty());
}

TYPED_TEST(AuthorityTest, TheFirstErrorOfManyIsThrownAfterAllWereTried) {
  Tasks& tasks = this->tasks_;
  EXPECT_THROW(tasks.submit_many({{.queue = "q", .payload = "p", .id = "a"},
                                  {.queue = "q", .payload = "p", .id = "a"},
                                  {.queue = "", .payload = "p"},
                                  {.queue = "q", .payload = "p", .id = "b"}}),
               TaskExists);
  EXPECT_TRUE(tasks.get("b").has_value());
}

TYPED_TEST(AuthorityTest, TaskErrorsAreTyped) {
  Tasks& tasks = this->tasks_;
  tasks.submit({.queue = "q", .payload = "p", .id = "t"});
  EXPECT_EQ(ErrorCode::kTaskExists,
            thrown_by<TaskExists>([&] { tasks.submit({.queue = "q", .payload = "p", .id = "t"}); }).code());
  EXPECT_EQ(ErrorCode::kNotTerminal, thrown_by<WrongTaskState>([&] { tasks.resubmit({.task_id = "t"}); }).code());
  tasks.kill({.task_id = "t", .reason = "r"});
  EXPECT_EQ(ErrorCode::kTerminal,
            thrown_by<WrongTaskState>([&] { tasks.kill({.task_id = "t", .reason = "r"}); }).code());
  EXPECT_EQ(ErrorCode::kInvalid,
            thrown_by<InvalidRequest>([&] { tasks.submit({.queue = "", .payload = "p"}); }).code());
  const std::string large((1U << 20) + 1, 'x');
  EXPECT_EQ(ErrorCode::kTooLarge,
            thrown_by<InvalidRequest>([&] { tasks.submit({.queue = "q", .payload = large}); }).code());
  EXPECT_THROW(tasks.lease({.worker = "w", .queues = {}}), InvalidRequest);
  EXPECT_THROW(tasks.lease({.worker = "w", .queues = {"q"}}, 25h), InvalidRequest);
  EXPECT_THROW(tasks.lease({.worker = "w", .queues = {"q"}}, -1ms), InvalidRequest);
}

TYPED_TEST(AuthorityTest, AnUnknownTaskIsAnErrorEverywhereButInGet) {
  Tasks& tasks = this->tasks_;
  EXPECT_THROW(tasks.extend({.task_id = "none", .lease_id = "l"}), NoSuchTask);
  EXPECT_THROW(tasks.complete({.task_id = "none", .lease_id = "l"}), NoSuchTask);
  EXPECT_THROW(tasks.complete_later({.task_id = "none", .lease_id = "l"}).get(), NoSuchTask);
  EXPECT_THROW(tasks.fail({.task_id = "none", .lease_id = "l", .reason = "r"}), NoSuchTask);
  EXPECT_THROW(tasks.kill({.task_id = "none", .reason = "r"}), NoSuchTask);
  EXPECT_THROW(tasks.resubmit({.task_id = "none"}), NoSuchTask);
  EXPECT_THROW(tasks.history("none"), NoSuchTask);
  EXPECT_THROW(tasks.wait("none", 10ms), NoSuchTask);
}

// --- waiting ---

TYPED_TEST(AuthorityTest, ALeaseIsServedBySubmit) {
  auto leases = start([&] { return this->tasks_.lease({.worker = "w", .queues = {"q"}}, kLong); });
  this->until_seen("w");
  this->tasks_.submit({.queue = "q", .payload = "p"});
  EXPECT_EQ("p", leases.get().at(0).payload);
}

TYPED_TEST(AuthorityTest, ManyWaitAndNobodyIsHeldUp) {
  std::vector<std::future<std::vector<TaskLease>>> waits;
  waits.reserve(20);
  for (int i = 0; i < 20; ++i)
    waits.push_back(start([&] { return this->tasks_.lease({.worker = "w", .queues = {"q"}}, kLong); }));
  for (int i = 0; i < 20; ++i) this->tasks_.submit({.queue = "q", .payload = "p"});
  for (auto& wait : waits) EXPECT_EQ(1U, wait.get().size());
}

TYPED_TEST(AuthorityTest, WaitsEndWithTheirTime) {
  EXPECT_TRUE(this->tasks_.lease({.worker = "w", .queues = {"q"}}, 5ms).empty());
  const std::string task = this->tasks_.submit({.queue = "q", .payload = "p"}).task_id;
  EXPECT_FALSE(this->tasks_.wait(task, 5ms).has_value());
  this->locks_.acquire({.lock = this->lock_, .owner = "a"});
  EXPECT_FALSE(this->locks_.acquire({.lock = this->lock_, .owner = "b"}, 5ms).has_value());
}

TYPED_TEST(AuthorityTest, WaitsEndWhenStopped) {
  std::stop_source stop;
  const std::string task = this->tasks_.submit({.queue = "other", .payload = "p"}).task_id;
  this->locks_.acquire({.lock = this->lock_, .owner = "a"});
  auto leases = start([&] { return this->tasks_.lease({.worker = "w", .queues = {"q"}}, kLong, stop.get_token()); });
  auto status = start([&] { return this->tasks_.wait(task, kLong, stop.get_token()); });
  auto grant =
      start([&] { return this->locks_.acquire({.lock = this->lock_, .owner = "b"}, kLong, stop.get_token()); });
  this->until_seen("w");
  this->until_waited_for(this->lock_, 1);
  stop.request_stop();
  EXPECT_TRUE(leases.get().empty());
  EXPECT_FALSE(status.get().has_value());
  EXPECT_FALSE(grant.get().has_value());
  EXPECT_EQ(0U, this->locks_.get(this->lock_).value().waiters);
}

TYPED_TEST(AuthorityTest, ATasksEndIsWaitedFor) {
  const std::string task = this->tasks_.submit({.queue = "q", .payload = "p"}).task_id;
  auto status = start([&] { return this->tasks_.wait(task, kLong); });
  this->tasks_.kill({.task_id = task, .reason = "r"});
  EXPECT_EQ(TaskState::kDead, status.get().value().state);
}

TYPED_TEST(AuthorityTest, ALockIsWaitedFor) {
  const LockGrant first = this->locks_.acquire({.lock = this->lock_, .owner = "a"}).value();
  auto second = start([&] { return this->locks_.acquire({.lock = this->lock_, .owner = "b"}, kLong); });
  this->until_waited_for(this->lock_, 1);
  this->locks_.release({.lock = this->lock_, .token = first.token});
  EXPECT_GT(second.get().value().fence, first.fence);
}

// --- work leases ---

TYPED_TEST(AuthorityTest, WorkGoesItsWay) {
  WorkLeases& work = this->work_;
  const auto first = std::get<Acquired>(work.try_acquire({.domain = "d", .offset = Offset{1}}));
  EXPECT_FALSE(first.already);
  EXPECT_TRUE(std::get<Acquired>(work.try_acquire({.domain = "d", .offset = Offset{1}})).already);
  EXPECT_EQ(1U, std::get<Enqueued>(work.try_acquire({.domain = "d", .offset = Offset{2}})).position);
  EXPECT_THAT(work.backlog("d", {}).offsets, ElementsAre(Offset{2}));
  const auto retry = work.fail({.domain = "d", .token = first.token, .reason = "r"});
  EXPECT_EQ(1U, std::get<RetryScheduled>(retry).retry_count);
  EXPECT_FALSE(work.extend({.domain = "d", .token = first.token, .lease = 5ms}).expires_at.has_value());
  EXPECT_EQ(Offset{2}, work.succeed({.domain = "d", .token = first.token, .request_id = "r"}).next);
  EXPECT_EQ(Offset{2}, work.succeed({.domain = "d", .token = first.token, .request_id = "r"}).next);
  EXPECT_TRUE(std::holds_alternative<AlreadyProcessed>(work.try_acquire({.domain = "d", .offset = Offset{1}})));
  const auto second = std::get<Acquired>(work.try_acquire({.domain = "d", .offset = Offset{2}, .lease = 1h}));
  EXPECT_GT(work.extend({.domain = "d", .token = second.token, .lease = 2h}).remaining.value(), 1h);
  EXPECT_TRUE(work.inspect("d").value().in_flight);
  for (int i = 0; i < 3; ++i) work.fail({.domain = "d", .token = second.token});
  EXPECT_FALSE(std::get<GivenUp>(work.fail({.domain = "d", .token = second.token})).next.has_value());
  EXPECT_TRUE(std::holds_alternative<AlreadyFailed>(work.try_acquire({.domain = "d", .offset = Offset{2}})));
  EXPECT_THAT(work.failed("d", {}).offsets, ElementsAre(Offset{2}));
  EXPECT_THAT(work.done("d", {}).intervals, ElementsAre(Interval{Offset{1}, Offset{1}}));
  EXPECT_THAT(work.domains({}).domains, ElementsAre("d"));
  work.trim("d", Offset{10});
  EXPECT_EQ(Offset{10}, work.inspect("d").value().trimmed_below);
  EXPECT_FALSE(work.inspect("none").has_value());
}

TYPED_TEST(AuthorityTest, WorkErrorsAreTyped) {
  WorkLeases& work = this->work_;
  const auto held = std::get<Acquired>(work.try_acquire({.domain = "d", .offset = Offset{1}}));
  work.try_acquire({.domain = "d", .offset = Offset{5}});
  EXPECT_THROW(work.succeed({.domain = "d", .token = "other"}), TokenMismatch);
  EXPECT_THROW(work.fail({.domain = "d", .token = "other"}), TokenMismatch);
  work.succeed({.domain = "d", .token = held.token});
  EXPECT_THROW(work.succeed({.domain = "d", .token = held.token}), LeaseNotFound);
  EXPECT_THROW(work.extend({.domain = "none", .token = held.token, .lease = 1ms}), LeaseNotFound);
  const auto order = thrown_by<BacklogOrdering>([&] { work.try_acquire({.domain = "d", .offset = Offset{7}}); });
  EXPECT_EQ(ErrorCode::kBacklogOrder, order.code());
  EXPECT_EQ("d", order.domain());
  EXPECT_EQ(Offset{5}, order.expected());
  EXPECT_EQ(Offset{7}, order.got());
  EXPECT_THROW(work.try_acquire({.domain = "d", .offset = Offset{-1}}), InvalidRequest);
  EXPECT_THROW(work.trim("d", Offset{6}), InvalidRequest);
}

// --- locks ---

TYPED_TEST(AuthorityTest, ALockGoesItsWay) {
  Locks& locks = this->locks_;
  const LockName& name = this->lock_;
  EXPECT_FALSE(locks.is_locked(name));
  const LockGrant grant = locks.acquire({.lock = name, .owner = "a"}).value();
  EXPECT_GT(grant.remaining, 50s);
  EXPECT_TRUE(grant.fence.has_value());
  EXPECT_FALSE(locks.acquire({.lock = name, .owner = "b"}).has_value());
  EXPECT_EQ(2U, locks.acquire({.lock = name, .owner = "a"}).value().holds);
  EXPECT_EQ("a", locks.get(name).value().owner);
  EXPECT_EQ(1U, locks.list({.domain = "d"}).locks.size());
  EXPECT_EQ(0U, locks.list({.space = "other"}).locks.size());
  EXPECT_EQ(grant.fence, locks.extend({.lock = name, .token = grant.token}).fence);
  EXPECT_EQ(1U, locks.release({.lock = name, .token = grant.token, .request_id = "r"}));
  EXPECT_EQ(1U, locks.release({.lock = name, .token = grant.token, .request_id = "r"}));
  EXPECT_EQ(0U, locks.release({.lock = name, .token = grant.token}));
  EXPECT_FALSE(locks.force(name));
  const LockGrant second = locks.acquire({.lock = name, .owner = "b"}).value();
  EXPECT_FALSE(locks.force(name, grant.fence));
  EXPECT_TRUE(locks.force(name, second.fence));
  locks.acquire({.lock = name, .owner = "c"});
  EXPECT_TRUE(locks.force(name));
  EXPECT_FALSE(locks.is_locked(name));
}

TYPED_TEST(AuthorityTest, LockErrorsAreTypedAndNameTheLock) {
  Locks& locks = this->locks_;
  const LockGrant grant = locks.acquire({.lock = this->lock_, .owner = "a", .lease = 1ms}).value();
  const auto unknown = thrown_by<NotHeld>([&] { locks.release({.lock = this->lock_, .token = "other"}); });
  EXPECT_EQ("d", unknown.domain());
  EXPECT_EQ("1", unknown.identifier());
  locks.acquire({.lock = this->lock_, .owner = "b"}, kLong).value();
  const auto expired = thrown_by<LockExpired>([&] { locks.release({.lock = this->lock_, .token = grant.token}); });
  EXPECT_EQ(ErrorCode::kExpired, expired.code());
  EXPECT_EQ("d", expired.domain());
  EXPECT_EQ("1", expired.identifier());
  EXPECT_THROW(locks.extend({.lock = this->lock_, .token = grant.token}), SoftLockError);
  EXPECT_THROW(locks.acquire({.lock = {"d::e", "1"}, .owner = "a"}), InvalidRequest);
  EXPECT_THROW(locks.list({.paging = {.count = 0}}), InvalidRequest);
}

TYPED_TEST(AuthorityTest, LimitsAreBackpressure) {
  TypeParam small(Settings{.backlog_max = 1, .holds_max = 1});
  WorkLeases& work = small.authority->work();
  work.try_acquire({.domain = "d", .offset = Offset{1}});
  work.try_acquire({.domain = "d", .offset = Offset{2}});
  EXPECT_THROW(work.try_acquire({.domain = "d", .offset = Offset{3}}), Backpressure);
  Locks& locks = small.authority->locks();
  locks.acquire({.lock = this->lock_, .owner = "a"});
  EXPECT_THROW(locks.acquire({.lock = this->lock_, .owner = "a"}), Backpressure);
}

// --- sessions ---

TYPED_TEST(AuthorityTest, ABoundLockEndsWithItsSession) {
  Authority& authority = this->authority_;
  const auto acquire = [&] {
    return this->locks_.acquire({.lock = this->lock_, .owner = "a", .lease = 1h, .session = "s"});
  };
  EXPECT_THROW(acquire(), InvalidRequest);  // nobody has joined it
  EXPECT_THROW(authority.join(""), InvalidRequest);
  authority.join("s");
  authority.join("s");
  const LockGrant grant = acquire().value();
  authority.leave("s");
  EXPECT_TRUE(this->locks_.is_locked(this->lock_));
  authority.leave("s");
  EXPECT_FALSE(this->locks_.is_locked(this->lock_));
  EXPECT_THROW(this->locks_.release({.lock = this->lock_, .token = grant.token}), LockExpired);
}

TYPED_TEST(AuthorityTest, ABoundLockIsWaitedForAndLivesThroughItsGrace) {
  Authority& authority = this->authority_;
  authority.join("s", kLong);
  const LockGrant first = this->locks_.acquire({.lock = this->lock_, .owner = "a"}).value();
  auto second = start([&] { return this->locks_.acquire({.lock = this->lock_, .owner = "b", .session = "s"}, kLong); });
  this->until_waited_for(this->lock_, 1);
  this->locks_.release({.lock = this->lock_, .token = first.token});
  const LockGrant bound = second.get().value();
  authority.leave("s");
  authority.join("s");
  EXPECT_EQ(0U, this->locks_.release({.lock = this->lock_, .token = bound.token}));
}

TYPED_TEST(AuthorityTest, TellsItsTime) {
  const Instant before = this->authority_.now();
  this->tasks_.submit({.queue = "q", .payload = "p", .id = "t"});
  EXPECT_GE(this->tasks_.get("t").value().created_at, before);
  EXPECT_GE(this->authority_.now(), this->tasks_.get("t").value().created_at);
}

}  // namespace
}  // namespace tenure::testing
