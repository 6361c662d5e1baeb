// Which records the task book refuses: each invariant by a record made by hand, and nothing changed by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

const std::string kLong(256, 'n');

class TaskApplyTest : public testing::Test {
 protected:
  // T1 waits, T2 is leased under fence 1 until a minute from now, T3 has ended.
  TaskApplyTest() {
    EXPECT_EQ(nullptr, ledger.offer(created("T1")));
    EXPECT_EQ(nullptr, ledger.offer(created("T2")));
    EXPECT_EQ(nullptr, ledger.offer(created("T3")));
    EXPECT_EQ(nullptr, ledger.offer(granted("T2", lease, 1, expiry)));
    EXPECT_EQ(nullptr, ledger.offer(record::TaskDead{"T3", "why"}));
  }

  Ledger ledger;
  const Token lease = token_of(1);
  const Token other = token_of(1, 0xb2);
  const Instant expiry = ledger.now + kMinute;
};

TEST_F(TaskApplyTest, ATaskIsCreatedOnce) {
  EXPECT_STREQ("task_id must not already exist", ledger.offer(created("T1")));
  EXPECT_STREQ("task_id must not already exist", ledger.offer(created("T3")));
}

TEST_F(TaskApplyTest, ATaskIsCreatedWithinTheLimits) {
  EXPECT_STREQ("a name must have at most 255 bytes", ledger.offer(created(kLong)));
  record::TaskCreated record = created("T4");
  record.key = kLong;
  EXPECT_STREQ("a name must have at most 255 bytes", ledger.offer(record));
  record.key = "k";
  record.priority = 10;
  EXPECT_STREQ("priority must be at most 9", ledger.offer(record));
  record.priority = 9;
  record.execution_window = Millis{0};
  EXPECT_STREQ("execution_window must be from 1 ms to 2^32 - 1 ms", ledger.offer(record));
  record.execution_window = Millis{std::int64_t{1} << 32};
  EXPECT_STREQ("execution_window must be from 1 ms to 2^32 - 1 ms", ledger.offer(record));
  record.execution_window = Millis{1};
  EXPECT_EQ(nullptr, ledger.offer(record));
  EXPECT_EQ(nullptr, ledger.offer(created(std::string_view(kLong).substr(1))));
}

TEST_F(TaskApplyTest, ATasksRequestIdIsNew) {
  record::TaskCreated record = created("T4");
  record.request = RequestMark{"r", 1};
  EXPECT_EQ(nullptr, ledger.offer(record));
  record.task_id = "T5";
  EXPECT_STREQ("request id must be new", ledger.offer(record));
}

TEST_F(TaskApplyTest, ALeaseIsGrantedForATaskThatWaits) {
  EXPECT_STREQ("task must exist", ledger.offer(granted("T9", token_of(2), 1, expiry)));
  EXPECT_STREQ("task must be WAITING", ledger.offer(granted("T3", token_of(2), 1, expiry)));
  EXPECT_STREQ("task must be WAITING, or its lease expired", ledger.offer(granted("T2", token_of(2), 2, expiry)));
  ledger.now = expiry;  // still valid
  EXPECT_STREQ("task must be WAITING, or its lease expired", ledger.offer(granted("T2", token_of(2), 2, expiry)));
}

TEST_F(TaskApplyTest, AGrantMayImplyThatTheOldLeaseExpired) {
  ledger.now = expiry + Millis{1};
  EXPECT_STREQ("attempt must be the previous attempt + 1", ledger.offer(granted("T2", token_of(2), 3, ledger.now)));
  EXPECT_EQ(nullptr, ledger.offer(granted("T2", token_of(2), 2, ledger.now + kMinute)));
  const auto history = ledger.tasks().history("T2").value();
  ASSERT_EQ(2U, history.size());
  EXPECT_EQ(AttemptOutcome::kExpired, history[0].outcome);
  EXPECT_EQ(ledger.now, history[0].ended_at);
  EXPECT_EQ(AttemptOutcome::kLeased, history[1].outcome);
}

TEST_F(TaskApplyTest, AnAttemptIsThePreviousOnePlusOne) {
  EXPECT_STREQ("attempt must be the previous attempt + 1", ledger.offer(granted("T1", token_of(2), 0, expiry)));
  EXPECT_STREQ("attempt must be the previous attempt + 1", ledger.offer(granted("T1", token_of(2), 2, expiry)));
}

TEST_F(TaskApplyTest, AGrantsFenceIsHigherThanAllBefore) {
  record::LeaseGranted record = granted("T1", token_of(1), 1, expiry);
  record.fence = Fence{1};
  EXPECT_STREQ("fence must be greater than every earlier one", ledger.offer(record));
  record.fence = Fence{2};
  EXPECT_STREQ("lease_id must begin with the fence", ledger.offer(record));
  record.fence.reset();
  EXPECT_STREQ("lease_id must begin with the fence", ledger.offer(record));
  record.lease_id = token_of(9);
  record.fence = Fence{9};
  EXPECT_EQ(nullptr, ledger.offer(record));
  EXPECT_EQ(Fence{9}, ledger.state().fence());
}

TEST_F(TaskApplyTest, AnAbsentFenceCannotFollowTheLast) {
  EXPECT_EQ(nullptr, ledger.offer(record::FenceRaised{Fence{std::numeric_limits<std::uint64_t>::max()}}));
  EXPECT_STREQ("fence must be greater than every earlier one", ledger.offer(granted("T1", token_of(0), 1, expiry)));
}

TEST_F(TaskApplyTest, AGrantsRequestIdIsNewOrItsOwn) {
  record::LeaseGranted record = granted("T1", token_of(2), 1, expiry);
  record.request = RequestMark{"r", 1};
  EXPECT_EQ(nullptr, ledger.offer(record));
  EXPECT_EQ(nullptr, ledger.offer(created("T4")));
  record.task_id = "T4";
  record.lease_id = token_of(3);
  record.request->print = 2;
  EXPECT_STREQ("request id must be new", ledger.offer(record));
  record.request->print = 1;
  EXPECT_EQ(nullptr, ledger.offer(record));
}

TEST_F(TaskApplyTest, OnlyACurrentLeaseIsExtendedAndOnlyToLater) {
  EXPECT_STREQ("lease must exist", ledger.offer(record::LeaseExtended{token_of(7), expiry + kMinute}));
  EXPECT_STREQ("lease must exist", ledger.offer(record::LeaseExtended{other, expiry + kMinute}));
  EXPECT_STREQ("new expiry must be later than the current expiry", ledger.offer(record::LeaseExtended{lease, expiry}));
  ledger.now = expiry + Millis{1};
  EXPECT_STREQ("lease must be currently valid", ledger.offer(record::LeaseExtended{lease, expiry + kMinute}));
  ledger.now = expiry + Millis{1};
  EXPECT_EQ(nullptr, ledger.offer(record::LeaseExpired{"T2", lease}));
  EXPECT_STREQ("lease must exist", ledger.offer(record::LeaseExtended{lease, expiry + kMinute}));
}

TEST_F(TaskApplyTest, OnlyTheCurrentLeaseCompletes) {
  EXPECT_STREQ("task must exist", ledger.offer(record::TaskCompleted{"T9", lease}));
  EXPECT_STREQ("task must be LEASED", ledger.offer(record::TaskCompleted{"T1", lease}));
  EXPECT_STREQ("lease_id must match the current lease", ledger.offer(record::TaskCompleted{"T2", other}));
  ledger.now = expiry + Millis{1};
  EXPECT_STREQ("lease must not be expired", ledger.offer(record::TaskCompleted{"T2", lease}));
}

TEST_F(TaskApplyTest, ALeaseIsValidThroughTheInstantOfItsExpiry) {
  ledger.now = expiry;
  EXPECT_EQ(nullptr, ledger.offer(record::TaskCompleted{"T2", lease}));
}

TEST_F(TaskApplyTest, OnlyTheCurrentLeaseFails) {
  EXPECT_STREQ("task must exist", ledger.offer(record::TaskFailed{"T9", lease, "why"}));
  EXPECT_STREQ("task must be LEASED", ledger.offer(record::TaskFailed{"T3", lease, "why"}));
  EXPECT_STREQ("lease_id must match the current lease", ledger.offer(record::TaskFailed{"T2", other, "why"}));
  for (const TaskState next : {TaskState::kLeased, TaskState::kCompleted, TaskState::kDead}) {
    EXPECT_STREQ("next_state must be WAITING or FAILED", ledger.offer(record::TaskFailed{"T2", lease, "why", next}));
  }
  ledger.now = expiry + Millis{1};
  EXPECT_STREQ("lease must not be expired", ledger.offer(record::TaskFailed{"T2", lease, "why"}));
}

TEST_F(TaskApplyTest, AFailureWithoutNextStateFollowsThePolicy) {
  EXPECT_EQ(nullptr, ledger.offer(record::TaskFailed{"T2", lease, "why"}));
  EXPECT_EQ(TaskState::kWaiting, ledger.status("T2").state);
  EXPECT_EQ(ledger.now, ledger.status("T2").not_before);
  record::TaskCreated record = created("T4");
  record.retry_policy.retries = 0;
  EXPECT_EQ(nullptr, ledger.offer(record));
  EXPECT_EQ(nullptr, ledger.offer(granted("T4", token_of(2), 1, expiry)));
  EXPECT_EQ(nullptr, ledger.offer(record::TaskFailed{"T4", token_of(2), "why"}));
  EXPECT_EQ(TaskState::kFailed, ledger.status("T4").state);
}

TEST_F(TaskApplyTest, ACancelledReportNamesATaskThatExists) {
  EXPECT_STREQ("task must exist", ledger.offer(record::TaskCancelled{"T9", "x"}));
  EXPECT_EQ(nullptr, ledger.offer(record::TaskCancelled{"T1", "x"}));
  EXPECT_EQ(1U, ledger.status("T1").late);
}

TEST_F(TaskApplyTest, OnlyALeaseWhoseTimeIsOverExpires) {
  EXPECT_STREQ("task must exist", ledger.offer(record::LeaseExpired{"T9", lease}));
  EXPECT_STREQ("task must be LEASED", ledger.offer(record::LeaseExpired{"T1", lease}));
  EXPECT_STREQ("lease_id must match the current lease", ledger.offer(record::LeaseExpired{"T2", other}));
  ledger.now = expiry;
  EXPECT_STREQ("lease must be expired", ledger.offer(record::LeaseExpired{"T2", lease}));
  ledger.now = expiry + Millis{1};
  EXPECT_EQ(nullptr, ledger.offer(record::LeaseExpired{"T2", lease}));
}

TEST_F(TaskApplyTest, ATaskDiesOnce) {
  EXPECT_STREQ("task must exist", ledger.offer(record::TaskDead{"T9", "why"}));
  EXPECT_STREQ("task must not be terminal", ledger.offer(record::TaskDead{"T3", "why"}));
  EXPECT_EQ(nullptr, ledger.offer(record::TaskDead{"T2", "why"}));
  EXPECT_EQ(nullptr, ledger.offer(record::TaskDead{"T1", "why"}));
}

TEST_F(TaskApplyTest, AQueueIsPausedAndResumedInTurn) {
  EXPECT_STREQ("queue must be paused", ledger.offer(record::QueueResumed{"unknown"}));
  EXPECT_STREQ("queue must be paused", ledger.offer(record::QueueResumed{"default"}));
  EXPECT_EQ(nullptr, ledger.offer(record::QueuePaused{"default"}));
  EXPECT_STREQ("queue must not be paused", ledger.offer(record::QueuePaused{"default"}));
  EXPECT_EQ(nullptr, ledger.offer(record::QueueResumed{"default"}));
}

TEST_F(TaskApplyTest, OnlyTheOldestTaskThatEndedIsForgotten) {
  EXPECT_STREQ("what is forgotten must be the oldest", ledger.offer(record::Forgotten{Remembered::kTask, "T1"}));
  EXPECT_STREQ("what is forgotten must be the oldest", ledger.offer(record::Forgotten{Remembered::kTask, "T2"}));
  EXPECT_EQ(nullptr, ledger.offer(record::TaskDead{"T1", "why"}));
  EXPECT_STREQ("what is forgotten must be the oldest", ledger.offer(record::Forgotten{Remembered::kTask, "T1"}));
  EXPECT_EQ(nullptr, ledger.offer(record::Forgotten{Remembered::kTask, "T3"}));
  EXPECT_EQ(nullptr, ledger.offer(record::Forgotten{Remembered::kTask, "T1"}));
  // Nothing has ended any more: T4 has no story, T2 has one.
  EXPECT_EQ(nullptr, ledger.offer(created("T4")));
  EXPECT_STREQ("what is forgotten must be the oldest", ledger.offer(record::Forgotten{Remembered::kTask, "T4"}));
  EXPECT_STREQ("what is forgotten must be the oldest", ledger.offer(record::Forgotten{Remembered::kTask, "T2"}));
}

TEST_F(TaskApplyTest, OnlyTheOldestRequestIsForgotten) {
  record::TaskCreated record = created("T4");
  record.request = RequestMark{"r1", 1};
  EXPECT_EQ(nullptr, ledger.offer(record));
  EXPECT_STREQ("what is forgotten must be the oldest", ledger.offer(record::Forgotten{Remembered::kTaskRequest, "r1"}));
  EXPECT_EQ(nullptr, ledger.offer(record::Forgotten{Remembered::kTask, "T3"}));
  EXPECT_EQ(nullptr, ledger.offer(record::Forgotten{Remembered::kTaskRequest, "r1"}));
  EXPECT_STREQ("the request must be remembered", ledger.offer(record::Forgotten{Remembered::kTaskRequest, "r1"}));
}

}  // namespace
}  // namespace tenure
