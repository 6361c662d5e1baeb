// The matrix of permissions: every verb and every route for every role, with and without patterns.
#include "wire/permissions.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/testing.h"
#include "wire/http_exchange.h"

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

// --- over HTTP ---

// A request of HTTP for each route, about the same names, and the line that asks the same.
struct Ask {
  std::string_view method;
  std::string_view target;
  std::string_view body;
  std::string_view line;  // of the matrix above; of a page: the roles, as there
};
constexpr Ask kRoutes[] = {
    {"POST", "/v1/queues/mail.in/tasks", R"({"payload":"p"})", "TASK.SUBMIT mail.in p"},
    {"POST", "/v1/lease", R"({"worker":"w","queues":["mail.in","mail.out"]})", "TASK.LEASE w 2 mail.in mail.out"},
    {"POST", "/v1/tasks/T/extend", R"({"lease_id":"L"})", "TASK.EXTEND T L"},
    {"POST", "/v1/tasks/T/complete", R"({"lease_id":"L"})", "TASK.COMPLETE T L"},
    {"POST", "/v1/tasks/T/fail", R"({"lease_id":"L","reason":"why"})", "TASK.FAIL T L why"},
    {"POST", "/v1/tasks/T/kill", R"({"reason":"why"})", "TASK.KILL T why"},
    {"POST", "/v1/tasks/T/resubmit", "", "TASK.RESUBMIT T"},
    {"GET", "/v1/tasks/T", "", "TASK.GET T"},
    {"GET", "/v1/tasks/T/history", "", "TASK.HISTORY T"},
    {"GET", "/v1/tasks/T/wait", "", "TASK.WAIT T BLOCK 1"},
    {"GET", "/v1/queues/mail.in/tasks", "", "TASK.LIST mail.in"},
    {"GET", "/v1/queues", "", "QUEUE.LIST"},
    {"POST", "/v1/queues/mail.in/pause", "", "QUEUE.PAUSE mail.in"},
    {"POST", "/v1/queues/mail.in/resume", "", "QUEUE.RESUME mail.in"},
    {"GET", "/v1/workers", "", "WORKER.LIST"},
    {"POST", "/v1/work/mail.in/acquire", R"({"offset":1})", "WORK.ACQUIRE mail.in 1"},
    {"POST", "/v1/work/mail.in/succeed", R"({"token":"T"})", "WORK.SUCCEED mail.in T"},
    {"POST", "/v1/work/mail.in/fail", R"({"token":"T"})", "WORK.FAIL mail.in T"},
    {"POST", "/v1/work/mail.in/extend", R"({"token":"T","lease_ms":1})", "WORK.EXTEND mail.in T LEASE 1"},
    {"GET", "/v1/work/mail.in", "", "WORK.INSPECT mail.in"},
    {"GET", "/v1/work/mail.in/backlog", "", "WORK.BACKLOG mail.in"},
    {"GET", "/v1/work/mail.in/failed", "", "WORK.FAILED mail.in"},
    {"GET", "/v1/work/mail.in/done", "", "WORK.DONE mail.in"},
    {"POST", "/v1/work/mail.in/trim", R"({"below":1})", "WORK.TRIM mail.in 1"},
    {"GET", "/v1/work", "", "WORK.LIST"},
    {"POST", "/v1/locks/mail.in/i/acquire", R"({"owner":"me"})", "LOCK.ACQUIRE mail.in i me"},
    {"POST", "/v1/locks/mail.in/i/release", R"({"token":"T"})", "LOCK.RELEASE mail.in i T"},
    {"POST", "/v1/locks/mail.in/i/extend", R"({"token":"T"})", "LOCK.EXTEND mail.in i T"},
    {"POST", "/v1/locks/mail.in/i/force", "", "LOCK.FORCE mail.in i"},
    {"GET", "/v1/locks/mail.in/i", "", "LOCK.GET mail.in i"},
    {"GET", "/v1/locks/mail.in", "", "LOCK.LIST mail.in"},
    {"GET", "/v1/locks", "", "LOCK.LIST"},
};
// Pages of the server's own, and who may see them.
constexpr Row kPages[] = {
    {"/v1/status", "ra", '*'}, {"/metrics", "ra", '*'},     {"/v1/events", "ra", '*'},  {"/healthz", "+", '.'},
    {"/readyz", "+", '.'},     {"/openapi.json", "*", '.'}, {"/v1/user", "*", '.'},     {"/", "+", '.'},
    {"/console.js", "+", '.'}, {"/console.css", "+", '.'},  {"/console.svg", "+", '.'},
};

const Row& row_of(const Ask& ask) {
  return *std::find_if(std::begin(kMatrix), std::end(kMatrix), [&](const Row& row) { return row.line == ask.line; });
}

// An engine, and what it says to a user over HTTP. Nothing is there, so that what is allowed finds nothing.
class HttpPermissionTest : public ::testing::Test, protected HttpExchange::House {
 protected:
  int status(const User* user, std::string_view method, std::string_view target, std::string_view body = "") {
    int status = 0;
    const auto exchange = HttpExchange::begin(*world.engine, *this, 1 << 20,
                                              {.method = method,
                                               .target = target,
                                               .body = body,
                                               .user = user == nullptr ? nullptr : std::make_shared<User>(*user)},
                                              [&](const HttpReply& reply) { status = reply.status; });
    world.engine->hand_over();
    return status;
  }
  void expect(const std::vector<Right>& rights, const Row& row, std::string_view method, std::string_view target,
              std::string_view body, bool is_expected) {
    const User user = joe(rights);
    const int found = status(&user, method, target, body);
    EXPECT_NE(found, 0) << target;
    EXPECT_NE(found, 401) << target;
    EXPECT_EQ(found != 403, is_expected) << method << " " << target << " by " << row.roles << ": " << found;
  }
  void expect_all(const std::optional<std::string>& pattern, absl::FunctionRef<bool(const Row&)> is_touched) {
    for (const Role role : users::kRoles) {
      const std::vector<Right> rights = {{.role = role, .pattern = pattern}};
      for (const Ask& ask : kRoutes) {
        const Row& row = row_of(ask);
        expect(rights, row, ask.method, ask.target, ask.body, is_for(row, role) && is_touched(row));
      }
      for (const Row& page : kPages) {
        expect(rights, page, "GET", page.line, "", is_for(page, role) && is_touched(page));
      }
    }
  }

  HttpReply show(const ServerPage& /*page*/) override { return {}; }
  [[nodiscard]] bool has_users() const override { return true; }
  std::optional<Failure> refusal(const User& user, const Verb& verb, const Request& request) override {
    return refusal_of(&user, verb, request, queue_of);
  }

  World world;
};

TEST_F(HttpPermissionTest, EveryRouteIsThere) {
  std::set<std::string_view> lines;
  for (const Ask& ask : kRoutes) {
    ASSERT_NE(&row_of(ask), std::end(kMatrix)) << ask.line;
    lines.insert(ask.line);
    const auto destination = find_destination(ask.method, ask.target);
    ASSERT_TRUE(destination) << ask.target;
    EXPECT_EQ(destination->verb, Asked(ask.line).verb) << ask.target;
  }
  std::size_t routes = 0;
  for (const Verb* verb : all_verbs()) {
    routes += (verb->route.path.empty() ? 0 : 1) + (verb->route.longer_path.empty() ? 0 : 1);
  }
  EXPECT_EQ(lines.size(), routes);
  std::set<std::string_view> pages;
  for (const Row& page : kPages) pages.insert(page.line);
  for (const ServerPage& page : server_pages()) EXPECT_EQ(pages.count(page.path), 1U) << page.path;
}

TEST_F(HttpPermissionTest, StrangersSeeProbesAndTheConsoleAlone) {
  for (const Ask& ask : kRoutes) EXPECT_EQ(status(nullptr, ask.method, ask.target, ask.body), 401) << ask.target;
  for (const Row& page : kPages) {
    EXPECT_EQ(status(nullptr, "GET", page.line), page.roles == "+" ? 200 : 401) << page.line;
  }
  EXPECT_EQ(status(nullptr, "GET", "/v1/nothing"), 401);
  EXPECT_EQ(status(nullptr, "PUT", "/v1/queues"), 401);
}

TEST_F(HttpPermissionTest, WhoHasNoRoleMayDoNothing) {
  for (const Ask& ask : kRoutes) expect({}, row_of(ask), ask.method, ask.target, ask.body, false);
  for (const Row& page : kPages) expect({}, page, "GET", page.line, "", is_for_signed_in(page));
}

TEST_F(HttpPermissionTest, EveryRole) {
  expect_all(std::nullopt, [](const Row&) { return true; });
}

TEST_F(HttpPermissionTest, EveryRoleForNamesThatMatch) {
  expect_all("mail.*", [](const Row& row) { return row.touch != '*'; });
}

TEST_F(HttpPermissionTest, EveryRoleForNamesThatDoNotMatch) {
  expect_all("bulk", [](const Row& row) { return row.touch == '.'; });
}

TEST_F(HttpPermissionTest, PagesNameTheRoleThatIsMissing) {
  const User user = joe({{.role = Role::kRead, .pattern = "bulk"}});
  EXPECT_EQ(refusal_of(&user, server_pages()[0])->message,
            "/v1/status: expected a user with role read or admin for every name, found 'joe' without");
}

// --- in detail ---

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
