#include "users/user.h"

#include <gtest/gtest.h>

namespace tenure::users {
namespace {

User user_with(std::vector<Right> rights) { return {.name = "joe", .hash = "", .rights = std::move(rights)}; }

TEST(RoleTest, HaveNames) {
  for (const Role role : kRoles) EXPECT_EQ(role_named(to_string(role)), role);
  EXPECT_EQ(role_named("root"), std::nullopt);
  EXPECT_EQ(role_named(""), std::nullopt);
  EXPECT_EQ(to_string(RoleSet()), "none");
  EXPECT_EQ(to_string(RoleSet{Role::kAdmin}), "admin");
  EXPECT_EQ(to_string(RoleSet{Role::kAdmin, Role::kRead}), "read or admin");
  EXPECT_EQ(to_string(RoleSet{Role::kAdmin, Role::kRead} | RoleSet{Role::kSubmit}), "submit, read or admin");
}

TEST(UserTest, HasNothingThatItWasNotGiven) {
  const User user = user_with({});
  for (const Role role : kRoles) {
    EXPECT_FALSE(user.has({role}));
    EXPECT_FALSE(user.has_for_all({role}));
    EXPECT_FALSE(user.has_for({role}, "mail"));
  }
}

TEST(UserTest, ARoleWithoutAPatternIsForEveryName) {
  for (const auto& right : {Right{.role = Role::kSubmit}, Right{.role = Role::kSubmit, .pattern = "*"}}) {
    const User user = user_with({right});
    EXPECT_TRUE(user.has({Role::kSubmit}));
    EXPECT_TRUE(user.has_for_all({Role::kSubmit}));
    EXPECT_TRUE(user.has_for({Role::kSubmit, Role::kRead}, "mail"));
    EXPECT_FALSE(user.has_for({Role::kRead}, "mail"));
  }
}

TEST(UserTest, APatternIsForTheNamesThatMatchIt) {
  const User user = user_with({{.role = Role::kWork, .pattern = "mail.*"},
                               {.role = Role::kWork, .pattern = "bulk"},
                               {.role = Role::kRead, .pattern = "report"}});
  EXPECT_TRUE(user.has({Role::kWork}));
  EXPECT_FALSE(user.has_for_all({Role::kWork, Role::kRead}));
  EXPECT_TRUE(user.has_for({Role::kWork}, "mail.out"));
  EXPECT_TRUE(user.has_for({Role::kWork}, "bulk"));
  EXPECT_FALSE(user.has_for({Role::kWork}, "mail"));
  EXPECT_FALSE(user.has_for({Role::kWork}, "report"));
  EXPECT_TRUE(user.has_for({Role::kWork, Role::kRead}, "report"));
}

}  // namespace
}  // namespace tenure::users
