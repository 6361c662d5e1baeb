#include "wire/conversation.h"

#include "authority/shared_testing.h"
#include "wire/conversation_testing.h"

namespace tenure::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// --- order ---

TEST_F(ConversationTest, AnswersComeWithTheHandOver) {
  const auto talk = begin();
  talk->receive(framed({"TASK.SUBMIT", "q", "p", "ID", "T"}));
  EXPECT_EQ(heard(talk), "");
  EXPECT_FALSE(talk->is_idle());
  world.engine->hand_over();
  EXPECT_EQ(heard(talk), "*2 $1 T $7 CREATED ");
  EXPECT_TRUE(talk->is_idle());
}

TEST_F(ConversationTest, RepliesKeepTheOrderOfTheRequests) {
  const auto talk = begin();
  talk->receive("TASK.SUBMIT q p ID T\nPING\nTASK.KILL T why\nNONSENSE\nECHO x\n");
  EXPECT_EQ(heard(talk), "");
  world.engine->hand_over();
  EXPECT_EQ(heard(talk),
            "*2 $1 T $7 CREATED +PONG +OK -ERR unknown command 'NONSENSE': expected one that COMMAND lists $1 x ");
}

TEST_F(ConversationTest, TheHouseIsToldOnceForManyAnswers) {
  const auto talk = begin();
  talk->receive("TASK.GET a\nTASK.GET b\nTASK.GET c\n");
  EXPECT_EQ(house.told, 0);
  world.engine->hand_over();
  EXPECT_EQ(house.told, 1);
  EXPECT_EQ(heard(talk), "$-1 $-1 $-1 ");
  talk->go_on();
  talk->receive("PING\nTASK.GET a\n");
  world.engine->hand_over();
  EXPECT_EQ(house.told, 2);
}

// Whoever made it begin takes the output anyway.
TEST_F(ConversationTest, TheHouseIsNotToldOfWhatIsAnsweredAtOnce) {
  const auto holder = begin();
  const auto talk = begin();
  say(holder, "LOCK.ACQUIRE d i alice");
  const int told = house.told;
  talk->receive("LOCK.ACQUIRE d i bob\nPING\n");
  EXPECT_EQ(heard(talk), "$-1 +PONG ");
  EXPECT_EQ(house.told, told);
  talk->receive("LOCK.ACQUIRE d j bob\nLOCK.ACQUIRE d i bob\n");
  EXPECT_EQ(heard(talk), "");
  world.engine->hand_over();
  EXPECT_EQ(house.told, told + 1);
  EXPECT_THAT(heard(talk), testing::EndsWith(":1 $-1 "));
}

TEST_F(ConversationTest, OutputIsAddedToWhatIsThere) {
  const auto talk = begin();
  talk->receive("PING\nECHO x\n");
  EXPECT_FALSE(talk->is_idle());
  std::string bytes = "before ";
  talk->take_output(bytes);
  EXPECT_EQ(shown(bytes), "before +PONG $1 x ");
  EXPECT_TRUE(talk->is_idle());
  EXPECT_EQ(heard(talk), "");
}

TEST_F(ConversationTest, BytesMayComeOneByOne) {
  const auto talk = begin();
  const std::string bytes = framed({"TASK.SUBMIT", "q", "p", "ID", "T"}) + "PING\r\n";
  for (const char byte : bytes) talk->receive(std::string(1, byte));
  world.engine->hand_over();
  EXPECT_EQ(heard(talk), "*2 $1 T $7 CREATED +PONG ");
}

TEST_F(ConversationTest, WhatStandsBehindAWaitIsNotBegun) {
  const auto talk = begin();
  const auto other = begin();
  say(other, "LOCK.ACQUIRE d i alice");
  EXPECT_EQ(say(talk, "LOCK.ACQUIRE d i bob WAIT 60000\nTASK.SUBMIT q p ID T\nPING"), "");
  EXPECT_EQ(world.get(GetTask{"T"}), std::nullopt);
  const int told = house.told;
  world.get(LockForce{.lock = {.domain = "d", .identifier = "i"}});
  EXPECT_EQ(house.told, told + 1);
  EXPECT_THAT(heard(talk), StartsWith("*4 $18 2-"));
  talk->go_on();
  world.engine->hand_over();
  EXPECT_EQ(heard(talk), "*2 $1 T $7 CREATED +PONG ");
}

TEST_F(ConversationTest, AWaitMayEndWithNothing) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "TASK.LEASE w 1 q BLOCK 1000\nPING"), "");
  world.pass(Millis{1000});
  talk->go_on();
  EXPECT_EQ(heard(talk), "*0 +PONG ");
  EXPECT_EQ(say(talk, "TASK.LEASE w 1 q BLOCK 0\nPING"), "*0 +PONG ");
}

TEST_F(ConversationTest, OnlySoManyRequestsAreUnderWay) {
  const auto talk = begin({.limits = {.under_way_max = 2, .pipelined_bytes_max = 20}});
  talk->receive("TASK.GET a\nTASK.GET b\nTASK.SUBMIT q p ID T\nPING\n");
  EXPECT_FALSE(talk->wants_input());
  world.engine->hand_over();
  EXPECT_EQ(heard(talk), "$-1 $-1 ");
  EXPECT_EQ(world.get(GetTask{"T"}), std::nullopt);
  talk->go_on();
  EXPECT_TRUE(talk->wants_input());
  world.engine->hand_over();
  EXPECT_EQ(heard(talk), "*2 $1 T $7 CREATED +PONG ");
}

TEST_F(ConversationTest, NothingIsBegunForOneWhoDoesNotRead) {
  const auto talk = begin({.limits = {.pipelined_bytes_max = 10, .output_bytes_max = 10}});
  EXPECT_TRUE(talk->wants_input());
  talk->receive("ECHO 0123456789\nPING\nPING\n");
  EXPECT_FALSE(talk->wants_input());
  EXPECT_EQ(talk->output_bytes(), 17U);
  EXPECT_EQ(heard(talk), "$10 0123456789 ");
  talk->go_on();
  EXPECT_EQ(heard(talk), "+PONG +PONG ");
}

// --- framing and endings ---

TEST_F(ConversationTest, WrongFramingIsAnsweredAndEndsTheTalk) {
  const auto talk = begin();
  EXPECT_THAT(say(talk, "PING\n*1\r\n*1\r\nPING"), StartsWith("+PONG -ERR Protocol error"));
  EXPECT_TRUE(talk->is_ending());
  EXPECT_FALSE(talk->wants_input());
  EXPECT_EQ(say(talk, "PING"), "");
}

TEST_F(ConversationTest, WhatIsTooLargeIsAnsweredAndTheTalkGoesOn) {
  const auto talk = begin({.limits = {.requests = {.request_bytes_max = 100}}});
  talk->receive(framed({"ECHO", std::string(200, 'x')}) + framed({"PING"}));
  EXPECT_THAT(heard(talk), StartsWith("-TOOLARGE request: expected at most 100 bytes, found 222 or more +PONG "));
  EXPECT_FALSE(talk->is_ending());
}

TEST_F(ConversationTest, QuitEndsTheTalkBehindItsAnswer) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "PING\nQUIT\nPING"), "+PONG +OK ");
  EXPECT_TRUE(talk->is_ending());
}

// --- who is there ---

TEST_F(ConversationTest, ProtocolsChangeWithinAPipeline) {
  const auto talk = begin();
  const std::string answers = say(talk, "TASK.GET x\nHELLO 3\nTASK.GET x\nRESET\nTASK.GET x");
  EXPECT_THAT(answers, StartsWith("$-1 %7 $6 server $6 tenure"));
  EXPECT_THAT(answers, HasSubstr("$5 proto :3 $2 id :1 "));
  EXPECT_TRUE(answers.ends_with(" _ +RESET $-1 ")) << answers;
  EXPECT_EQ(say(talk, "HELLO 4"), "-NOPROTO protocol version: expected 2 or 3, found 4 ");
}

TEST_F(ConversationTest, AGreetingWithoutAVersionChangesNoProtocol) {
  const auto talk = begin();
  EXPECT_THAT(say(talk, "HELLO"), HasSubstr("$5 proto :2 "));
  EXPECT_THAT(say(talk, "HELLO 3\nHELLO"), EndsWith(say(talk, "HELLO 3")));
  EXPECT_EQ(talk->protocol(), Protocol::kResp3);
}

TEST_F(ConversationTest, ClientsHaveNames) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "CLIENT ID\nCLIENT GETNAME\nCLIENT SETNAME joe\nCLIENT GETNAME"), ":1 $-1 +OK $3 joe ");
  EXPECT_EQ(say(talk, "CLIENT SETINFO lib-name redis-py\nCLIENT SETINFO LIB-VER 5.0\nCLIENT SETINFO x y"),
            "+OK +OK -ERR attribute: expected LIB-NAME or LIB-VER, found 'x' ");
  EXPECT_EQ(talk->profile().library_name + talk->profile().library_version, "redis-py5.0");
  say(talk, "HELLO 3 SETNAME jim");
  EXPECT_EQ(talk->name(), "jim");
  say(talk, "RESET");
  EXPECT_EQ(talk->name(), "");
  EXPECT_EQ(talk->protocol(), Protocol::kResp2);
}

TEST_F(ConversationTest, WhatRedisClientsAskAtTheBeginning) {
  const auto talk = begin();
  EXPECT_EQ(
      say(talk, "SELECT 0\nSELECT 1\nTIME\nROLE\nINFO"),
      "+OK -INVALID database: expected 0 to 0, found 1 *2 $7 1000000 $1 0 *3 $6 master :0 *0 $16 tenure_version:0 ");
  EXPECT_THAT(say(talk, "COMMAND DOCS"), StartsWith("*"));
}

TEST_F(ConversationTest, TheHouseMayAnswerLater) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "SNAPSHOT\nPING"), "");
  std::move(house.later.front()).fulfil([](RespWriter& out) { out.simple("OK"); });
  EXPECT_EQ(heard(talk), "+OK +PONG ");
}

TEST_F(ConversationTest, APromiseThatIsNeverFulfilledIsAnsweredAllTheSame) {
  const auto talk = begin();
  EXPECT_THAT(say(talk, "CONFIG GET x"), StartsWith("-UNAVAILABLE "));
}

TEST_F(ConversationTest, ALongTrimIsAnsweredOnce) {
  const auto talk = begin();
  for (std::int64_t offset = 0; offset < 5000; offset += 2) {
    const auto got = world.get(WorkRequest{.domain = "d", .offset = Offset{offset}});
    world.get(WorkSuccess{.domain = "d", .token = std::get<Acquired>(got).token});
  }
  EXPECT_EQ(say(talk, "WORK.TRIM d 6000\nPING"), "+OK +PONG ");
  EXPECT_EQ(world.get(InspectDomain{"d"})->trimmed_below, Offset{6000});
  EXPECT_THAT(say(talk, "WORK.TRIM \"\" 1"), StartsWith("-INVALID"));
}

// --- closing ---

TEST_F(ConversationTest, AWaitEndsWithTheConnection) {
  const auto talk = begin();
  const auto grant = world.acquire("alice", "i");
  EXPECT_EQ(say(talk, "LOCK.ACQUIRE d i bob WAIT 60000"), "");
  talk->close();
  world.release(grant, "i").value();
  EXPECT_FALSE(world.is_held("i"));
}

TEST_F(ConversationTest, AGrantThatWasNotDeliveredIsGivenBack) {
  const auto talk = begin();
  talk->receive("LOCK.ACQUIRE d i bob\nLOCK.ACQUIRE d j bob SPACE s\n");
  world.engine->hand_over();
  ASSERT_TRUE(world.is_held("i"));
  std::string bytes;
  talk->take_output(bytes);
  talk->delivered(1);
  talk->close();
  EXPECT_TRUE(world.is_held("i"));
  EXPECT_EQ(world.get(GetLock{{.domain = "d", .identifier = "j", .space = "s"}}), std::nullopt);
}

// The memory of a claim that is done with is the next one's.
TEST_F(ConversationTest, WhatIsGivenBackIsNothingOfAnEarlierClaim) {
  const auto talk = begin();
  const auto other = begin();
  say(other, "LOCK.ACQUIRE d taken alice");
  EXPECT_EQ(say(talk, "LOCK.ACQUIRE d taken bob"), "$-1 ");
  EXPECT_THAT(say(talk, "LOCK.ACQUIRE d i bob"), StartsWith("*4 "));
  EXPECT_THAT(say(talk, "LOCK.ACQUIRE d j bob REQUEST r1 SPACE s"), StartsWith("*4 "));
  talk->receive("LOCK.ACQUIRE d a-longer-name-than-before bob\n");
  world.engine->hand_over();
  ASSERT_TRUE(world.is_held("a-longer-name-than-before"));
  talk->close();
  EXPECT_FALSE(world.is_held("a-longer-name-than-before"));
  EXPECT_TRUE(world.is_held("i"));
  EXPECT_TRUE(world.is_held("taken"));
  EXPECT_TRUE(world.get(GetLock{{.domain = "d", .identifier = "j", .space = "s"}}).has_value());
}

TEST_F(ConversationTest, AGrantThatComesTooLateIsGivenBack) {
  const auto talk = begin();
  talk->receive("LOCK.ACQUIRE d i bob\n");
  talk->close();
  world.engine->hand_over();
  EXPECT_FALSE(world.is_held("i"));
}

TEST_F(ConversationTest, AnErrorThatComesTooLateIsToldToNobody) {
  const auto gone = begin();
  gone->receive("TASK.KILL gone why\n");
  gone->close();
  world.engine->hand_over();
  EXPECT_EQ(heard(gone), "");
  EXPECT_THAT(house.refusals, IsEmpty());
  EXPECT_THAT(say(begin(), "TASK.KILL gone why"), StartsWith("-NOTASK "));
  EXPECT_THAT(house.refusals, ElementsAre("NOTASK TASK.KILL"));
}

// Its client asks again on another connection, and may have been told of the same grant before this one is seen to
// close.
TEST_F(ConversationTest, AGrantWithARequestIdIsKeptForItsRepeat) {
  const auto first = begin();
  first->receive("LOCK.ACQUIRE d i bob REQUEST r1\n");
  const auto second = begin();
  second->receive("LOCK.ACQUIRE d i bob REQUEST r1\n");
  first->close();
  world.engine->hand_over();
  EXPECT_TRUE(world.is_held("i"));
  const auto third = begin();
  third->receive("LOCK.ACQUIRE d i bob REQUEST r1\n");
  world.engine->hand_over();
  third->close();
  EXPECT_TRUE(world.is_held("i"));
}

TEST_F(ConversationTest, AGrantBehindAnAnswerThatIsMissingIsGivenBack) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "SNAPSHOT\nLOCK.ACQUIRE d i bob"), "");
  EXPECT_TRUE(world.is_held("i"));
  talk->close();
  EXPECT_FALSE(world.is_held("i"));
  house.later.clear();
}

TEST_F(ConversationTest, AConnectionsBoundLockIsFreeWhenItCloses) {
  const auto talk = begin();
  EXPECT_THAT(say(talk, "LOCK.ACQUIRE d i bob BOUND\nLOCK.ACQUIRE d j bob"), StartsWith("*4"));
  EXPECT_EQ(talk->session(), "connection-1");
  talk->close();
  talk->close();
  world.pass(Millis{0});
  EXPECT_FALSE(world.is_held("i"));
  EXPECT_TRUE(world.is_held("j"));
}

TEST_F(ConversationTest, ResetLeavesTheSession) {
  const auto talk = begin();
  say(talk, "LOCK.ACQUIRE d i bob BOUND\nRESET");
  world.pass(Millis{0});
  EXPECT_FALSE(world.is_held("i"));
  say(talk, "LOCK.ACQUIRE d i bob BOUND");
  EXPECT_TRUE(world.is_held("i"));
}

TEST_F(ConversationTest, ASessionOfSeveralConnectionsLivesUntilItsGraceIsOver) {
  const auto one = begin();
  const auto two = begin();
  EXPECT_EQ(say(one, "CLIENT SESSION s GRACE 5000"), "+OK ");
  EXPECT_EQ(say(two, "CLIENT SESSION s"), "+OK ");
  say(one, "LOCK.ACQUIRE d i bob BOUND");
  one->close();
  world.pass(Millis{6000});
  EXPECT_TRUE(world.is_held("i"));
  EXPECT_EQ(say(two, "CLIENT SESSION s GRACE 1000"), "+OK ");
  two->close();
  world.pass(Millis{999});
  EXPECT_TRUE(world.is_held("i"));
  world.pass(Millis{1});
  EXPECT_FALSE(world.is_held("i"));
}

TEST_F(ConversationTest, JoiningAnotherSessionLeavesTheOneBefore) {
  const auto talk = begin();
  say(talk, "LOCK.ACQUIRE d i bob BOUND");
  EXPECT_EQ(say(talk, "CLIENT SESSION s"), "+OK ");
  world.pass(Millis{0});
  EXPECT_FALSE(world.is_held("i"));
  EXPECT_EQ(talk->session(), "s");
}

TEST_F(ConversationTest, AnAuthorityThatClosesAnswersUnavailable) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "TASK.LEASE w 1 q BLOCK 1000"), "");
  world.engine->close();
  EXPECT_EQ(heard(talk), "*0 ");
  EXPECT_THAT(say(talk, "TASK.GET T"), StartsWith("-UNAVAILABLE"));
  EXPECT_THAT(say(talk, "WORK.TRIM d 1"), StartsWith("-UNAVAILABLE"));
  EXPECT_THAT(say(talk, "LOCK.ACQUIRE d i bob"), StartsWith("-UNAVAILABLE"));
  EXPECT_THAT(say(talk, "LOCK.ACQUIRE d i bob BOUND"), StartsWith("-UNAVAILABLE"));
}

TEST(InputBufferTest, GrowsWithWhatArrivesAndIsSmallAgain) {
  InputBuffer buffer;
  std::string sent;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece(1000, static_cast<char>('a' + i % 26));
    std::copy(piece.begin(), piece.end(), buffer.room(1000).begin());
    buffer.received(1000);
    sent += piece;
  }
  EXPECT_EQ(buffer.view(), sent);
  EXPECT_LT(buffer.capacity(), 3'000'000U);
  buffer.consume(999'999);
  EXPECT_EQ(buffer.view(), sent.substr(999'999));
  EXPECT_GE(buffer.room(2'000'000).size(), 2'000'000U);
  EXPECT_EQ(buffer.view(), sent.substr(999'999));
  buffer.consume(1);
  EXPECT_EQ(buffer.view(), "");
  EXPECT_LT(buffer.capacity(), 20'000U);
}

TEST_F(ConversationTest, OneOfSeveralTellsWhetherItLeads) {
  SharedMedium medium;
  SharedMemoryJournal journal(medium);
  const auto engine =
      Engine::stand_by(
          {}, {.clock = *world.clock, .entropy = world.entropy, .journal = journal, .is_certain = [] { return true; }})
          .value();
  house.other = "node1:8368";
  const auto talk = Conversation::begin(*engine, house, {.client_id = 1, .own_session = "one"});
  talk->receive("ROLE\n");
  EXPECT_EQ(heard(talk), "*5 $5 slave $5 node1 :8368 $9 connected :0 ");
  ASSERT_TRUE(engine->catch_up());
  ASSERT_TRUE(engine->lead(medium.elect()));
  talk->receive("ROLE\n");
  EXPECT_EQ(heard(talk), "*3 $6 master :0 *0 ");
  talk->close();
}

}  // namespace
}  // namespace tenure::wire
