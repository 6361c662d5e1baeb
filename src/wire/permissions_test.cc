// The matrix of permissions: every verb for every role, with and without patterns.
#include "wire/permissions.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::wire {
namespace {

using users::Right;
using users::Role;
using users::RoleSet;
using users::User;

// What is asked of each verb, about names that begin with `mail`, and the roles that may. Roles: s submit, w work,
// l lock, r read, a admin; `*` whoever has signed in, `+` strangers, too. For: n the names, t the task's queue,
// . no name, * every name.
struct Row {
  std::string_view line;
  std::string_view roles;
  char touch;
};
constexpr Row kMatrix[] = {
    {"TASK.SUBMIT mail.in p", "s", 'n'},
    {"TASK.LEASE w 2 mail.in mail.out", "w", 'n'},
    {"TASK.EXTEND T L", "w", 't'},
    {"TASK.COMPLETE T L", "w", 't'},
    {"TASK.FAIL T L why", "w", 't'},
    {"TASK.KILL T why", "a", 't'},
    {"TASK.RESUBMIT T", "s", 't'},
    {"TASK.GET T", "swra", 't'},
    {"TASK.HISTORY T", "swra", 't'},
    {"TASK.WAIT T BLOCK 1", "swra", 't'},
    {"TASK.LIST mail.in", "swra", 'n'},
    {"QUEUE.LIST", "swra", '*'},
    {"QUEUE.PAUSE mail.in", "a", 'n'},
    {"QUEUE.RESUME mail.in", "a", 'n'},
    {"WORKER.LIST", "swra", '*'},
    {"WORK.ACQUIRE mail.in 1", "w", 'n'},
    {"WORK.SUCCEED mail.in T", "w", 'n'},
    {"WORK.FAIL mail.in T", "w", 'n'},
    {"WORK.EXTEND mail.in T LEASE 1", "w", 'n'},
    {"WORK.INSPECT mail.in", "wra", 'n'},
    {"WORK.BACKLOG mail.in", "wra", 'n'},
    {"WORK.FAILED mail.in", "wra", 'n'},
    {"WORK.DONE mail.in", "wra", 'n'},
    {"WORK.TRIM mail.in 1", "a", 'n'},
    {"WORK.LIST", "wra", '*'},
    {"LOCK.ACQUIRE mail.in i me", "l", 'n'},
    {"LOCK.RELEASE mail.in i T", "l", 'n'},
    {"LOCK.EXTEND mail.in i T", "l", 'n'},
    {"LOCK.FORCE mail.in i", "a", 'n'},
    {"LOCK.GET mail.in i", "lra", 'n'},
    {"LOCK.LIST mail.in", "lra", 'n'},
    {"LOCK.LIST", "lra", '*'},
    {"PING", "*", '.'},
    {"ECHO x", "*", '.'},
    {"HELLO 3", "*", '.'},
    {"HELLO 3 AUTH joe secret", "+", '.'},
    {"AUTH secret", "+", '.'},
    {"QUIT", "+", '.'},
    {"RESET", "+", '.'},
    {"SELECT 0", "*", '.'},
    {"TIME", "*", '.'},
    {"ROLE", "*", '.'},
    {"CLIENT ID", "*", '.'},
    {"CLIENT GETNAME", "*", '.'},
    {"CLIENT SETNAME x", "*", '.'},
    {"CLIENT SETINFO LIB-NAME x", "*", '.'},
    {"CLIENT LIST", "a", '*'},
    {"CLIENT KILL ID 1", "a", '*'},
    {"CLIENT SESSION s", "l", '.'},
    {"COMMAND", "*", '.'},
    {"COMMAND COUNT", "*", '.'},
    {"COMMAND DOCS", "*", '.'},
    {"COMMAND INFO", "*", '.'},
    {"INFO", "ra", '*'},
    {"CONFIG GET port", "a", '*'},
    {"SNAPSHOT", "a", '*'},
    {"SHUTDOWN", "a", '*'},
};

// A request, with the words that it views.
struct Asked {
  explicit Asked(std::string_view line) {
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    verb = find_verb(words).value();
    const auto fault = read_request(*verb, words, 1 << 20, request);
    EXPECT_EQ(fault, std::nullopt) << line << ": " << fault->message;
  }

  std::vector<std::string_view> words;
  const Verb* verb = nullptr;
  Request request;
};

User joe(std::vector<Right> rights) { return {.name = "joe", .hash = "", .rights = std::move(rights)}; }

// Tasks T are in queue mail.in; there are no others.
std::optional<std::string> queue_of(std::string_view task_id) {
  return task_id == "T" ? std::optional<std::string>("mail.in") : std::nullopt;
}

std::optional<Failure> refusal(const User* user, std::string_view line) {
  const Asked asked(line);
  return refusal_of(user, *asked.verb, asked.request, queue_of);
}
std::string answer(const User* user, std::string_view line) {
  const auto why = refusal(user, line);
  return why ? fmt::format("{} {}", to_string(why->code), why->message) : "allowed";
}
bool is_allowed(const std::vector<Right>& rights, std::string_view line) {
  const User user = joe(rights);
  const auto why = refusal(&user, line);
  EXPECT_EQ(why.value_or(Failure{ErrorCode::kNoPerm, ""}).code, ErrorCode::kNoPerm) << line;
  return !why;
}

bool is_for_signed_in(const Row& row) { return row.roles == "*" || row.roles == "+"; }
bool is_for(const Row& row, Role role) {
  return is_for_signed_in(row) || row.roles.find(to_string(role)[0]) != std::string_view::npos;
}

TEST(PermissionMatrixTest, HasEveryVerb) {
  std::set<std::string_view> verbs;
  for (const Row& row : kMatrix) verbs.insert(Asked(row.line).verb->name);
  for (const Verb* verb : all_verbs()) EXPECT_EQ(verbs.count(verb->name), 1U) << verb->name;
}

TEST(PermissionMatrixTest, StrangersMayOnlySignInAndGo) {
  for (const Row& row : kMatrix) {
    const auto why = refusal(nullptr, row.line);
    EXPECT_EQ(!why, row.roles == "+") << row.line;
    EXPECT_EQ(why.value_or(Failure{ErrorCode::kNoAuth, ""}).code, ErrorCode::kNoAuth) << row.line;
  }
}

TEST(PermissionMatrixTest, WhoHasNoRoleMayDoNothing) {
  for (const Row& row : kMatrix) EXPECT_EQ(is_allowed({}, row.line), is_for_signed_in(row)) << row.line;
}

TEST(PermissionMatrixTest, EveryRole) {
  for (const Row& row : kMatrix) {
    for (const Role role : users::kRoles) {
      EXPECT_EQ(is_allowed({{.role = role}}, row.line), is_for(row, role)) << row.line << " " << to_string(role);
    }
  }
}

TEST(PermissionMatrixTest, EveryRoleForNamesThatMatch) {
  for (const Row& row : kMatrix) {
    for (const Role role : users::kRoles) {
      const bool is_expected = is_for(row, role) && (row.touch != '*' || is_for_signed_in(row));
      EXPECT_EQ(is_allowed({{.role = role, .pattern = "mail.*"}}, row.line), is_expected)
          << row.line << " " << to_string(role);
    }
  }
}

TEST(PermissionMatrixTest, EveryRoleForNamesThatDoNotMatch) {
  for (const Row& row : kMatrix) {
    for (const Role role : users::kRoles) {
      const bool is_expected = is_for(row, role) && row.touch == '.';
      EXPECT_EQ(is_allowed({{.role = role, .pattern = "bulk"}}, row.line), is_expected)
          << row.line << " " << to_string(role);
    }
  }
}

TEST(PermissionMatrixTest, TheTableOfVerbsSaysTheSame) {
  for (const Row& row : kMatrix) {
    const RoleSet roles = roles_for(*Asked(row.line).verb);
    for (const Role role : users::kRoles) {
      EXPECT_EQ(roles.has(role), !is_for_signed_in(row) && is_for(row, role)) << row.line << " " << to_string(role);
    }
  }
}

TEST(PermissionTest, EachNameNeedsARole) {
  const std::vector<Right> rights = {{.role = Role::kWork, .pattern = "mail.in"}};
  EXPECT_TRUE(is_allowed(rights, "TASK.LEASE w 1 mail.in"));
  EXPECT_FALSE(is_allowed(rights, "TASK.LEASE w 2 mail.in mail.out"));
  EXPECT_TRUE(is_allowed({rights[0], {.role = Role::kWork, .pattern = "mail.o*"}}, "TASK.LEASE w 2 mail.in mail.out"));
  EXPECT_FALSE(is_allowed({rights[0], {.role = Role::kRead}}, "TASK.LEASE w 2 mail.in mail.out"));
}

TEST(PermissionTest, APatternOfOneRoleIsNoneOfAnother) {
  const std::vector<Right> rights = {{.role = Role::kSubmit, .pattern = "mail.*"},
                                     {.role = Role::kLock, .pattern = "bulk"}};
  EXPECT_TRUE(is_allowed(rights, "TASK.SUBMIT mail.in p"));
  EXPECT_FALSE(is_allowed(rights, "TASK.SUBMIT bulk p"));
  EXPECT_FALSE(is_allowed(rights, "LOCK.ACQUIRE mail.in i me"));
}

TEST(PermissionTest, AnUnknownTaskIsNoSecret) {
  EXPECT_TRUE(is_allowed({{.role = Role::kRead, .pattern = "bulk"}}, "TASK.GET unknown"));
  EXPECT_FALSE(is_allowed({{.role = Role::kLock}}, "TASK.GET unknown"));
}

TEST(PermissionTest, RefusalsNameTheRoleThatIsMissing) {
  EXPECT_EQ(answer(nullptr, "PING"), "NOAUTH PING: expected a user who has signed in with AUTH or HELLO, found nobody");
  const User user = joe({{.role = Role::kRead, .pattern = "bulk"}});
  EXPECT_EQ(answer(&user, "TASK.SUBMIT mail.in p"),
            "NOPERM TASK.SUBMIT: expected a user with role submit, found 'joe' without");
  EXPECT_EQ(answer(&user, "LOCK.GET mail.in i"),
            "NOPERM LOCK.GET: expected a user with role lock, read or admin for 'mail.in', found 'joe' without");
  EXPECT_EQ(answer(&user, "INFO"),
            "NOPERM INFO: expected a user with role read or admin for every name, found 'joe' without");
  EXPECT_EQ(answer(&user, "TASK.GET T"),
            "NOPERM TASK.GET: expected a user with role submit, work, read or admin for the queue of task 'T', found "
            "'joe' without");
}

}  // namespace
}  // namespace tenure::wire
