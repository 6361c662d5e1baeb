// Bad arguments: each has its code, the message says what was expected and what was found, and the leftmost counts.
#include "wire/args.h"

#include "wire/caller_testing.h"

namespace tenure::wire {
namespace {

using ArgsTest = CallerTest;

const std::string kLong(256, 'x');

TEST_F(ArgsTest, TooFewOrTooManyArgumentsAreTheWrongNumber) {
  EXPECT_EQ(say("TASK.KILL T"), "-ERR wrong number of arguments: expected TASK.KILL task_id reason, found 1");
  EXPECT_EQ(say("TASK.KILL T why more"), "-ERR wrong number of arguments: expected TASK.KILL task_id reason, found 3");
  EXPECT_EQ(say("TASK.GET"), "-ERR wrong number of arguments: expected TASK.GET task_id, found 0");
  EXPECT_EQ(say("TASK.EXTEND T"),
            "-ERR wrong number of arguments: expected TASK.EXTEND task_id lease_id [LEASE ms], found 1");
  EXPECT_EQ(say("QUIT now"), "-ERR wrong number of arguments: expected QUIT, found 1");
  EXPECT_EQ(say("TASK.LEASE w"),
            "-ERR wrong number of arguments: expected TASK.LEASE worker numqueues queue [queue ...] "
            "[COUNT n] [LEASE ms] [BLOCK ms] [REQUEST id], found 1");
}

// No verb has such arguments yet: there the count of the words tells.
TEST(ArgumentReaderTest, ARequiredOptionIsMissedBehindOthers) {
  constexpr Argument kArguments[] = {need(Field::kDomain), need_option("LEASE", Field::kLease),
                                     option("REQUEST", Field::kRequestId)};
  const auto fault_in_words = [&](const std::vector<std::string_view>& words) {
    Values values;
    ArgumentReader reader("WORK.HOLD", kArguments, words_needed(kArguments), words, 0);
    return reader.read(values) ? "none" : reader.fault()->message;
  };
  EXPECT_EQ(fault_in_words({"d", "REQUEST", "r", "LEASE", "1"}), "none");
  EXPECT_EQ(fault_in_words({"d", "REQUEST", "r"}),
            "wrong number of arguments: expected WORK.HOLD domain LEASE ms [REQUEST id], found 3");
}

TEST_F(ArgsTest, AnUnknownOptionIsAnError) {
  EXPECT_EQ(say("TASK.EXTEND T x MORE 1"),
            "-ERR TASK.EXTEND: expected an option, or nothing more, of task_id lease_id [LEASE ms], found 'MORE'");
  EXPECT_EQ(say("QUEUE.LIST q").substr(0, 4), "-ERR");
}

TEST_F(ArgsTest, AnOptionTwiceIsAnError) {
  EXPECT_EQ(say("TASK.SUBMIT q p ID a id b"), "-ERR ID: expected once, found twice");
  EXPECT_EQ(say("LOCK.ACQUIRE d i o BOUND BOUND"), "-ERR BOUND: expected once, found twice");
}

TEST_F(ArgsTest, AnOptionNeedsItsValues) {
  EXPECT_EQ(say("TASK.SUBMIT q p ID"), "-ERR ID: expected id behind it, found nothing more");
  EXPECT_EQ(say("TASK.SUBMIT q p BACKOFF 1"), "-ERR BACKOFF: expected initial_ms max_ms behind it, found nothing more");
}

TEST_F(ArgsTest, TextWhereAnIntegerIsWantedIsAnError) {
  for (const std::string text : {"x", "\"\"", "+1", "1.5", "1x", "0x1", "\" 1\"", "\"1 \"", "-", "--1", "1e3"}) {
    EXPECT_TRUE(say("WORK.ACQUIRE d " + text).starts_with("-ERR offset: expected an integer, found '")) << text;
    EXPECT_TRUE(say("TASK.SUBMIT q p DELAY " + text).starts_with("-ERR delay: expected an integer, found '")) << text;
    EXPECT_TRUE(say("TASK.LEASE w " + text + " q").starts_with("-ERR number of queues: expected an integer")) << text;
  }
}

TEST_F(ArgsTest, LeadingZerosAndMinusZeroAreIntegers) {
  EXPECT_EQ(say("WORK.ACQUIRE d 007").substr(0, 11), "*6 $8 ACQUI");
  EXPECT_EQ(say("WORK.ACQUIRE e -0").substr(0, 11), "*6 $8 ACQUI");
}

TEST_F(ArgsTest, IntegersBeyondSixtyFourBitsAreInvalid) {
  EXPECT_EQ(say("WORK.ACQUIRE d 9223372036854775807").substr(0, 11), "*6 $8 ACQUI");
  EXPECT_EQ(say("WORK.ACQUIRE d 9223372036854775808"),
            "-INVALID offset: expected 0 to 9223372036854775807, found '9223372036854775808'");
  EXPECT_EQ(say("WORK.ACQUIRE d -9223372036854775809"),
            "-INVALID offset: expected 0 to 9223372036854775807, found '-9223372036854775809'");
  EXPECT_EQ(say("TASK.LEASE w 99999999999999999999999 q").substr(0, 8), "-INVALID");
}

TEST_F(ArgsTest, EveryIntegerHasItsLimits) {
  struct Case {
    std::string before;
    std::string label;
    std::string low;
    std::string below;
    std::string high;
    std::string above;
  };
  const std::string day = "86400000";
  const std::string days = "31622400000";
  const std::string most = "2147483647";
  const std::vector<Case> cases = {
      {"TASK.SUBMIT q p WINDOW ", "window", "1", "0", day, "86400001"},
      {"TASK.SUBMIT q p RETRIES ", "retries", "0", "-1", most, "2147483648"},
      {"TASK.SUBMIT q p ATTEMPTS ", "attempts", "1", "0", most, "2147483648"},
      {"TASK.SUBMIT q p DELAY ", "delay", "0", "-1", days, "31622400001"},
      {"TASK.SUBMIT q p PRIORITY ", "priority", "0", "-1", "9", "10"},
      {"TASK.LEASE w 1 q COUNT ", "count", "1", "0", "1000", "1001"},
      {"TASK.LEASE w 1 q LEASE ", "lease", "1", "0", day, "86400001"},
      {"TASK.LEASE w 1 q BLOCK ", "block", "0", "-1", day, "86400001"},
      {"TASK.WAIT T BLOCK ", "block", "0", "-1", day, "86400001"},
      {"QUEUE.LIST COUNT ", "count", "1", "0", "1000", "1001"},
      {"WORK.ACQUIRE d 1 LEASE ", "lease", "1", "0", day, "86400001"},
      {"LOCK.ACQUIRE d i o WAIT ", "wait", "0", "-1", day, "86400001"},
      {"CLIENT SESSION s GRACE ", "grace", "0", "-1", day, "86400001"},
      {"SELECT ", "database", "0", "-1", "0", "1"},
  };
  for (const Case& each : cases) {
    const std::string fault = fmt::format("-INVALID {}: expected {} to {}, found ", each.label, each.low, each.high);
    EXPECT_EQ(say(each.before + each.below), fault + each.below);
    EXPECT_EQ(say(each.before + each.above), fault + each.above);
    EXPECT_EQ(say(each.before + each.low).find("-INVALID"), std::string::npos) << each.before;
    EXPECT_EQ(say(each.before + each.high).find("-INVALID"), std::string::npos) << each.before;
  }
  EXPECT_EQ(say("WORK.TRIM d -1"), "-INVALID below: expected 0 to 9223372036854775807, found -1");
  EXPECT_EQ(say("LOCK.FORCE d i FENCE -1"), "-INVALID fence: expected 0 to 9223372036854775807, found -1");
}

TEST_F(ArgsTest, BackoffIsTwoDurationsInOrder) {
  EXPECT_EQ(say("TASK.SUBMIT q p BACKOFF -1 5"), "-INVALID backoff initial: expected 0 to 31622400000, found -1");
  EXPECT_EQ(say("TASK.SUBMIT q p BACKOFF 5 x"), "-ERR backoff max: expected an integer, found 'x'");
  EXPECT_EQ(say("TASK.SUBMIT q p BACKOFF 5 4"), "-INVALID backoff initial: expected 0 to 4, found 5");
  EXPECT_EQ(say("TASK.SUBMIT q p BACKOFF 5 5 ID T"), "*2 $1 T $7 CREATED");
}

TEST_F(ArgsTest, QueuesMustBeAsManyAsAnnounced) {
  EXPECT_EQ(say("TASK.LEASE w 0 q"), "-INVALID number of queues: expected 1 to 1000, found 0");
  EXPECT_EQ(say("TASK.LEASE w -1 q"), "-INVALID number of queues: expected 1 to 1000, found -1");
  EXPECT_EQ(say("TASK.LEASE w 1001 q"), "-INVALID number of queues: expected 1 to 1000, found 1001");
  EXPECT_EQ(say("TASK.LEASE w 3 q r"), "-ERR wrong number of arguments: expected 3 queues, found 2");
  EXPECT_EQ(say("TASK.LEASE w 2 q \"\""), "-INVALID queue: expected 1 to 255 bytes, found none");
  EXPECT_EQ(say("TASK.LEASE w 1 q r").substr(0, 15), "-ERR TASK.LEASE");
}

TEST_F(ArgsTest, EveryNameIsChecked) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"TASK.SUBMIT {} p", "queue"},
      {"TASK.SUBMIT q p ID {}", "id"},
      {"TASK.SUBMIT q p REQUEST {}", "request id"},
      {"TASK.SUBMIT q p KEY {}", "key"},
      {"TASK.LEASE {} 1 q", "worker"},
      {"TASK.GET {}", "task id"},
      {"TASK.HISTORY {}", "task id"},
      {"TASK.WAIT {}", "task id"},
      {"TASK.EXTEND {} x", "task id"},
      {"TASK.COMPLETE {} x", "task id"},
      {"TASK.FAIL {} x why", "task id"},
      {"TASK.KILL {} why", "task id"},
      {"TASK.RESUBMIT {}", "task id"},
      {"TASK.LIST {}", "queue"},
      {"QUEUE.PAUSE {}", "queue"},
      {"QUEUE.RESUME {}", "queue"},
      {"WORK.ACQUIRE {} 1", "domain"},
      {"WORK.SUCCEED {} x", "domain"},
      {"WORK.FAIL {} x", "domain"},
      {"WORK.EXTEND {} x LEASE 1", "domain"},
      {"WORK.INSPECT {}", "domain"},
      {"WORK.BACKLOG {}", "domain"},
      {"WORK.FAILED {}", "domain"},
      {"WORK.DONE {}", "domain"},
      {"WORK.TRIM {} 1", "domain"},
      {"LOCK.ACQUIRE {} i o", "domain"},
      {"LOCK.ACQUIRE d {} o", "identifier"},
      {"LOCK.ACQUIRE d i {}", "owner"},
      {"LOCK.ACQUIRE d i o SPACE {}", "space"},
      {"LOCK.RELEASE {} i x", "domain"},
      {"LOCK.EXTEND d {} x", "identifier"},
      {"LOCK.FORCE {} i", "domain"},
      {"LOCK.GET d {}", "identifier"},
      {"LOCK.LIST {}", "domain"},
      {"CLIENT SESSION {}", "session"},
  };
  for (const auto& [line, label] : cases) {
    EXPECT_EQ(say(fmt::format(fmt::runtime(line), "\"\"")),
              fmt::format("-INVALID {}: expected 1 to 255 bytes, found none", label));
    EXPECT_EQ(say(fmt::format(fmt::runtime(line), kLong)),
              fmt::format("-INVALID {}: expected 1 to 255 bytes, found 256", label));
    EXPECT_EQ(say(fmt::format(fmt::runtime(line), "\"a\\x07\"")),
              fmt::format("-INVALID {}: expected UTF-8 without control characters", label));
    EXPECT_EQ(say(fmt::format(fmt::runtime(line), "\"\\xc3\"")),
              fmt::format("-INVALID {}: expected UTF-8 without control characters", label));
  }
  EXPECT_EQ(say("LOCK.ACQUIRE a::b i o"), "-INVALID domain: expected a name without '::', found 'a::b'");
  EXPECT_EQ(say("LOCK.GET d a::"), "-INVALID identifier: expected a name without '::', found 'a::'");
  EXPECT_EQ(say("WORK.INSPECT a::b"), "$-1");
}

TEST_F(ArgsTest, TokensReasonsAndPayloadsHaveTheirLimits) {
  const std::string reason(4097, 'x');
  caller.world.settings.payload_bytes_max = 4096;
  EXPECT_EQ(say("TASK.EXTEND T " + kLong), "-INVALID lease id: expected at most 255 bytes, found 256");
  EXPECT_EQ(say("LOCK.RELEASE d i " + kLong), "-INVALID token: expected at most 255 bytes, found 256");
  EXPECT_EQ(say("TASK.KILL T " + reason), "-INVALID reason: expected at most 4096 bytes, found 4097");
  EXPECT_EQ(say("TASK.FAIL T x " + reason), "-INVALID reason: expected at most 4096 bytes, found 4097");
  EXPECT_EQ(say("WORK.FAIL d x REASON " + reason), "-INVALID reason: expected at most 4096 bytes, found 4097");
  EXPECT_EQ(say("TASK.SUBMIT q " + reason), "-TOOLARGE payload: expected at most 4096 bytes, found 4097");
  EXPECT_EQ(say("TASK.COMPLETE T x RESULT " + reason), "-TOOLARGE result: expected at most 4096 bytes, found 4097");
}

TEST_F(ArgsTest, StatesAndCursorsMustBeKnown) {
  EXPECT_EQ(say("TASK.LIST q STATE GONE"),
            "-INVALID state: expected WAITING, LEASED, COMPLETED, FAILED or DEAD, found 'GONE'");
  EXPECT_EQ(say("TASK.LIST q STATE DEAD"), "*2 $1 0 *0");
  for (const std::string line : {"TASK.LIST q", "QUEUE.LIST", "WORKER.LIST", "WORK.BACKLOG d", "WORK.FAILED d",
                                 "WORK.DONE d", "WORK.LIST", "LOCK.LIST", "LOCK.LIST d"}) {
    EXPECT_EQ(say(line + " CURSOR nonsense"),
              "-INVALID cursor: expected 0 or one that a listing gave, found 'nonsense'");
    EXPECT_EQ(say(line + " CURSOR 1.2.3.4").substr(0, 8), "-INVALID") << line;
    EXPECT_EQ(say(line + " CURSOR \">" + kLong + "\"").substr(0, 15), "-INVALID cursor") << line;
    EXPECT_EQ(say(line + " CURSOR 0"), "*2 $1 0 *0") << line;
  }
}

TEST_F(ArgsTest, OfSeveralFaultsTheLeftmostIsTold) {
  EXPECT_EQ(say("TASK.SUBMIT \"\" p WINDOW 0").substr(0, 14), "-INVALID queue");
  EXPECT_EQ(say("TASK.SUBMIT q p PRIORITY 10 ID \"\"").substr(0, 17), "-INVALID priority");
  EXPECT_EQ(say("TASK.SUBMIT q p ID \"\" PRIORITY 10").substr(0, 11), "-INVALID id");
  EXPECT_EQ(say("TASK.SUBMIT q p DELAY x NONSENSE").substr(0, 10), "-ERR delay");
  EXPECT_EQ(say("TASK.SUBMIT q p NONSENSE DELAY x").substr(0, 16), "-ERR TASK.SUBMIT");
  EXPECT_EQ(say("TASK.LIST q CURSOR nonsense COUNT 0").substr(0, 15), "-INVALID cursor");
  EXPECT_EQ(say("TASK.LIST q COUNT 0 CURSOR nonsense").substr(0, 14), "-INVALID count");
  EXPECT_EQ(say("LOCK.ACQUIRE d i o SPACE \"\" LEASE 0").substr(0, 14), "-INVALID space");
  EXPECT_EQ(say("LOCK.ACQUIRE d i o WAIT -1 LEASE 0").substr(0, 13), "-INVALID wait");
  EXPECT_EQ(say("WORK.ACQUIRE \"\" x").substr(0, 15), "-INVALID domain");
}

TEST_F(ArgsTest, ArgumentsAreCheckedBeforeTheState) {
  EXPECT_EQ(say("TASK.EXTEND unknown x LEASE 0").substr(0, 14), "-INVALID lease");
  EXPECT_EQ(say("TASK.KILL unknown why").substr(0, 7), "-NOTASK");
}

TEST_F(ArgsTest, WhatAClientSentForgesNoReply) {
  EXPECT_EQ(say("TASK.LIST q CURSOR \"x\\r\\n+OK\""),
            "-INVALID cursor: expected 0 or one that a listing gave, found 'x\\x0d\\x0a+OK'");
  EXPECT_EQ(say("\"NO\\r\\n+OK\""), "-ERR unknown command 'NO\\x0d\\x0a+OK': expected one that COMMAND lists");
}

TEST_F(ArgsTest, MessagesAreCutShort) {
  const std::string name(100'000, 'x');
  EXPECT_EQ(say(name), "-ERR unknown command '" + std::string(64, 'x') + "'...: expected one that COMMAND lists");
  EXPECT_LT(say("TASK.SUBMIT q p DELAY " + name).size(), 200U);
  EXPECT_LT(say("TASK.LIST q STATE " + name).size(), 200U);
  EXPECT_LT(say("TASK.LIST q CURSOR " + name).size(), 200U);
}

}  // namespace
}  // namespace tenure::wire
