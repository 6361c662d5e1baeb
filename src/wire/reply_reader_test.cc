// What the server writes is read back as it was, and nothing else is.
#include "wire/reply_reader.h"

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::wire {
namespace {

std::string written(const auto& reply) {
  std::string bytes;
  RespWriter out(bytes, Protocol::kResp3);
  write_reply(out, reply);
  out.finish();
  return bytes;
}

RespReply parsed(const std::string& bytes) {
  auto first = first_reply(bytes);
  EXPECT_TRUE(first && *first) << bytes;
  return first && *first ? std::move((*first)->reply) : RespReply{};
}

// Every place in a reply, the whole of it first.
void for_each_place(RespReply& reply, const std::function<void(RespReply& place)>& visit) {
  visit(reply);
  for (RespReply& item : reply.items) for_each_place(item, visit);
}

// Fields have no order.
template <class Reply>
void expect_read_in_reverse(RespReply reply) {
  const std::string bytes = [&] {
    Reply to{};
    EXPECT_TRUE(read_reply(reply, to));
    return written(to);
  }();
  for_each_place(reply, [](RespReply& place) {
    if (place.kind != RespReply::Kind::kMap) return;
    std::reverse(place.items.begin(), place.items.end());
    for (std::size_t i = 0; i < place.items.size(); i += 2) std::swap(place.items[i], place.items[i + 1]);
  });
  Reply to{};
  EXPECT_TRUE(read_reply(reply, to)) << bytes;
  EXPECT_EQ(bytes, written(to));
}

// What has at one place, whichever it is, what is expected nowhere, is not read; nor is an array with one more.
template <class Reply>
void expect_each_place_to_count(RespReply reply) {
  const RespReply wrong{.kind = RespReply::Kind::kMap};
  const std::string bytes = [&] {
    Reply to{};
    read_reply(reply, to);
    return written(to);
  }();
  for_each_place(reply, [&](RespReply& place) {
    Reply to{};
    const RespReply right = std::exchange(place, wrong);
    EXPECT_FALSE(read_reply(reply, to)) << bytes << " with another '" << right.text << "'";
    place = right;
    if (place.kind != RespReply::Kind::kArray) return;
    place.items.push_back(wrong);
    EXPECT_FALSE(read_reply(reply, to)) << bytes << " with more than " << right.items.size();
    place.items.pop_back();
  });
}

// Writes, reads, and writes again: the same bytes. Reading into one that has a value already overwrites it.
template <class Reply>
Reply there_and_back(const Reply& reply, Reply into = {}) {
  const std::string bytes = written(reply);
  EXPECT_TRUE(read_reply(parsed(bytes), into)) << bytes;
  EXPECT_EQ(bytes, written(into));
  expect_read_in_reverse<Reply>(parsed(bytes));
  expect_each_place_to_count<Reply>(parsed(bytes));
  return into;
}

TEST(ReplyReaderTest, ReadsWhatIsWrittenOfTasks) {
  there_and_back(Done{});
  EXPECT_FALSE(there_and_back(Submitted{"t", false}).created);
  const TaskLease lease{"t", "l", Fence{1}, 2, Instant{3}, Millis{4}, Instant{5}, "q", std::string("p\0\r\n", 4)};
  EXPECT_EQ(lease.payload, there_and_back(std::vector<TaskLease>{lease, lease}).at(1).payload);
  there_and_back(std::vector<TaskLease>{}, {lease});
  there_and_back(std::optional<Extended>{{Instant{1}, Millis{2}}});
  EXPECT_FALSE(there_and_back(std::optional<Extended>{}, {Extended{}}));
  EXPECT_EQ(Report::kCancelled, there_and_back(Report::kCancelled));
  EXPECT_EQ(TaskState::kFailed, there_and_back(std::optional{TaskState::kFailed}));
  EXPECT_FALSE(there_and_back(std::optional<TaskState>{}, {TaskState::kFailed}));
  TaskStatus status;
  status.task_id = "t";
  status.queue = "q";
  status.state = TaskState::kDead;
  status.attempt = 1;
  status.failures = 2;
  status.priority = 3;
  there_and_back(std::optional{status});
  status.key = "k";
  status.fence = Fence{7};
  status.result = "";
  EXPECT_EQ("", there_and_back(std::optional{status})->result);
  EXPECT_FALSE(there_and_back(std::optional<TaskStatus>{}, {status}));
  TaskAttempt attempt;
  attempt.attempt = 1;
  attempt.worker = "w";
  attempt.lease_id = "l";
  attempt.outcome = AttemptOutcome::kKilled;
  attempt.late = 2;
  there_and_back(std::vector<TaskAttempt>{attempt});
  attempt.lease_id.clear();
  EXPECT_EQ("", there_and_back(std::vector<TaskAttempt>{attempt}).at(0).lease_id);
  there_and_back(TaskPage{"c", {{"t", TaskState::kLeased, 3}}});
  EXPECT_TRUE(there_and_back(QueuePage{"0", {{"q", 1, 2, 3, 4, 5, 6, true}}}).queues.at(0).paused);
  there_and_back(WorkerPage{"0", {{"w", 1, Instant{2}}}});
}

TEST(ReplyReaderTest, ReadsWhatIsWrittenOfWorkLeases) {
  there_and_back(AcquireResult(Acquired{"t", Fence{1}, Instant{2}, 3, Millis{4}, true}));
  there_and_back(AcquireResult(Acquired{"t", Fence{1}, Instant{2}, 3, std::nullopt, false}));
  there_and_back(AcquireResult(Enqueued{2}));
  EXPECT_TRUE(std::holds_alternative<AlreadyProcessed>(there_and_back(AcquireResult(AlreadyProcessed{}))));
  EXPECT_TRUE(std::holds_alternative<AlreadyFailed>(there_and_back(AcquireResult(AlreadyFailed{}))));
  there_and_back(SucceedResult{});
  EXPECT_EQ(Offset{5}, there_and_back(SucceedResult{Offset{5}}).next);
  there_and_back(FailResult(RetryScheduled{2}));
  there_and_back(FailResult(GivenUp{}));
  there_and_back(FailResult(GivenUp{Offset{1}}));
  there_and_back(WorkExtended{Instant{1}, Millis{2}});
  there_and_back(WorkExtended{});
  DomainStatus status;
  status.domain = "d";
  status.in_flight = true;
  status.backlog = 1;
  status.processed = 2;
  status.failed = 3;
  status.offset = Offset{9};
  EXPECT_TRUE(there_and_back(std::optional{status})->in_flight);
  there_and_back(OffsetPage{"0", {Offset{1}, Offset{2}}});
  there_and_back(IntervalPage{"1", {{Offset{1}, Offset{2}}}});
  there_and_back(DomainPage{"0", {"a", "b"}});
  there_and_back(Trimmed{});
}

TEST(ReplyReaderTest, ReadsWhatIsWrittenOfLocks) {
  there_and_back(std::optional{LockGrant{"t", Fence{1}, Millis{2}, 3}});
  there_and_back(std::optional{LockGrant{"t", std::nullopt, Millis{2}, 3}});
  there_and_back(std::optional<LockGrant>{});
  EXPECT_EQ(2U, there_and_back(std::uint32_t{2}));
  EXPECT_EQ(0U, there_and_back(std::uint32_t{0}));
  there_and_back(LockExtended{Fence{1}, Millis{2}});
  EXPECT_TRUE(there_and_back(true));
  EXPECT_FALSE(there_and_back(false));
  LockStatus status;
  status.domain = "d";
  status.identifier = "i";
  status.owner = "o";
  status.fence = Fence{1};
  status.holds = 2;
  status.waiters = 3;
  there_and_back(std::optional{status});
  there_and_back(LockPage{"0", {status, status}});
}

TEST(ReplyReaderTest, WhatIsSomethingElseIsNotRead) {
  Submitted submitted;
  std::uint32_t holds = 0;
  std::optional<LockGrant> grant;
  AcquireResult acquired;
  std::optional<TaskStatus> status;
  QueuePage page;
  SucceedResult succeeded;
  bool forced = false;
  for (const char* bytes : {"+OK\r\n", ":7\r\n", ":x\r\n", "*4\r\n$1\r\nt\r\n:9223372036854775808\r\n:2\r\n:3\r\n",
                            "*0\r\n", "*1\r\n*0\r\n", "%0\r\n", "*2\r\n:1\r\n:2\r\n", "-ERR no\r\n",
                            "*4\r\n$1\r\nt\r\n:1x\r\n:2\r\n:3\r\n", "*4\r\n$1\r\nt\r\n:1\r\n:2\r\n:4294967296\r\n"}) {
    const RespReply reply = parsed(bytes);
    EXPECT_FALSE(read_reply(reply, submitted)) << bytes;
    EXPECT_FALSE(read_reply(reply, holds)) << bytes;
    EXPECT_FALSE(read_reply(reply, grant)) << bytes;
    EXPECT_FALSE(read_reply(reply, acquired)) << bytes;
    EXPECT_FALSE(read_reply(reply, status)) << bytes;
    EXPECT_FALSE(read_reply(reply, page)) << bytes;
    EXPECT_FALSE(read_reply(reply, succeeded)) << bytes;
    EXPECT_FALSE(read_reply(reply, forced)) << bytes;
  }
}

TEST(ReplyReaderTest, WordsThatAreNotKnownAreNotRead) {
  Report report{};
  EXPECT_TRUE(read_reply(parsed("$9\r\nCANCELLED\r\n"), report));
  EXPECT_FALSE(read_reply(parsed("$4\r\nGONE\r\n"), report));
  std::optional<TaskState> state;
  EXPECT_TRUE(read_reply(parsed("*2\r\n$9\r\nCOMMITTED\r\n$4\r\nDEAD\r\n"), state));
  EXPECT_EQ(TaskState::kDead, state);
  EXPECT_FALSE(read_reply(parsed("*2\r\n$9\r\nCOMMITTED\r\n$4\r\nGONE\r\n"), state));
}

TEST(ReplyReaderTest, ErrorsHaveTheirCodes) {
  EXPECT_EQ((Failure{ErrorCode::kNoTask, "task 't': none"}), read_error("NOTASK task 't': none"));
  EXPECT_EQ((Failure{ErrorCode::kMoved, "0 other:1"}), read_error("MOVED 0 other:1"));
  EXPECT_EQ((Failure{ErrorCode::kErr, "WRONGTYPE a word of others"}), read_error("WRONGTYPE a word of others"));
  EXPECT_EQ((Failure{ErrorCode::kUnavailable, "UNAVAILABLE"}), read_error("UNAVAILABLE"));
  EXPECT_EQ((Failure{ErrorCode::kErr, ""}), read_error(""));
}

TEST(ReplyReaderTest, ABacklogsOrderNamesItsOffsets) {
  const Failure failure =
      read_error("BACKLOGORDER domain 'expected offset 1, got 2': expected offset 7, the head of its backlog, got 9");
  EXPECT_EQ(Offset{7}, failure.expected);
  EXPECT_EQ(Offset{9}, failure.got);
  EXPECT_EQ(std::nullopt, read_error("BACKLOGORDER in other words").expected);
  const Failure wordy = read_error("BACKLOGORDER expected offset seven, got 9");
  EXPECT_EQ(std::nullopt, wordy.expected);
  EXPECT_EQ(Offset{9}, wordy.got);
}

}  // namespace
}  // namespace tenure::wire
