// Paths: how they are taken apart, and where they lead.
#include "wire/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::wire {
namespace {

using ::testing::StartsWith;

// The verb or page with its arguments, or the status and the fault.
std::string way(std::string_view method, std::string_view target) {
  const auto found = find_destination(method, target);
  if (!found) {
    return fmt::format("{} {} {}", found.error().status, to_string(found.error().failure.code),
                       found.error().failure.message);
  }
  std::string text(found->verb != nullptr ? found->verb->name : found->page->path);
  for (const auto& [name, value] : found->arguments) text += fmt::format(" {}={}", name, value);
  return found->query.empty() ? text : fmt::format("{} ?{}", text, found->query);
}

TEST(RoutesTest, EveryRouteLeadsToItsVerb) {
  for (const Verb* verb : all_verbs()) {
    for (const std::string_view path : {verb->route.path, verb->route.longer_path}) {
      if (path.empty()) continue;
      const auto found = find_destination(verb->route.method, path);
      ASSERT_TRUE(found.has_value()) << path;
      EXPECT_EQ(found->verb, verb) << path;
    }
  }
  for (const ServerPage& page : server_pages()) EXPECT_EQ(way("GET", page.path), page.path);
}

TEST(RoutesTest, ArgumentsAreInThePath) {
  EXPECT_EQ(way("GET", "/v1/tasks/T1/wait?block_ms=5"), "TASK.WAIT task_id=T1 ?block_ms=5");
  EXPECT_EQ(way("POST", "/v1/locks/orders/12345/acquire"), "LOCK.ACQUIRE domain=orders identifier=12345");
  EXPECT_EQ(way("GET", "/v1/locks"), "LOCK.LIST");
  EXPECT_EQ(way("GET", "/v1/locks/orders"), "LOCK.LIST domain=orders");
  EXPECT_EQ(way("HEAD", "/v1/locks/orders"), "LOCK.LIST domain=orders");
}

TEST(RoutesTest, SegmentsAreDecodedOnce) {
  EXPECT_EQ(way("GET", "/v1/tasks/a%2Fb"), "TASK.GET task_id=a/b");
  EXPECT_EQ(way("GET", "/v1/tasks/a%252Fb"), "TASK.GET task_id=a%2Fb");
  EXPECT_EQ(way("GET", "/v1/tasks/a+b%20c"), "TASK.GET task_id=a+b c");
  EXPECT_EQ(way("GET", "/v1/t%61sks/T"), "TASK.GET task_id=T");
  EXPECT_EQ(way("GET", "/v1%2Ftasks/T"),
            "404 NOTFOUND path: expected one that /openapi.json lists, found "
            "'/v1%2Ftasks/T'");
  for (const char* path : {"/v1/tasks/%", "/v1/tasks/%4", "/v1/tasks/%zz", "/v1/tasks/%4g", "/%"}) {
    EXPECT_THAT(way("GET", path), StartsWith("400 ERR path or query: expected two hexadecimal digits")) << path;
  }
}

TEST(RoutesTest, DotsMeanNothing) {
  EXPECT_EQ(way("GET", "/v1/tasks/.."), "TASK.GET task_id=..");
  EXPECT_EQ(way("GET", "/v1/tasks/%2e%2e/history"), "TASK.HISTORY task_id=..");
  EXPECT_THAT(way("GET", "/v1/../healthz"), StartsWith("404 "));
  EXPECT_THAT(way("GET", "/./healthz"), StartsWith("404 "));
}

TEST(RoutesTest, EmptySegmentsLeadNowhere) {
  for (const char* path : {"", "//", "/v1", "/v1/", "//v1/queues", "/v1/queues/", "/v1/tasks//history", "/v1/locks//x",
                           "healthz", "*", "/healthz/", "/v1/tasks/a/b/c", "?x"}) {
    EXPECT_THAT(way("GET", path), StartsWith("404 NOTFOUND ")) << path;
  }
}

TEST(RoutesTest, AHostBeforeThePathIsPassedOver) {
  EXPECT_EQ(way("GET", "http://127.0.0.1:8369/v1/tasks/T?x"), "TASK.GET task_id=T ?x");
  EXPECT_EQ(way("GET", "https://localhost:8369/v1/tasks/T?x"), "TASK.GET task_id=T ?x");
  EXPECT_EQ(way("GET", "http://host"), "/");
}

TEST(RoutesTest, AKnownPathHasItsMethods) {
  EXPECT_EQ(way("PUT", "/v1/lease"), "405 ERR method: expected POST, found 'PUT'");
  EXPECT_EQ(way("post", "/v1/lease"), "405 ERR method: expected POST, found 'post'");
  EXPECT_EQ(find_destination("PATCH", "/v1/queues/q/tasks").error().allow, "POST, GET, HEAD");
  EXPECT_EQ(find_destination("POST", "/healthz").error().allow, "GET, HEAD");
}

}  // namespace
}  // namespace tenure::wire
