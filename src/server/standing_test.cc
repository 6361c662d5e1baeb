// INFO's text, and the patterns of CONFIG GET.
#include "server/standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/version.h>

namespace tenure::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string sections(const std::vector<std::string_view>& wanted) {
  Standing standing;
  standing.tasks = 3;
  return describe(standing, wanted);
}

TEST(StandingTest, TheFirstFieldIsTheVersion) {
  EXPECT_THAT(sections({}), StartsWith(fmt::format("# Server\r\ntenure_version:{}\r\n", kVersion)));
}

TEST(StandingTest, TellsTheSectionsThatAreAskedFor) {
  EXPECT_THAT(sections({"state"}), StartsWith("# State\r\n"));
  EXPECT_THAT(sections({"STATE"}), HasSubstr("\r\ntasks:3\r\n"));
  EXPECT_THAT(sections({"state"}), Not(HasSubstr("# Clients")));
  EXPECT_THAT(sections({"state", "clients"}), HasSubstr("\r\n\r\n# State"));
  EXPECT_EQ("", sections({"nothing"}));
  EXPECT_EQ(sections({}), sections({"everything"}));
}

TEST(StandingTest, JsonSaysTheSame) {
  Standing standing;
  standing.addresses = "127.0.0.1:8368";
  standing.is_stopping = true;
  const std::string text = describe_json(standing);
  EXPECT_THAT(text, StartsWith(fmt::format(R"({{"server":{{"tenure_version":"{}","process_id":)", kVersion)));
  EXPECT_THAT(text, HasSubstr(R"("addresses":"127.0.0.1:8368","http_addresses":"")"));
  EXPECT_THAT(text, HasSubstr(R"("loading":false,"stopping":true},"clients":{"connected_clients":0,)"));
  EXPECT_THAT(describe(standing, {}), HasSubstr("\r\nstopping:1\r\n"));
}

TEST(PatternTest, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "anything"));
  EXPECT_TRUE(matches("PORT", "port"));
  EXPECT_TRUE(matches("*-bytes", "output-bytes"));
  EXPECT_TRUE(matches("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(matches("p?rt", "port"));
  EXPECT_FALSE(matches("p?rt", "prt"));
  EXPECT_FALSE(matches("port", "http-port"));
  EXPECT_FALSE(matches("a*b", "a.b.c"));
  EXPECT_FALSE(matches("", "a"));
}

TEST(PatternTest, ManyStarsTakeNoLongerThanTheyMust) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "a*";
  EXPECT_FALSE(matches(pattern + "b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace tenure::server
