// Blocking calls from other threads: they end when served, when their time has passed, when asked to stop, when the
// journal fails, and when the authority goes. Time is the test's own wherever possible; where it is the machine's,
// leases are short and the test waits for what must happen, however long that takes.
#include <atomic>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include <tenure/authority.h>
#include "authority/faces.h"
#include "authority/testing.h"
#include "authority/ticker.h"

namespace tenure {
namespace {

constexpr Millis kLong = std::chrono::minutes(10);

// Starts a call on a thread of its own.
template <class Call>
auto start(Call call) {
  return std::async(std::launch::async, std::move(call));
}

template <class T>
bool is_ready(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

template <class Condition>
void until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

class BlockingTest : public ::testing::Test {
 protected:
  void until_waiting(std::string_view identifier, std::uint64_t waiters) {
    until([&] { return locks_.get(lock_named(identifier)).value().waiters == waiters; });
  }
  // A worker is seen in the same breath in which it begins to wait.
  void until_waiting(std::string_view worker) {
    until([&] {
      for (const auto& entry : tasks_.workers({}).workers) {
        if (entry.worker == worker) return true;
      }
      return false;
    });
  }

  World world_;
  TaskFace task_face_{*world_.engine};
  LockFace lock_face_{*world_.engine};
  Tasks& tasks_ = task_face_;
  Locks& locks_ = lock_face_;
};

TEST_F(BlockingTest, ALeaseIsServedBySubmit) {
  auto leases = start([&] { return tasks_.lease({.worker = "w", .queues = {"q"}}, kLong); });
  until_waiting("w");
  EXPECT_FALSE(is_ready(leases));
  const std::string task = tasks_.submit({.queue = "q", .payload = "p"}).task_id;
  EXPECT_EQ(task, leases.get().at(0).task_id);
}

TEST_F(BlockingTest, ALockIsServedByRelease) {
  const LockGrant held = locks_.acquire({.lock = lock_named("1"), .owner = "a"}).value();
  auto grant = start([&] { return locks_.acquire({.lock = lock_named("1"), .owner = "b"}, kLong); });
  until_waiting("1", 1);
  EXPECT_FALSE(is_ready(grant));
  locks_.release({.lock = lock_named("1"), .token = held.token});
  EXPECT_TRUE(grant.get().has_value());
}

TEST_F(BlockingTest, AWaitIsServedByTheTasksEnd) {
  const std::string task = tasks_.submit({.queue = "q", .payload = "p"}).task_id;
  auto end = start([&] { return tasks_.wait(task, kLong); });
  tasks_.kill({.task_id = task, .reason = "r"});
  EXPECT_EQ(TaskState::kDead, end.get().value().state);
}

TEST_F(BlockingTest, EachEndsEmptyWhenItsTimeHasPassed) {
  locks_.acquire({.lock = lock_named("1"), .owner = "a", .lease = std::chrono::hours(24)});
  const std::string task = tasks_.submit({.queue = "other", .payload = "p"}).task_id;
  auto leases = start([&] { return tasks_.lease({.worker = "w", .queues = {"q"}}, Millis{1000}); });
  auto grant = start([&] { return locks_.acquire({.lock = lock_named("1"), .owner = "b"}, Millis{1000}); });
  auto end = start([&] { return tasks_.wait(task, Millis{1000}); });
  until([&] {
    world_.advance(Millis{1});
    world_.engine->run_due();
    return is_ready(leases) && is_ready(grant) && is_ready(end);
  });
  EXPECT_TRUE(leases.get().empty());
  EXPECT_FALSE(grant.get().has_value());
  EXPECT_FALSE(end.get().has_value());
}

TEST_F(BlockingTest, EachEndsEmptyWhenAskedToStop) {
  locks_.acquire({.lock = lock_named("1"), .owner = "a"});
  const std::string task = tasks_.submit({.queue = "other", .payload = "p"}).task_id;
  std::stop_source stop;
  auto leases = start([&] { return tasks_.lease({.worker = "w", .queues = {"q"}}, kLong, stop.get_token()); });
  auto grant = start([&] { return locks_.acquire({.lock = lock_named("1"), .owner = "b"}, kLong, stop.get_token()); });
  auto end = start([&] { return tasks_.wait(task, kLong, stop.get_token()); });
  until_waiting("w");
  until_waiting("1", 1);
  EXPECT_FALSE(is_ready(leases));
  EXPECT_FALSE(is_ready(grant));
  EXPECT_FALSE(is_ready(end));
  stop.request_stop();
  EXPECT_TRUE(leases.get().empty());
  EXPECT_FALSE(grant.get().has_value());
  EXPECT_FALSE(end.get().has_value());
}

TEST_F(BlockingTest, EachEndsAtOnceWhenAlreadyAskedToStop) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(tasks_.lease({.worker = "w", .queues = {"q"}}, kLong, stop.get_token()).empty());
  locks_.acquire({.lock = lock_named("1"), .owner = "a"});
  EXPECT_FALSE(locks_.acquire({.lock = lock_named("1"), .owner = "b"}, kLong, stop.get_token()).has_value());
}

TEST_F(BlockingTest, AStopThatComesAfterTheGrantChangesNothing) {
  std::stop_source stop;
  const auto grant = locks_.acquire({.lock = lock_named("1"), .owner = "a"}, kLong, stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(grant.has_value());
  EXPECT_TRUE(locks_.is_locked(lock_named("1")));
}

TEST_F(BlockingTest, EachThrowsWhenTheJournalFails) {
  locks_.acquire({.lock = lock_named("1"), .owner = "a"});
  auto leases = start([&] { return tasks_.lease({.worker = "w", .queues = {"q"}}, kLong); });
  auto grant = start([&] { return locks_.acquire({.lock = lock_named("1"), .owner = "b"}, kLong); });
  until_waiting("w");
  until_waiting("1", 1);
  world_.journal.fail("gone");
  EXPECT_THROW(leases.get(), Unavailable);
  EXPECT_THROW(grant.get(), LockAcquisitionError);
}

TEST_F(BlockingTest, ACallReturnsWhenItsJournalIsDurable) {
  world_.journal.hold(true);
  auto submitted = start([&] { return tasks_.submit({.queue = "q", .payload = "p"}); });
  until([&] { return world_.frame_count() == 1; });
  EXPECT_FALSE(is_ready(submitted));
  world_.journal.hold(false);
  EXPECT_TRUE(submitted.get().created);
}

// Stops that race with grants: a grant is either taken or was never made.
TEST_F(BlockingTest, AStopThatRacesWithAReleaseLosesNoLock) {
  const LockName name = lock_named("1");
  for (int round = 0; round < 500; ++round) {
    const LockGrant held = locks_.acquire({.lock = name, .owner = "a"}).value();
    std::stop_source stop;
    auto grant = start([&] { return locks_.acquire({.lock = name, .owner = "b"}, kLong, stop.get_token()); });
    std::jthread stopper([&] { stop.request_stop(); });
    locks_.release({.lock = name, .token = held.token});
    stopper.join();
    const auto given = grant.get();
    EXPECT_EQ(given.has_value(), locks_.is_locked(name));
    if (given) locks_.release({.lock = name, .token = given->token});
  }
}

// --- the machine's time ---

TEST(AuthorityTest, DoesAllThreeKindsOfWork) {
  const auto authority = Authority::in_memory();
  const std::string task = authority->tasks().submit({.queue = "q", .payload = "p"}).task_id;
  const TaskLease lease = authority->tasks().lease({.worker = "w", .queues = {"q"}}).at(0);
  EXPECT_EQ(Report::kCommitted, authority->tasks().complete({.task_id = task, .lease_id = lease.lease_id}));
  const auto work = std::get<Acquired>(authority->work().try_acquire({.domain = "d", .offset = Offset{1}}));
  EXPECT_FALSE(authority->work().succeed({.domain = "d", .token = work.token}).next.has_value());
  const auto grant = authority->locks().acquire({.lock = {"d", "1"}, .owner = "a"});
  EXPECT_EQ(0U, authority->locks().release({.lock = {"d", "1"}, .token = grant.value().token}));
  EXPECT_LT(lease.fence, work.fence);
  EXPECT_LT(work.fence, grant->fence.value());
}

TEST(AuthorityTest, TakesItsSettings) {
  const auto authority = Authority::in_memory(Settings{.payload_bytes_max = 3});
  EXPECT_THROW(authority->tasks().submit({.queue = "q", .payload = "four"}), InvalidRequest);
}

TEST(AuthorityTest, AnExpiredLockIsGivenToTheOneWhoWaits) {
  const auto authority = Authority::in_memory();
  Locks& locks = authority->locks();
  const LockGrant first = locks.acquire({.lock = {"d", "1"}, .owner = "a", .lease = Millis{50}}).value();
  const LockGrant second = locks.acquire({.lock = {"d", "1"}, .owner = "b"}, kLong).value();
  EXPECT_GT(second.fence, first.fence);
  EXPECT_THROW(locks.release({.lock = {"d", "1"}, .token = first.token}), LockExpired);
}

TEST(AuthorityTest, AnExpiredTaskIsGivenToTheOneWhoWaits) {
  const auto authority = Authority::in_memory();
  Tasks& tasks = authority->tasks();
  const std::string task = tasks.submit({.queue = "q", .payload = "p"}).task_id;
  const TaskLease first = tasks.lease({.worker = "w1", .queues = {"q"}, .lease = Millis{50}}).at(0);
  const TaskLease second = tasks.lease({.worker = "w2", .queues = {"q"}}, kLong).at(0);
  EXPECT_EQ(2U, second.attempt);
  EXPECT_EQ(Report::kCancelled, tasks.complete({.task_id = task, .lease_id = first.lease_id}));
  EXPECT_EQ(Report::kCommitted, tasks.complete({.task_id = task, .lease_id = second.lease_id}));
}

TEST(AuthorityTest, ADelayedTaskIsGivenToTheOneWhoWaits) {
  const auto authority = Authority::in_memory();
  authority->tasks().submit({.queue = "q", .payload = "p", .delay = Millis{30}});
  EXPECT_EQ(1U, authority->tasks().lease({.worker = "w", .queues = {"q"}}, kLong).size());
}

TEST(AuthorityTest, ABlockedCallEndsWhenItsTimeHasPassed) {
  const auto authority = Authority::in_memory();
  EXPECT_TRUE(authority->tasks().lease({.worker = "w", .queues = {"q"}}, Millis{20}).empty());
  authority->locks().acquire({.lock = {"d", "1"}, .owner = "a"});
  EXPECT_FALSE(authority->locks().acquire({.lock = {"d", "1"}, .owner = "b"}, Millis{20}).has_value());
}

TEST(AuthorityTest, ABoundLockIsFreedWhenItsSessionIsLeft) {
  const auto authority = Authority::in_memory();
  Locks& locks = authority->locks();
  EXPECT_THROW(locks.acquire({.lock = {"d", "1"}, .owner = "a", .session = "s"}), InvalidRequest);
  authority->join("s", Millis{20});
  const LockGrant grant = locks.acquire({.lock = {"d", "1"}, .owner = "a", .session = "s"}).value();
  authority->leave("s");
  EXPECT_TRUE(locks.acquire({.lock = {"d", "1"}, .owner = "b"}, kLong).has_value());
  EXPECT_THROW(locks.release({.lock = {"d", "1"}, .token = grant.token}), LockExpired);
  EXPECT_THROW(authority->leave("s"), InvalidRequest);
  EXPECT_THROW(authority->join("", {}), InvalidRequest);
}

TEST(AuthorityTest, ItsEndEndsBlockedCallsWithTheirEmptyAnswer) {
  for (int round = 0; round < 100; ++round) {
    auto authority = Authority::in_memory();
    Tasks& tasks = authority->tasks();
    Locks& locks = authority->locks();
    locks.acquire({.lock = {"d", "1"}, .owner = "a"});
    auto leases = start([&] { return tasks.lease({.worker = "w", .queues = {"q"}}, kLong); });
    auto grant = start([&] { return locks.acquire({.lock = {"d", "1"}, .owner = "b"}, kLong); });
    until([&] { return tasks.workers({}).workers.size() == 1 && locks.get({"d", "1"}).value().waiters == 1; });
    authority.reset();
    EXPECT_TRUE(leases.get().empty());
    EXPECT_FALSE(grant.get().has_value());
  }
}

TEST(AuthorityTest, ItsEndWaitsForCallsThatHaveBegun) {
  for (int round = 0; round < 5; ++round) {
    auto authority = Authority::in_memory();
    Tasks& tasks = authority->tasks();
    std::atomic<bool> has_begun = false;
    auto submitted = start([&] {
      const std::vector<Submission> many(20'000, Submission{.queue = "q", .payload = "p"});
      has_begun = true;
      return tasks.submit_many(many).size();
    });
    until([&] { return has_begun && !tasks.queues({}).queues.empty(); });
    authority.reset();
    try {
      EXPECT_EQ(20'000U, submitted.get());
    } catch (const Unavailable& refused) {
      EXPECT_STREQ("the authority is being closed", refused.what());
    }
  }
}

TEST(AuthorityTest, MayBeMadeAndDestroyedAtOnce) {
  for (int round = 0; round < 200; ++round) {
    EXPECT_NE(nullptr, Authority::in_memory());
  }
}

TEST(TickerTest, DoesWhatIsDueAndSleepsOtherwise) {
  const SystemClock clock;
  SeededEntropy entropy{1};
  MemoryJournal journal(MemoryJournal::Keep::kFrames);
  auto engine = Engine::start({}, {clock, entropy, journal}).value();
  const Ticker ticker(*engine);
  std::atomic<int> ended = 0;
  for (int i = 0; i < 20; ++i) {
    engine->wait(LeaseRequest{.worker = "w", .queues = {"q"}}, Millis{40 - 2 * i}, [&](const auto& leases) {
      EXPECT_TRUE(leases->empty());
      ++ended;
    });
  }
  until([&] { return ended == 20; });
}

}  // namespace
}  // namespace tenure
