#include "wire/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/testing.h"
#include "wire/testing.h"

namespace tenure::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A server that lets everybody do everything but shut it down, and knows everybody by one password.
class Guesthouse final : public Conversation::House {
 public:
  void on_answers(Conversation& /*conversation*/) override { ++told; }
  std::optional<Failure> refusal(const Conversation& conversation, const Verb& verb,
                                 const Request& /*request*/) override {
    if (conversation.is_stranger() && verb.permission != Permission::kAnyone) {
      return Failure{ErrorCode::kNoAuth, "expected a user"};
    }
    if (verb.name != "SHUTDOWN") return std::nullopt;
    return Failure{ErrorCode::kNoPerm, "expected an admin"};
  }
  void check(Conversation& /*conversation*/, const Credentials& credentials, Conversation::SignIn done) override {
    if (is_slow) {
      pending.push_back(std::move(done));
    } else if (credentials.password != "secret") {
      done(fail_with(ErrorCode::kNoAuth, "expected another password"));
    } else {
      done(user_named(credentials.user.value_or("default")));
    }
  }
  static Conversation::UserPointer user_named(std::string_view name) {
    users::User user{.name = std::string(name), .hash = "", .rights = {}};
    if (name == "root") user.rights.push_back({.role = users::Role::kAdmin});
    return std::make_shared<const users::User>(std::move(user));
  }
  void serve(Conversation& /*conversation*/, const Conversation::HouseRequests& request,
             Conversation::Promise promise) override {
    if (std::holds_alternative<MakeSnapshot>(request)) {
      later.push_back(std::move(promise));
    } else if (std::holds_alternative<DescribeServer>(request)) {
      std::move(promise).fulfil([](RespWriter& out) { out.value("tenure_version:0"); });
    }
  }

  int told = 0;
  std::vector<Conversation::Promise> later;
  bool is_slow = false;
  std::vector<Conversation::SignIn> pending;
};

class ConversationTest : public ::testing::Test {
 protected:
  std::shared_ptr<Conversation> begin(Conversation::Terms terms = {}) {
    terms.client_id = ++clients_;
    terms.own_session = fmt::format("connection-{}", clients_);
    talks_.push_back(Conversation::begin(*world.engine, house, terms));
    return talks_.back();
  }
  void TearDown() override {
    for (const auto& talk : talks_) talk->close();
  }
  // What there is to send, with a blank for each CR LF; it is sent.
  static std::string heard(const std::shared_ptr<Conversation>& talk) {
    std::string bytes;
    talk->take_output(bytes);
    talk->delivered(bytes.size());
    return shown(bytes);
  }
  static std::string shown(std::string bytes) {
    for (std::size_t at = bytes.find("\r\n"); at != std::string::npos; at = bytes.find("\r\n"))
      bytes.replace(at, 2, " ");
    return bytes;
  }
  std::string say(const std::shared_ptr<Conversation>& talk, const std::string& lines) {
    talk->receive(lines + "\n");
    world.engine->hand_over();
    talk->go_on();
    world.engine->hand_over();
    return heard(talk);
  }

  World world;
  Guesthouse house;

 private:
  std::uint64_t clients_ = 0;
  std::vector<std::shared_ptr<Conversation>> talks_;
};

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

TEST_F(ConversationTest, SigningInIsTheHousesBusiness) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "AUTH wrong\nSHUTDOWN"), "-NOAUTH expected another password -NOPERM expected an admin ");
  EXPECT_EQ(say(talk, "HELLO 3 AUTH joe wrong"), "-NOAUTH expected another password ");
  EXPECT_EQ(talk->protocol(), Protocol::kResp2);
  EXPECT_THAT(say(talk, "HELLO 3 AUTH joe secret"), StartsWith("%7"));
  EXPECT_EQ(talk->user()->name, "joe");
  EXPECT_EQ(say(talk, "AUTH secret"), "+OK ");
  EXPECT_EQ(talk->user()->name, "default");
}

TEST_F(ConversationTest, LeaseIdsAreHiddenFromThoseWhoMayNotSeeThem) {
  const auto talk = begin();
  say(talk, "TASK.SUBMIT q p ID T\nTASK.LEASE w 1 q");
  EXPECT_THAT(say(talk, "TASK.GET T\nTASK.HISTORY T"), HasSubstr("$8 lease_id $18 1-"));
  say(talk, "AUTH secret");
  const std::string answers = say(talk, "TASK.GET T\nTASK.HISTORY T");
  EXPECT_THAT(answers, HasSubstr("$8 lease_id $-1 $6 worker"));
  EXPECT_THAT(answers, HasSubstr("$8 lease_id $-1 $5 fence"));
}

TEST_F(ConversationTest, AdminsSeeLeaseIds) {
  const auto talk = begin();
  say(talk, "TASK.SUBMIT q p ID T\nTASK.LEASE w 1 q\nAUTH root secret");
  EXPECT_THAT(say(talk, "TASK.GET T"), HasSubstr("$8 lease_id $18 1-"));
  EXPECT_THAT(say(talk, "AUTH joe secret\nTASK.GET T"), HasSubstr("$8 lease_id $-1 "));
}

TEST_F(ConversationTest, WhatStandsBehindASignInIsNotBegun) {
  const auto talk = begin();
  house.is_slow = true;
  EXPECT_EQ(say(talk, "PING\nHELLO 3 AUTH joe secret SETNAME me\nTASK.GET T\nPING"), "+PONG ");
  EXPECT_TRUE(talk->is_signing_in());
  EXPECT_FALSE(talk->is_idle());
  EXPECT_EQ(talk->user(), nullptr);
  const int told = house.told;
  house.pending.front()(Guesthouse::user_named("joe"));
  EXPECT_EQ(house.told, told + 1);
  EXPECT_FALSE(talk->is_signing_in());
  EXPECT_EQ(talk->user()->name, "joe");
  EXPECT_EQ(talk->name(), "me");
  talk->go_on();
  world.engine->hand_over();
  const std::string answers = heard(talk);
  EXPECT_THAT(answers, StartsWith("%7 $6 server"));
  EXPECT_TRUE(answers.ends_with(" _ +PONG ")) << answers;
}

TEST_F(ConversationTest, ASignInThatFailsChangesNothing) {
  const auto talk = begin();
  say(talk, "AUTH joe secret");
  house.is_slow = true;
  EXPECT_EQ(say(talk, "HELLO 3 AUTH ann wrong SETNAME me"), "");
  house.pending.front()(fail_with(ErrorCode::kNoAuth, "expected another password"));
  EXPECT_EQ(heard(talk), "-NOAUTH expected another password ");
  EXPECT_EQ(talk->user()->name, "joe");
  EXPECT_EQ(talk->protocol(), Protocol::kResp2);
  EXPECT_EQ(talk->name(), "");
}

TEST_F(ConversationTest, ASignInOfOneWhoHasGoneIsForgotten) {
  const auto talk = begin();
  house.is_slow = true;
  say(talk, "AUTH secret");
  talk->close();
  house.pending.front()(Guesthouse::user_named("joe"));
  EXPECT_EQ(heard(talk), "");
}

TEST_F(ConversationTest, ASignInThatNobodyAnswersIsAnswered) {
  const auto talk = begin();
  house.is_slow = true;
  say(talk, "AUTH secret");
  house.pending.clear();
  EXPECT_THAT(heard(talk), StartsWith("-UNAVAILABLE "));
}

TEST_F(ConversationTest, StrangersHaveLimitsOfTheirOwn) {
  const Conversation::Limits strangers{.requests = {.request_bytes_max = 100, .skipped_bytes_max = 100},
                                       .pipelined_bytes_max = 50};
  const auto talk = begin({.before_sign_in = strangers});
  EXPECT_TRUE(talk->is_stranger());
  EXPECT_EQ(say(talk, "PING"), "-NOAUTH expected a user ");
  EXPECT_EQ(say(talk, "AUTH joe secret"), "+OK ");
  EXPECT_FALSE(talk->is_stranger());
  const std::string much(200, 'x');
  EXPECT_EQ(say(talk, framed({"ECHO", much})), fmt::format("$200 {} ", much));
  EXPECT_EQ(say(talk, "RESET"), "+RESET ");
  EXPECT_TRUE(talk->is_stranger());
  EXPECT_THAT(say(talk, "*2\r\n$4\r\nAUTH\r\n$536870912\r\n"), StartsWith("-TOOLARGE "));
  EXPECT_TRUE(talk->is_ending());
}

TEST_F(ConversationTest, AStrangerIsNotReadFromWhileItSignsIn) {
  const auto talk = begin({.before_sign_in = Conversation::Limits{.pipelined_bytes_max = 50}});
  house.is_slow = true;
  say(talk, "AUTH joe secret");
  EXPECT_TRUE(talk->wants_input());
  say(talk, std::string(60, 'x'));
  EXPECT_FALSE(talk->wants_input());
}

TEST_F(ConversationTest, AUserOwnsItsLocks) {
  const auto talk = begin();
  EXPECT_THAT(say(talk, "AUTH joe secret\nLOCK.ACQUIRE d i owner"), StartsWith("+OK *4 "));
  EXPECT_EQ(say(talk, "AUTH jim secret\nLOCK.ACQUIRE d i owner"), "+OK $-1 ");
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

TEST_F(ConversationTest, AGrantThatComesTooLateIsGivenBack) {
  const auto talk = begin();
  talk->receive("LOCK.ACQUIRE d i bob\n");
  talk->close();
  world.engine->hand_over();
  EXPECT_FALSE(world.is_held("i"));
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

}  // namespace
}  // namespace tenure::wire
