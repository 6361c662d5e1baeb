// The state as a whole: what replay makes of a journal.
#include "core/state.h"

#include <gtest/gtest.h>

#include "core/record_codec.h"

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

}  // namespace
}  // namespace tenure
