#include "base/pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace tenure {
namespace {

TEST(PatternTest, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("*", "anything"));
  EXPECT_TRUE(matches_pattern("mail", "mail"));
  EXPECT_TRUE(matches_pattern("mail.*", "mail."));
  EXPECT_TRUE(matches_pattern("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(matches_pattern("m?il", "mail"));
  EXPECT_FALSE(matches_pattern("m?il", "mil"));
  EXPECT_FALSE(matches_pattern("mail", "email"));
  EXPECT_FALSE(matches_pattern("mail.*", "mail"));
  EXPECT_FALSE(matches_pattern("a*b", "a.b.c"));
  EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(PatternTest, CaseMattersUnlessTold) {
  EXPECT_FALSE(matches_pattern("Mail", "mail"));
  EXPECT_TRUE(matches_pattern("Mail", "mail", [](char a, char b) { return (a | 32) == (b | 32); }));
}

TEST(PatternTest, AQuestionMarkIsOneCharacter) {
  EXPECT_TRUE(matches_pattern("caf?", "caf\xC3\xA9"));
  EXPECT_FALSE(matches_pattern("caf??", "caf\xC3\xA9"));
  EXPECT_FALSE(matches_pattern("*??", "\xE2\x82\xAC"));
  EXPECT_TRUE(matches_pattern("*??", "x\xE2\x82\xAC"));
}

TEST(PatternTest, ManyStarsTakeNoLongerThanTheyMust) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "a*";
  EXPECT_FALSE(matches_pattern(pattern + "b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace tenure
