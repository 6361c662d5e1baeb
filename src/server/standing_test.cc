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
  standing.engine.tasks.waiting = 2;
  standing.engine.tasks.dead = 1;
  standing.signed_in = 4;
  standing.refused_sign_ins = 5;
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
  EXPECT_THAT(sections({"clients"}), HasSubstr("\r\nsigned_in_clients:4\r\nrefused_sign_ins:5\r\n"));
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
  EXPECT_THAT(text, HasSubstr(R"("loading":false,"stopping":true,)"));
  EXPECT_THAT(text, HasSubstr(R"("replay_seconds":0},"clients":{"connected_clients":0,)"));
  EXPECT_THAT(describe(standing, {}), HasSubstr("\r\nstopping:1\r\n"));
}

TEST(SettingPatternTest, CaseDoesNotMatter) {
  EXPECT_TRUE(matches("PORT", "port"));
  EXPECT_TRUE(matches("*-bytes", "output-bytes"));
  EXPECT_FALSE(matches("port", "http-port"));
}

}  // namespace
}  // namespace tenure::server
