// Producers and workers that fail, extend, vanish, kill and report late: every task ends, exactly once, and what comes
// late is refused.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/authority.h>
#include "stress.h"

namespace tenure {
namespace {

constexpr std::uint64_t kProducers = 16;
constexpr std::uint64_t kTaskWorkers = 16;
constexpr std::uint64_t kTasksEach = kUnderTsan ? 150 : 1000;
constexpr Millis kLease{50};
constexpr std::array<std::string_view, 4> kQueues = {"q0", "q1", "q2", "q3"};

// How often a task was told to have ended, and how.
struct Ends {
  int completed = 0;
  int failed = 0;
  int killed = 0;
};

class TaskStress {
 public:
  void run() {
    std::vector<std::jthread> workers;
    for (std::uint64_t number = 0; number < kTaskWorkers; ++number) {
      workers.emplace_back([this, number](const std::stop_token& stop) { work(number, stop); });
    }
    on_threads(kProducers, [this](std::uint64_t number) { produce(number); });
    for (const std::string& task : tasks_) {
      EXPECT_TRUE(is_terminal(authority_->tasks().wait(task, kLong).value().state));
    }
    // Asks the workers to stop, and joins them.
  }

  void check() {
    EXPECT_EQ(kProducers * kTasksEach, tasks_.size());
    for (const std::string& task : tasks_) check_end(authority_->tasks().get(task).value(), ends_[task]);
    std::uint64_t refused = 0;
    for (const TaskLease& lease : abandoned_) {
      const auto report = authority_->tasks().complete({.task_id = lease.task_id, .lease_id = lease.lease_id});
      EXPECT_EQ(Report::kCancelled, report);
      ++refused;
      EXPECT_FALSE(authority_->tasks().extend({.task_id = lease.task_id, .lease_id = lease.lease_id}).has_value());
    }
    EXPECT_GT(refused, 0U);
    QueuePage::Entry sum;
    for (const auto& queue : authority_->tasks().queues({}).queues) {
      EXPECT_EQ(0U, queue.waiting + queue.delayed + queue.leased);
      sum.completed += queue.completed;
      sum.failed += queue.failed;
      sum.dead += queue.dead;
    }
    EXPECT_EQ(tasks_.size(), sum.completed + sum.failed + sum.dead);
    EXPECT_GT(sum.completed, 0U);
    EXPECT_GT(sum.failed, 0U);
    EXPECT_GT(sum.dead, 0U);
    EXPECT_EQ(0, faults_);
  }

 private:
  static Submission some_task(Dice& dice, const std::string& key) {
    Submission task{.queue = kQueues.at(dice.roll(kQueues.size())),
                    .payload = "p",
                    .retries = 2,
                    .backoff_initial = Millis{1},
                    .backoff_max = Millis{4},
                    .priority = static_cast<std::int64_t>(dice.roll(10))};
    if (dice.one_in(10)) task.attempts = 2;
    if (dice.one_in(10)) task.delay = Millis{static_cast<std::int64_t>(dice.roll(20))};
    if (dice.one_in(5)) task.key = key;
    return task;
  }

  void produce(std::uint64_t number) {
    Dice dice(number);
    std::vector<std::string> made;
    while (made.size() < kTasksEach) {
      const std::string key = std::to_string(dice.roll(40));
      const std::uint64_t how = dice.roll(3);
      if (how == 0) {
        made.push_back(authority_->tasks().submit(some_task(dice, key)).task_id);
      } else if (how == 1) {
        made.push_back(authority_->tasks().submit_later(some_task(dice, key)).get().task_id);
      } else {
        std::vector<Submission> many;
        const std::size_t room = kTasksEach - made.size();
        for (std::size_t i = 0; i < std::min<std::size_t>(room, 5); ++i) many.push_back(some_task(dice, key));
        for (const auto& one : authority_->tasks().submit_many(many)) made.push_back(one.task_id);
      }
      if (dice.one_in(30)) kill(made[dice.roll(made.size())]);
    }
    const std::scoped_lock lock(mutex_);
    tasks_.insert(tasks_.end(), made.begin(), made.end());
  }

  void work(std::uint64_t number, const std::stop_token& stop) {
    Dice dice(1000 + number);
    const std::string worker = "w" + std::to_string(number);
    while (!stop.stop_requested()) {
      std::vector<std::string_view> queues(kQueues.begin(), kQueues.end());
      std::rotate(queues.begin(), queues.begin() + static_cast<std::ptrdiff_t>(dice.roll(kQueues.size())),
                  queues.end());
      const LeaseRequest request{.worker = worker,
                                 .queues = std::move(queues),
                                 .count = static_cast<std::int64_t>(1 + dice.roll(3)),
                                 .lease = kLease};
      const auto leases = authority_->tasks().lease(request, kLong, stop);
      for (const TaskLease& lease : leases) work_on(lease, dice);
    }
  }

  void work_on(const TaskLease& lease, Dice& dice) {
    Tasks& tasks = authority_->tasks();
    work_a_little(dice);
    const std::uint64_t what = dice.roll(100);
    if (what < 3) {  // vanishes, and reports when all is over
      const std::scoped_lock lock(mutex_);
      abandoned_.push_back(lease);
      return;
    }
    if (what < 20) {
      const bool final = dice.one_in(4);
      const auto state =
          tasks.fail({.task_id = lease.task_id, .lease_id = lease.lease_id, .reason = "r", .final = final});
      if (state == TaskState::kFailed) note(lease.task_id, &Ends::failed);
      if (final && state == TaskState::kWaiting) ++faults_;
      return;
    }
    if (what < 35) tasks.extend({.task_id = lease.task_id, .lease_id = lease.lease_id});
    const bool killed = what >= 97 && kill(lease.task_id);
    const Completion completion{.task_id = lease.task_id, .lease_id = lease.lease_id};
    const Report report = dice.one_in(3) ? tasks.complete_later(completion).get() : tasks.complete(completion);
    if (report == Report::kCommitted) note(lease.task_id, &Ends::completed);
    if (killed && report == Report::kCommitted) ++faults_;
    // A lost answer may be asked for again, and is the same.
    if (dice.one_in(10) && tasks.complete(completion) != report) ++faults_;
  }

  bool kill(const std::string& task_id) {
    try {
      authority_->tasks().kill({.task_id = task_id, .reason = "killed"});
    } catch (const WrongTaskState&) {
      return false;
    }
    note(task_id, &Ends::killed);
    return true;
  }

  void note(const std::string& task_id, int Ends::* how) {
    const std::scoped_lock lock(mutex_);
    ++(ends_[task_id].*how);
  }

  void check_end(const TaskStatus& task, const Ends& ends) const {
    const bool poison = task.state == TaskState::kDead && task.reason == "poison";
    EXPECT_EQ(task.state == TaskState::kCompleted ? 1 : 0, ends.completed) << task.task_id;
    EXPECT_EQ(task.state == TaskState::kFailed ? 1 : 0, ends.failed) << task.task_id;
    EXPECT_EQ(task.state == TaskState::kDead && !poison ? 1 : 0, ends.killed) << task.task_id;
    Fence last;
    for (const TaskAttempt& attempt : authority_->tasks().history(task.task_id)) {
      EXPECT_GT(attempt.fence, last);
      EXPECT_NE(AttemptOutcome::kLeased, attempt.outcome);
      last = attempt.fence;
    }
  }

  std::unique_ptr<Authority> authority_ = Authority::in_memory();
  std::mutex mutex_;
  std::vector<std::string> tasks_;
  std::unordered_map<std::string, Ends> ends_;
  std::vector<TaskLease> abandoned_;
  std::atomic<int> faults_{0};
};

TEST(TaskStressTest, EveryTaskEndsExactlyOnce) {
  TaskStress stress;
  stress.run();
  stress.check();
}

}  // namespace
}  // namespace tenure
