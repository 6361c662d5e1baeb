#include "wire/openapi.h"

#include <set>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include "wire/routes.h"
#include "wire/verbs.h"

namespace tenure::wire {
namespace {

const boost::json::object& description() {
  static const boost::json::value parsed = boost::json::parse(openapi_document());
  return parsed.as_object();
}

TEST(OpenApiTest, EveryRouteIsDescribed) {
  const auto& paths = description().at("paths").as_object();
  std::set<std::string> ids;
  for (const Verb* verb : all_verbs()) {
    for (const std::string_view path : {verb->route.path, verb->route.longer_path}) {
      if (path.empty()) continue;
      const auto& operation = paths.at(path).at(verb->route.method == "GET" ? "get" : "post").as_object();
      EXPECT_TRUE(ids.insert(std::string(operation.at("operationId").as_string())).second) << verb->name;
      EXPECT_EQ(operation.contains("requestBody"), verb->route.method == "POST") << verb->name;
      EXPECT_TRUE(operation.at("responses").as_object().contains("200")) << verb->name;
      EXPECT_TRUE(operation.at("responses").as_object().contains("4XX")) << verb->name;
    }
  }
  for (const ServerPage& page : server_pages()) EXPECT_TRUE(paths.contains(page.path)) << page.path;
}

TEST(OpenApiTest, WhatIsRequiredOfAGetIsInItsPath) {
  const auto& paths = description().at("paths").as_object();
  for (const Verb* verb : all_verbs()) {
    if (verb->route.method != "GET") continue;
    std::set<std::string> required;
    for (const auto& parameter : paths.at(verb->route.path).at("get").at("parameters").as_array()) {
      EXPECT_EQ(parameter.at("required").as_bool(), parameter.at("in").as_string() == "path") << verb->name;
      if (parameter.at("required").as_bool()) required.emplace(parameter.at("name").as_string());
    }
    std::set<std::string> needed;
    for (const Argument& argument : verb->arguments) {
      if (argument.form == Form::kRequired) needed.emplace(traits_of(argument.field).json);
    }
    EXPECT_EQ(required, needed) << verb->name;
  }
}

TEST(OpenApiTest, ParametersAndMembersAreTheTables) {
  const auto& submit = description().at("paths").at("/v1/queues/{queue}/tasks").at("post").as_object();
  EXPECT_EQ(boost::json::serialize(submit.at("parameters")),
            R"([{"name":"queue","in":"path","required":true,"schema":{"type":"string","minLength":1,"maxLength":255,)"
            R"("pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}}])");
  const auto& members =
      submit.at("requestBody").at("content").at("application/json").at("schema").at("properties").as_object();
  for (const char* name : {"payload", "payload_base64", "id", "request_id", "window_ms", "backoff_initial_ms",
                           "backoff_max_ms", "delay_ms", "priority", "key"}) {
    EXPECT_TRUE(members.contains(name)) << name;
  }
  EXPECT_FALSE(members.contains("queue"));
  EXPECT_EQ(boost::json::serialize(members.at("priority")),
            R"({"type":"integer","format":"int64","minimum":0,"maximum":9})");
}

TEST(OpenApiTest, AnswersAreAsTheyAreWritten) {
  const auto& paths = description().at("paths").as_object();
  const auto answer = [&](const char* path, const char* method) {
    return boost::json::serialize(
        paths.at(path).at(method).at("responses").at("200").at("content").at("application/json").at("schema"));
  };
  EXPECT_EQ(answer("/v1/tasks/{task_id}/complete", "post"),
            R"({"type":"object","additionalProperties":false,"required":["verdict"],"properties":{"verdict":)"
            R"({"type":"string","enum":["COMMITTED","CANCELLED"]}}})");
  EXPECT_EQ(answer("/v1/work/{domain}/succeed", "post"),
            R"({"oneOf":[{"type":"object","additionalProperties":false,"required":["verdict"],"properties":{"verdict":)"
            R"({"type":"string","enum":["NO_BACKLOG"]}}},{"type":"object","additionalProperties":false,"required":)"
            R"(["verdict","offset"],"properties":{"verdict":{"type":"string","enum":["NEXT_HINT"]},"offset":)"
            R"({"type":"integer","format":"int64"}}}]})");
}

}  // namespace
}  // namespace tenure::wire
