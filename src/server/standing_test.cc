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

TEST(StandingTest, OneOfSeveralTellsOfTheOthers) {
  Standing standing;
  standing.node = NodeStanding{
      .self = NodeAddress::parse("a:1,2"),
      .role = NodeStanding::Role::kFollower,
      .epoch = 7,
      .leader = NodeAddress::parse("b:1,2"),
      .applied = 40,
      .lag = 2,
      .peers = {
          {.address = NodeAddress::parse("b:1,2"), .role = NodeStanding::Role::kLeader, .applied = 42, .lag = 0}}};
  EXPECT_THAT(describe(standing, std::vector<std::string_view>{"server"}), HasSubstr("\r\nrole:slave\r\n"));
  EXPECT_THAT(describe(standing, std::vector<std::string_view>{"cluster"}),
              StartsWith("# Cluster\r\nnode:a:1\r\nnode_role:follower\r\nleader:b:1\r\nleader_http:b:2\r\nepoch:7\r\n"
                         "applied_frame:40\r\nlag_frames:2\r\n"
                         "node0:address=b:1,http=b:2,role=leader,applied_frame=42,lag_frames=0\r\n"));
  EXPECT_THAT(
      describe_json(standing),
      HasSubstr(R"("nodes":[{"address":"b:1","http":"b:2","role":"leader","applied_frame":42,"lag_frames":0}])"));
  EXPECT_THAT(describe_metrics(standing), HasSubstr("\ntenure_leading 0\n"));
  EXPECT_THAT(describe_metrics(standing), HasSubstr("\ntenure_lag_frames 2\n"));
  EXPECT_THAT(describe_metrics(Standing()), Not(HasSubstr("tenure_leading")));
}

TEST(SettingPatternTest, CaseDoesNotMatter) {
  EXPECT_TRUE(matches("PORT", "port"));
  EXPECT_TRUE(matches("*-bytes", "output-bytes"));
  EXPECT_FALSE(matches("port", "http-port"));
}

}  // namespace
}  // namespace tenure::server
