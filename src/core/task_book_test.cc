// What the task book answers to submit and lease, by the task table in design page 3 and the rules below it.
#include "core/task_book.h"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TaskBookTest : public testing::Test {
 protected:
  std::vector<std::string> lease_ids(std::vector<std::string_view> queues, std::int64_t count,
                                     std::optional<std::string_view> request_id = {}) {
    std::vector<std::string> ids;
    const auto leases =
        ledger.ask(LeaseRequest{.worker = "w", .queues = std::move(queues), .count = count, .request_id = request_id});
    for (const TaskLease& lease : leases.value()) ids.push_back(lease.task_id);
    return ids;
  }
  Report complete(std::string_view task_id, std::string_view lease_id) {
    return ledger.ask(Completion{.task_id = task_id, .lease_id = lease_id}).value();
  }
  std::optional<TaskState> fail(std::string_view task_id, std::string_view lease_id, bool final = false) {
    return ledger.ask(FailureReport{.task_id = task_id, .lease_id = lease_id, .reason = "why", .final = final}).value();
  }

  Ledger ledger;
};

// --- submit ---

TEST_F(TaskBookTest, ANewTaskWaits) {
  const auto made = ledger.ask(Submission{.queue = "q", .payload = "p"}).value();
  EXPECT_TRUE(made.created);
  EXPECT_THAT(made.task_id, testing::MatchesRegex("0-[0-9a-f]{16}"));
  EXPECT_THAT(ledger.last(), ElementsAre("TaskCreated"));
  const TaskStatus status = ledger.status(made.task_id);
  EXPECT_EQ(TaskState::kWaiting, status.state);
  EXPECT_EQ("q", status.queue);
  EXPECT_EQ(ledger.now, status.created_at);
  EXPECT_EQ(std::nullopt, status.not_before);
  EXPECT_EQ(std::nullopt, status.key);
  EXPECT_EQ(0U, status.attempt);
}

TEST_F(TaskBookTest, AMadeIdIsOneThatIsNotInUse) {
  SeededEntropy same(1);  // the ledger's own numbers
  const std::string first = fmt::format("0-{:016x}", same.next());
  const std::string second = fmt::format("0-{:016x}", same.next());
  ledger.submit(first);
  EXPECT_EQ(second, ledger.ask(Submission{.queue = "q", .payload = "p"}).value().task_id);
}

TEST_F(TaskBookTest, AKnownRequestIdGivesTheSameTask) {
  const Submission request{.queue = "q", .payload = "p", .request_id = "r"};
  const auto first = ledger.ask(request).value();
  const auto second = ledger.ask(request).value();
  EXPECT_EQ(first.task_id, second.task_id);
  EXPECT_FALSE(second.created);
  EXPECT_THAT(ledger.last(), IsEmpty());
}

TEST_F(TaskBookTest, AKnownRequestIdWinsOverAnExistingTaskId) {
  const Submission request{.queue = "q", .payload = "p", .id = "T1", .request_id = "r"};
  EXPECT_TRUE(ledger.ask(request).value().created);
  EXPECT_FALSE(ledger.ask(request).value().created);
  Submission without_id = request;
  without_id.id.reset();
  EXPECT_EQ("T1", ledger.ask(without_id).value().task_id);
}

TEST_F(TaskBookTest, ARequestIdBelongsToOneRequest) {
  const Submission request{.queue = "q", .payload = "p", .id = "T1", .request_id = "r"};
  ASSERT_TRUE(ledger.ask(request).has_value());
  Submission other = request;
  other.id = "T2";
  EXPECT_EQ(ErrorCode::kInvalid, ledger.ask(other).error().code);
  other = request;
  other.payload = "other";
  EXPECT_EQ(ErrorCode::kInvalid, ledger.ask(other).error().code);
  other = request;
  other.queue = "other";
  EXPECT_EQ(ErrorCode::kInvalid, ledger.ask(other).error().code);
  EXPECT_EQ(ErrorCode::kInvalid,
            ledger.ask(LeaseRequest{.worker = "w", .queues = {"q"}, .request_id = "r"}).error().code);
  EXPECT_EQ(ErrorCode::kInvalid, ledger.ask(Resubmission{.task_id = "T1", .request_id = "r"}).error().code);
  // Options are not compared.
  other = request;
  other.priority = 9;
  EXPECT_EQ("T1", ledger.ask(other).value().task_id);
}

TEST_F(TaskBookTest, AnExistingTaskIdIsRefused) {
  ledger.submit("T1");
  const auto again = ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1"});
  EXPECT_EQ(ErrorCode::kTaskExists, again.error().code);
  EXPECT_THAT(ledger.last(), IsEmpty());
}

TEST_F(TaskBookTest, NewWorkIsRefusedWhenMemoryIsFullButReportsAreNot) {
  ledger.submit("T1");
  ledger.submit("T2");
  ledger.settings.state_bytes_max = ledger.state().bytes();
  EXPECT_EQ(ErrorCode::kBackpressure, ledger.ask(Submission{.queue = "q", .payload = "p"}).error().code);
  const auto lease = ledger.lease();
  ASSERT_TRUE(lease);
  EXPECT_EQ(Report::kCommitted, complete("T1", lease->lease_id));
  EXPECT_EQ(ErrorCode::kBackpressure, ledger.ask(Resubmission{.task_id = "T1"}).error().code);
}

TEST_F(TaskBookTest, NothingIsLeasedWhenTheJournalIsFull) {
  ledger.submit("T1");
  ledger.submit("T2");
  const auto lease = ledger.lease();
  ledger.has_room = false;
  EXPECT_EQ(ErrorCode::kBackpressure, ledger.ask(LeaseRequest{.worker = "w", .queues = {"q"}}).error().code);
  EXPECT_THAT(ledger.ask(LeaseRequest{.worker = "w", .queues = {"empty"}}).value(), IsEmpty());
  EXPECT_EQ(ErrorCode::kBackpressure, ledger.ask(Submission{.queue = "q", .payload = "p"}).error().code);
  EXPECT_EQ(Report::kCommitted, complete("T1", lease->lease_id));
}

// --- lease ---

TEST_F(TaskBookTest, OneAnswerGivesNoMoreOnceItHasAMegabyteOfPayload) {
  const std::string half(std::size_t{1} << 19, 'x');
  for (int i = 0; i < 3; ++i) ledger.ask(Submission{.queue = "q", .payload = half});
  const LeaseRequest three{.worker = "w", .queues = {"q"}, .count = 3};
  EXPECT_EQ(2U, ledger.ask(three).value().size());
  EXPECT_EQ(1U, ledger.ask(three).value().size());
}

TEST_F(TaskBookTest, ALeaseStartsTheNextAttempt) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .window = 2 * kMinute});
  const auto lease = ledger.lease("q", kMinute);
  ASSERT_TRUE(lease);
  EXPECT_THAT(ledger.last(), ElementsAre("LeaseGranted"));
  EXPECT_EQ("T1", lease->task_id);
  EXPECT_EQ("p", lease->payload);
  EXPECT_EQ("q", lease->queue);
  EXPECT_EQ(1U, lease->attempt);
  EXPECT_EQ(Fence{1}, lease->fence);
  EXPECT_TRUE(lease->lease_id.starts_with("1-"));
  EXPECT_EQ(ledger.now + kMinute, lease->expires_at);
  EXPECT_EQ(kMinute, lease->remaining);
  EXPECT_EQ(ledger.now + 2 * kMinute, lease->window_ends_at);
  EXPECT_EQ(std::nullopt, ledger.lease());
  const TaskStatus status = ledger.status("T1");
  EXPECT_EQ(TaskState::kLeased, status.state);
  EXPECT_EQ("w", status.worker);
  EXPECT_EQ(lease->lease_id, status.lease_id);
  EXPECT_EQ(1U, ledger.tasks().leases_of("w"));
  EXPECT_EQ(0U, ledger.tasks().leases_of("x"));
}

TEST_F(TaskBookTest, ALeaseEndsWithTheWindow) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .window = Millis{500}});
  EXPECT_EQ(ledger.now + Millis{500}, ledger.lease("q", kMinute)->expires_at);
}

TEST_F(TaskBookTest, QueuesAreServedInTheOrderGivenAndEachOnce) {
  ledger.submit("A1", "a");
  ledger.submit("B1", "b");
  ledger.submit("A2", "a");
  EXPECT_THAT(lease_ids({"none", "b", "b", "a"}, 10), ElementsAre("B1", "A1", "A2"));
}

TEST_F(TaskBookTest, NoMoreTasksAreLeasedThanAskedFor) {
  ledger.submit("A1", "a");
  ledger.submit("A2", "a");
  ledger.submit("B1", "b");
  EXPECT_THAT(lease_ids({"a", "b"}, 1), ElementsAre("A1"));
  EXPECT_THAT(lease_ids({"a", "b"}, 1), ElementsAre("A2"));
}

TEST_F(TaskBookTest, PriorityComesFirstThenTheOrderOfSubmission) {
  for (const std::int64_t priority : {4, 0, 9, 4, 9}) {
    ledger.ask(Submission{.queue = "q", .payload = std::to_string(priority), .priority = priority});
  }
  std::vector<std::string> payloads;
  while (const auto lease = ledger.lease())
    payloads.push_back(lease->payload + "#" + std::to_string(lease->fence.value));
  EXPECT_THAT(payloads, ElementsAre("9#1", "9#2", "4#3", "4#4", "0#5"));
}

TEST_F(TaskBookTest, ADelayedTaskHoldsUpNobody) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "late", .delay = Millis{10'000}, .priority = 9});
  ledger.submit("soon");
  EXPECT_EQ(ledger.now + Millis{10'000}, ledger.tasks().next_promotion("q"));
  EXPECT_EQ(kNever, ledger.tasks().next_promotion("none"));
  EXPECT_THAT(lease_ids({"q"}, 5), ElementsAre("soon"));
  ledger.advance(Millis{9'999});
  EXPECT_THAT(lease_ids({"q"}, 5), IsEmpty());
  ledger.advance(Millis{1});
  EXPECT_EQ(kNever, ledger.tasks().next_promotion("q"));
  EXPECT_TRUE(ledger.tasks().can_grant("q"));
  EXPECT_THAT(lease_ids({"q"}, 5), ElementsAre("late"));
  EXPECT_FALSE(ledger.tasks().can_grant("q"));
  EXPECT_FALSE(ledger.tasks().can_grant("none"));
}

TEST_F(TaskBookTest, PromotionGoesInSlices) {
  for (int i = 0; i < 3; ++i) ledger.ask(Submission{.queue = "q", .payload = "p", .delay = Millis{10}});
  ledger.tasks().promote("none", ledger.now, 5);
  ledger.now = ledger.now + Millis{10};
  ledger.tasks().promote("q", ledger.now, 2);
  EXPECT_EQ(2U, lease_ids({"q"}, 5).size());
  ledger.tasks().promote("q", ledger.now, 2);
  EXPECT_EQ(1U, lease_ids({"q"}, 5).size());
}

TEST_F(TaskBookTest, TasksOfOneKeyRunOneAtATimeInOrderOfSubmission) {
  // The first is delayed and of low priority, and still comes before the others of its key.
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "K1", .delay = Millis{10}, .priority = 0, .key = "k"});
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "K2", .priority = 9, .key = "k"});
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "K3", .delay = kMinute, .key = "k"});
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "other", .key = "other"});
  ledger.ask(Submission{.queue = "q2", .payload = "p", .id = "elsewhere", .key = "k"});
  EXPECT_THAT(lease_ids({"q", "q2"}, 9), ElementsAre("other", "elsewhere"));
  ledger.advance(Millis{10});
  const auto first = ledger.lease();
  ASSERT_TRUE(first);
  EXPECT_EQ("K1", first->task_id);
  EXPECT_THAT(lease_ids({"q"}, 9), IsEmpty());
  EXPECT_EQ(Report::kCommitted, complete("K1", first->lease_id));
  EXPECT_THAT(lease_ids({"q"}, 9), ElementsAre("K2"));
  // K2 expires and keeps its turn.
  ledger.advance(2 * kMinute);
  EXPECT_THAT(lease_ids({"q"}, 9), ElementsAre("K2", "other"));
}

TEST_F(TaskBookTest, ATaskWaitingForItsRetryKeepsItsKeysTurn) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "K1", .key = "k"});
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "K2", .key = "k"});
  EXPECT_EQ(TaskState::kWaiting, fail("K1", ledger.lease()->lease_id));
  EXPECT_THAT(lease_ids({"q"}, 9), IsEmpty());
  ledger.advance(Millis{1200});
  const auto again = ledger.lease();
  ASSERT_TRUE(again);
  EXPECT_EQ("K1", again->task_id);
  EXPECT_EQ(TaskState::kFailed, fail("K1", again->lease_id, true));
  EXPECT_THAT(lease_ids({"q"}, 9), ElementsAre("K2"));
}

TEST_F(TaskBookTest, AKeysTaskThatIsKilledWhileItWaitsGivesNoTurnAway) {
  for (const char* id : {"K1", "K2", "K3"}) ledger.ask(Submission{.queue = "q", .payload = "p", .id = id, .key = "k"});
  ASSERT_TRUE(ledger.ask(TaskKill{.task_id = "K2", .reason = "why"}).has_value());
  EXPECT_THAT(lease_ids({"q"}, 9), ElementsAre("K1"));
  ASSERT_TRUE(ledger.ask(TaskKill{.task_id = "K1", .reason = "why"}).has_value());
  EXPECT_THAT(lease_ids({"q"}, 9), ElementsAre("K3"));
}

// Table hashes have 32 bits, so different keys meet in them.
TEST_F(TaskBookTest, KeysOfOneHashAreToldApart) {
  for (const char* queue : {"q", "q2"}) {
    ASSERT_TRUE(ledger.ask(QueuePause{queue, true}).has_value());
  }
  const auto hash = [&](std::string_view queue, std::string_view key) {
    return static_cast<std::uint32_t>(hash64(key, ledger.tasks().find_queue(queue)->order));
  };
  const auto submit = [&](std::string_view queue, std::string_view key) {
    ledger.ask(Submission{.queue = queue, .payload = "p", .key = key});
    return ledger.tasks().find_queue(queue)->ready.size();
  };
  std::map<std::uint32_t, std::string> of_q;
  std::pair<std::string, std::string> in_one_queue;
  std::pair<std::string, std::string> in_two_queues;
  for (int i = 0; in_one_queue.first.empty() || in_two_queues.first.empty(); ++i) {
    const std::string key = std::to_string(i);
    const auto [found, is_new] = of_q.emplace(hash("q", key), key);
    if (!is_new) in_one_queue = {found->second, key};
    const auto other = of_q.find(hash("q2", key));
    if (other != of_q.end()) in_two_queues = {other->second, key};
  }
  EXPECT_EQ(1U, submit("q", in_one_queue.first));
  EXPECT_EQ(2U, submit("q", in_one_queue.second));  // its own line, so its head
  EXPECT_EQ(3U, submit("q", in_two_queues.first));
  EXPECT_EQ(1U, submit("q2", in_two_queues.second));
}

TEST_F(TaskBookTest, ARepeatedLeaseGivesTheLeasesThatLast) {
  ledger.submit("T1");
  ledger.submit("T2");
  EXPECT_THAT(lease_ids({"q"}, 2, "r"), ElementsAre("T1", "T2"));
  EXPECT_TRUE(ledger.tasks().remembers("r"));
  ledger.submit("T3");
  EXPECT_THAT(lease_ids({"q"}, 2, "r"), ElementsAre("T1", "T2"));
  EXPECT_THAT(ledger.last(), IsEmpty());
  const std::string first = *ledger.status("T1").lease_id;
  ASSERT_EQ(Report::kCommitted, complete("T1", first));
  EXPECT_THAT(lease_ids({"q"}, 2, "r"), ElementsAre("T2"));
  ledger.advance(2 * kMinute);
  EXPECT_THAT(lease_ids({"q"}, 2, "r"), IsEmpty());
  // The task is leased again: not under this request.
  EXPECT_THAT(lease_ids({"q"}, 2), ElementsAre("T2", "T3"));
  EXPECT_THAT(lease_ids({"q"}, 2, "r"), IsEmpty());
}

TEST_F(TaskBookTest, ARepeatedLeaseLeavesOutWhatTimeHasEnded) {
  ledger.submit("T1");
  EXPECT_THAT(lease_ids({"q"}, 1, "r"), ElementsAre("T1"));
  ledger.now = ledger.now + 2 * kMinute;  // and nothing has been recorded of it yet
  EXPECT_THAT(lease_ids({"q"}, 1, "r"), IsEmpty());
}

TEST_F(TaskBookTest, ARepeatedLeaseShowsTheExpiryAsItIsNow) {
  ledger.submit("T1");
  const LeaseRequest request{.worker = "w", .queues = {"q"}, .lease = kMinute, .request_id = "r"};
  const auto first = ledger.ask(request).value();
  ledger.advance(Millis{30'000});
  ASSERT_TRUE(ledger.ask(TaskExtension{.task_id = "T1", .lease_id = first[0].lease_id}).value());
  const auto again = ledger.ask(request).value();
  ASSERT_EQ(1U, again.size());
  EXPECT_EQ(first[0].lease_id, again[0].lease_id);
  EXPECT_EQ(first[0].attempt, again[0].attempt);
  EXPECT_EQ(first[0].payload, again[0].payload);
  EXPECT_EQ(ledger.now + kMinute, again[0].expires_at);
  EXPECT_EQ(kMinute, again[0].remaining);
}

TEST_F(TaskBookTest, AnEmptyLeaseIsNotRemembered) {
  EXPECT_THAT(lease_ids({"q"}, 1, "r"), IsEmpty());
  EXPECT_FALSE(ledger.tasks().remembers("r"));
  ledger.submit("T1");
  EXPECT_THAT(lease_ids({"q"}, 1, "r"), ElementsAre("T1"));
}

TEST_F(TaskBookTest, APausedQueueGrantsNothing) {
  ledger.submit("T1");
  ASSERT_TRUE(ledger.ask(QueuePause{.queue = "q", .paused = true}).has_value());
  EXPECT_THAT(ledger.last(), ElementsAre("QueuePaused"));
  ASSERT_TRUE(ledger.ask(QueuePause{.queue = "q", .paused = true}).has_value());
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_FALSE(ledger.tasks().can_grant("q"));
  EXPECT_THAT(lease_ids({"q"}, 1), IsEmpty());
  ASSERT_TRUE(ledger.ask(QueuePause{.queue = "q", .paused = false}).has_value());
  EXPECT_THAT(ledger.last(), ElementsAre("QueueResumed"));
  ASSERT_TRUE(ledger.ask(QueuePause{.queue = "q", .paused = false}).has_value());
  EXPECT_THAT(ledger.last(), IsEmpty());
  ASSERT_TRUE(ledger.ask(QueuePause{.queue = "none", .paused = false}).has_value());
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_THAT(lease_ids({"q"}, 1), ElementsAre("T1"));
}

}  // namespace
}  // namespace tenure
