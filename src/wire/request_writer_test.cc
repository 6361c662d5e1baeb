// What clients write is what the table of verbs reads, word by word.
#include "wire/request_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/testing.h"
#include "wire/verbs.h"

namespace tenure::wire {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;

// The request as words, which its verb takes.
std::string spoken(const std::string& bytes) {
  Receiver receiver;
  receiver.receive(bytes);
  EXPECT_EQ(0U, receiver.buffered()) << bytes;
  EXPECT_EQ(1U, receiver.events.size()) << bytes;
  RespParser parser;
  const RespParser::Step step = parser.next(bytes);
  const auto verb = find_verb(step.words);
  EXPECT_TRUE(verb) << bytes;
  Request request;
  EXPECT_EQ(std::nullopt, read_request(**verb, step.words, 1 << 20, request)) << bytes;
  return receiver.events.at(0);
}
template <class T>
std::string said(const T& request) {
  return spoken(write_request(request));
}
template <class T>
std::string said_waiting(const T& request) {
  std::string bytes = write_waiting(request);
  append_word(bytes, "250");
  return spoken(bytes);
}

TEST(RequestWriterTest, SaysOnlyWhatIsNotTheDefault) {
  EXPECT_EQ("TASK.SUBMIT|q|p", said(Submission{.queue = "q", .payload = "p"}));
  EXPECT_EQ("TASK.LEASE|w|2|a|b", said(LeaseTasks{{.worker = "w", .queues = {"a", "b"}}}));
  EXPECT_EQ("TASK.LIST|q", said(ListTasks{{"q", std::nullopt, {}}}));
  EXPECT_EQ("QUEUE.LIST", said(ListQueues{}));
  EXPECT_EQ("LOCK.LIST", said(ListLocks{}));
  EXPECT_EQ("HELLO", said(Hello{}));
  AcquireLock acquire;
  acquire.request.lock = {.domain = "d", .identifier = "i"};
  acquire.request.owner = "o";
  EXPECT_EQ("LOCK.ACQUIRE|d|i|o", said(acquire));
  EXPECT_EQ("LOCK.ACQUIRE|d|i|o|WAIT|250", said_waiting(acquire));
}

TEST(RequestWriterTest, SaysEveryOptionOfTasks) {
  EXPECT_EQ("TASK.SUBMIT|q|p|ID|i|REQUEST|r|WINDOW|1|RETRIES|2|BACKOFF|3|4|ATTEMPTS|5|DELAY|6|PRIORITY|7|KEY|k",
            said(Submission{"q", "p", "i", "r", 1ms, 2, 3ms, 4ms, 5, 6ms, 7, "k"}));
  EXPECT_EQ("TASK.SUBMIT|q|p|BACKOFF|1000|70000",
            said(Submission{.queue = "q", .payload = "p", .backoff_initial = 1000ms, .backoff_max = 70s}));
  const LeaseTasks lease{{.worker = "w", .queues = {"q"}, .count = 2, .lease = 3ms, .request_id = "r"}};
  EXPECT_EQ("TASK.LEASE|w|1|q|COUNT|2|LEASE|3|REQUEST|r|BLOCK|250", said_waiting(lease));
  EXPECT_EQ("TASK.EXTEND|t|l|LEASE|5", said(TaskExtension{"t", "l", 5ms}));
  EXPECT_EQ("TASK.COMPLETE|t|l|RESULT|", said(Completion{"t", "l", ""}));
  EXPECT_EQ("TASK.FAIL|t|l|why|FINAL", said(FailureReport{"t", "l", "why", true}));
  EXPECT_EQ("TASK.KILL|t|why", said(TaskKill{"t", "why"}));
  EXPECT_EQ("TASK.RESUBMIT|t|REQUEST|r", said(Resubmission{"t", "r"}));
  EXPECT_EQ("TASK.GET|t", said(GetTask{"t"}));
  EXPECT_EQ("TASK.HISTORY|t", said(GetHistory{"t"}));
  EXPECT_EQ("TASK.WAIT|t", said(AwaitTaskEnd{{"t"}}));
  EXPECT_EQ("TASK.WAIT|t|BLOCK|250", said_waiting(AwaitTaskEnd{{"t"}}));
  EXPECT_EQ("TASK.LIST|q|STATE|DEAD|COUNT|5", said(ListTasks{{"q", TaskState::kDead, {.count = 5}}}));
  EXPECT_EQ("QUEUE.PAUSE|q", said(QueuePause{"q", true}));
  EXPECT_EQ("QUEUE.RESUME|q", said(QueuePause{"q", false}));
  EXPECT_EQ("WORKER.LIST|COUNT|1", said(ListWorkers{{.count = 1}}));
}

TEST(RequestWriterTest, SaysEveryOptionOfWorkLeases) {
  EXPECT_EQ("WORK.ACQUIRE|d|7|LEASE|5", said(WorkRequest{"d", Offset{7}, 5ms}));
  EXPECT_EQ("WORK.SUCCEED|d|t|REQUEST|r", said(WorkSuccess{"d", "t", "r"}));
  EXPECT_EQ("WORK.FAIL|d|t|REASON|why|REQUEST|r", said(WorkFailure{"d", "t", "why", "r"}));
  EXPECT_EQ("WORK.EXTEND|d|t|LEASE|5", said(WorkExtension{"d", "t", 5ms}));
  EXPECT_EQ("WORK.INSPECT|d", said(InspectDomain{"d"}));
  EXPECT_EQ("WORK.BACKLOG|d|COUNT|2", said(ListBacklog{"d", {.count = 2}}));
  EXPECT_THAT(write_request(ListBacklog{"d", {.cursor = "next"}}), EndsWith("$6\r\nCURSOR\r\n$4\r\nnext\r\n"));
  EXPECT_EQ("WORK.FAILED|d", said(ListFailedOffsets{"d", {}}));
  EXPECT_EQ("WORK.DONE|d", said(ListDone{"d", {}}));
  EXPECT_EQ("WORK.TRIM|d|9", said(WorkTrim{"d", Offset{9}}));
  EXPECT_EQ("WORK.LIST", said(ListDomains{}));
}

TEST(RequestWriterTest, SaysEveryOptionOfLocks) {
  const LockName lock{.domain = "d", .identifier = "i", .space = "s"};
  AcquireLock acquire;
  static_cast<LockRequest&>(acquire.request) = {.lock = lock, .owner = "o", .lease = 5ms, .request_id = "r"};
  acquire.is_bound = true;
  EXPECT_EQ("LOCK.ACQUIRE|d|i|o|LEASE|5|REQUEST|r|BOUND|SPACE|s", said(acquire));
  EXPECT_EQ("LOCK.RELEASE|d|i|t|REQUEST|r|SPACE|s", said(LockGiveBack{{lock, "t", "r"}}));
  EXPECT_EQ("LOCK.EXTEND|d|i|t|LEASE|5|SPACE|s", said(LockExtension{lock, "t", 5ms}));
  EXPECT_EQ("LOCK.FORCE|d|i|FENCE|8|SPACE|s", said(LockForce{lock, Fence{8}}));
  EXPECT_EQ("LOCK.GET|d|i|SPACE|s", said(GetLock{lock}));
  EXPECT_EQ("LOCK.LIST|d|SPACE|s", said(ListLocks{{.domain = "d", .space = "s"}}));
}

TEST(RequestWriterTest, SaysWhatTheServerIsAsked) {
  EXPECT_EQ("HELLO|3|AUTH|me|secret|SETNAME|n", said(Hello{3, Credentials{"me", "secret"}, "n"}));
  EXPECT_EQ("HELLO|3|AUTH|default|secret", said(Hello{3, Credentials{std::nullopt, "secret"}, std::nullopt}));
  EXPECT_EQ("CLIENT|SESSION|s|GRACE|100", said(JoinSession{"s", 100ms}));
  EXPECT_EQ("PING", said(Ping{}));
  EXPECT_EQ("PING|there?", said(Ping{"there?"}));
  EXPECT_EQ("RESET", said(Reset{}));
  EXPECT_EQ("TIME", said(TellTime{}));
  EXPECT_EQ("SNAPSHOT", said(MakeSnapshot{}));
}

TEST(RequestWriterTest, BytesAreBytes) {
  const std::string payload("\r\n$\0*", 5);
  EXPECT_EQ("TASK.SUBMIT|q|" + payload, said(Submission{.queue = "q", .payload = payload}));
}

}  // namespace
}  // namespace tenure::wire
