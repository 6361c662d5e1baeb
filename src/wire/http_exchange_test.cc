// HTTP requests as text, the engine behind them, and the JSON that comes back.
#include "wire/http_exchange.h"

#include <map>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/testing.h"
#include "wire/permissions.h"

namespace tenure::wire {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Pages final : public HttpExchange::House {
 public:
  HttpReply show(const ServerPage& page) override { return {.body = fmt::format("\"{}\"", page.path)}; }
  [[nodiscard]] bool has_users() const override { return is_guarded; }
  std::optional<Failure> refusal(const users::User& user, const Verb& verb, const Request& request) override {
    return refusal_of(&user, verb, request, [](std::string_view task_id) {
      return task_id.starts_with("T") ? std::optional<std::string>("mail.in") : std::nullopt;
    });
  }
  void on_attempt(const LockAttempt& attempt) override { attempts.push_back(attempt.outcome); }

  bool is_guarded = false;
  std::vector<LockAttempt::Outcome> attempts;
};

// Shows replies as status and body, tokens by their fence: <7>. The same works in what is asked.
class HttpExchangeTest : public ::testing::Test {
 protected:
  std::string ask(std::string_view method, const std::string& target, const std::string& body = "") {
    begin(method, target, body);
    world.engine->hand_over();
    return heard();
  }
  std::string get(const std::string& target) { return ask("GET", target); }
  std::string post(const std::string& target, const std::string& body = "") { return ask("POST", target, body); }
  // Begins it, and leaves its answer for later.
  void begin(std::string_view method, const std::string& target, const std::string& body = "") {
    const auto answer = std::make_shared<std::optional<HttpReply>>();
    last = answer;
    const std::string meant = with_tokens(target);
    const std::string meant_body = with_tokens(body);
    exchange = HttpExchange::begin(*world.engine, pages, world.settings.payload_bytes_max,
                                   {.method = method, .target = meant, .body = meant_body, .user = user},
                                   [answer](HttpReply reply) { *answer = std::move(reply); });
  }
  std::string heard() { return *last ? fmt::format("{} {}", (*last)->status, shown((*last)->body)) : "(waits)"; }

  World world;
  Pages pages;
  std::shared_ptr<const users::User> user;
  std::shared_ptr<HttpExchange> exchange;
  std::shared_ptr<std::optional<HttpReply>> last;

 private:
  [[nodiscard]] std::string with_tokens(std::string text) const {
    for (const auto& [fence, token] : tokens_) {
      const std::string name = "<" + fence + ">";
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
        text.replace(at, name.size(), token);
      }
    }
    return text;
  }
  std::string shown(std::string text) {
    static const std::regex token("([0-9]+)-[0-9a-f]{16}");
    for (std::smatch match; std::regex_search(text, match, token);) {
      tokens_[match[1]] = match[0];
      text = match.prefix().str() + "<" + match[1].str() + ">" + match.suffix().str();
    }
    return text;
  }

  std::map<std::string, std::string> tokens_;
};

// --- replies ---

TEST_F(HttpExchangeTest, ATasksLife) {
  EXPECT_EQ(post("/v1/queues/q/tasks", R"({"payload":"hi","id":"T"})"), R"(200 {"task_id":"T","verdict":"CREATED"})");
  EXPECT_EQ(post("/v1/lease", R"({"worker":"w","queues":["q"],"lease_ms":30000})"),
            R"(200 {"leases":[{"task_id":"T","lease_id":"<1>","fence":1,"attempt":1,"expires_at":1000030000,)"
            R"("remaining_ms":30000,"window_ends_at":1000300000,"queue":"q","payload":"hi"}]})");
  EXPECT_EQ(post("/v1/lease", R"({"worker":"w","queues":["q"]})"), R"(200 {"verdict":"NONE","leases":[]})");
  EXPECT_EQ(post("/v1/tasks/T/extend", R"({"lease_id":"<1>","lease_ms":40000})"),
            R"(200 {"verdict":"EXTENDED","expires_at":1000040000,"remaining_ms":40000})");
  EXPECT_EQ(post("/v1/tasks/T/extend", R"({"lease_id":"x"})"), R"(200 {"verdict":"CANCELLED"})");
  EXPECT_EQ(get("/v1/tasks/T/wait"), R"(200 {"verdict":"NONE"})");
  EXPECT_EQ(post("/v1/tasks/T/complete", R"({"lease_id":"x"})"), R"(200 {"verdict":"CANCELLED"})");
  EXPECT_EQ(post("/v1/tasks/T/complete", R"({"lease_id":"<1>","result":"done"})"), R"(200 {"verdict":"COMMITTED"})");
  const std::string status =
      R"(200 {"task_id":"T","queue":"q","state":"COMPLETED","attempt":1,"failures":0,"priority":4,"key":null,)"
      R"("created_at":1000000000,"not_before":null,"fence":null,"lease_id":null,"worker":null,"expires_at":null,)"
      R"("result":"done","reason":null,"late":1})";
  EXPECT_EQ(get("/v1/tasks/T"), status);
  EXPECT_EQ(get("/v1/tasks/T/wait?block_ms=5"), status);
  EXPECT_EQ(get("/v1/tasks/T/history"),
            R"(200 {"attempts":[{"attempt":1,"worker":"w","lease_id":"<1>","fence":1,"granted_at":1000000000,)"
            R"("ended_at":1000000000,"outcome":"COMPLETED","reason":null,"extensions":1,"late":0}]})");
  EXPECT_THAT(post("/v1/tasks/T/kill", R"({"reason":"why"})"), StartsWith(R"(409 {"error":{"code":"TERMINAL",)"));
  EXPECT_THAT(post("/v1/tasks/T/resubmit"), HasSubstr(R"("verdict":"CREATED")"));
}

TEST_F(HttpExchangeTest, ATaskThatWasNotTriedHasAnEmptyHistory) {
  post("/v1/queues/q/tasks", R"({"payload":"hi","id":"T"})");
  EXPECT_EQ(get("/v1/tasks/T/history"), R"(200 {"attempts":[]})");
}

TEST_F(HttpExchangeTest, FailuresTellTheState) {
  post("/v1/queues/q/tasks", R"({"payload":"","id":"T"})");
  post("/v1/lease", R"({"worker":"w","queues":["q"]})");
  EXPECT_EQ(post("/v1/tasks/T/fail", R"({"lease_id":"x","reason":"why"})"), R"(200 {"verdict":"CANCELLED"})");
  EXPECT_EQ(post("/v1/tasks/T/fail", R"({"lease_id":"<1>","reason":"why","final":true})"),
            R"(200 {"verdict":"COMMITTED","state":"FAILED"})");
  EXPECT_EQ(get("/v1/queues/q/tasks?state=FAILED&count=5&cursor=0"),
            R"(200 {"cursor":"0","tasks":[{"task_id":"T","state":"FAILED","attempt":1}]})");
}

TEST_F(HttpExchangeTest, QueuesAndWorkers) {
  EXPECT_EQ(post("/v1/queues/q/pause"), R"(200 {"verdict":"OK"})");
  EXPECT_EQ(get("/v1/queues"), R"(200 {"cursor":"0","queues":[{"queue":"q","waiting":0,"delayed":0,"leased":0,)"
                               R"("completed":0,"failed":0,"dead":0,"paused":true}]})");
  EXPECT_EQ(post("/v1/queues/q/resume", "{}"), R"(200 {"verdict":"OK"})");
  post("/v1/lease", R"({"worker":"w","queues":["q"]})");
  EXPECT_EQ(get("/v1/workers"), R"(200 {"cursor":"0","workers":[{"worker":"w","leases":0,"last_seen":1000000000}]})");
}

TEST_F(HttpExchangeTest, BytesThatAreNoTextAreInBase64) {
  EXPECT_THAT(post("/v1/queues/q/tasks", R"({"payload_base64":"/w==","id":"T"})"), StartsWith("200"));
  EXPECT_THAT(post("/v1/lease", R"({"worker":"w","queues":["q"]})"), HasSubstr(R"("payload_base64":"/w==")"));
  post("/v1/tasks/T/fail", R"({"lease_id":"<1>","reason_base64":"/g==","final":true})");
  EXPECT_THAT(get("/v1/tasks/T"), HasSubstr(R"("reason_base64":"/g==")"));
  EXPECT_THAT(get("/v1/tasks/T/history"), HasSubstr(R"("reason_base64":"/g==")"));
}

TEST_F(HttpExchangeTest, WorkLeases) {
  EXPECT_EQ(post("/v1/work/d/acquire", R"({"offset":1})"),
            R"(200 {"verdict":"ACQUIRED","token":"<1>","fence":1,"acquired_at":1000000000,"retry_count":0,)"
            R"("remaining_ms":null})");
  EXPECT_THAT(post("/v1/work/d/acquire", R"({"offset":1})"), StartsWith(R"(200 {"verdict":"ALREADY_ACQUIRED",)"));
  EXPECT_EQ(post("/v1/work/d/acquire", R"({"offset":2})"), R"(200 {"verdict":"ENQUEUED","position":1})");
  EXPECT_EQ(post("/v1/work/d/extend", R"({"token":"<1>","lease_ms":5})"),
            R"(200 {"verdict":"EXTENDED","expires_at":null,"remaining_ms":null})");
  EXPECT_EQ(post("/v1/work/d/fail", R"({"token":"<1>","reason":"why"})"),
            R"(200 {"verdict":"RETRY_SCHEDULED","retry_count":1})");
  EXPECT_EQ(get("/v1/work/d/backlog"), R"(200 {"cursor":"0","offsets":[2]})");
  EXPECT_EQ(post("/v1/work/d/succeed", R"({"token":"<1>"})"), R"(200 {"verdict":"NEXT_HINT","offset":2})");
  EXPECT_EQ(get("/v1/work/d/done"), R"(200 {"cursor":"0","intervals":[{"first":1,"last":1}]})");
  EXPECT_EQ(get("/v1/work/d/failed"), R"(200 {"cursor":"0","offsets":[]})");
  EXPECT_EQ(post("/v1/work/d/acquire", R"({"offset":1})"), R"(200 {"verdict":"ALREADY_PROCESSED"})");
  EXPECT_THAT(post("/v1/work/d/acquire", R"({"offset":3})"), StartsWith(R"(409 {"error":{"code":"BACKLOGORDER")"));
  EXPECT_EQ(get("/v1/work/d"),
            R"(200 {"domain":"d","state":"IDLE","offset":null,"fence":null,"retry_count":null,"acquired_at":null,)"
            R"("expires_at":null,"backlog":1,"backlog_head":2,"processed":1,"failed":0,"trimmed_below":0})");
  EXPECT_EQ(get("/v1/work"), R"(200 {"cursor":"0","domains":["d"]})");
  EXPECT_EQ(post("/v1/work/d/trim", R"({"below":2})"), R"(200 {"verdict":"OK"})");
  post("/v1/work/d/acquire", R"({"offset":2})");
  EXPECT_EQ(post("/v1/work/d/succeed", R"({"token":"<2>"})"), R"(200 {"verdict":"NO_BACKLOG"})");
}

TEST_F(HttpExchangeTest, Locks) {
  EXPECT_EQ(post("/v1/locks/d/i/acquire", R"({"owner":"me","lease_ms":60000})"),
            R"(200 {"token":"<1>","fence":1,"remaining_ms":60000,"holds":1})");
  EXPECT_EQ(post("/v1/locks/d/i/acquire", R"({"owner":"you"})"), R"(200 {"verdict":"BUSY"})");
  EXPECT_EQ(get("/v1/locks/d/i"),
            R"(200 {"domain":"d","identifier":"i","owner":"me","fence":1,"holds":1,)"
            R"("granted_at":1000000000,"expires_at":1000060000,"remaining_ms":60000,"waiters":0})");
  EXPECT_THAT(get("/v1/locks"), StartsWith(R"(200 {"cursor":"0","locks":[{"domain":"d",)"));
  EXPECT_THAT(get("/v1/locks/d"), HasSubstr(R"("identifier":"i")"));
  EXPECT_EQ(get("/v1/locks/other"), R"(200 {"cursor":"0","locks":[]})");
  EXPECT_EQ(post("/v1/locks/d/i/extend", R"({"token":"<1>"})"), R"(200 {"fence":1,"remaining_ms":60000})");
  post("/v1/locks/d/i/acquire", R"({"owner":"me"})");
  EXPECT_EQ(post("/v1/locks/d/i/release", R"({"token":"<1>"})"), R"(200 {"verdict":"HELD","holds":1})");
  EXPECT_EQ(post("/v1/locks/d/i/release", R"({"token":"<1>"})"), R"(200 {"verdict":"RELEASED","holds":0})");
  EXPECT_EQ(post("/v1/locks/d/i/force"), R"(200 {"forced":false})");
  EXPECT_THAT(post("/v1/locks/d/i/release", R"({"token":"<1>"})"), StartsWith("409 "));
}

TEST_F(HttpExchangeTest, UnknownThingsAreNotFound) {
  EXPECT_EQ(get("/v1/tasks/T"),
            R"(404 {"error":{"code":"NOTASK","message":"task 'T': expected one that exists, found none"}})");
  EXPECT_THAT(get("/v1/tasks/T/history"), StartsWith(R"(404 {"error":{"code":"NOTASK")"));
  EXPECT_THAT(get("/v1/tasks/T/wait"), StartsWith(R"(404 {"error":{"code":"NOTASK")"));
  EXPECT_THAT(get("/v1/work/d"), StartsWith(R"(404 {"error":{"code":"NOTFOUND")"));
  EXPECT_EQ(get("/v1/locks/d/i"),
            R"(404 {"error":{"code":"NOTFOUND","message":"lock 'd::i': expected one that is held, found it free"}})");
  EXPECT_EQ(get("/v1/work/d/backlog"), R"(200 {"cursor":"0","offsets":[]})");
}

TEST_F(HttpExchangeTest, PagesOfTheServer) {
  EXPECT_EQ(get("/healthz"), R"(200 "/healthz")");
  EXPECT_EQ(get("/v1/status"), R"(200 "/v1/status")");
  EXPECT_EQ(get("/"), R"(200 "/")");
  EXPECT_THAT(get("/openapi.json"), StartsWith(R"(200 {"openapi":"3.0.3",)"));
  EXPECT_THAT(get("/healthz?x=1"), StartsWith("400 "));
  EXPECT_THAT(ask("GET", "/healthz", "{}"), StartsWith("400 "));
}

TEST_F(HttpExchangeTest, TellsWhoAsksAndTheirRoles) {
  EXPECT_EQ(get("/v1/user"),
            R"(200 {"user":null,"roles":[{"role":"submit","pattern":null},{"role":"work","pattern":null},)"
            R"({"role":"lock","pattern":null},{"role":"read","pattern":null},{"role":"admin","pattern":null}]})");
  pages.is_guarded = true;
  EXPECT_THAT(get("/v1/user"), StartsWith("401 "));
  user = std::make_shared<users::User>(
      users::User{.name = "joe",
                  .hash = "secret",
                  .rights = {{.role = users::Role::kRead}, {.role = users::Role::kSubmit, .pattern = "mail.*"}}});
  EXPECT_EQ(get("/v1/user"),
            R"(200 {"user":"joe","roles":[{"role":"read","pattern":null},{"role":"submit","pattern":"mail.*"}]})");
}

TEST_F(HttpExchangeTest, AWrongMethodIsToldTheRightOnes) {
  EXPECT_EQ(get("/v1/lease"), R"(405 {"error":{"code":"ERR","message":"method: expected POST, found 'GET'"}})");
  EXPECT_EQ((*last)->allow, "POST");
  EXPECT_THAT(ask("DELETE", "/v1/queues/q/tasks"), StartsWith("405 "));
  EXPECT_EQ((*last)->allow, "POST, GET, HEAD");
  EXPECT_THAT(ask("HEAD", "/v1/queues"), StartsWith("200 "));
}

TEST_F(HttpExchangeTest, ArgumentsStandWhereTheMethodHasThem) {
  EXPECT_THAT(post("/v1/queues/q/pause?x=1"), HasSubstr("query: expected nothing"));
  EXPECT_THAT(ask("GET", "/v1/queues", R"({"count":1})"), HasSubstr("body: expected nothing"));
}

TEST_F(HttpExchangeTest, FaultsOfArgumentsAreToldWhereverTheyStand) {
  EXPECT_EQ(get("/v1/tasks/%01"),
            R"(400 {"error":{"code":"INVALID","message":"task_id: expected UTF-8 without control characters"}})");
  EXPECT_EQ(get("/v1/queues?count=x"),
            R"(400 {"error":{"code":"ERR","message":"count: expected an integer, found 'x'"}})");
  EXPECT_EQ(post("/v1/queues/q/tasks", R"({"payload":1})"),
            R"(400 {"error":{"code":"ERR","message":"payload: expected a string, found 1"}})");
  EXPECT_EQ(post("/v1/queues/q/tasks", R"({"id":"T"})"),
            R"(400 {"error":{"code":"ERR","message":"payload: expected a string, found nothing"}})");
  EXPECT_THAT(get("/v1/tasks/T"), StartsWith("404 "));
}

TEST_F(HttpExchangeTest, AnAuthorityThatClosesAnswersUnavailable) {
  world.engine->close();
  EXPECT_THAT(post("/v1/locks/d/i/acquire", R"({"owner":"me"})"), StartsWith(R"(503 {"error":{"code":"UNAVAILABLE")"));
  EXPECT_THAT(pages.attempts, ElementsAre(LockAttempt::Outcome::kError));
}

// --- waiting ---

TEST_F(HttpExchangeTest, ALockIsWaitedFor) {
  post("/v1/locks/d/i/acquire", R"({"owner":"me"})");
  EXPECT_EQ(post("/v1/locks/d/i/acquire", R"({"owner":"you","wait_ms":5000})"), "(waits)");
  EXPECT_TRUE(exchange->is_waiting());
  const auto waiting = exchange;
  const auto answer = last;
  post("/v1/locks/d/i/release", R"({"token":"<1>"})");
  EXPECT_FALSE(waiting->is_waiting());
  ASSERT_TRUE(answer->has_value());
  EXPECT_THAT((*answer)->body, HasSubstr(R"("fence":2)"));
}

TEST_F(HttpExchangeTest, AWaitWhoseTimeHasPassedIsBusy) {
  post("/v1/locks/d/i/acquire", R"({"owner":"me"})");
  EXPECT_EQ(post("/v1/locks/d/i/acquire", R"({"owner":"you","wait_ms":50})"), "(waits)");
  world.pass(Millis{51});
  EXPECT_EQ(heard(), R"(200 {"verdict":"BUSY"})");
}

TEST_F(HttpExchangeTest, WhoGoesAwayWaitsNoMore) {
  post("/v1/locks/d/i/acquire", R"({"owner":"me"})");
  EXPECT_EQ(post("/v1/locks/d/i/acquire", R"({"owner":"you","wait_ms":5000})"), "(waits)");
  exchange->close();
  world.engine->hand_over();
  EXPECT_EQ(heard(), "(waits)");
  post("/v1/locks/d/i/release", R"({"token":"<1>"})");
  EXPECT_THAT(get("/v1/locks/d/i"), StartsWith("404 "));
}

TEST_F(HttpExchangeTest, WhoGoesAwayDoesSoOnce) {
  post("/v1/locks/d/i/acquire", R"({"owner":"me"})");
  post("/v1/locks/d/i/acquire", R"({"owner":"you","wait_ms":5000})");
  exchange->close();
  exchange->close();
  EXPECT_THAT(pages.attempts, ElementsAre(LockAttempt::Outcome::kAcquired, LockAttempt::Outcome::kInterrupted));
}

TEST_F(HttpExchangeTest, AGrantThatWasWaitedForAndIsNotDeliveredIsGivenBack) {
  post("/v1/locks/d/i/acquire", R"({"owner":"me"})");
  EXPECT_EQ(post("/v1/locks/d/i/acquire", R"({"owner":"you","wait_ms":5000})"), "(waits)");
  const auto waiting = exchange;
  post("/v1/locks/d/i/release", R"({"token":"<1>"})");
  EXPECT_THAT(get("/v1/locks/d/i"), HasSubstr(R"("owner":"you","fence":2)"));
  waiting->close();
  EXPECT_THAT(get("/v1/locks/d/i"), StartsWith("404 "));
}

TEST_F(HttpExchangeTest, AGrantThatIsNotDeliveredIsGivenBack) {
  EXPECT_THAT(post("/v1/locks/d/i/acquire", R"({"owner":"me"})"), StartsWith("200 "));
  exchange->close();
  world.engine->hand_over();
  EXPECT_THAT(get("/v1/locks/d/i"), StartsWith("404 "));
}

TEST_F(HttpExchangeTest, AGrantThatIsDeliveredIsKept) {
  EXPECT_THAT(post("/v1/locks/d/i/acquire", R"({"owner":"me"})"), StartsWith("200 "));
  exchange->delivered();
  exchange->close();
  world.engine->hand_over();
  EXPECT_THAT(get("/v1/locks/d/i"), StartsWith("200 "));
}

TEST_F(HttpExchangeTest, AGrantToWhoHasGoneBeforeTheAnswerIsGivenBack) {
  world.journal.hold(true);
  begin("POST", "/v1/locks/d/i/acquire", R"({"owner":"me"})");
  world.engine->hand_over();
  exchange->close();
  world.journal.hold(false);
  world.engine->hand_over();
  EXPECT_THAT(get("/v1/locks/d/i"), StartsWith("404 "));
}

TEST_F(HttpExchangeTest, ALongTrimIsAnsweredOnce) {
  for (std::int64_t offset = 0; offset < 5000; offset += 2) {
    const auto got = world.get(WorkRequest{.domain = "d", .offset = Offset{offset}});
    world.get(WorkSuccess{.domain = "d", .token = std::get<Acquired>(got).token});
  }
  EXPECT_EQ(post("/v1/work/d/trim", R"({"below":6000})"), R"(200 {"verdict":"OK"})");
  EXPECT_EQ(world.get(InspectDomain{"d"})->trimmed_below, Offset{6000});
}

// --- users ---

TEST_F(HttpExchangeTest, LeaseIdsAreShownToAdminsAlone) {
  post("/v1/queues/mail.in/tasks", R"({"payload":"hi","id":"T"})");
  post("/v1/lease", R"({"worker":"w","queues":["mail.in"]})");
  pages.is_guarded = true;
  const auto seen_by = [&](users::Right right) {
    user = std::make_shared<users::User>(users::User{.name = "joe", .hash = "", .rights = {std::move(right)}});
    return get("/v1/tasks/T") + get("/v1/tasks/T/history");
  };
  EXPECT_THAT(seen_by({.role = users::Role::kAdmin}), HasSubstr(R"("lease_id":"<1>")"));
  for (const std::string& seen : {seen_by({.role = users::Role::kAdmin, .pattern = "mail.*"}),
                                  seen_by({.role = users::Role::kRead}), seen_by({.role = users::Role::kWork})}) {
    EXPECT_THAT(seen, AllOf(HasSubstr(R"("lease_id":null)"), Not(HasSubstr("<1>")), HasSubstr(R"("attempts":[)")));
  }
}

TEST_F(HttpExchangeTest, ALockIsItsUsers) {
  pages.is_guarded = true;
  const auto acquired_by = [&](const std::string& name) {
    user =
        std::make_shared<users::User>(users::User{.name = name, .hash = "", .rights = {{.role = users::Role::kLock}}});
    return post("/v1/locks/d/i/acquire", R"({"owner":"me"})");
  };
  EXPECT_THAT(acquired_by("joe"), HasSubstr(R"("holds":1)"));
  EXPECT_EQ(acquired_by("ann"), R"(200 {"verdict":"BUSY"})");
  EXPECT_THAT(acquired_by("joe"), HasSubstr(R"("holds":2)"));
}

}  // namespace
}  // namespace tenure::wire
