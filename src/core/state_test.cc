// The state as a whole: what replay makes of a journal.
#include "core/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "core/testing.h"

namespace tenure {
namespace {

// The five records at the end of unhappy-path, its lease ids in Tenure's form.
TEST(StateTest, ReplaysTheMinimalUnhappyPath) {
  const Token first{Fence{1}, 0xa1};
  const Token second{Fence{2}, 0xa2};
  State state;
  EXPECT_EQ(nullptr, state.apply(Instant{1000}, record::TaskCreated{.task_id = "T1",
                                                                    .payload = "P",
                                                                    .execution_window = std::chrono::minutes(5),
                                                                    .retry_policy = {}}));
  EXPECT_EQ(nullptr, state.apply(Instant{2000}, record::LeaseGranted{.task_id = "T1",
                                                                     .lease_id = first,
                                                                     .worker_id = "W1",
                                                                     .attempt = 1,
                                                                     .lease_expiry = Instant{32000}}));
  EXPECT_EQ(nullptr, state.apply(Instant{32001}, record::LeaseGranted{.task_id = "T1",
                                                                      .lease_id = second,
                                                                      .worker_id = "W2",
                                                                      .attempt = 2,
                                                                      .lease_expiry = Instant{62001}}));
  EXPECT_EQ(nullptr, state.apply(Instant{33000}, record::TaskCompleted{.task_id = "T1", .lease_id = second}));
  const std::string late = first.text();
  EXPECT_EQ(nullptr, state.apply(Instant{34000}, record::TaskCancelled{.task_id = "T1", .lease_id = late}));
  const TaskStatus status = TaskBook::status(*state.tasks().find("T1"));
  EXPECT_EQ(TaskState::kCompleted, status.state);
  EXPECT_EQ(2U, status.attempt);
  EXPECT_EQ(1U, status.late);
  EXPECT_EQ(state.digest(), state.recompute_digest());
}

TEST(StateTest, TheMinimalUnhappyPathMayAlsoLeaveOutWhatIsOptional) {
  State state;
  EXPECT_EQ(nullptr, state.apply(Instant{1000}, created("T1")));
  EXPECT_EQ(nullptr, state.apply(Instant{2000}, granted("T1", token_of(1), 1, Instant{32000})));
  const TaskBook& tasks = state.tasks();
  const TaskStatus status = TaskBook::status(*tasks.find("T1"));
  EXPECT_EQ("default", status.queue);
  EXPECT_EQ(4, status.priority);
  EXPECT_EQ(Instant{1000}, status.created_at);
  EXPECT_EQ(Fence{1}, status.fence);
  EXPECT_EQ(Instant{2000} + 5 * kMinute, tasks.find("T1")->story->window_ends_at);
  EXPECT_EQ(Millis{30000}, tasks.find("T1")->story->lease_time);
}

TEST(StateTest, TimeMustNotRunBackwards) {
  Ledger ledger;
  ledger.submit("T1");
  const Instant stamp = ledger.now;
  EXPECT_EQ(stamp, ledger.state().last_stamp());
  EXPECT_EQ(nullptr, ledger.offer(created("T2")));  // the same stamp is no step back
  ledger.now = Instant{stamp.ms - 1};
  EXPECT_STREQ("time must not run backwards", ledger.offer(created("T3")));
  EXPECT_EQ(stamp, ledger.state().last_stamp());
}

TEST(StateTest, TheFenceIsTheHighestSeenAndOnlyRises) {
  Ledger ledger;
  EXPECT_EQ(Fence{0}, ledger.state().fence());
  EXPECT_STREQ("fence must be greater than every earlier one", ledger.offer(record::FenceRaised{Fence{0}}));
  EXPECT_EQ(nullptr, ledger.offer(record::FenceRaised{Fence{50}}));
  EXPECT_STREQ("fence must be greater than every earlier one", ledger.offer(record::FenceRaised{Fence{50}}));
  EXPECT_STREQ("fence must be greater than every earlier one", ledger.offer(record::FenceRaised{Fence{49}}));
  EXPECT_EQ(Fence{51}, ledger.acquire("d", 1).fence);
  EXPECT_EQ(Fence{52}, ledger.lock("i").fence);
  ledger.submit("T1");
  EXPECT_EQ(Fence{53}, ledger.lease()->fence);
}

TEST(StateTest, TheFenceIsNotResetWhenANameIsForgotten) {
  Ledger ledger;
  EXPECT_EQ(Fence{1}, ledger.lock("i").fence);
  ledger.advance(2 * kMinute);
  ledger.advance(std::chrono::hours(2));
  EXPECT_EQ(0U, ledger.locks().bytes());
  EXPECT_EQ(Fence{2}, ledger.lock("i").fence);
}

TEST(StateTest, ADigestThatWasTakenMustBeTheStates) {
  Ledger ledger;
  ledger.submit("T1");
  const Digest digest = ledger.state().digest();
  EXPECT_EQ(nullptr, ledger.offer(record::DigestTaken{digest}));
  EXPECT_STREQ("digest must equal the state's", ledger.offer(record::DigestTaken{{digest.high(), digest.low() ^ 1}}));
}

TEST(StateTest, ForgettingOfAnUnknownKindIsRefused) {
  State state;
  EXPECT_STREQ("kind must be known", state.apply(Instant{1}, record::Forgotten{static_cast<Remembered>(99), "x"}));
  EXPECT_EQ(State().digest(), state.digest());
}

TEST(StateTest, OnlyWhatIsRememberedCanBeForgotten) {
  Ledger ledger;
  EXPECT_STREQ("task must exist", ledger.offer(record::Forgotten{Remembered::kTask, "T1"}));
  EXPECT_STREQ("the request must be remembered", ledger.offer(record::Forgotten{Remembered::kTaskRequest, "r"}));
  EXPECT_STREQ("the request must be remembered", ledger.offer(record::Forgotten{Remembered::kWorkRequest, "r"}));
  EXPECT_STREQ("the request must be remembered", ledger.offer(record::Forgotten{Remembered::kLockRequest, "r"}));
  EXPECT_STREQ("the lost lease must be remembered",
               ledger.offer(record::Forgotten{Remembered::kLostLease, token_of(1).text()}));
  EXPECT_STREQ("the lost lease must be remembered", ledger.offer(record::Forgotten{Remembered::kLostLease, "junk"}));
}

TEST(StateTest, AFrameThatCannotBeDecodedNamesItsSequenceNumber) {
  State state;
  const auto replayed = replay_frame(state, 12, Instant{1}, std::string_view("\x13", 1));
  ASSERT_FALSE(replayed.has_value());
  EXPECT_EQ(ErrorCode::kInvalid, replayed.error().code);
  EXPECT_EQ("sequence number 12: the bytes end within a record", replayed.error().message);
}

TEST(StateTest, AFrameWithARecordThatBreaksAnInvariantNamesAllThree) {
  State state;
  std::string frame;
  encode(record::QueuePaused{"q"}, frame);
  encode(record::QueuePaused{"q"}, frame);
  const auto replayed = replay_frame(state, 13, Instant{1}, frame);
  ASSERT_FALSE(replayed.has_value());
  EXPECT_EQ(
      R"(sequence number 13: {"record":"QueuePaused","queue":"q"} breaks the invariant: queue must not be paused)",
      replayed.error().message);
}

TEST(StateTest, AFrameMayHoldSeveralRecordsOrNone) {
  State state;
  std::string frame;
  encode(created("T1"), frame);
  encode(record::TaskDead{"T1", "why"}, frame);
  EXPECT_TRUE(replay_frame(state, 1, Instant{1}, frame).has_value());
  EXPECT_EQ(TaskState::kDead, state.tasks().find("T1")->state);
  EXPECT_TRUE(replay_frame(state, 2, Instant{1}, "").has_value());
}

TEST(StateTest, ItsBytesAreThoseOfTheBooks) {
  Ledger ledger;
  EXPECT_EQ(0U, ledger.state().bytes());
  ledger.submit("T1");
  const std::uint64_t tasks = ledger.state().bytes();
  EXPECT_GT(tasks, 0U);
  ledger.acquire("d", 1);
  const std::uint64_t with_work = ledger.state().bytes();
  EXPECT_GT(with_work, tasks);
  ledger.lock("i");
  EXPECT_GT(ledger.state().bytes(), with_work);
  EXPECT_EQ(ledger.state().bytes(), ledger.tasks().bytes() + ledger.work().bytes() + ledger.locks().bytes());
}

}  // namespace
}  // namespace tenure
