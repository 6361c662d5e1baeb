// The server is killed in the middle of calls, again and again: the calls return all the same, nothing that was
// answered is lost, and nothing is done twice.
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/client.h>
#include "base/mutex.h"
#include "tenured.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr int kKills = 5;
constexpr Millis kPatience = 60s;  // for hangs, not for speed

ClientSettings patient() {
  ClientSettings settings;
  settings.timeout = kPatience;
  settings.backoff_max = 50ms;
  return settings;
}

// Does a job again and again on threads of its own, until told to end. What is thrown is a failure.
class Crew {
 public:
  using Job = std::function<void(int round)>;
  void add(Job job) {
    threads_.emplace_back([this, job = std::move(job)] {
      for (int round = 0; !is_over_; ++round) {
        try {
          job(round);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
          const MutexLock lock(mutex_);
          has_failed_ = true;
          told_.notify_all();
          return;
        }
        const MutexLock lock(mutex_);
        ++done_;
        told_.notify_all();
      }
    });
  }
  // Until so many more are done.
  void await(int more) {
    const MutexLock lock(mutex_);
    const int goal = done_ + more;
    while (done_ < goal && !has_failed_) told_.wait(mutex_);
  }
  void end() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  ~Crew() { end(); }
  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

 private:
  std::atomic<bool> is_over_ = false;
  Mutex mutex_;
  Condition told_;
  int done_ TENURE_GUARDED_BY(mutex_) = 0;
  bool has_failed_ TENURE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

void kill_again_and_again(Tenured& server, Crew& crew) {
  for (int i = 0; i < kKills; ++i) {
    crew.await(100);
    server.kill();
    server.start();
  }
  crew.await(100);
  crew.end();
}

TEST(RestartTest, EverySubmissionIsThereOnce) {
  Tenured server;
  const auto client = Client::connect(server.address(), patient());
  Tasks& tasks = client->tasks();
  std::atomic<std::uint64_t> submitted = 0;
  std::atomic<std::uint64_t> completed = 0;
  Crew crew;
  for (int n = 0; n < 4; ++n) {
    crew.add([&](int) {
      EXPECT_TRUE(tasks.submit({.queue = "q", .payload = "p"}).created);
      ++submitted;
    });
  }
  for (int n = 0; n < 2; ++n) {
    crew.add([&](int) {
      for (const TaskLease& lease : tasks.lease({.worker = "w", .queues = {"q"}, .lease = 1h}, 50ms)) {
        EXPECT_EQ(1U, lease.attempt);
        EXPECT_EQ(Report::kCommitted, tasks.complete({.task_id = lease.task_id, .lease_id = lease.lease_id}));
        ++completed;
      }
    });
  }
  kill_again_and_again(server, crew);
  const auto queue = tasks.queues({}).queues.at(0);
  EXPECT_EQ(submitted, queue.waiting + queue.leased + queue.completed);
  EXPECT_EQ(completed, queue.completed);
  EXPECT_EQ(0U, queue.leased);  // no lease was granted whose answer nobody has got
}

TEST(RestartTest, LocksAreTakenAndGivenBackOnce) {
  Tenured server;
  const auto client = Client::connect(server.address(), patient());
  Locks& locks = client->locks();
  client->join("s", kPatience);
  const LockName kept{.domain = "d", .identifier = "kept"};
  const LockGrant bound = locks.acquire({.lock = kept, .owner = "o", .lease = 1h, .session = "s"}).value();
  std::atomic<int> inside = 0;
  Crew crew;
  for (int n = 0; n < 4; ++n) {
    crew.add([&, owner = "owner " + std::to_string(n)](int) {
      const LockName lock{.domain = "d", .identifier = "shared"};
      const auto grant = locks.acquire({.lock = lock, .owner = owner, .lease = 1h}, kPatience);
      EXPECT_EQ(1U, grant.value().holds);  // a second acquisition would be a re-entry
      EXPECT_EQ(1, ++inside);
      --inside;
      EXPECT_EQ(0U, locks.release({.lock = lock, .token = grant->token}));
    });
  }
  kill_again_and_again(server, crew);
  EXPECT_EQ(0U, locks.release({.lock = kept, .token = bound.token}));  // its session has outlived the server
  EXPECT_TRUE(locks.list({}).locks.empty());
}

TEST(RestartTest, OffsetsGoOnInOrder) {
  Tenured server;
  const auto client = Client::connect(server.address(), patient());
  WorkLeases& work = client->work();
  std::atomic<std::int64_t> last = -1;
  Crew crew;
  crew.add([&](int round) {
    const auto held = std::get<Acquired>(work.try_acquire({.domain = "d", .offset = Offset{round}}));
    EXPECT_EQ(std::nullopt, work.succeed({.domain = "d", .token = held.token}).next);
    last = round;
  });
  kill_again_and_again(server, crew);
  EXPECT_THAT(work.done("d", {}).intervals, ElementsAre(Interval{Offset{0}, Offset{last}}));
}

TEST(RestartTest, AServerThatStandsStillIsNotWaitedForLongerThanTold) {
  Tenured server;
  const auto client = Client::connect(server.address(), patient());
  server.signal(SIGSTOP);
  EXPECT_THROW(client->within(50ms)->tasks().get("t"), Unavailable);
  server.signal(SIGCONT);
  EXPECT_FALSE(client->tasks().get("t").has_value());
}

}  // namespace
}  // namespace tenure::testing
