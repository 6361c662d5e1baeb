// The server's own verbs, as far as they need no server (a blank for each CR LF).
#include "wire/server_replies.h"

#include "wire/caller_testing.h"

namespace tenure::wire {
namespace {

using ServerRepliesTest = CallerTest;

std::string written_as(Protocol protocol, const std::function<void(RespWriter&)>& write) {
  std::string bytes;
  RespWriter out(bytes, protocol);
  write(out);
  out.finish();
  return bytes;
}

TEST_F(ServerRepliesTest, PingAndEcho) {
  EXPECT_EQ(say("PING"), "+PONG");
  EXPECT_EQ(say("ping hello"), "$5 hello");
  EXPECT_EQ(say("ECHO hello"), "$5 hello");
}

TEST_F(ServerRepliesTest, CommandsAreCountedAndListed) {
  EXPECT_EQ(say("COMMAND COUNT"), fmt::format(":{}", command_count()));
  EXPECT_EQ(say("COMMAND").substr(0, 32),
            fmt::format("*{} *10 $11 task.submit :-3 *1 +wr", command_count()).substr(0, 32));
  EXPECT_EQ(say("COMMAND INFO"), say("COMMAND"));
}

TEST_F(ServerRepliesTest, CommandInfoHasTheShapeThatClientsKnow) {
  EXPECT_EQ(say("COMMAND INFO task.get"), "*1 *10 $8 task.get :2 *1 +readonly :0 :0 :0 *1 +@read *0 *0 *0");
  EXPECT_EQ(say("COMMAND INFO TASK.LEASE"),
            "*1 *10 $10 task.lease :-4 *2 +write +blocking :0 :0 :0 *2 +@write +@blocking *0 *0 *0");
  EXPECT_EQ(say("COMMAND INFO nonsense ping"), "*2 $-1 *10 $4 ping :-1 *0 :0 :0 :0 *1 +@connection *0 *0 *0");
  EXPECT_EQ(say3("COMMAND INFO nonsense"), "*1 _");
  EXPECT_EQ(
      say("COMMAND INFO config"),
      "*1 *10 $6 config :-2 *0 :0 :0 :0 *0 *0 *0 *1 *10 $10 config|get :-3 *1 +admin :0 :0 :0 *1 +@admin *0 *0 *0");
  EXPECT_EQ(say("COMMAND INFO config|get"), "*1 *10 $10 config|get :-3 *1 +admin :0 :0 :0 *1 +@admin *0 *0 *0");
  EXPECT_EQ(say("COMMAND INFO hello").substr(0, 30), "*1 *10 $5 hello :-1 *1 +no_aut");
}

TEST_F(ServerRepliesTest, CommandDocsTellSummariesAndArguments) {
  EXPECT_EQ(
      say("COMMAND DOCS task.extend"),
      "*2 $11 task.extend *8 $7 summary $77 Prolongs a lease, up to the task's window; without LEASE by the "
      "grant's time. $5 since $5 0.1.0 $5 group $5 tasks $9 arguments *3 *4 $4 name $7 task_id $4 type $6 string "
      "*4 $4 name $8 lease_id $4 type $6 string *8 $4 name $2 ms $4 type $7 integer $5 token $5 LEASE $5 flags *1 "
      "+optional");
  EXPECT_EQ(say3("COMMAND DOCS quit"),
            "%1 $4 quit %3 $7 summary $20 Ends the connection. $5 since $5 0.1.0 $5 group $6 server");
  EXPECT_EQ(
      say3("COMMAND DOCS config"),
      "%1 $6 config %4 $7 summary $16 Has subcommands. $5 since $5 0.1.0 $5 group $6 server $11 subcommands %1 $10 "
      "config|get %4 $7 summary $15 Tells settings. $5 since $5 0.1.0 $5 group $6 server $9 arguments *1 %3 $4 "
      "name $7 pattern $4 type $6 string $5 flags *1 +multiple");
  EXPECT_EQ(say("COMMAND DOCS nonsense"), "*0");
  EXPECT_EQ(say3("COMMAND DOCS").substr(0, 21), fmt::format("%{} $11 task.submit %4", command_count()).substr(0, 21));
}

TEST_F(ServerRepliesTest, GreetingTimeAndRole) {
  const auto greet = [](RespWriter& out) { write_greeting(out, 7); };
  EXPECT_EQ(
      written_as(Protocol::kResp2, greet),
      "*14\r\n$6\r\nserver\r\n$6\r\ntenure\r\n$7\r\nversion\r\n$5\r\n0.1.0\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:7\r\n"
      "$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n");
  EXPECT_EQ(written_as(Protocol::kResp3, greet).substr(0, 4), "%7\r\n");
  EXPECT_EQ(written_as(Protocol::kResp2, [](RespWriter& out) { write_time(out, Instant{1'234'567}); }),
            "*2\r\n$4\r\n1234\r\n$6\r\n567000\r\n");
  EXPECT_EQ(written_as(Protocol::kResp2, [](RespWriter& out) { write_role(out); }),
            "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
}

TEST_F(ServerRepliesTest, TheRoleOfANodeThatFollows) {
  const auto role = [](const std::optional<std::string>& leader) {
    return written_as(Protocol::kResp2, [&](RespWriter& out) { write_follower_role(out, leader, 7); });
  };
  EXPECT_EQ("*5\r\n$5\r\nslave\r\n$5\r\n[::1]\r\n:8368\r\n$9\r\nconnected\r\n:7\r\n", role("[::1]:8368"));
  EXPECT_EQ("*5\r\n$5\r\nslave\r\n$0\r\n\r\n:0\r\n$7\r\nconnect\r\n:7\r\n", role(std::nullopt));
  EXPECT_THAT(written_as(Protocol::kResp2, [](RespWriter& out) { write_greeting(out, 7, false); }),
              ::testing::HasSubstr("$4\r\nrole\r\n$7\r\nreplica\r\n"));
}

}  // namespace
}  // namespace tenure::wire
