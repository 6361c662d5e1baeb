// The task book against a naive one: a vector of tasks, searched from one end to the other.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

struct NaiveTask {
  std::string id;
  std::string queue;
  std::string key;
  std::int64_t priority = 4;
  std::int64_t not_before = 0;
  std::int64_t window = 0;
  std::uint32_t retries = 0;
  std::uint32_t attempts_max = 0;
  TaskState state = TaskState::kWaiting;
  std::uint32_t attempt = 0;
  std::uint32_t failures = 0;
  std::int64_t expires_at = 0;
  std::int64_t window_ends_at = 0;
  std::int64_t lease = 0;
  std::string token;                              // of the current lease, or the last
  std::map<std::string, std::string> outcomes{};  // of ended leases: how a repeated report is answered
};

class NaiveTasks {
 public:
  NaiveTask* find(const std::string& id) {
    const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const NaiveTask& task) { return task.id == id; });
    return found == tasks.end() ? nullptr : &*found;
  }

  void expire(std::int64_t now) {
    for (NaiveTask& task : tasks) {
      if (task.state != TaskState::kLeased || now <= task.expires_at) continue;
      const bool poison = task.attempts_max != 0 && task.attempt >= task.attempts_max;
      task.state = poison ? TaskState::kDead : TaskState::kWaiting;
    }
  }

  // The tasks that a lease request gets, in order. The order of submission is the order of the vector.
  std::vector<NaiveTask*> choose(const std::vector<std::string>& queues, std::int64_t count, std::int64_t now) {
    std::vector<NaiveTask*> chosen;
    for (const std::string& queue : queues) {
      if (paused[queue]) continue;
      std::vector<NaiveTask*> due;
      for (NaiveTask& task : tasks) {
        const bool waits = task.queue == queue && task.state == TaskState::kWaiting && task.not_before <= now;
        if (waits && has_its_turn(task) && std::find(chosen.begin(), chosen.end(), &task) == chosen.end()) {
          due.push_back(&task);
        }
      }
      std::sort(due.begin(), due.end(), [](const NaiveTask* a, const NaiveTask* b) {
        return a->priority != b->priority ? a->priority > b->priority : a < b;
      });
      for (NaiveTask* task : due) {
        if (std::ssize(chosen) < count) chosen.push_back(task);
      }
    }
    return chosen;
  }

  std::vector<NaiveTask> tasks;
  std::map<std::string, bool> paused;

 private:
  // No earlier task of its queue and key has not ended.
  bool has_its_turn(const NaiveTask& task) {
    if (task.key.empty()) return true;
    for (const NaiveTask& other : tasks) {
      if (&other == &task) return true;
      if (other.queue == task.queue && other.key == task.key && !is_terminal(other.state)) return false;
    }
    return true;
  }
};

class TaskModelTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  std::int64_t time(std::uint64_t most) { return static_cast<std::int64_t>(1 + dice.roll(most)); }

  void submit() {
    NaiveTask task{.id = fmt::format("t{}", ++made),
                   .queue = fmt::format("q{}", dice.roll(3)),
                   .key = dice.one_in(2) ? fmt::format("k{}", dice.roll(3)) : "",
                   .priority = static_cast<std::int64_t>(dice.roll(10)),
                   .window = time(4'000),
                   .retries = static_cast<std::uint32_t>(dice.roll(3)),
                   .attempts_max = static_cast<std::uint32_t>(dice.roll(4)),
                   .token = {}};
    Submission request{.queue = task.queue, .payload = task.id, .id = task.id};
    request.window = Millis{task.window};
    request.retries = task.retries;
    request.backoff_initial = Millis{100};
    request.backoff_max = Millis{150};
    if (task.attempts_max != 0) request.attempts = task.attempts_max;
    if (dice.one_in(4)) {
      request.delay = Millis{time(2'000)};
      task.not_before = (ledger.now + request.delay).ms;
    }
    request.priority = task.priority;
    if (!task.key.empty()) request.key = task.key;
    ASSERT_TRUE(ledger.ask(request).value().created);
    naive.tasks.push_back(task);
  }

  void lease() {
    const std::vector<std::string> queues = {fmt::format("q{}", dice.roll(3)), fmt::format("q{}", dice.roll(3))};
    const auto count = static_cast<std::int64_t>(1 + dice.roll(3));
    const std::int64_t wanted = time(3'000);
    const std::uint64_t fence = ledger.state().fence().value;
    const auto chosen = naive.choose(queues, count, ledger.now.ms);
    const auto leases = ledger.ask(
        LeaseRequest{.worker = "w", .queues = {queues[0], queues[1]}, .count = count, .lease = Millis{wanted}});
    ASSERT_EQ(chosen.size(), leases->size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      NaiveTask& task = *chosen[i];
      const TaskLease& got = (*leases)[i];
      ASSERT_EQ(task.id, got.task_id);
      task.state = TaskState::kLeased;
      task.window_ends_at = ledger.now.ms + task.window;
      task.expires_at = std::min(ledger.now.ms + wanted, task.window_ends_at);
      task.lease = wanted;
      task.token = got.lease_id;
      EXPECT_EQ(++task.attempt, got.attempt);
      EXPECT_EQ(fence + 1 + i, got.fence.value);
      EXPECT_EQ(task.expires_at, got.expires_at.ms);
      EXPECT_EQ(task.window_ends_at, got.window_ends_at.ms);
      EXPECT_EQ(task.id, got.payload);
      given.emplace_back(task.id, task.token);
    }
  }

  void report() {
    if (given.empty()) return;
    const std::size_t back =
        dice.one_in(4) ? dice.roll(given.size()) : dice.roll(std::min<std::size_t>(6, given.size()));
    const auto [id, token] = given[given.size() - 1 - back];
    NaiveTask& task = *naive.find(id);
    const bool current = task.state == TaskState::kLeased && task.token == token;
    const std::string outcome = task.outcomes[token];
    switch (dice.roll(3)) {
      case 0: {
        const auto extended = ledger.ask(TaskExtension{id, token}).value();
        ASSERT_EQ(current, extended.has_value());
        if (!current) break;
        task.expires_at = std::max(task.expires_at, std::min(ledger.now.ms + task.lease, task.window_ends_at));
        EXPECT_EQ(task.expires_at, extended->expires_at.ms);
        break;
      }
      case 1: {
        const bool final = dice.one_in(6);
        const auto state = ledger.ask(FailureReport{id, token, "why", final}).value();
        if (current) {
          task.state = final || task.failures >= task.retries ? TaskState::kFailed : TaskState::kWaiting;
          ++task.failures;
          task.outcomes[token] = to_string(task.state);
          EXPECT_EQ(task.state, state);
          if (task.state == TaskState::kFailed) break;
          task.not_before = ledger.status(id).not_before->ms;  // jitter is the book's
          EXPECT_GE(task.not_before, ledger.now.ms + 80);
          EXPECT_LE(task.not_before, ledger.now.ms + 150);
        } else {
          EXPECT_EQ(outcome == "WAITING" || outcome == "FAILED" ? outcome : "", state ? to_string(*state) : "");
        }
        break;
      }
      default: {
        const Report answer = ledger.ask(Completion{id, token}).value();
        EXPECT_EQ(current || outcome == "COMPLETED" ? Report::kCommitted : Report::kCancelled, answer);
        if (current) {
          task.state = TaskState::kCompleted;
          task.outcomes[token] = "COMPLETED";
        }
        break;
      }
    }
  }

  void kill() {
    if (naive.tasks.empty()) return;
    NaiveTask& task = naive.tasks[naive.tasks.size() - 1 - dice.roll(std::min<std::size_t>(20, naive.tasks.size()))];
    const bool ended = is_terminal(task.state);
    EXPECT_EQ(!ended, ledger.ask(TaskKill{task.id, "why"}).has_value());
    if (!ended) task.state = TaskState::kDead;
  }

  void pause() {
    const std::string queue = fmt::format("q{}", dice.roll(3));
    naive.paused[queue] = dice.one_in(4);
    ASSERT_TRUE(ledger.ask(QueuePause{queue, naive.paused[queue]}).has_value());
  }

  Ledger ledger{GetParam(), 50};
  Dice dice{GetParam() + 300};
  NaiveTasks naive;
  std::vector<std::pair<std::string, std::string>> given;
  int made = 0;
};

TEST_P(TaskModelTest, TheBookAnswersAsTheNaiveOne) {
  ledger.settings.retention_time = std::chrono::hours(24 * 365);
  for (int i = 0; i < 5'000 && !HasFailure(); ++i) {
    ledger.advance(Millis{static_cast<std::int64_t>(dice.roll(200))});
    naive.expire(ledger.now.ms);
    switch (dice.roll(10)) {
      case 0:
      case 1:
        submit();
        break;
      case 2:
      case 3:
      case 4:
        lease();
        break;
      case 5:
        dice.one_in(3) ? kill() : pause();
        break;
      default:
        report();
        break;
    }
    if (naive.tasks.empty()) continue;
    const NaiveTask& one = naive.tasks[dice.roll(naive.tasks.size())];
    const TaskStatus status = ledger.status(one.id);
    EXPECT_EQ(one.state, status.state) << one.id << " at operation " << i;
    EXPECT_EQ(one.attempt, status.attempt) << one.id << " at operation " << i;
    EXPECT_EQ(one.failures, status.failures) << one.id << " at operation " << i;
  }
  EXPECT_GT(given.size(), 500U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TaskModelTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace tenure
