// Every verb of the task book: what is said, and the bytes of the answer (a blank for each CR LF).
#include "wire/caller_testing.h"

namespace tenure::wire {
namespace {

using TaskVerbsTest = CallerTest;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_F(TaskVerbsTest, SubmitTellsTheTaskAndWhetherItIsNew) {
  EXPECT_EQ(say("TASK.SUBMIT q hello ID T1"), "*2 $2 T1 $7 CREATED");
  EXPECT_EQ(say("task.submit q hello id T2 request R1"), "*2 $2 T2 $7 CREATED");
  EXPECT_EQ(say("Task.Submit q hello Request R1"), "*2 $2 T2 $8 EXISTING");
  EXPECT_EQ(say("TASK.SUBMIT q hello ID T1"), "-TASKEXISTS task 'T1': expected a new id, found one in use");
  EXPECT_EQ(say3("TASK.SUBMIT q hello ID T3"), "*2 $2 T3 $7 CREATED");
}

TEST_F(TaskVerbsTest, SubmitTakesEveryOption) {
  EXPECT_EQ(
      say("TASK.SUBMIT q hello KEY k PRIORITY 9 DELAY 5000 ATTEMPTS 2 BACKOFF 10 20 RETRIES 1 WINDOW 2000 REQUEST "
          "R ID T"),
      "*2 $1 T $7 CREATED");
  EXPECT_EQ(say("TASK.LEASE w 1 q"), "*0");
  pass(seconds(5));
  EXPECT_EQ(say("TASK.LEASE w 1 q LEASE 9000"),
            "*1 *18 $7 task_id $1 T $8 lease_id $18 <1> $5 fence :1 $7 attempt :1 $10 expires_at :1000007000 $12 "
            "remaining_ms :2000 $14 window_ends_at :1000007000 $5 queue $1 q $7 payload $5 hello");
  EXPECT_EQ(say("TASK.FAIL T <1> broken"), "*2 $9 COMMITTED $7 WAITING");
  EXPECT_EQ(say("TASK.LIST q"), "*2 $1 0 *1 *6 $7 task_id $1 T $5 state $7 WAITING $7 attempt :1");
  pass(Millis{20});
  EXPECT_EQ(say("TASK.LEASE w 1 q").substr(0, 30), "*1 *18 $7 task_id $1 T $8 leas");
  EXPECT_EQ(say("TASK.FAIL T <2> broken"), "*2 $9 COMMITTED $6 FAILED");
  const std::string task = say("TASK.GET T");
  EXPECT_NE(task.find("$8 priority :9 $3 key $1 k"), std::string::npos) << task;
}

TEST_F(TaskVerbsTest, LeaseTellsMapsInBothProtocols) {
  say("TASK.SUBMIT q hello ID T1");
  say("TASK.SUBMIT r bye ID T2");
  EXPECT_EQ(say("TASK.LEASE w 2 r q COUNT 2 REQUEST R"),
            "*2 *18 $7 task_id $2 T2 $8 lease_id $18 <1> $5 fence :1 $7 attempt :1 $10 expires_at :1000030000 $12 "
            "remaining_ms :30000 $14 window_ends_at :1000300000 $5 queue $1 r $7 payload $3 bye "
            "*18 $7 task_id $2 T1 $8 lease_id $18 <2> $5 fence :2 $7 attempt :1 $10 expires_at :1000030000 $12 "
            "remaining_ms :30000 $14 window_ends_at :1000300000 $5 queue $1 q $7 payload $5 hello");
  EXPECT_EQ(say3("TASK.LEASE w 2 r q COUNT 1 REQUEST R").substr(0, 25), "*2 %9 $7 task_id $2 T2 $8");
  EXPECT_EQ(say3("TASK.LEASE w 2 r q"), "*0");
}

TEST_F(TaskVerbsTest, LeaseTakesQueuesThatAreCalledLikeOptions) {
  say("TASK.SUBMIT COUNT hello ID T");
  EXPECT_EQ(say("TASK.LEASE w 2 COUNT LEASE COUNT 5").substr(0, 3), "*1 ");
}

TEST_F(TaskVerbsTest, LeaseWaitsForATask) {
  EXPECT_EQ(say("TASK.LEASE w 1 q BLOCK 0"), "*0");
  EXPECT_EQ(say("TASK.LEASE w 1 q BLOCK 60000"), "");
  caller.world.submit("q", "hello");
  EXPECT_EQ(caller.heard().substr(0, 7), "*1 *18 ");
  EXPECT_EQ(say("TASK.LEASE w 1 other BLOCK 60000"), "");
  pass(minutes(1));
  EXPECT_EQ(caller.heard(), "*0");
}

TEST_F(TaskVerbsTest, ExtendTellsUntilWhenOrThatItIsCancelled) {
  say("TASK.SUBMIT q hello ID T");
  say("TASK.LEASE w 1 q");
  pass(seconds(10));
  EXPECT_EQ(say("TASK.EXTEND T <1>"), "*3 $8 EXTENDED :1000040000 :30000");
  EXPECT_EQ(say("TASK.EXTEND T <1> LEASE 60000"), "*3 $8 EXTENDED :1000070000 :60000");
  EXPECT_EQ(say("TASK.EXTEND T nonsense"), "*1 $9 CANCELLED");
  EXPECT_EQ(say("TASK.EXTEND U <1>"), "-NOTASK task 'U': expected one that exists, found none");
}

TEST_F(TaskVerbsTest, CompleteIsAWordAlone) {
  say("TASK.SUBMIT q hello ID T");
  say("TASK.LEASE w 1 q");
  EXPECT_EQ(say("TASK.COMPLETE T nonsense"), "+CANCELLED");
  EXPECT_EQ(say("TASK.COMPLETE T <1> RESULT \"\\r\\n\""), "+COMMITTED");
  EXPECT_EQ(say("TASK.COMPLETE T <1>"), "+COMMITTED");
  EXPECT_EQ(say("TASK.COMPLETE U <1>"), "-NOTASK task 'U': expected one that exists, found none");
}

TEST_F(TaskVerbsTest, FailTellsTheNewState) {
  say("TASK.SUBMIT q hello ID T");
  say("TASK.LEASE w 1 q");
  EXPECT_EQ(say("TASK.FAIL T nonsense why"), "*1 $9 CANCELLED");
  EXPECT_EQ(say("TASK.FAIL T <1> why FINAL"), "*2 $9 COMMITTED $6 FAILED");
}

TEST_F(TaskVerbsTest, KillAndResubmit) {
  say("TASK.SUBMIT q hello ID T");
  EXPECT_EQ(say("TASK.RESUBMIT T"), "-NOTTERMINAL task 'T': expected one that has ended, found it WAITING");
  EXPECT_EQ(say("TASK.KILL T why"), "+OK");
  EXPECT_EQ(say("TASK.KILL T why").substr(0, 9), "-TERMINAL");
  const std::string first = say("TASK.RESUBMIT T REQUEST R");
  EXPECT_EQ(first.substr(0, 4), "*2 $");
  EXPECT_TRUE(first.ends_with(" $7 CREATED")) << first;
  EXPECT_TRUE(say("TASK.RESUBMIT T REQUEST R").ends_with(" $8 EXISTING"));
}

TEST_F(TaskVerbsTest, GetTellsAllOfATask) {
  EXPECT_EQ(say("TASK.GET T"), "$-1");
  EXPECT_EQ(say3("TASK.GET T"), "_");
  say("TASK.SUBMIT q hello ID T");
  EXPECT_EQ(say("TASK.GET T"),
            "*32 $7 task_id $1 T $5 queue $1 q $5 state $7 WAITING $7 attempt :0 $8 failures :0 $8 priority :4 $3 key "
            "$-1 $10 created_at :1000000000 $10 not_before $-1 $5 fence $-1 $8 lease_id $-1 $6 worker $-1 $10 "
            "expires_at $-1 $6 result $-1 $6 reason $-1 $4 late :0");
  say("TASK.LEASE w 1 q");
  EXPECT_EQ(say3("TASK.GET T"),
            "%16 $7 task_id $1 T $5 queue $1 q $5 state $6 LEASED $7 attempt :1 $8 failures :0 $8 priority :4 $3 key _ "
            "$10 created_at :1000000000 $10 not_before _ $5 fence :1 $8 lease_id $18 <1> $6 worker $1 w $10 "
            "expires_at :1000030000 $6 result _ $6 reason _ $4 late :0");
  say("TASK.COMPLETE T <1> RESULT done");
  EXPECT_NE(say("TASK.GET T").find("$6 result $4 done"), std::string::npos);
}

TEST_F(TaskVerbsTest, HistoryTellsEveryAttempt) {
  EXPECT_EQ(say("TASK.HISTORY T"), "-NOTASK task 'T': expected one that exists, found none");
  say("TASK.SUBMIT q hello ID T");
  EXPECT_EQ(say("TASK.HISTORY T"), "*0");
  say("TASK.LEASE w 1 q");
  say("TASK.FAIL T <1> why FINAL");
  EXPECT_EQ(
      say("TASK.HISTORY T"),
      "*1 *20 $7 attempt :1 $6 worker $1 w $8 lease_id $18 <1> $5 fence :1 $10 granted_at :1000000000 $8 ended_at "
      ":1000000000 $7 outcome $6 FAILED $6 reason $3 why $10 extensions :0 $4 late :0");
  EXPECT_EQ(say3("TASK.HISTORY T").substr(0, 6), "*1 %10");
}

TEST_F(TaskVerbsTest, LeaseIdsCanBeHidden) {
  say("TASK.SUBMIT q hello ID T");
  say("TASK.LEASE w 1 q");
  auto status = caller.world.get(GetTask{"T"});
  auto history = caller.world.get(GetHistory{"T"});
  hide_secrets(status);
  hide_secrets(history);
  std::string bytes;
  RespWriter out(bytes, Protocol::kResp2);
  write_reply(out, status);
  write_reply(out, history);
  out.finish();
  EXPECT_NE(bytes.find("$8\r\nlease_id\r\n$-1\r\n$6\r\nworker\r\n$1\r\nw"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find("$8\r\nlease_id\r\n$-1\r\n$5\r\nfence\r\n:1"), std::string::npos) << bytes;
  std::optional<TaskStatus> unknown;
  hide_secrets(unknown);
  EXPECT_FALSE(unknown.has_value());
}

TEST_F(TaskVerbsTest, WaitAnswersWhenTheTaskEnds) {
  EXPECT_EQ(say("TASK.WAIT T"), "-NOTASK task 'T': expected one that exists, found none");
  say("TASK.SUBMIT q hello ID T");
  EXPECT_EQ(say("TASK.WAIT T"), "$-1");
  EXPECT_EQ(say3("TASK.WAIT T BLOCK 0"), "_");
  EXPECT_EQ(say("TASK.WAIT T BLOCK 5"), "");
  pass(Millis{5});
  EXPECT_EQ(caller.heard(), "$-1");
  EXPECT_EQ(say("TASK.WAIT T BLOCK 5"), "");
  caller.world.get(TaskKill{.task_id = "T", .reason = "why"});
  EXPECT_EQ(caller.heard().substr(0, 46), "*32 $7 task_id $1 T $5 queue $1 q $5 state $4 ");
}

TEST_F(TaskVerbsTest, ListGoesByPages) {
  say("TASK.SUBMIT q hello ID T1");
  say("TASK.SUBMIT q hello ID T2");
  EXPECT_EQ(
      say("TASK.LIST q"),
      "*2 $1 0 *2 *6 $7 task_id $2 T1 $5 state $7 WAITING $7 attempt :0 *6 $7 task_id $2 T2 $5 state $7 WAITING $7 "
      "attempt :0");
  EXPECT_EQ(say3("TASK.LIST q STATE LEASED"), "*2 $1 0 *0");
  const auto page = caller.world.get(ListTasks{{.queue = "q", .paging = {.count = 1}}});
  EXPECT_EQ(say("TASK.LIST q COUNT 1"),
            fmt::format("*2 ${} {} *1 *6 $7 task_id $2 T1 $5 state $7 WAITING $7 attempt :0", page.cursor.size(),
                        page.cursor));
  EXPECT_EQ(say3("TASK.LIST q COUNT 1 STATE WAITING CURSOR " + page.cursor),
            "*2 $1 0 *1 %3 $7 task_id $2 T2 $5 state $7 WAITING $7 attempt :0");
}

TEST_F(TaskVerbsTest, QueuesArePausedResumedAndListed) {
  EXPECT_EQ(say("QUEUE.PAUSE q"), "+OK");
  EXPECT_EQ(
      say("QUEUE.LIST"),
      "*2 $1 0 *1 *16 $5 queue $1 q $7 waiting :0 $7 delayed :0 $6 leased :0 $9 completed :0 $6 failed :0 $4 dead "
      ":0 $6 paused :1");
  EXPECT_EQ(say("QUEUE.RESUME q"), "+OK");
  EXPECT_EQ(say3("QUEUE.LIST COUNT 1 CURSOR 0"), "*2 $1 0 *0");
  say("TASK.SUBMIT a 1");
  say("TASK.SUBMIT b 1");
  EXPECT_EQ(say3("QUEUE.LIST COUNT 1").substr(0, 28), "*2 $2 >a *1 %8 $5 queue $1 a");
  EXPECT_EQ(say3("QUEUE.LIST CURSOR >a").substr(0, 27), "*2 $1 0 *1 %8 $5 queue $1 b");
}

TEST_F(TaskVerbsTest, WorkersAreListed) {
  EXPECT_EQ(say("WORKER.LIST"), "*2 $1 0 *0");
  say("TASK.LEASE w 1 q");
  EXPECT_EQ(say("WORKER.LIST"), "*2 $1 0 *1 *6 $6 worker $1 w $6 leases :0 $9 last_seen :1000000000");
  EXPECT_EQ(say3("WORKER.LIST COUNT 10 CURSOR 0"),
            "*2 $1 0 *1 %3 $6 worker $1 w $6 leases :0 $9 last_seen :1000000000");
}

TEST_F(TaskVerbsTest, PayloadsAreBinarySafe) {
  const std::string bytes("\0\r\n\xff", 4);
  const std::vector<std::string_view> words{"TASK.SUBMIT", "q", bytes, "ID", "T"};
  EXPECT_EQ(caller.say_words(words), "*2 $1 T $7 CREATED");
  EXPECT_EQ(caller.world.lease("w", {"q"}).at(0).payload, bytes);
}

}  // namespace
}  // namespace tenure::wire
