// Tokens as text, and when a lease is over.
#include "core/lease.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure {
namespace {

TEST(TokenTest, ItsTextIsTheFenceAndSixteenHexDigits) {
  EXPECT_EQ("0-0000000000000000", Token{}.text());
  EXPECT_EQ("7-00000000000000a1", (Token{Fence{7}, 0xa1}).text());
  EXPECT_EQ("18446744073709551615-ffffffffffffffff",
            (Token{Fence{18446744073709551615U}, 18446744073709551615U}).text());
}

RC_GTEST_PROP(TokenTest, IsReadAsItWasWritten, (std::uint64_t fence, std::uint64_t secret)) {
  const Token token{Fence{fence * 0x9e3779b97f4a7c15U}, secret * 0x9e3779b97f4a7c15U};
  RC_ASSERT(Token::parse(token.text()) == token);
}

TEST(TokenTest, IsAnotherWhenFenceOrSecretDiffers) {
  const Token token{Fence{1}, 2};
  EXPECT_EQ(token, (Token{Fence{1}, 2}));
  EXPECT_NE(token, (Token{Fence{2}, 2}));
  EXPECT_NE(token, (Token{Fence{1}, 3}));
}

TEST(TokenTest, TextOfAnotherShapeIsNoToken) {
  for (const char* text :
       {"", "-", "7", "7-", "-00000000000000a1", "7-a1", "7-00000000000000A1", "7-00000000000000a1 ",
        " 7-00000000000000a1", "07-00000000000000a1", "+7-00000000000000a1", "7-00000000000000a1-",
        "7--0000000000000a1", "18446744073709551616-00000000000000a1", "7-000000000000000a1", "7_00000000000000a1"}) {
    EXPECT_EQ(std::nullopt, Token::parse(text)) << text;
  }
}

TEST(LeaseTest, IsValidThroughTheInstantOfItsExpiry) {
  EXPECT_FALSE(is_expired(Instant{5}, Instant{4}));
  EXPECT_FALSE(is_expired(Instant{5}, Instant{5}));
  EXPECT_TRUE(is_expired(Instant{5}, Instant{6}));
  EXPECT_FALSE(is_expired(kNever, kNever));
  EXPECT_EQ(Millis{2}, remaining(Instant{5}, Instant{3}));
  EXPECT_EQ(Millis{0}, remaining(Instant{5}, Instant{5}));
  EXPECT_EQ(Millis{0}, remaining(Instant{5}, Instant{9}));
}

TEST(LeaseTest, AnInstantBeyondTheLastIsNever) {
  EXPECT_EQ(Instant{5}, Instant{2} + Millis{3});
  EXPECT_EQ(kNever, kNever + Millis{1});
  EXPECT_EQ(kNever, Instant{std::numeric_limits<std::int64_t>::max() - 1} + Millis{2});
  EXPECT_EQ(Millis{3}, Instant{5} - Instant{2});
}

}  // namespace
}  // namespace tenure
