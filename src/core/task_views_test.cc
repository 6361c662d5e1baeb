// What time asks of the task book, and what can be read of it.
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/task_book.h"
#include "core/testing.h"

namespace tenure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TaskViewsTest : public testing::Test {
 protected:
  // All pages, one behind the other.
  std::vector<std::string> list(std::string_view queue, std::int64_t count, std::optional<TaskState> state = {}) {
    std::vector<std::string> ids;
    std::string cursor = "0";
    do {
      const auto page =
          ledger.tasks().list({.queue = queue, .state = state, .paging = {.count = count, .cursor = cursor}});
      EXPECT_TRUE(page.has_value());
      EXPECT_LE(std::ssize(page->tasks), count);
      for (const auto& task : page->tasks) ids.push_back(task.task_id);
      cursor = page->cursor;
    } while (cursor != "0");
    return ids;
  }
  ErrorCode bad_cursor(std::string_view cursor) {
    const auto page = ledger.tasks().list({.queue = "q", .paging = {.cursor = std::string(cursor)}});
    return page ? ErrorCode::kErr : page.error().code;
  }
  void kill(std::string_view id) { ASSERT_TRUE(ledger.ask(TaskKill{.task_id = id, .reason = "why"}).has_value()); }

  Ledger ledger;
};

// --- expiry ---

TEST_F(TaskViewsTest, ALeaseThatExpiredReturnsTheTaskToItsPlace) {
  ledger.submit("T1");
  ledger.submit("T2");
  const auto lease = ledger.lease("q", kMinute);
  EXPECT_EQ(lease->expires_at, ledger.tasks().next_expiry());
  EXPECT_EQ(nullptr, ledger.tasks().expired("T1", lease->expires_at));
  EXPECT_NE(nullptr, ledger.tasks().expired("T1", lease->expires_at + Millis{1}));
  EXPECT_EQ(nullptr, ledger.tasks().expired("T2", lease->expires_at + Millis{1}));
  EXPECT_EQ(nullptr, ledger.tasks().expired("T9", lease->expires_at + Millis{1}));
  EXPECT_EQ(nullptr, ledger.tasks().first_expired("none", kNever));
  EXPECT_EQ(nullptr, ledger.tasks().first_expired("q", lease->expires_at));
  EXPECT_NE(nullptr, ledger.tasks().first_expired("q", lease->expires_at + Millis{1}));
  ledger.advance(kMinute);
  EXPECT_EQ(TaskState::kLeased, ledger.status("T1").state);
  ledger.advance(Millis{1});
  EXPECT_THAT(ledger.last(), ElementsAre("LeaseExpired"));
  const TaskStatus status = ledger.status("T1");
  EXPECT_EQ(TaskState::kWaiting, status.state);
  EXPECT_EQ(0U, status.failures);  // expiry is not a failure
  EXPECT_EQ("T1", ledger.lease()->task_id);
  EXPECT_EQ(2U, ledger.status("T1").attempt);
}

TEST_F(TaskViewsTest, TheEarliestLeaseOfAnyQueueExpiresFirst) {
  for (const char* queue : {"a", "b", "c"}) ledger.submit(queue, queue);
  ledger.lease("a", 3 * kMinute);
  ledger.lease("b", kMinute);
  ledger.lease("c", 2 * kMinute);
  EXPECT_EQ(ledger.now + kMinute, ledger.tasks().next_expiry());
  EXPECT_EQ("b", ledger.tasks().first_expired(kNever)->id());
  ledger.advance(kMinute + Millis{1});
  EXPECT_EQ(TaskState::kWaiting, ledger.status("b").state);
  EXPECT_EQ(TaskState::kLeased, ledger.status("c").state);
  ledger.advance(kMinute);
  EXPECT_EQ(TaskState::kWaiting, ledger.status("c").state);
  ledger.advance(kMinute);
  EXPECT_EQ(TaskState::kWaiting, ledger.status("a").state);
  EXPECT_EQ(nullptr, ledger.tasks().first_expired(kNever));
}

TEST_F(TaskViewsTest, ALeaseThatWasExtendedComesUpOnceAndLater) {
  ledger.submit("T1");
  const auto lease = ledger.lease("q", kMinute);
  ledger.advance(Millis{59'000});
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(ledger.ask(TaskExtension{"T1", lease->lease_id, kMinute + Millis{i}}).value().has_value());
  }
  EXPECT_EQ(1U, ledger.tasks().find_queue("q")->leased.map().size());
  EXPECT_EQ(lease->expires_at, ledger.tasks().next_expiry());
  EXPECT_EQ(nullptr, ledger.tasks().first_expired(lease->expires_at + Millis{1}));
  EXPECT_EQ(ledger.now + kMinute + Millis{50}, ledger.tasks().next_expiry());
  ledger.advance(kMinute + Millis{51});
  EXPECT_EQ(TaskState::kWaiting, ledger.status("T1").state);
}

TEST_F(TaskViewsTest, ATaskThatKeepsKillingItsWorkersIsPoison) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .attempts = 2});
  ledger.lease();
  ledger.advance(2 * kMinute);
  EXPECT_THAT(ledger.last(), ElementsAre("LeaseExpired"));
  ledger.lease();
  ledger.advance(2 * kMinute);
  EXPECT_THAT(ledger.last(), ElementsAre("LeaseExpired", "TaskDead"));
  EXPECT_EQ(TaskState::kDead, ledger.status("T1").state);
  EXPECT_EQ("poison", ledger.status("T1").reason);
  const auto history = ledger.tasks().history("T1").value();
  EXPECT_EQ(AttemptOutcome::kExpired, history[1].outcome);
  EXPECT_EQ(std::nullopt, history[1].reason);
}

TEST_F(TaskViewsTest, TheAttemptsLimitIsCheckedAtExpiryOnly) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .attempts = 1});
  const auto failed = ledger.ask(FailureReport{"T1", ledger.lease()->lease_id, "why"});
  EXPECT_EQ(TaskState::kWaiting, failed.value());
}

// --- history ---

TEST_F(TaskViewsTest, TheHistoryTellsEveryAttempt) {
  ledger.submit("T1");
  EXPECT_THAT(ledger.tasks().history("T1").value(), IsEmpty());
  const Instant first = ledger.now;
  ledger.lease();
  ledger.advance(2 * kMinute);
  const Instant second = ledger.now;
  const std::string failing = ledger.lease()->lease_id;
  ASSERT_TRUE(ledger.ask(FailureReport{"T1", failing, "broken"}).value());
  ledger.advance(2 * kMinute);
  const std::string current = ledger.lease()->lease_id;
  const auto history = ledger.tasks().history("T1").value();
  ASSERT_EQ(3U, history.size());
  EXPECT_EQ(AttemptOutcome::kExpired, history[0].outcome);
  EXPECT_EQ(first, history[0].granted_at);
  EXPECT_EQ(second, history[0].ended_at);
  EXPECT_EQ(std::nullopt, history[0].reason);
  EXPECT_EQ(AttemptOutcome::kFailed, history[1].outcome);
  EXPECT_EQ("broken", history[1].reason);
  EXPECT_EQ(second, history[1].ended_at);
  EXPECT_EQ(failing, history[1].lease_id);
  EXPECT_EQ(AttemptOutcome::kLeased, history[2].outcome);
  EXPECT_EQ(std::nullopt, history[2].ended_at);
  EXPECT_EQ(Fence{3}, history[2].fence);
  EXPECT_EQ("w", history[2].worker);
  EXPECT_EQ(3U, history[2].attempt);
}

TEST_F(TaskViewsTest, TheLastTwentyAttemptsAreKept) {
  ledger.submit("T1");
  for (int i = 0; i < 23; ++i) {
    ASSERT_TRUE(ledger.lease());
    ledger.advance(2 * kMinute);
  }
  const auto history = ledger.tasks().history("T1").value();
  ASSERT_EQ(20U, history.size());
  EXPECT_EQ(4U, history.front().attempt);
  EXPECT_EQ(23U, history.back().attempt);
}

// "`late` the sum over the attempts and the unknown": also over attempts that are no longer kept.
TEST_F(TaskViewsTest, LateReportsStayCountedWhenTheirAttemptIsNoLongerKept) {
  ledger.submit("T1");
  const std::string first = ledger.lease()->lease_id;
  ledger.advance(2 * kMinute);
  ASSERT_EQ(Report::kCancelled, ledger.ask(Completion{.task_id = "T1", .lease_id = first}).value());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(ledger.lease());
    ledger.advance(2 * kMinute);
  }
  EXPECT_EQ(1U, ledger.status("T1").late);
}

// --- forgetting ---

TEST_F(TaskViewsTest, EndedTasksAreForgottenAfterTheRetentionTime) {
  ledger.submit("T1");
  ledger.submit("T2");
  kill("T1");
  ledger.advance(std::chrono::hours(1));
  EXPECT_NE(nullptr, ledger.tasks().find("T1"));
  ledger.advance(Millis{1});
  EXPECT_THAT(ledger.last(), ElementsAre("Forgotten"));
  EXPECT_EQ(nullptr, ledger.tasks().find("T1"));
  EXPECT_NE(nullptr, ledger.tasks().find("T2"));
  EXPECT_EQ(1U, ledger.tasks().tasks());
}

TEST_F(TaskViewsTest, TheOldestAreForgottenBeyondTheRetentionCountAndBytes) {
  for (const char* id : {"T1", "T2", "T3"}) {
    ledger.submit(id);
    kill(id);
  }
  ledger.settings.retention_count = 2;
  ledger.settle();
  EXPECT_EQ(nullptr, ledger.tasks().find("T1"));
  EXPECT_EQ(2U, ledger.tasks().archive().count());
  ledger.settings.retention_bytes = ledger.tasks().archive().bytes() * 9 / 10;
  ledger.settle();
  EXPECT_EQ(nullptr, ledger.tasks().find("T2"));
  EXPECT_NE(nullptr, ledger.tasks().find("T3"));
}

TEST_F(TaskViewsTest, RequestsAreForgottenInTheirTurnAndAskAnew) {
  const Submission request{.queue = "q", .payload = "p", .request_id = "r"};
  const auto first = ledger.ask(request).value();
  ledger.advance(std::chrono::hours(1) + Millis{1});
  EXPECT_THAT(ledger.last(), ElementsAre("Forgotten"));
  const auto second = ledger.ask(request).value();
  EXPECT_TRUE(second.created);
  EXPECT_NE(first.task_id, second.task_id);
}

TEST_F(TaskViewsTest, ABookWhoseTasksAreForgottenTakesNoMemory) {
  for (int i = 0; i < 10; ++i) {
    ledger.ask(Submission{.queue = "q", .payload = std::string(100, 'x'), .request_id = std::to_string(i), .key = "k"});
  }
  const std::uint64_t full = ledger.tasks().bytes();
  EXPECT_GT(full, 1000U);
  while (const auto lease = ledger.lease()) {
    ledger.ask(Completion{.task_id = lease->task_id, .lease_id = lease->lease_id, .result = std::string(50, 'r')});
  }
  EXPECT_GT(ledger.tasks().bytes(), full);
  ledger.advance(std::chrono::hours(2));
  EXPECT_EQ(0U, ledger.tasks().tasks());
  EXPECT_EQ(0U, ledger.tasks().bytes());
  EXPECT_EQ(nullptr, ledger.tasks().find_queue("q"));
}

// --- listings ---

TEST_F(TaskViewsTest, AQueueIsListedPlaceByPlaceWhateverThePageSize) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "delayed", .delay = kMinute});
  for (const char* id : {"head", "parked", "parked2"}) {
    ledger.ask(Submission{.queue = "q", .payload = "p", .id = id, .priority = 1, .key = "k"});
  }
  for (const char* id : {"ready", "dead", "done", "failed", "leased", "leased2"}) ledger.submit(id);
  kill("dead");
  std::map<std::string, std::string> leases;
  const auto granted = ledger.ask(LeaseRequest{.worker = "w", .queues = {"q"}, .count = 5});
  for (const TaskLease& lease : granted.value()) leases[lease.task_id] = lease.lease_id;
  ASSERT_EQ(5U, leases.size());
  ledger.ask(Completion{.task_id = "done", .lease_id = leases["done"]});
  ledger.ask(FailureReport{.task_id = "failed", .lease_id = leases["failed"], .reason = "why", .final = true});
  const std::vector<std::string> all = {"delayed", "parked",  "parked2", "head",   "ready",
                                        "leased",  "leased2", "done",    "failed", "dead"};
  for (const std::int64_t count : {1, 2, 3, 100}) {
    EXPECT_EQ(all, list("q", count));
    EXPECT_THAT(list("q", count, TaskState::kWaiting), ElementsAre("delayed", "parked", "parked2", "head"));
    EXPECT_THAT(list("q", count, TaskState::kLeased), ElementsAre("ready", "leased", "leased2"));
    EXPECT_THAT(list("q", count, TaskState::kCompleted), ElementsAre("done"));
    EXPECT_THAT(list("q", count, TaskState::kFailed), ElementsAre("failed"));
    EXPECT_THAT(list("q", count, TaskState::kDead), ElementsAre("dead"));
  }
  EXPECT_THAT(list("none", 5), IsEmpty());
}

TEST_F(TaskViewsTest, ACursorThatNoListingGaveIsInvalid) {
  ledger.submit("T1");
  for (const char* cursor : {"", "x", "-1", "00", "1", "1.2", "1.2.", "1.2.3.4", "0.1.1", "8.1.1", "1..1", "1.1.x",
                             "99999999999999999999.1.1"}) {
    EXPECT_EQ(ErrorCode::kInvalid, bad_cursor(cursor)) << cursor;
  }
  EXPECT_EQ(ErrorCode::kErr, bad_cursor("7.1.1"));
}

TEST_F(TaskViewsTest, QueuesAreListedWithTheirNumbers) {
  ledger.submit("A1", "a");
  ledger.submit("A2", "a");
  ledger.submit("A3", "a");
  ledger.ask(Submission{.queue = "a", .payload = "p", .delay = kMinute});
  ledger.ask(Submission{.queue = "b", .payload = "p", .key = "k"});
  ledger.ask(Submission{.queue = "b", .payload = "p", .key = "k"});
  ledger.lease("a");
  kill("A2");
  ASSERT_TRUE(ledger.ask(QueuePause{"paused", true}).has_value());
  const auto page = ledger.tasks().queues({.count = 10}).value();
  ASSERT_EQ(3U, page.queues.size());
  EXPECT_EQ("0", page.cursor);
  EXPECT_EQ("a", page.queues[0].queue);
  EXPECT_EQ(1U, page.queues[0].waiting);
  EXPECT_EQ(1U, page.queues[0].delayed);
  EXPECT_EQ(1U, page.queues[0].leased);
  EXPECT_EQ(1U, page.queues[0].dead);
  EXPECT_EQ(0U, page.queues[0].completed + page.queues[0].failed);
  EXPECT_EQ("b", page.queues[1].queue);
  EXPECT_EQ(2U, page.queues[1].waiting);  // also one held up by its key
  EXPECT_TRUE(page.queues[2].paused);
}

TEST_F(TaskViewsTest, ATaskThatWaitsForItsKeyAndItsTimeIsDelayedUntilThatTime) {
  const auto queue = [&] { return ledger.tasks().queues({.count = 1}).value().queues.at(0); };
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "head", .key = "k"});
  for (const std::int64_t delay : {10, 20, 30, 40}) {
    ledger.ask(
        Submission{.queue = "q", .payload = "p", .id = std::to_string(delay), .delay = Millis{delay}, .key = "k"});
  }
  EXPECT_EQ(1U, queue().waiting);
  EXPECT_EQ(4U, queue().delayed);
  kill("20");
  EXPECT_EQ(3U, queue().delayed);
  ledger.advance(Millis{10});
  EXPECT_EQ(2U, queue().waiting);
  EXPECT_EQ(2U, queue().delayed);
  kill("head");
  kill("10");  // the next of the key is not yet due
  EXPECT_EQ(0U, queue().waiting);
  EXPECT_EQ(2U, queue().delayed);
  ledger.advance(Millis{30});
  EXPECT_EQ(2U, queue().waiting);
  EXPECT_EQ(0U, queue().delayed);
}

TEST_F(TaskViewsTest, QueuesAreListedPageByPage) {
  for (const char* queue : {"0", ">", "a", "b"}) ledger.submit(queue, queue);
  std::vector<std::string> names;
  std::string cursor = "0";
  do {
    const auto page = ledger.tasks().queues({.count = 1, .cursor = cursor}).value();
    for (const auto& queue : page.queues) names.push_back(queue.queue);
    cursor = page.cursor;
  } while (cursor != "0");
  EXPECT_THAT(names, ElementsAre("0", ">", "a", "b"));
  EXPECT_EQ(ErrorCode::kInvalid, ledger.tasks().queues({.count = 1, .cursor = "a"}).error().code);
  EXPECT_EQ(ErrorCode::kInvalid, ledger.tasks().queues({.count = 1, .cursor = ""}).error().code);
}

TEST_F(TaskViewsTest, AQueueIsListedWhileItHasATaskOrIsPaused) {
  const auto count = [&] { return ledger.tasks().queues({.count = 10}).value().queues.size(); };
  ASSERT_TRUE(ledger.ask(QueuePause{"q", true}).has_value());
  EXPECT_EQ(1U, count());
  ledger.submit("T1");
  kill("T1");
  ledger.advance(std::chrono::hours(2));
  EXPECT_EQ(1U, count());
  ASSERT_TRUE(ledger.ask(QueuePause{"q", false}).has_value());
  EXPECT_EQ(0U, count());
  ledger.submit("T2");
  ASSERT_TRUE(ledger.ask(QueuePause{"q", true}).has_value());
  ASSERT_TRUE(ledger.ask(QueuePause{"q", false}).has_value());
  EXPECT_EQ(1U, count());
}

}  // namespace
}  // namespace tenure
