// The users file: its text, and how it is changed.
#include "users/users.h"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/faulty_files.h"
#include "base/temporary_folder.h"

namespace tenure::users {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHash = "$argon2id$v=19$m=65536,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo";

std::string line(const std::string& name, const std::string& roles) { return name + " " + kHash + roles + "\n"; }

std::string fault_in(const std::string& text) {
  const auto users = parse_users(text);
  return users ? "none" : users.error().message;
}

TEST(UsersTextTest, AFileIsItsUsers) {
  const std::string text = line("ann", "") + line("joe", " submit:mail.* submit:bulk read") + line("root", " admin");
  const auto users = parse_users(text);
  ASSERT_TRUE(users.has_value()) << users.error().message;
  EXPECT_EQ(users->size(), 3U);
  EXPECT_TRUE(users->find("ann")->rights.empty());
  const std::vector<Right> rights = {
      {.role = Role::kSubmit, .pattern = "mail.*"}, {.role = Role::kSubmit, .pattern = "bulk"}, {.role = Role::kRead}};
  EXPECT_EQ(users->find("joe")->rights, rights);
  EXPECT_EQ(users->find("joe")->hash, kHash);
  EXPECT_EQ(users->find("nobody"), nullptr);
  EXPECT_EQ(format_users(*users), text);
  EXPECT_EQ(parse_users("")->size(), 0U);
}

TEST(UsersTextTest, DamageIsToldWithItsLine) {
  const std::string good = line("ann", " read");
  EXPECT_EQ(fault_in(good + "\n"), "line 2: expected a name, a hash and roles, found an empty line");
  EXPECT_EQ(fault_in(good + "joe\n"), "line 2: expected a name, a hash and roles, found one word");
  EXPECT_THAT(fault_in(good + "joe secret\n"),
              HasSubstr("line 2: hash: expected $argon2id$v=19$m=...,t=...,p=1$salt$hash, found 6 bytes"));
  EXPECT_EQ(fault_in(good + line("joe", " writer")),
            "line 2: role: expected submit, work, lock, read or admin, found 'writer'");
  EXPECT_EQ(fault_in(good + line("joe", " read:")),
            "line 2: pattern of role read: expected 1 to 255 bytes, found none");
  EXPECT_THAT(fault_in(good + line("joe", "  read")), HasSubstr("line 2: role: expected"));
  EXPECT_THAT(fault_in(good + line("joe", " read ")), HasSubstr("line 2: role: expected"));
  EXPECT_THAT(fault_in(good + line("", " read")), HasSubstr("line 2: user name: expected 1 to 255 bytes"));
  EXPECT_EQ(fault_in(good + line("ann", "")), "line 2: expected each user once, found 'ann' again");
  EXPECT_THAT(fault_in(good + "joe " + kHash), HasSubstr("cut off"));
  EXPECT_THAT(fault_in(line("j\toe", "")), HasSubstr("line 1: user name: expected UTF-8"));
}

TEST(UsersTextTest, NoMessageRepeatsAHash) {
  const std::string hash = kHash;
  for (const std::string& text :
       {hash + "\n", hash + " read\n", "joe read " + hash + "\n", "joe " + hash + " " + hash + "\n",
        "joe " + hash + "\n" + hash + " " + hash + "\n", "joe x" + hash + "\n"}) {
    EXPECT_NE(fault_in(text), "none");
    EXPECT_THAT(fault_in(text), Not(HasSubstr("c2FsdHNhbHQ")));
    EXPECT_THAT(fault_in(text), Not(HasSubstr("aGFzaGhhc2hoYXNo")));
  }
}

TEST(UsersTextTest, ACostThatAServerCannotBearIsRefused) {
  EXPECT_THAT(fault_in("joe $argon2id$v=19$m=4194304,t=2,p=1$c2FsdA$aGFzaA\n"), HasSubstr("expected a cost of m=8"));
  EXPECT_THAT(fault_in("joe $argon2id$v=19$m=65536,t=1000,p=1$c2FsdA$aGFzaA\n"), HasSubstr("expected a cost"));
  EXPECT_THAT(fault_in("joe $argon2i$v=19$m=65536,t=2,p=1$c2FsdA$aGFzaA\n"), HasSubstr("expected $argon2id"));
}

RC_GTEST_PROP(UsersTextTest, NoTextIsTooMuchForIt, (const std::string& text)) {
  const auto users = parse_users(text);
  if (users) RC_ASSERT(format_users(*users).size() == text.size());
}

// --- the file ---

Result<Done> add(Files& files, const std::string& name) {
  return change_users(files, "/etc/users", [&](Users& users) -> Result<Done> {
    users.add({.name = name, .hash = kHash, .rights = {{.role = Role::kRead}}});
    return Done{};
  });
}

class UsersFileTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(files.make_folder("/etc").has_value()); }

  FaultyFiles files;
};

TEST_F(UsersFileTest, IsMadeByTheFirstChange) {
  EXPECT_THAT(load_users(files, "/etc/users").error().message, HasSubstr("/etc/users"));
  ASSERT_TRUE(add(files, "joe").has_value());
  ASSERT_TRUE(add(files, "ann").has_value());
  EXPECT_EQ(format_users(*load_users(files, "/etc/users")), line("ann", " read") + line("joe", " read"));
  EXPECT_FALSE(files.exists("/etc/users.new"));
}

TEST_F(UsersFileTest, ADamagedFileIsNotChanged) {
  files.put("/etc/users", "nonsense\n");
  EXPECT_EQ(add(files, "joe").error().message, "/etc/users: line 1: expected a name, a hash and roles, found one word");
  EXPECT_FALSE(files.exists("/etc/users.new"));
}

TEST_F(UsersFileTest, OnlyOneChangesItAtATime) {
  files.put("/etc/users.new", "");
  EXPECT_THAT(add(files, "joe").error().message, HasSubstr("/etc/users.new: expected no such file"));
  EXPECT_FALSE(files.exists("/etc/users"));
}

TEST_F(UsersFileTest, WhateverFailsItIsTheOldOneOrTheNew) {
  const std::string before = line("ann", " read");
  files.put("/etc/users", before);
  for (std::uint64_t n = 1; n < 20; ++n) {
    for (const auto damage : FaultyFiles::kDamages) {
      const auto copy = files.copy();
      copy->fail_at(n, FaultyFiles::Fault::kCrash);
      const bool is_done = add(*copy, "joe").has_value();
      copy->crash(damage, n);
      const auto users = load_users(*copy, "/etc/users");
      ASSERT_TRUE(users.has_value()) << users.error().message;
      const std::string after = format_users(*users);
      if (!is_done && after == before) continue;
      EXPECT_EQ(after, before + line("joe", " read"));
    }
  }
}

TEST(UsersRealFileTest, IsForItsOwnerOnly) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/users";
  ASSERT_TRUE(change_users(real_files(), path, [](Users&) { return Result<Done>(Done{}); }).has_value());
  struct stat found{};
  ASSERT_EQ(0, ::stat(path.c_str(), &found));
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

}  // namespace
}  // namespace tenure::users
