// Arguments by name: bad ones each have their code, and a message that names the member, what was expected and what
// was found.
#include "wire/named_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kPayloadMax = 100;

// A verb's request, of a query or a body. It owns what the request views.
struct Reading {
  explicit Reading(std::string_view verb) : arguments(*find_verb_named(verb), kPayloadMax) {}

  // "OK", or the fault.
  std::string finish(std::optional<Failure> fault) {
    if (!fault) fault = arguments.make(request);
    return fault ? fmt::format("{} {}", to_string(fault->code), fault->message) : "OK";
  }
  std::string body(std::string_view text) { return finish(arguments.take_body(text)); }
  std::string query(std::string_view text) { return finish(arguments.take_query(text)); }

  NamedArguments arguments;
  Request request;
};

std::string body_of(std::string_view verb, std::string_view text) { return Reading(verb).body(text); }
std::string query_of(std::string_view verb, std::string_view text) { return Reading(verb).query(text); }
// A submission's other members.
std::string submit(const std::string& members) {
  return body_of("TASK.SUBMIT", R"({"queue":"q","payload":"p",)" + members + "}");
}

TEST(NamedArgumentsTest, EveryOptionOfASubmission) {
  Reading reading("TASK.SUBMIT");
  EXPECT_EQ("OK", reading.body(R"({"queue":"q","payload":"p\u0000\n","id":"T","request_id":"R","window_ms":1,)"
                               R"("retries":2,"backoff_max_ms":4,"backoff_initial_ms":3,"attempts":5,"delay_ms":6,)"
                               R"("priority":7,"key":"k"} )"));
  const auto& made = std::get<Submission>(reading.request);
  EXPECT_EQ(made.queue, "q");
  EXPECT_EQ(made.payload, std::string_view("p\0\n", 3));
  EXPECT_EQ(made.id, "T");
  EXPECT_EQ(made.request_id, "R");
  EXPECT_EQ(made.window, Millis{1});
  EXPECT_EQ(made.retries, 2);
  EXPECT_EQ(made.backoff_initial, Millis{3});
  EXPECT_EQ(made.backoff_max, Millis{4});
  EXPECT_EQ(made.attempts, 5);
  EXPECT_EQ(made.delay, Millis{6});
  EXPECT_EQ(made.priority, 7);
  EXPECT_EQ(made.key, "k");
}

TEST(NamedArgumentsTest, QueuesAreAnArray) {
  Reading reading("TASK.LEASE");
  EXPECT_EQ("OK", reading.body(R"({"worker":"w","queues":["a","b"],"count":2,"block_ms":9})"));
  const auto& made = std::get<LeaseTasks>(reading.request);
  EXPECT_THAT(made.request.queues, ::testing::ElementsAre("a", "b"));
  EXPECT_EQ(made.request.count, 2);
  EXPECT_EQ(made.block, Millis{9});
  const auto queues = [](const std::string& text) {
    return body_of("TASK.LEASE", R"({"worker":"w","queues":)" + text + "}");
  };
  EXPECT_EQ(queues("[]"), "INVALID queues: expected 1 to 1000, found 0");
  EXPECT_EQ(queues(R"("a")"), "ERR queues: expected an array of strings, found the string 'a'");
  EXPECT_EQ(queues("[1]"), "ERR queues: expected an array of strings, found a number in it");
  EXPECT_EQ(queues(R"([["a"]])"), "ERR queues: expected an array of strings, found an array in it");
  EXPECT_THAT(queues(R"(["a",""])"), StartsWith("INVALID queues: expected"));
  std::string many = "[\"q\"";
  for (int i = 0; i < 1000; ++i) many += ",\"q\"";
  EXPECT_EQ(queues(many + "]"), "INVALID queues: expected at most 1000, found more");
}

TEST(NamedArgumentsTest, FlagsAreBooleans) {
  const auto fail = [](const std::string& final) {
    Reading reading("TASK.FAIL");
    const std::string told = reading.body(R"({"task_id":"T","lease_id":"L","reason":"r","final":)" + final + "}");
    return told == "OK" ? std::string(std::get<FailureReport>(reading.request).final ? "final" : "not final") : told;
  };
  EXPECT_EQ(fail("true"), "final");
  EXPECT_EQ(fail("false"), "not final");
  EXPECT_EQ(fail("1"), "ERR final: expected true or false, found 1");
  EXPECT_EQ(fail("\"true\""), "ERR final: expected true or false, found the string 'true'");
  EXPECT_EQ(query_of("TASK.FAIL", "task_id=T&lease_id=L&reason=r&final=true"),
            "ERR final: expected true or false, found the string 'true'");
}

TEST(NamedArgumentsTest, OnlyIntegersAreIntegers) {
  EXPECT_EQ(submit(R"("delay_ms":1.0)"), "ERR delay_ms: expected an integer, found '1.0'");
  EXPECT_EQ(submit(R"("delay_ms":1e3)"), "ERR delay_ms: expected an integer, found '1e3'");
  EXPECT_EQ(submit(R"("delay_ms":"1")"), "ERR delay_ms: expected an integer, found the string '1'");
  EXPECT_EQ(submit(R"("delay_ms":null)"), "ERR delay_ms: expected an integer, found null");
  EXPECT_EQ(submit(R"("delay_ms":true)"), "ERR delay_ms: expected an integer, found true");
  EXPECT_EQ(submit(R"("delay_ms":[1])"), "ERR delay_ms: expected an integer, found an array");
  EXPECT_EQ(submit(R"("delay_ms":{})"), "ERR delay_ms: expected an integer, found an object");
  EXPECT_EQ(submit(R"("delay_ms":-1)"), "INVALID delay_ms: expected 0 to 31622400000, found -1");
  EXPECT_EQ(submit(R"("delay_ms":99999999999999999999)"),
            "INVALID delay_ms: expected 0 to 31622400000, found '99999999999999999999'");
  EXPECT_EQ(submit(R"("priority":10)"), "INVALID priority: expected 0 to 9, found 10");
}

TEST(NamedArgumentsTest, ALongNumberIsCutShort) {
  EXPECT_EQ(submit("\"key\":" + std::string(32, '1')), "ERR key: expected a string, found " + std::string(32, '1'));
  EXPECT_EQ(submit("\"key\":" + std::string(33, '1')),
            "ERR key: expected a string, found " + std::string(32, '1') + "...");
}

TEST(NamedArgumentsTest, ABackoffHasTwoMembers) {
  EXPECT_EQ(submit(R"("backoff_initial_ms":1)"), "ERR backoff_max_ms: expected an integer, found nothing");
  EXPECT_EQ(submit(R"("backoff_max_ms":1)"), "ERR backoff_initial_ms: expected an integer, found nothing");
  EXPECT_EQ(submit(R"("backoff_initial_ms":2,"backoff_max_ms":1)"),
            "INVALID backoff_initial_ms: expected 0 to 1, found 2");
  EXPECT_EQ(submit(R"("backoff_max_ms":1,"backoff_max_ms":1)"), "ERR backoff_max_ms: expected once, found twice");
  EXPECT_EQ(submit(R"("backoff_max_ms":"1")"), "ERR backoff_max_ms: expected an integer, found the string '1'");
  EXPECT_EQ(submit(R"("backoff_max_ms":1.5)"), "ERR backoff_max_ms: expected an integer, found '1.5'");
  EXPECT_EQ(submit(R"("backoff_initial_ms":-1)"), "INVALID backoff_initial_ms: expected 0 to 31622400000, found -1");
}

TEST(NamedArgumentsTest, BytesMayBeInBase64) {
  Reading reading("TASK.SUBMIT");
  EXPECT_EQ("OK", reading.body(R"({"queue":"q","payload_base64":"/wA="})"));
  EXPECT_EQ(std::get<Submission>(reading.request).payload, std::string_view("\xff\0", 2));
  EXPECT_EQ(body_of("TASK.SUBMIT", R"({"queue":"q","payload_base64":"/wA"})"),
            "ERR payload_base64: expected base64, found '/wA'");
  EXPECT_EQ(submit(R"("payload_base64":"/wA=")"), "ERR payload_base64: expected once, found twice");
  EXPECT_EQ(submit(R"("key_base64":"/wA=")").substr(0, 16), "ERR TASK.SUBMIT:");
}

TEST(NamedArgumentsTest, TheSameLimitsCount) {
  EXPECT_THAT(body_of("TASK.SUBMIT", R"({"queue":"q","payload":")" + std::string(101, 'x') + "\"}"),
              StartsWith("TOOLARGE payload: "));
  EXPECT_THAT(submit(R"("id":")" + std::string(256, 'x') + "\""), StartsWith("INVALID id: "));
  EXPECT_THAT(submit(R"("id":"a\u0001b")"), StartsWith("INVALID id: "));
  EXPECT_THAT(submit(R"("request_id":"")"), StartsWith("INVALID request_id: "));
  EXPECT_THAT(body_of("LOCK.ACQUIRE", R"({"domain":"a::b","identifier":"i","owner":"o"})"),
              StartsWith("INVALID domain: "));
}

TEST(NamedArgumentsTest, UnknownMembersAndThoseGivenTwiceAreErrors) {
  EXPECT_EQ(body_of("TASK.KILL", R"({"task_id":"T","why":"x"})"),
            "ERR TASK.KILL: expected one of task_id, reason, found 'why'");
  EXPECT_EQ(body_of("TASK.KILL", R"({"task_id":"T","task_id":"T","reason":"x"})"),
            "ERR task_id: expected once, found twice");
  EXPECT_EQ(submit(R"("ID":"T")").substr(0, 16), "ERR TASK.SUBMIT:");
  EXPECT_EQ(body_of("LOCK.ACQUIRE", R"({"who":"me"})"),
            "ERR LOCK.ACQUIRE: expected one of domain, identifier, owner, lease_ms, wait_ms, request_id, space, found "
            "'who'");
  EXPECT_EQ(body_of("RESET", R"({"who":"me"})"), "ERR RESET: expected one of none, found 'who'");
  for (const char* value : {"1", "{}", "[]"}) {
    EXPECT_EQ(body_of("TASK.KILL", fmt::format("{{\"\":{}}}", value)),
              "ERR TASK.KILL: expected one of task_id, reason, found ''")
        << value;
  }
}

TEST(NamedArgumentsTest, WhatIsMissingIsNamed) {
  EXPECT_EQ(body_of("TASK.SUBMIT", R"({"queue":"q"})"), "ERR payload: expected a string, found nothing");
  EXPECT_EQ(body_of("TASK.SUBMIT", ""), "ERR queue: expected a string, found nothing");
  EXPECT_EQ(body_of("WORK.ACQUIRE", R"({"domain":"d"})"), "ERR offset: expected an integer, found nothing");
  EXPECT_EQ(body_of("WORK.EXTEND", R"({"domain":"d","token":"t"})"),
            "ERR lease_ms: expected an integer, found nothing");
}

TEST(NamedArgumentsTest, TheLeftmostFaultIsTold) {
  EXPECT_EQ(submit(R"("delay_ms":-1,"nonsense":1)").substr(0, 17), "INVALID delay_ms:");
  EXPECT_EQ(submit(R"("nonsense":1,"delay_ms":-1)").substr(0, 16), "ERR TASK.SUBMIT:");
}

TEST(NamedArgumentsTest, NothingIsBoundOverHttp) {
  EXPECT_THAT(body_of("LOCK.ACQUIRE", R"({"domain":"d","identifier":"i","owner":"o","bound":true})"),
              StartsWith("INVALID bound: "));
}

TEST(NamedArgumentsTest, InvalidJsonIsAnError) {
  for (const char* text : {"{", "}", "nonsense", "{\"queue\"}", "{\"queue\":}", "{\"queue\":\"q\",}", "{'queue':'q'}",
                           "{} {}", "{}x", "{\"queue\":\"q\"",

                           "{\"queue\":\"\\x\"}", "{\"queue\":\"\\ud800\"}", "\xef\xbb\xbf{}", "{\"queue\":\"\xff\"}",
                           "{\"\xff\":1}", "{\"queue\":\"\xc0\xaf\"}", "// c\n{}", "{\"queue\":NaN}", " "}) {
    EXPECT_THAT(body_of("TASK.SUBMIT", text), StartsWith("ERR body: expected a JSON object")) << text;
  }
  EXPECT_EQ(body_of("TASK.SUBMIT", "[]"), "ERR body: expected an object, found an array");
  EXPECT_EQ(body_of("TASK.SUBMIT", "7"), "ERR body: expected an object, found a number");
  EXPECT_EQ(body_of("TASK.SUBMIT", "null"), "ERR body: expected an object, found null");
}

TEST(NamedArgumentsTest, NestingEndsTheReading) {
  EXPECT_EQ(submit(R"("key":{"a":{"b":{}}})"), "ERR key: expected a string, found an object");
  EXPECT_THAT(body_of("TASK.SUBMIT", std::string(1'000'000, '[')), StartsWith("ERR body: "));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"queue\":";
  EXPECT_EQ(body_of("TASK.SUBMIT", deep), "ERR queue: expected a string, found an object");
}

TEST(NamedArgumentsTest, QueriesArePairs) {
  Reading reading("TASK.LIST");
  EXPECT_EQ("OK", reading.query("queue=a+b%2Bc%20d&&state=DEAD&count=7"));
  const auto& made = std::get<ListTasks>(reading.request);
  EXPECT_EQ(made.queue, "a b+c d");
  EXPECT_EQ(made.state, TaskState::kDead);
  EXPECT_EQ(made.paging.count, 7);
  EXPECT_EQ(query_of("QUEUE.LIST", "count=x"), "ERR count: expected an integer, found 'x'");
  EXPECT_EQ(query_of("QUEUE.LIST", "count"), "ERR count: expected an integer, found ''");
  EXPECT_EQ(query_of("QUEUE.LIST", "count=1&count=1"), "ERR count: expected once, found twice");
  EXPECT_EQ(query_of("QUEUE.LIST", "counts=1"), "ERR QUEUE.LIST: expected one of count, cursor, found 'counts'");
  EXPECT_THAT(query_of("QUEUE.LIST", "cursor=x"), StartsWith("INVALID cursor: "));
  EXPECT_THAT(query_of("QUEUE.LIST", "count=%"), HasSubstr("expected two hexadecimal digits behind %, found '%'"));
  EXPECT_THAT(query_of("QUEUE.LIST", "%zz=1"), StartsWith("ERR path or query: "));
  for (const std::string digits : {"/1", ":1", "G1", "`1", "g1", "1/"}) {
    EXPECT_EQ(query_of("QUEUE.LIST", "count=%" + digits),
              fmt::format("ERR path or query: expected two hexadecimal digits behind %, found '%{}'", digits));
  }
  EXPECT_EQ(query_of("QUEUE.LIST", "count=%4A%4a"), "ERR count: expected an integer, found 'JJ'");
  EXPECT_THAT(query_of("TASK.LIST", "queue=%ff"), StartsWith("INVALID queue: "));
  EXPECT_THAT(query_of("TASK.LIST", "queue=%00"), StartsWith("INVALID queue: "));
}

RC_GTEST_PROP(NamedArgumentsPropertyTest, AnyBodyIsARequestOrACodedFault, (const std::string& bytes)) {
  const auto verb = *rc::gen::elementOf(std::vector<const Verb*>(all_verbs().begin(), all_verbs().end()));
  Reading reading(verb->name);
  const std::string told = reading.body(bytes);
  RC_ASSERT(told == "OK" || told.starts_with("ERR ") || told.starts_with("INVALID "));
}

}  // namespace
}  // namespace tenure::wire
