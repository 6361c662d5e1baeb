// `tenure user`: what becomes of the file, and what is said.
#include "cli/user_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"
#include "cli/user_cli.h"
#include "users/users.h"

namespace tenure::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kUsers = "/etc/users";

class UserCommandsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(world.files.make_folder("/etc").has_value()); }

  int add(const std::string& name, const std::vector<std::string>& roles, const std::string& password) {
    const UserAddOptions options{.file = kUsers,
                                 .name = name,
                                 .roles = roles,
                                 .password = [&]() -> Result<users::Secret> {
                                   ++asked;
                                   return users::Secret(password);
                                 },
                                 .cost = {.passes = 1, .bytes = 8192}};
    return finish(world.desk, add_user(world.desk, options));
  }
  int list() { return finish(world.desk, list_users(world.desk, kUsers)); }
  int remove(const std::string& name) { return finish(world.desk, remove_user(world.desk, {kUsers, name})); }

  CommandWorld world;
  int asked = 0;
};

TEST_F(UserCommandsTest, AUserIsAddedListedAndRemoved) {
  EXPECT_EQ(0, add("joe", {"submit:mail.*", "read"}, "secret"));
  EXPECT_EQ("added joe submit:mail.* read\n", world.take_out());
  EXPECT_THAT(world.take_err(), HasSubstr("SIGHUP"));
  EXPECT_EQ(0, add("ann", {}, "secret"));
  EXPECT_EQ("added ann (no roles)\n", world.take_out());
  EXPECT_EQ(0, list());
  EXPECT_EQ("ann (no roles)\njoe submit:mail.* read\n", world.take_out());
  EXPECT_EQ(0, remove("ann"));
  EXPECT_EQ("removed ann\n", world.take_out());
  EXPECT_EQ(0, list());
  EXPECT_EQ("joe submit:mail.* read\n", world.take_out());
}

TEST_F(UserCommandsTest, AddingAgainReplacesPasswordAndRoles) {
  add("joe", {"read"}, "old");
  world.take_out();
  EXPECT_EQ(0, add("joe", {"admin"}, "new"));
  EXPECT_EQ("replaced joe admin\n", world.take_out());
  const auto user = users::load_users(world.files, kUsers)->find("joe");
  EXPECT_TRUE(users::is_password_of(user->hash, "new"));
  EXPECT_FALSE(users::is_password_of(user->hash, "old"));
}

TEST_F(UserCommandsTest, NothingSecretIsPrinted) {
  add("joe", {"read"}, "open sesame");
  list();
  add("joe", {"read"}, "open sesame");
  remove("joe");
  const std::string said = world.take_out() + world.take_err();
  EXPECT_THAT(said, AllOf(Not(HasSubstr("argon2")), Not(HasSubstr("sesame"))));
}

TEST_F(UserCommandsTest, WhatIsWrongIsToldBeforeThePasswordIsAskedFor) {
  EXPECT_EQ(1, add("joe smith", {}, "secret"));
  EXPECT_THAT(world.take_err(), HasSubstr("user name: expected one without blanks"));
  EXPECT_EQ(1, add("joe", {"writer"}, "secret"));
  EXPECT_THAT(world.take_err(), HasSubstr("role: expected submit, work, lock, read or admin, found 'writer'"));
  world.files.put(kUsers, "nonsense\n");
  EXPECT_EQ(1, add("joe", {}, "secret"));
  EXPECT_THAT(world.take_err(), HasSubstr("/etc/users: line 1: expected a name, a hash and roles, found one word"));
  EXPECT_EQ(0, asked);
}

TEST_F(UserCommandsTest, APasswordHasToBeOne) {
  EXPECT_EQ(1, add("joe", {}, ""));
  EXPECT_THAT(world.take_err(), HasSubstr("password: expected 1 to 1024 bytes, found 0"));
  EXPECT_EQ(1, add("joe", {}, std::string(1025, 'x')));
  EXPECT_FALSE(world.files.exists(kUsers));
}

TEST_F(UserCommandsTest, WhoIsNotThereIsToldSo) {
  EXPECT_EQ(1, list());
  EXPECT_THAT(world.take_err(), HasSubstr("/etc/users"));
  EXPECT_EQ(1, remove("joe"));
  EXPECT_THAT(world.take_err(), HasSubstr("expected a file of users, found none"));
  add("ann", {}, "secret");
  world.take_err();
  EXPECT_EQ(1, remove("joe"));
  EXPECT_THAT(world.take_err(), HasSubstr("expected a user 'joe', found none of that name"));
}

TEST_F(UserCommandsTest, TheCommandLineFindsThem) {
  const auto run = [&](const std::string& line) {
    CLI::App app;
    Chosen chosen;
    add_user_commands(app, chosen);
    app.parse(line);
    return chosen(world.desk);
  };
  add("joe", {"lock"}, "secret");
  world.take_out();
  EXPECT_EQ(0, run("user list --users /etc/users"));
  EXPECT_EQ("joe lock\n", world.take_out());
  EXPECT_EQ(0, run("user remove --users /etc/users joe"));
  EXPECT_EQ(1, run("user add --users /etc/users joe --role none"));
  EXPECT_THROW(run("user"), CLI::RequiredError);
  EXPECT_THROW(run("user list"), CLI::RequiredError);
  EXPECT_THROW(run("user add --users /etc/users"), CLI::RequiredError);
  EXPECT_THROW(run("user add --users /etc/users joe secret"), CLI::ExtrasError);
}

}  // namespace
}  // namespace tenure::cli
