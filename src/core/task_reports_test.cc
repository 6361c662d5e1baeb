// What the task book answers to a worker's reports and an operator's orders: extend, complete, fail, kill, resubmit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/task_book.h"
#include "core/testing.h"

namespace tenure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TaskReportsTest : public testing::Test {
 protected:
  Report complete(std::string_view task_id, std::string_view lease_id) {
    return ledger.ask(Completion{.task_id = task_id, .lease_id = lease_id}).value();
  }
  std::optional<TaskState> fail(std::string_view task_id, std::string_view lease_id, bool final = false) {
    return ledger.ask(FailureReport{.task_id = task_id, .lease_id = lease_id, .reason = "why", .final = final}).value();
  }
  ErrorCode code_of_kill(std::string_view task_id) {
    return ledger.ask(TaskKill{.task_id = task_id, .reason = "why"}).error().code;
  }

  Ledger ledger;
};

// --- extend ---

TEST_F(TaskReportsTest, AnExtensionLengthensALeaseUpToItsWindow) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .window = 2 * kMinute});
  const auto lease = ledger.lease("q", kMinute);
  const Instant granted_at = ledger.now;
  const auto extend = [&](std::optional<Millis> by) {
    return ledger.ask(TaskExtension{.task_id = "T1", .lease_id = lease->lease_id, .lease = by}).value();
  };
  // No later than the present expiry: no record.
  EXPECT_EQ(granted_at + kMinute, extend(Millis{1})->expires_at);
  EXPECT_THAT(ledger.last(), IsEmpty());
  ledger.advance(Millis{30'000});
  const auto extended = extend(std::nullopt);  // the grant's minute
  EXPECT_THAT(ledger.last(), ElementsAre("LeaseExtended"));
  EXPECT_EQ(ledger.now + kMinute, extended->expires_at);
  EXPECT_EQ(kMinute, extended->remaining);
  EXPECT_EQ(granted_at + 2 * kMinute, extend(std::chrono::hours(1))->expires_at);
  EXPECT_EQ(granted_at + 2 * kMinute, extend(std::chrono::hours(1))->expires_at);
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_EQ(2U, ledger.tasks().history("T1").value()[0].extensions);
  ledger.advance(kMinute + Millis{30'000});
  EXPECT_EQ(TaskState::kLeased, ledger.status("T1").state);
  ledger.advance(Millis{1});
  EXPECT_EQ(TaskState::kWaiting, ledger.status("T1").state);
}

TEST_F(TaskReportsTest, AnExtensionOfALeaseThatIsNotCurrentIsCancelled) {
  ledger.submit("T1");
  EXPECT_EQ(ErrorCode::kNoTask, ledger.ask(TaskExtension{.task_id = "T9", .lease_id = "x"}).error().code);
  const auto extend = [&](std::string_view lease_id) {
    return ledger.ask(TaskExtension{.task_id = "T1", .lease_id = lease_id}).value().has_value();
  };
  EXPECT_FALSE(extend("1-0000000000000000"));
  const auto lease = ledger.lease();
  EXPECT_FALSE(extend("junk"));
  EXPECT_FALSE(extend("1-0000000000000000"));
  EXPECT_TRUE(extend(lease->lease_id));
  ledger.advance(10 * kMinute);
  EXPECT_FALSE(extend(lease->lease_id));
  EXPECT_THAT(ledger.last(), IsEmpty());
}

// --- complete, fail ---

TEST_F(TaskReportsTest, ACompletionIsCommittedOnceAndAnsweredTwice) {
  ledger.submit("T1");
  const auto lease = ledger.lease();
  EXPECT_EQ(Report::kCommitted,
            ledger.ask(Completion{.task_id = "T1", .lease_id = lease->lease_id, .result = "first"}).value());
  EXPECT_THAT(ledger.last(), ElementsAre("TaskCompleted"));
  EXPECT_EQ(Report::kCommitted,
            ledger.ask(Completion{.task_id = "T1", .lease_id = lease->lease_id, .result = "second"}).value());
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_EQ("first", ledger.status("T1").result);
  EXPECT_EQ(TaskState::kCompleted, ledger.status("T1").state);
  EXPECT_EQ(std::nullopt, ledger.status("T1").lease_id);
  EXPECT_EQ(0U, ledger.tasks().leases_of("w"));
  // Its other report is refused.
  EXPECT_EQ(std::nullopt, fail("T1", lease->lease_id));
  EXPECT_THAT(ledger.last(), ElementsAre("TaskCancelled"));
}

TEST_F(TaskReportsTest, AReportOfAnUnknownTaskIsAnError) {
  EXPECT_EQ(ErrorCode::kNoTask, ledger.ask(Completion{.task_id = "T9", .lease_id = "x"}).error().code);
  EXPECT_EQ(ErrorCode::kNoTask,
            ledger.ask(FailureReport{.task_id = "T9", .lease_id = "x", .reason = "why"}).error().code);
  EXPECT_EQ(ErrorCode::kNoTask, code_of_kill("T9"));
  EXPECT_EQ(ErrorCode::kNoTask, ledger.ask(Resubmission{.task_id = "T9"}).error().code);
  EXPECT_EQ(ErrorCode::kNoTask, ledger.tasks().history("T9").error().code);
}

TEST_F(TaskReportsTest, ALateReportIsCancelledAndCounted) {
  ledger.submit("T1");
  const std::string old = ledger.lease()->lease_id;
  ledger.advance(2 * kMinute);
  EXPECT_EQ(Report::kCancelled, complete("T1", old));
  EXPECT_THAT(ledger.last(), ElementsAre("TaskCancelled"));
  const std::string current = ledger.lease()->lease_id;
  EXPECT_EQ(Report::kCancelled, complete("T1", old));
  EXPECT_EQ(std::nullopt, fail("T1", old));
  EXPECT_EQ(Report::kCancelled, complete("T1", "junk"));
  EXPECT_EQ(Report::kCommitted, complete("T1", current));
  const auto history = ledger.tasks().history("T1").value();
  EXPECT_EQ(3U, history[0].late);
  EXPECT_EQ(0U, history[1].late);
  EXPECT_EQ(4U, ledger.status("T1").late);
}

TEST_F(TaskReportsTest, AReportForATaskThatWasNeverLeasedIsCancelled) {
  ledger.submit("T1");
  EXPECT_EQ(Report::kCancelled, complete("T1", "1-0000000000000000"));
  EXPECT_EQ(std::nullopt, fail("T1", "1-0000000000000000"));
  EXPECT_EQ(2U, ledger.status("T1").late);
  EXPECT_EQ(TaskState::kWaiting, ledger.status("T1").state);
}

TEST_F(TaskReportsTest, AFailureIsRetriedUntilRetriesAreUsedUp) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .retries = 2});
  for (const std::int64_t base : {1000, 2000}) {
    const std::string lease_id = ledger.lease()->lease_id;
    EXPECT_EQ(TaskState::kWaiting, fail("T1", lease_id));
    EXPECT_THAT(ledger.last(), ElementsAre("TaskFailed"));
    const Millis wait = *ledger.status("T1").not_before - ledger.now;
    EXPECT_GE(wait.count(), base * 8 / 10);
    EXPECT_LE(wait.count(), base * 12 / 10);
    EXPECT_EQ(TaskState::kWaiting, fail("T1", lease_id));  // the same answer again
    EXPECT_THAT(ledger.last(), IsEmpty());
    EXPECT_EQ(Report::kCancelled, complete("T1", lease_id));
    ledger.advance(wait - Millis{1});
    EXPECT_EQ(std::nullopt, ledger.lease());
    ledger.advance(Millis{1});
  }
  const std::string last = ledger.lease()->lease_id;
  EXPECT_EQ(TaskState::kFailed, fail("T1", last));
  EXPECT_EQ(TaskState::kFailed, fail("T1", last));
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_EQ(3U, ledger.status("T1").failures);
  EXPECT_EQ("why", ledger.status("T1").reason);
}

TEST_F(TaskReportsTest, AFinalFailureIsNotRetried) {
  ledger.submit("T1");
  const std::string lease_id = ledger.lease()->lease_id;
  EXPECT_EQ(TaskState::kFailed, fail("T1", lease_id, true));
  EXPECT_EQ(TaskState::kFailed, fail("T1", lease_id, false));
}

TEST_F(TaskReportsTest, TheBackoffIsCappedAfterTheJitter) {
  ledger.ask(Submission{.queue = "q",
                        .payload = "p",
                        .id = "T1",
                        .retries = 100,
                        .backoff_initial = Millis{1000},
                        .backoff_max = Millis{1100}});
  bool capped = false;
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(TaskState::kWaiting, fail("T1", ledger.lease()->lease_id));
    const Millis wait = *ledger.status("T1").not_before - ledger.now;
    ASSERT_LE(wait.count(), 1100);
    ASSERT_GE(wait.count(), 800);
    if (i > 1) {
      ASSERT_EQ(1100, wait.count());
    }
    capped = capped || wait.count() == 1100;
    ledger.advance(wait);
  }
  EXPECT_TRUE(capped);
}

TEST_F(TaskReportsTest, WithoutABackoffItIsRetriedAtOnce) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .retries = 100, .backoff_initial = Millis{0}});
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(TaskState::kWaiting, fail("T1", ledger.lease()->lease_id));
    ledger.settle();
  }
  EXPECT_TRUE(ledger.lease().has_value());
}

// --- kill, resubmit ---

TEST_F(TaskReportsTest, AKilledTasksHolderIsRefused) {
  ledger.submit("T1");
  const std::string lease_id = ledger.lease()->lease_id;
  ASSERT_TRUE(ledger.ask(TaskKill{.task_id = "T1", .reason = "operator"}).has_value());
  EXPECT_THAT(ledger.last(), ElementsAre("TaskDead"));
  EXPECT_EQ(TaskState::kDead, ledger.status("T1").state);
  EXPECT_EQ("operator", ledger.status("T1").reason);
  EXPECT_EQ(Report::kCancelled, complete("T1", lease_id));
  const auto history = ledger.tasks().history("T1").value();
  EXPECT_EQ(AttemptOutcome::kKilled, history[0].outcome);
  EXPECT_EQ("operator", history[0].reason);
  EXPECT_EQ(ErrorCode::kTerminal, code_of_kill("T1"));
}

TEST_F(TaskReportsTest, OnlyATaskThatEndedIsResubmitted) {
  ledger.submit("T1");
  EXPECT_EQ(ErrorCode::kNotTerminal, ledger.ask(Resubmission{.task_id = "T1"}).error().code);
  ledger.lease();
  EXPECT_EQ(ErrorCode::kNotTerminal, ledger.ask(Resubmission{.task_id = "T1"}).error().code);
}

TEST_F(TaskReportsTest, AResubmissionCopiesTheTaskButNotItsDelayOrIds) {
  ledger.ask(Submission{.queue = "q",
                        .payload = "p",
                        .id = "T1",
                        .window = Millis{777},
                        .retries = 7,
                        .backoff_initial = Millis{77},
                        .backoff_max = Millis{7777},
                        .attempts = 5,
                        .delay = kMinute,
                        .priority = 7,
                        .key = "k"});
  ASSERT_TRUE(ledger.ask(TaskKill{.task_id = "T1", .reason = "why"}).has_value());
  const auto made = ledger.ask(Resubmission{.task_id = "T1", .request_id = "r"}).value();
  EXPECT_TRUE(made.created);
  EXPECT_NE("T1", made.task_id);
  const Task& copy = *ledger.tasks().find(made.task_id);
  EXPECT_EQ("p", copy.payload());
  EXPECT_EQ("q", copy.queue->name);
  EXPECT_EQ("k", copy.key());
  EXPECT_EQ(7, copy.priority);
  EXPECT_EQ(777U, copy.window_ms);
  EXPECT_EQ(7U, copy.retries);
  EXPECT_EQ(77, copy.backoff_initial);
  EXPECT_EQ(7777, copy.backoff_max);
  EXPECT_EQ(5U, copy.attempts_max);
  EXPECT_EQ(std::nullopt, ledger.status(made.task_id).not_before);
  EXPECT_TRUE(ledger.tasks().can_grant("q"));
  const auto again = ledger.ask(Resubmission{.task_id = "T1", .request_id = "r"}).value();
  EXPECT_EQ(made.task_id, again.task_id);
  EXPECT_FALSE(again.created);
}

TEST_F(TaskReportsTest, AResubmissionOfAPlainTaskHasNeitherKeyNorLimit) {
  ledger.submit("T1");
  ASSERT_TRUE(ledger.ask(TaskKill{.task_id = "T1", .reason = "why"}).has_value());
  const Task& copy = *ledger.tasks().find(ledger.ask(Resubmission{.task_id = "T1"}).value().task_id);
  EXPECT_FALSE(copy.has_key);
  EXPECT_EQ(0U, copy.attempts_max);
}

}  // namespace
}  // namespace tenure
