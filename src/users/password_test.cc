#include "users/password.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::users {
namespace {

using ::testing::StartsWith;

constexpr HashCost kCheap{.passes = 1, .bytes = 8192};

TEST(PasswordTest, AHashKnowsItsPassword) {
  const auto hash = hash_password("open sesame", kCheap);
  ASSERT_TRUE(hash.has_value()) << hash.error().message;
  EXPECT_THAT(*hash, StartsWith("$argon2id$v=19$m=8,t=1,p=1$"));
  EXPECT_EQ(check_hash(*hash), std::nullopt);
  EXPECT_TRUE(is_password_of(*hash, "open sesame"));
  EXPECT_FALSE(is_password_of(*hash, "open sesam"));
  EXPECT_FALSE(is_password_of(*hash, ""));
}

TEST(PasswordTest, TheUsualCostIsOneThatFilesMayHave) {
  const auto hash = hash_password("p");
  ASSERT_TRUE(hash.has_value()) << hash.error().message;
  EXPECT_THAT(*hash, StartsWith("$argon2id$v=19$m=65536,t=2,p=1$"));
  EXPECT_EQ(check_hash(*hash), std::nullopt);
}

TEST(PasswordTest, EachHashHasASaltOfItsOwn) { EXPECT_NE(*hash_password("p", kCheap), *hash_password("p", kCheap)); }

TEST(PasswordTest, PasswordsAreBytes) {
  const std::string_view password("a\0b", 3);
  const auto hash = hash_password(password, kCheap);
  EXPECT_TRUE(is_password_of(*hash, password));
  EXPECT_FALSE(is_password_of(*hash, "a"));
}

TEST(PasswordTest, MemoryThatIsNotThereIsTold) {
  EXPECT_EQ(hash_password("p", {.passes = 1, .bytes = 1}).error().code, ErrorCode::kUnavailable);
}

TEST(SecretTest, MovesAndLeavesNothing) {
  Secret one("password");
  Secret two(std::move(one));
  EXPECT_EQ(two.view(), "password");
  EXPECT_EQ(one.view(), "");  // NOLINT(bugprone-use-after-move): that is the point
  Secret three;
  three = std::move(two);
  EXPECT_EQ(three.view(), "password");
  EXPECT_EQ(two.view(), "");  // NOLINT(bugprone-use-after-move)
}

TEST(KnownPasswordsTest, KnowsWhatItHasLearned) {
  const User joe{.name = "joe", .hash = "h", .rights = {}};
  const User ann{.name = "ann", .hash = "h", .rights = {}};
  KnownPasswords known;
  EXPECT_FALSE(known.knows(joe, "secret"));
  known.learn(joe, "secret");
  EXPECT_TRUE(known.knows(joe, "secret"));
  EXPECT_FALSE(known.knows(joe, "secrets"));
  EXPECT_FALSE(known.knows(joe, ""));
  EXPECT_FALSE(known.knows(ann, "secret"));
}

TEST(KnownPasswordsTest, APasswordThatWasChangedIsNotKnown) {
  KnownPasswords known;
  known.learn({.name = "joe", .hash = "old", .rights = {}}, "secret");
  EXPECT_FALSE(known.knows({.name = "joe", .hash = "new", .rights = {}}, "secret"));
}

}  // namespace
}  // namespace tenure::users
