// Conversations of those who sign in, and of those who have not.
#include <cstring>
#include <new>

#include "wire/conversation_testing.h"

namespace tenure::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using SignInTest = ConversationTest;

TEST_F(SignInTest, SigningInIsTheHousesBusiness) {
  const auto talk = begin();
  EXPECT_EQ(say(talk, "AUTH wrong\nSHUTDOWN"), "-NOAUTH expected another password -NOPERM expected an admin ");
  EXPECT_EQ(say(talk, "HELLO 3 AUTH joe wrong"), "-NOAUTH expected another password ");
  EXPECT_EQ(talk->protocol(), Protocol::kResp2);
  EXPECT_THAT(say(talk, "HELLO 3 AUTH joe secret"), StartsWith("%7"));
  EXPECT_EQ(talk->user()->name, "joe");
  EXPECT_EQ(say(talk, "AUTH secret"), "+OK ");
  EXPECT_EQ(talk->user()->name, "default");
}

TEST_F(SignInTest, LeaseIdsAreHiddenFromThoseWhoMayNotSeeThem) {
  const auto talk = begin();
  say(talk, "TASK.SUBMIT q p ID T\nTASK.LEASE w 1 q");
  EXPECT_THAT(say(talk, "TASK.GET T\nTASK.HISTORY T"), HasSubstr("$8 lease_id $18 1-"));
  say(talk, "AUTH secret");
  const std::string answers = say(talk, "TASK.GET T\nTASK.HISTORY T");
  EXPECT_THAT(answers, HasSubstr("$8 lease_id $-1 $6 worker"));
  EXPECT_THAT(answers, HasSubstr("$8 lease_id $-1 $5 fence"));
}

TEST_F(SignInTest, AdminsSeeLeaseIds) {
  const auto talk = begin();
  say(talk, "TASK.SUBMIT q p ID T\nTASK.LEASE w 1 q\nAUTH root secret");
  EXPECT_THAT(say(talk, "TASK.GET T"), HasSubstr("$8 lease_id $18 1-"));
  EXPECT_THAT(say(talk, "AUTH joe secret\nTASK.GET T"), HasSubstr("$8 lease_id $-1 "));
}

TEST_F(SignInTest, WhatStandsBehindASignInIsNotBegun) {
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

TEST_F(SignInTest, ASignInThatFailsChangesNothing) {
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

TEST_F(SignInTest, ASignInOfOneWhoHasGoneIsForgotten) {
  const auto talk = begin();
  house.is_slow = true;
  say(talk, "AUTH secret");
  talk->close();
  house.pending.front()(Guesthouse::user_named("joe"));
  EXPECT_EQ(heard(talk), "");
}

TEST_F(SignInTest, ASignInThatNobodyAnswersIsAnswered) {
  const auto talk = begin();
  house.is_slow = true;
  say(talk, "AUTH secret");
  house.pending.clear();
  EXPECT_THAT(heard(talk), StartsWith("-UNAVAILABLE "));
}

TEST_F(SignInTest, StrangersHaveLimitsOfTheirOwn) {
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

TEST_F(SignInTest, AStrangerIsOneFromTheFirstByteWhateverLayInItsMemory) {
  std::vector<void*> blocks(8);
  for (void*& block : blocks) block = std::memset(::operator new(sizeof(Conversation)), 0xff, sizeof(Conversation));
  for (void* const block : blocks) ::operator delete(block);
  const Conversation::Limits strangers{.requests = {.request_bytes_max = 100, .skipped_bytes_max = 100}};
  const auto talk = begin({.before_sign_in = strangers});
  EXPECT_THAT(say(talk, "*2\r\n$4\r\nAUTH\r\n$1000\r\n"), StartsWith("-TOOLARGE "));
}

TEST_F(SignInTest, AStrangerIsNotReadFromWhileItSignsIn) {
  const auto talk = begin({.before_sign_in = Conversation::Limits{.pipelined_bytes_max = 50}});
  house.is_slow = true;
  say(talk, "AUTH joe secret");
  EXPECT_TRUE(talk->wants_input());
  say(talk, std::string(60, 'x'));
  EXPECT_FALSE(talk->wants_input());
}

TEST_F(SignInTest, AUserOwnsItsLocks) {
  const auto talk = begin();
  EXPECT_THAT(say(talk, "AUTH joe secret\nLOCK.ACQUIRE d i owner"), StartsWith("+OK *4 "));
  EXPECT_EQ(say(talk, "AUTH jim secret\nLOCK.ACQUIRE d i owner"), "+OK $-1 ");
}

TEST_F(SignInTest, TheRefusalOfOneWhoHasGoneIsToldToNobody) {
  const auto talk = begin();
  house.is_slow = true;
  say(talk, "AUTH wrong");
  talk->close();
  house.pending.front()(fail_with(ErrorCode::kNoAuth, "expected another password"));
  EXPECT_EQ(heard(talk), "");
  EXPECT_THAT(house.refusals, IsEmpty());
  const auto other = begin();
  say(other, "AUTH wrong");
  house.pending.back()(fail_with(ErrorCode::kNoAuth, "expected another password"));
  EXPECT_THAT(house.refusals, ElementsAre("NOAUTH AUTH"));
}

TEST_F(SignInTest, TheProfileNamesTheUser) {
  const auto talk = begin();
  EXPECT_EQ(talk->profile().user, "default");
  say(talk, "AUTH joe secret");
  EXPECT_EQ(talk->profile().user, "joe");
}

TEST_F(SignInTest, ACertificateSignsInWhomItNames) {
  const auto talk = begin({.before_sign_in = Conversation::Limits{}});
  talk->certify("somebody", nullptr);
  EXPECT_TRUE(talk->is_stranger());
  EXPECT_EQ(say(talk, "PING"), "-NOAUTH expected a user ");
  talk->certify("joe", Guesthouse::user_named("joe"));
  EXPECT_EQ(talk->user()->name, "joe");
  EXPECT_EQ(say(talk, "PING"), "+PONG ");
}

}  // namespace
}  // namespace tenure::wire
