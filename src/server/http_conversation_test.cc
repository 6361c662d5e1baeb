// HTTP's bytes in and out, with an engine behind and no socket.
#include "server/http_conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/testing.h"
#include "base/text.h"
#include "wire/permissions.h"

namespace tenure::server {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Lodge final : public HttpConversation::House {
 public:
  void on_answers(HttpConversation& /*conversation*/) override { ++told; }
  wire::HttpReply show(const wire::ServerPage& page) override {
    if (page.subject == wire::ServerPage::Subject::kEvents) return {.is_stream = true};
    if (page.subject == wire::ServerPage::Subject::kConsole) {
      return {.body = "zipped", .content_type = "text/html", .encoding = "gzip", .etag = "\"7\""};
    }
    return {.body = "{}"};
  }
  Result<std::unique_ptr<Events::Stream>> open_events(std::uint64_t client_id,
                                                      const std::optional<std::string>& last_id) override {
    if (!events.is_begun()) events.begin(10);
    return events.listen(client_id, last_id);
  }
  void tell(std::uint64_t frame) {
    std::string payload;
    encode(record::QueuePaused{"q"}, payload);
    events.tell(frame, Instant{5}, payload);
  }
  [[nodiscard]] bool has_users() const override { return is_guarded; }
  std::optional<Failure> refusal(const users::User& user, const wire::Verb& verb,
                                 const wire::Request& request) override {
    return wire::refusal_of(&user, verb, request, [](std::string_view) { return std::nullopt; });
  }
  // As many passwords as there are names: joe's is joe's.
  void check(HttpConversation& /*conversation*/, const wire::Credentials& credentials,
             wire::Conversation::SignIn done) override {
    ++checked;
    Result<wire::Talk::UserPointer> user = fail_with(ErrorCode::kNoAuth, "wrong");
    if (credentials.password == *credentials.user) user = user_named(*credentials.user);
    auto tell = [user, done = std::move(done)]() mutable { done(user); };
    if (is_slow) {
      later = std::move(tell);
    } else {
      tell();
    }
  }
  [[nodiscard]] wire::Talk::UserPointer user_named(std::string_view name) const override {
    if (name == "nobody") return nullptr;
    return std::make_shared<users::User>(
        users::User{.name = std::string(name), .hash = "", .rights = {{.role = *users::role_named("submit")}}});
  }
  [[nodiscard]] std::string leader_url() const override { return leader; }
  int told = 0;
  int checked = 0;
  std::string leader;
  bool is_guarded = false;
  bool is_slow = false;
  absl::AnyInvocable<void()> later;
  Events events{{.streams = 1, .kept = 3}};
};

class HttpConversationTest : public ::testing::Test {
 protected:
  void say(std::string_view bytes) {
    const absl::Span<char> to = talk->room(bytes.size());
    std::copy(bytes.begin(), bytes.end(), to.begin());
    talk->received(bytes.size());
    world.engine->hand_over();
    talk->go_on();
    world.engine->hand_over();
  }
  // What there is to send; it is sent.
  std::string heard() {
    std::string bytes;
    talk->take_output(bytes);
    talk->delivered(bytes.size());
    return bytes;
  }
  std::string ask(std::string_view bytes) {
    say(bytes);
    return heard();
  }
  static std::string post(const std::string& target, const std::string& body) {
    return fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", target, body.size(), body);
  }
  // With a name that is its own password.
  static std::string submit_by(const std::string& name, const std::string& id, const std::string& more = "") {
    const std::string body = fmt::format(R"({{"payload":"p{}","id":"{}"}})", more, id);
    return fmt::format(
        "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {}\r\nContent-Length: {}\r\n\r\n{}",
        base64(name + ":" + name), body.size(), body);
  }
  std::uint64_t tasks() {
    return world.engine->inspect([](const State& state) { return state.tasks().tasks(); });
  }
  static constexpr std::string_view kHealth = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  void TearDown() override { talk->close(); }

  World world;
  Lodge house;
  std::shared_ptr<HttpConversation> talk = std::make_shared<HttpConversation>(
      *world.engine, house, *world.clock, HttpConversation::Terms{.client_id = 7, .arrival = Millis{1000}});
};

TEST_F(HttpConversationTest, AnswersAndGoesOn) {
  EXPECT_EQ(ask(kHealth),
            "HTTP/1.1 200 OK\r\nServer: tenured\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n{}");
  EXPECT_THAT(ask(post("/v1/queues/q/tasks", R"({"payload":"p","id":"T"})")), HasSubstr(R"("verdict":"CREATED")"));
  EXPECT_EQ(house.told, 1);
  EXPECT_TRUE(talk->is_idle());
  EXPECT_FALSE(talk->is_ending());
  EXPECT_EQ(talk->client_id(), 7U);
  EXPECT_EQ(talk->profile().protocol, "http");
}

TEST_F(HttpConversationTest, WhereThereAreUsersOnlyProbesAreAnswered) {
  house.is_guarded = true;
  EXPECT_THAT(ask(kHealth), StartsWith("HTTP/1.1 200 "));
  for (const std::string target : {"/v1/status", "/openapi.json", "/v1/queues", "/healthz/x", "/v1/nothing"}) {
    EXPECT_THAT(ask("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 401 ")) << target;
  }
  EXPECT_THAT(ask(post("/v1/queues/q/tasks", R"({"payload":"p","id":"T"})")), HasSubstr(R"("code":"NOAUTH")"));
  EXPECT_EQ(0U, tasks());
  EXPECT_TRUE(talk->is_stranger());
}

TEST_F(HttpConversationTest, StrangersAreToldHowToSignIn) {
  house.is_guarded = true;
  EXPECT_THAT(ask("GET /v1/queues HTTP/1.1\r\nHost: x\r\n\r\n"),
              AllOf(HasSubstr("WWW-Authenticate: Basic realm=\"tenure\""), HasSubstr("WWW-Authenticate: Bearer")));
}

// A browser that is told of Basic asks for a password in a window of its own, whatever the page says.
TEST_F(HttpConversationTest, AScriptIsToldOfBearerAlone) {
  house.is_guarded = true;
  EXPECT_THAT(ask("GET /v1/queues HTTP/1.1\r\nHost: x\r\nX-Requested-With: console\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("WWW-Authenticate: Bearer"), Not(HasSubstr("Basic"))));
  EXPECT_THAT(ask("GET /v1/queues HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr("WWW-Authenticate: Basic"));
}

TEST_F(HttpConversationTest, WhatABrowserShowsComesFromHereAlone) {
  const std::string page = ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(page, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Encoding: gzip\r\n"),
                          HasSubstr("ETag: \"7\"\r\n"), HasSubstr("Cache-Control: no-cache\r\n"),
                          HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self';"),
                          EndsWith("\r\n\r\nzipped")));
  EXPECT_THAT(ask(kHealth), Not(HasSubstr("ETag")));
}

TEST_F(HttpConversationTest, WhatABrowserHasKeptIsNotSentAgain) {
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"7\"\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 304 Not Modified\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"6\"\r\n\r\n"), EndsWith("zipped"));
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"7\"\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpConversationTest, EachRequestSaysWhoAsks) {
  house.is_guarded = true;
  EXPECT_THAT(ask(submit_by("joe", "A")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(talk->user()->name, "joe");
  EXPECT_EQ(talk->profile().user, "joe");
  EXPECT_FALSE(talk->is_stranger());
  EXPECT_THAT(ask("GET /v1/queues/q/tasks HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("GET /v1/locks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer am9lOmpvZQ\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("NOPERM"), HasSubstr("'joe'")));
  EXPECT_EQ(house.checked, 2);
}

TEST_F(HttpConversationTest, AWrongPasswordIsRefusedAndItGoesOn) {
  house.is_guarded = true;
  EXPECT_THAT(ask("GET /v1/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Basic am9lOng=\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("GET /v1/queues HTTP/1.1\r\nHost: x\r\nAuthorization: nonsense\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(submit_by("joe", "A")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpConversationTest, NothingIsReadWhileAPasswordIsChecked) {
  house.is_guarded = house.is_slow = true;
  EXPECT_EQ(ask(submit_by("joe", "A") + submit_by("joe", "B")), "");
  EXPECT_TRUE(talk->is_signing_in());
  EXPECT_FALSE(talk->is_idle());
  EXPECT_EQ(house.checked, 1);
  say(std::string(20'000, 'x'));
  EXPECT_FALSE(talk->wants_input());
  house.later();
  EXPECT_EQ(house.told, 1);
  EXPECT_THAT(ask(""), HasSubstr(R"("task_id":"A")"));
  EXPECT_EQ(house.checked, 2);
}

TEST_F(HttpConversationTest, WhoHasGoneIsNotToldWhoItWas) {
  house.is_guarded = house.is_slow = true;
  say(submit_by("joe", "A"));
  talk->close();
  house.later();
  EXPECT_EQ(0U, tasks());
}

TEST_F(HttpConversationTest, NoLargeBodyIsReadForNobody) {
  house.is_guarded = true;
  EXPECT_THAT(ask(submit_by("nobody", "A", std::string(1000, 'x'))), StartsWith("HTTP/1.1 401 "));
  EXPECT_FALSE(talk->is_ending());
  const std::string large = submit_by("joe", "A", std::string(100'000, 'x'));
  EXPECT_THAT(ask(large), StartsWith("HTTP/1.1 200 "));
  // Answered without a byte of the body.
  EXPECT_THAT(ask("POST /v1/lease HTTP/1.1\r\nHost: x\r\nAuthorization: Basic am9lOng=\r\n"
                  "Content-Length: 100000\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("Connection: close")));
  EXPECT_TRUE(talk->is_ending());
}

TEST_F(HttpConversationTest, WhoAsksWhetherToSendTheBodyIsToldWhoMay) {
  house.is_guarded = true;
  const std::string head =
      "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\nExpect: 100-continue\r\n";
  EXPECT_THAT(ask(head + "Authorization: Basic am9lOmpvZQ==\r\n\r\n"), StartsWith("HTTP/1.1 100 "));
  EXPECT_THAT(ask(R"({"payload":"p"})"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask(head + "Authorization: Basic am9lOng=\r\n\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_TRUE(talk->is_ending());
}

TEST_F(HttpConversationTest, ACertificateStandsForWhatSaysNothingElse) {
  house.is_guarded = true;
  talk->certify("ann", house.user_named("ann"));
  EXPECT_FALSE(talk->is_stranger());
  EXPECT_THAT(ask(post("/v1/queues/q/tasks", R"({"payload":"p","id":"T"})")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(talk->user()->name, "ann");
  EXPECT_THAT(ask(submit_by("joe", "A")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(talk->user()->name, "joe");
  EXPECT_THAT(ask("GET /v1/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Basic am9lOng=\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("GET /v1/queues HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(talk->user()->name, "ann");
}

TEST_F(HttpConversationTest, AUserWhoHasGoneMeanwhileAsksNothing) {
  house.is_guarded = true;
  const std::string request = submit_by("joe", "A");
  say(request.substr(0, request.size() - 1));
  EXPECT_EQ(talk->user()->name, "joe");
  talk->sign_in(nullptr);
  EXPECT_THAT(ask(request.substr(request.size() - 1)), StartsWith("HTTP/1.1 401 "));
}

TEST_F(HttpConversationTest, HeadHasNoBody) {
  EXPECT_TRUE(ask("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n").ends_with("\r\n\r\n"));
  EXPECT_TRUE(ask(kHealth).ends_with("\r\n\r\n{}"));
}

TEST_F(HttpConversationTest, EndsWhenTheClientSaysSo) {
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), HasSubstr("Connection: close"));
  EXPECT_TRUE(talk->is_ending());
  EXPECT_FALSE(talk->wants_input());
}

TEST_F(HttpConversationTest, AnswersInTheOrderOfTheRequests) {
  const std::string answers = ask(post("/v1/tasks/a/kill", R"({"reason":"x"})") + std::string(kHealth) +
                                  "GET /v1/tasks/b HTTP/1.1\r\nHost: x\r\n\r\n");
  // What is behind a request that the engine answers waits for that answer.
  std::string rest;
  for (int i = 0; i < 3; ++i) rest += ask("");
  const std::string all = answers + rest;
  const std::size_t a = all.find("'a'");
  const std::size_t health = all.find("\r\n\r\n{}");
  const std::size_t b = all.find("'b'");
  EXPECT_LT(a, health);
  EXPECT_LT(health, b);
  EXPECT_NE(b, std::string::npos);
}

TEST_F(HttpConversationTest, WhatCannotBeReadEndsIt) {
  EXPECT_THAT(ask("nonsense\r\n\r\n" + std::string(kHealth)), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(talk->is_ending());
  EXPECT_EQ(ask(kHealth), "");
}

TEST_F(HttpConversationTest, AskedToEndItSaysSo) {
  say(post("/v1/lease", R"({"worker":"w","queues":["q"],"block_ms":60000})"));
  EXPECT_TRUE(talk->is_waiting());
  talk->end();
  world.engine->close();
  EXPECT_THAT(heard(), HasSubstr("Connection: close"));
  EXPECT_TRUE(talk->is_ending());
}

TEST_F(HttpConversationTest, ARequestArrivesInTime) {
  say("GET /hea");
  world.clock->advance(Millis{1000});
  EXPECT_FALSE(talk->check_time());
  say("l");
  world.clock->advance(Millis{1});
  EXPECT_TRUE(talk->check_time());
  EXPECT_THAT(heard(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_TRUE(talk->is_ending());
  EXPECT_FALSE(talk->check_time());
}

TEST_F(HttpConversationTest, WhoIsIdleOrWaitsIsNotLate) {
  ask(kHealth);
  world.clock->advance(Millis{5000});
  EXPECT_FALSE(talk->check_time());
  say(post("/v1/lease", R"({"worker":"w","queues":["q"],"block_ms":60000})") + "GET");
  world.clock->advance(Millis{5000});
  EXPECT_FALSE(talk->check_time());
}

TEST_F(HttpConversationTest, SaysThatTheBodyMayCome) {
  EXPECT_EQ(ask("POST /v1/queues/q/pause HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(ask("{}"), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpConversationTest, PagesOfOtherOriginsGetNothing) {
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\nHost: x\r\nOrigin: http://y\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpConversationTest, OnThisMachineAloneADomainIsNotItsName) {
  const auto status_for = [&](const std::string& host, bool is_local) {
    talk->close();
    talk = std::make_shared<HttpConversation>(*world.engine, house, *world.clock,
                                              HttpConversation::Terms{.is_local = is_local});
    return ask("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n").substr(9, 3);
  };
  for (const char* const host : {"evil.example", "evil.example:8369", "127.0.0.1.example", "localhost.example"}) {
    EXPECT_EQ(status_for(host, true), "403") << host;
    EXPECT_EQ(status_for(host, false), "200") << host;
  }
  for (const char* const host : {"127.0.0.1:8369", "localhost", "LOCALHOST:80", "[::1]:8369", "a.localhost", "box"}) {
    EXPECT_EQ(status_for(host, true), "200") << host;
  }
}

TEST_F(HttpConversationTest, AGrantOfWhichNothingWasSentIsGivenBack) {
  say(post("/v1/locks/d/1/acquire", R"({"owner":"me"})"));
  EXPECT_TRUE(world.is_held("1"));
  talk->close();
  world.engine->hand_over();
  EXPECT_FALSE(world.is_held("1"));
}

TEST_F(HttpConversationTest, AGrantOfWhichSomethingWasSentIsKept) {
  say(post("/v1/locks/d/1/acquire", R"({"owner":"me"})"));
  std::string bytes;
  talk->take_output(bytes);
  talk->delivered(1);
  talk->close();
  world.engine->hand_over();
  EXPECT_TRUE(world.is_held("1"));
}

TEST_F(HttpConversationTest, WhoIsClosedWaitsNoMore) {
  const auto grant = world.acquire("alice");
  say(post("/v1/locks/d/1/acquire", R"({"owner":"me","wait_ms":60000})"));
  EXPECT_TRUE(talk->is_waiting());
  talk->close();
  world.release(grant).value();
  EXPECT_FALSE(world.is_held("1"));
}

TEST_F(HttpConversationTest, NothingMoreIsBegunWhileOutputIsNotTaken) {
  talk = std::make_shared<HttpConversation>(*world.engine, house, *world.clock,
                                            HttpConversation::Terms{.output_bytes_max = 300});
  std::string many;
  for (int i = 0; i < 100; ++i) many += kHealth;
  say(many);
  EXPECT_LT(talk->output_bytes(), 1000U);
  std::size_t heard_bytes = 0;
  for (std::string bytes = heard(); !bytes.empty(); bytes = ask("")) heard_bytes += bytes.size();
  EXPECT_EQ(heard_bytes % 100, 0U);
  EXPECT_GT(heard_bytes, 10'000U);
}

// --- events ---

constexpr std::string_view kEvent =
    "id: 11\nevent: QueuePaused\ndata: {\"record\":\"QueuePaused\",\"at\":5,\"queue\":\"q\"}\n\n";

TEST_F(HttpConversationTest, StreamsEventsInChunks) {
  const std::string head = ask("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const char* field : {"Content-Type: text/event-stream\r\n", "Transfer-Encoding: chunked\r\n",
                            "Cache-Control: no-store\r\n", "Connection: close\r\n"}) {
    EXPECT_THAT(head, HasSubstr(field));
  }
  EXPECT_THAT(head, EndsWith("\r\n\r\n14\r\nretry: 1000\nid: 10\n\n\r\n"));
  EXPECT_TRUE(talk->is_waiting());
  EXPECT_FALSE(talk->is_ending());
  EXPECT_FALSE(talk->is_idle());
  house.tell(11);
  EXPECT_EQ(heard(), fmt::format("{:x}\r\n{}\r\n", kEvent.size(), kEvent));
  EXPECT_EQ(heard(), "");
  talk->end();
  EXPECT_EQ(heard(), "0\r\n\r\n");
  EXPECT_TRUE(talk->is_ending() && talk->is_idle() && !talk->is_waiting());
  EXPECT_TRUE(house.events.clients().empty());
}

TEST_F(HttpConversationTest, StreamsEventsToOldClientsUntilTheEnd) {
  EXPECT_THAT(ask("GET /v1/events HTTP/1.0\r\n\r\n"), EndsWith("Connection: close\r\n\r\nretry: 1000\nid: 10\n\n"));
  house.tell(11);
  EXPECT_EQ(heard(), kEvent);
  talk->end();
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(talk->is_ending() && talk->is_idle());
}

TEST_F(HttpConversationTest, GoesOnBehindTheLastEventThatWasSeen) {
  house.events.begin(10);
  house.tell(11);
  EXPECT_THAT(ask("GET /v1/events HTTP/1.1\r\nHost: x\r\nlast-event-id: 10\r\n\r\n"),
              HasSubstr(fmt::format("id: 10\n\n{}", kEvent)));
  talk->close();
  EXPECT_TRUE(house.events.clients().empty());
}

TEST_F(HttpConversationTest, ASilentStreamBeats) {
  ask("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_FALSE(talk->check_time());
  world.clock->advance(Millis{15'000});
  EXPECT_TRUE(talk->check_time());
  EXPECT_FALSE(talk->check_time());
  EXPECT_EQ(heard(), "3\r\n:\n\n\r\n");
  EXPECT_FALSE(talk->check_time());
}

TEST_F(HttpConversationTest, AStreamThatIsBehindIsCutOff) {
  ask("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  for (std::uint64_t frame = 11; frame <= 14; ++frame) house.tell(frame);
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(talk->is_ending() && talk->is_idle());
  EXPECT_TRUE(house.events.clients().empty());
}

TEST_F(HttpConversationTest, WhatIsNoStreamIsAnsweredAsEverythingElse) {
  EXPECT_THAT(ask("GET /v1/events HTTP/1.1\r\nHost: x\r\nLast-Event-ID: one\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /v1/events?x=y HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(ask("GET /v1/events HTTP/1.1\r\nHost: x\r\nOrigin: http://elsewhere\r\n\r\n"),
              StartsWith("HTTP/1.1 403 "));
  const auto other = std::move(house.open_events(99, {}).value());
  EXPECT_THAT(ask("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 429 "));
  EXPECT_FALSE(talk->is_ending());
}

TEST_F(HttpConversationTest, HeadOfAStreamIsNoStream) {
  EXPECT_THAT(ask("HEAD /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("Connection: close\r\n\r\n"));
  EXPECT_TRUE(talk->is_ending() && talk->is_idle());
  EXPECT_TRUE(house.events.clients().empty());
}

// --- other nodes ---

TEST_F(HttpConversationTest, WhatAnotherNodeLeadsIsAskedThere) {
  talk->close();
  world.engine = Engine::stand_by({}, {*world.clock, world.entropy, world.journal}).value();
  talk = std::make_shared<HttpConversation>(*world.engine, house, *world.clock, HttpConversation::Terms{});
  EXPECT_THAT(ask(post("/v1/queues/q/tasks", R"({"payload":"p"})")), StartsWith("HTTP/1.1 503 "));
  world.engine->refuse_with({ErrorCode::kMoved, "0 other:1"});
  EXPECT_THAT(ask(post("/v1/queues/q/tasks", R"({"payload":"p"})")), StartsWith("HTTP/1.1 503 "));
  house.leader = "http://other:2";
  const std::string moved = ask(post("/v1/queues/q/tasks", R"({"payload":"p"})"));
  EXPECT_THAT(moved, StartsWith("HTTP/1.1 307 Temporary Redirect\r\n"));
  EXPECT_THAT(moved, HasSubstr("\r\nLocation: http://other:2/v1/queues/q/tasks\r\n"));
  EXPECT_THAT(moved, EndsWith(R"({"error":{"code":"MOVED","message":"0 other:1"}})"));
  EXPECT_THAT(ask("GET /v1/locks?count=1 HTTP/1.1\r\nHost: x\r\n\r\n"),
              HasSubstr("\r\nLocation: http://other:2/v1/locks?count=1\r\n"));
  EXPECT_THAT(ask(kHealth), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace tenure::server
