// Passwords that are checked beside the loop.
#include "server/sign_ins.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SignInsTest : public ::testing::Test {
 protected:
  static SignIns::UserPointer user(const std::string& name, const std::string& password) {
    return std::make_shared<const users::User>(users::User{
        .name = name, .hash = users::hash_password(password, {.passes = 1, .bytes = 8192}).value(), .rights = {}});
  }
  void check(SignIns& sign_ins, const SignIns::UserPointer& who, std::string_view password) {
    sign_ins.check(who, password, [this](const Result<SignIns::UserPointer>& found) {
      verdicts.push_back(found ? (*found)->name : found.error().message);
    });
  }
  // Until there are so many verdicts.
  void run_until(std::size_t count) {
    while (verdicts.size() < count) {
      io.restart();
      io.run_one_for(std::chrono::seconds(60));
    }
  }

  boost::asio::io_context io{1};
  std::vector<std::string> verdicts;
};

TEST_F(SignInsTest, TheRightPasswordSignsInLaterAndThenAtOnce) {
  SignIns sign_ins(io);
  const auto joe = user("joe", "secret");
  check(sign_ins, joe, "secret");
  EXPECT_TRUE(verdicts.empty());
  run_until(1);
  check(sign_ins, joe, "secret");
  EXPECT_THAT(verdicts, ElementsAre("joe", "joe"));
  EXPECT_EQ(sign_ins.refused(), 0U);
}

TEST_F(SignInsTest, AWrongPasswordAndAWrongNameAreAnsweredAlike) {
  SignIns sign_ins(io, Millis{1});
  check(sign_ins, user("joe", "secret"), "wrong");
  check(sign_ins, nullptr, "secret");
  check(sign_ins, nullptr, "");
  run_until(3);
  EXPECT_THAT(verdicts[0], HasSubstr("expected the name and the password of a user"));
  EXPECT_THAT(verdicts, ElementsAre(verdicts[0], verdicts[0], verdicts[0]));
  EXPECT_EQ(sign_ins.refused(), 3U);
}

TEST_F(SignInsTest, APauseKeepsNobodyElseWaiting) {
  SignIns sign_ins(io, std::chrono::hours(1));
  const auto joe = user("joe", "secret");
  check(sign_ins, joe, "wrong");
  check(sign_ins, joe, "secret");
  run_until(1);
  EXPECT_THAT(verdicts, ElementsAre("joe"));
}

TEST_F(SignInsTest, AFloodIsRefused) {
  SignIns sign_ins(io, std::chrono::hours(1));
  // The first takes long, and whatever the thread has taken meanwhile: one of these is too many.
  for (std::size_t i = 0; i < SignIns::kWaitingMax + 2; ++i) check(sign_ins, nullptr, "x");
  ASSERT_FALSE(verdicts.empty());
  EXPECT_THAT(verdicts[0], HasSubstr("AUTH: expected fewer than 256 passwords to check"));
}

TEST_F(SignInsTest, WhatWaitsWhenItEndsIsForgotten) {
  {
    SignIns sign_ins(io);
    for (int i = 0; i < 10; ++i) check(sign_ins, nullptr, "x");
  }
  EXPECT_TRUE(verdicts.empty());
}

}  // namespace
}  // namespace tenure::server
