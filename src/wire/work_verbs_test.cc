// Every verb of the work book: what is said, and the bytes of the answer (a blank for each CR LF).
#include "wire/caller_testing.h"

namespace tenure::wire {
namespace {

using WorkVerbsTest = CallerTest;

TEST_F(WorkVerbsTest, AcquireHasFiveAnswers) {
  EXPECT_EQ(say("WORK.ACQUIRE d 7"), "*6 $8 ACQUIRED $18 <1> :1 :1000000000 :0 $-1");
  EXPECT_EQ(say3("WORK.ACQUIRE d 7"), "*6 $16 ALREADY_ACQUIRED $18 <1> :1 :1000000000 :0 _");
  EXPECT_EQ(say("WORK.ACQUIRE d 8"), "*2 $8 ENQUEUED :1");
  say("WORK.SUCCEED d <1>");
  EXPECT_EQ(say("WORK.ACQUIRE d 7"), "*1 $17 ALREADY_PROCESSED");
  EXPECT_EQ(say("WORK.ACQUIRE d 9"), "-BACKLOGORDER domain 'd': expected offset 8, the head of its backlog, got 9");
  EXPECT_EQ(say("WORK.ACQUIRE e 1 LEASE 5000"), "*6 $8 ACQUIRED $18 <2> :2 :1000000000 :0 :5000");
}

TEST_F(WorkVerbsTest, SucceedHints) {
  say("WORK.ACQUIRE d 7");
  say("WORK.ACQUIRE d 8");
  EXPECT_EQ(say("WORK.SUCCEED d <1> REQUEST R"), "*2 $9 NEXT_HINT :8");
  EXPECT_EQ(say("WORK.SUCCEED d <1> REQUEST R"), "*2 $9 NEXT_HINT :8");
  EXPECT_EQ(say("WORK.SUCCEED d <1>").substr(0, 8), "-NOLEASE");
  say("WORK.ACQUIRE d 8");
  EXPECT_EQ(say("WORK.SUCCEED d nonsense").substr(0, 14), "-TOKENMISMATCH");
  EXPECT_EQ(say("WORK.SUCCEED d <2>"), "*1 $10 NO_BACKLOG");
}

TEST_F(WorkVerbsTest, FailRetriesAndGivesUp) {
  say("WORK.ACQUIRE d 7");
  say("WORK.ACQUIRE d 8");
  EXPECT_EQ(say("WORK.FAIL d <1>"), "*2 $15 RETRY_SCHEDULED :1");
  EXPECT_EQ(say("WORK.FAIL d <1> REASON why"), "*2 $15 RETRY_SCHEDULED :2");
  EXPECT_EQ(say("WORK.FAIL d <1> REASON why REQUEST R"), "*2 $15 RETRY_SCHEDULED :3");
  EXPECT_EQ(say("WORK.FAIL d <1>"), "*2 $17 GIVE_UP_NEXT_HINT :8");
  EXPECT_EQ(say("WORK.ACQUIRE d 7"), "*1 $14 ALREADY_FAILED");
  say("WORK.ACQUIRE d 8");
  for (int i = 0; i < 3; ++i) say("WORK.FAIL d <2>");
  EXPECT_EQ(say("WORK.FAIL d <2>"), "*1 $18 GIVE_UP_NO_BACKLOG");
}

TEST_F(WorkVerbsTest, ExtendTellsUntilWhen) {
  say("WORK.ACQUIRE d 7 LEASE 5000");
  EXPECT_EQ(say("WORK.EXTEND d <1> LEASE 9000"), "*3 $8 EXTENDED :1000009000 :9000");
  EXPECT_EQ(say("WORK.EXTEND d <1> lease 1"), "*3 $8 EXTENDED :1000009000 :9000");
  say("WORK.ACQUIRE e 1");
  EXPECT_EQ(say("WORK.EXTEND e <2> LEASE 9000"), "*3 $8 EXTENDED $-1 $-1");
  EXPECT_EQ(say3("WORK.EXTEND e <2> LEASE 9000"), "*3 $8 EXTENDED _ _");
  EXPECT_EQ(say("WORK.EXTEND e <2>"),
            "-ERR wrong number of arguments: expected WORK.EXTEND domain token LEASE ms, found 2");
  EXPECT_EQ(say("WORK.EXTEND e <2> MORE 9000").substr(0, 4), "-ERR");
}

TEST_F(WorkVerbsTest, InspectTellsAllOfADomain) {
  EXPECT_EQ(say("WORK.INSPECT d"), "$-1");
  EXPECT_EQ(say3("WORK.INSPECT d"), "_");
  say("WORK.ACQUIRE d 7");
  say("WORK.ACQUIRE d 8");
  EXPECT_EQ(say("WORK.INSPECT d"),
            "*24 $6 domain $1 d $5 state $9 IN_FLIGHT $6 offset :7 $5 fence :1 $11 retry_count :0 $11 acquired_at "
            ":1000000000 $10 expires_at $-1 $7 backlog :1 $12 backlog_head :8 $9 processed :0 $6 failed :0 $13 "
            "trimmed_below :0");
  say("WORK.SUCCEED d <1>");
  EXPECT_EQ(say3("WORK.INSPECT d"),
            "%12 $6 domain $1 d $5 state $4 IDLE $6 offset _ $5 fence _ $11 retry_count _ $11 acquired_at _ $10 "
            "expires_at _ $7 backlog :1 $12 backlog_head :8 $9 processed :1 $6 failed :0 $13 trimmed_below :0");
}

TEST_F(WorkVerbsTest, OffsetsAreListedByPages) {
  EXPECT_EQ(say("WORK.BACKLOG d"), "*2 $1 0 *0");
  EXPECT_EQ(say("WORK.FAILED d"), "*2 $1 0 *0");
  EXPECT_EQ(say("WORK.DONE d"), "*2 $1 0 *0");
  for (const char* offset : {"1", "2", "3", "5"}) say("WORK.ACQUIRE d " + std::string(offset));
  EXPECT_EQ(say("WORK.BACKLOG d"), "*2 $1 0 *3 :2 :3 :5");
  const auto page = caller.world.get(ListBacklog{"d", {.count = 2}});
  EXPECT_EQ(say("WORK.BACKLOG d COUNT 2"), fmt::format("*2 ${} {} *2 :2 :3", page.cursor.size(), page.cursor));
  EXPECT_EQ(say("WORK.BACKLOG d CURSOR " + page.cursor + " COUNT 2"), "*2 $1 0 *1 :5");
  say("WORK.SUCCEED d <1>");
  say("WORK.ACQUIRE d 2");
  for (int i = 0; i < 4; ++i) say("WORK.FAIL d <2>");
  say("WORK.ACQUIRE d 3");
  say("WORK.SUCCEED d <3>");
  EXPECT_EQ(say("WORK.FAILED d"), "*2 $1 0 *1 :2");
  EXPECT_EQ(say("WORK.DONE d COUNT 10"), "*2 $1 0 *2 *2 :1 :1 *2 :3 :3");
}

TEST_F(WorkVerbsTest, TrimMovesTheMark) {
  EXPECT_EQ(say("WORK.TRIM d 100"), "+OK");
  EXPECT_EQ(say("WORK.ACQUIRE d 99"), "*1 $17 ALREADY_PROCESSED");
}

TEST_F(WorkVerbsTest, DomainsAreListed) {
  EXPECT_EQ(say("WORK.LIST"), "*2 $1 0 *0");
  say("WORK.ACQUIRE d 7");
  EXPECT_EQ(say("WORK.LIST COUNT 5 CURSOR 0"), "*2 $1 0 *1 $1 d");
}

}  // namespace
}  // namespace tenure::wire
