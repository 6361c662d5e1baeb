// What the server is told, by flags, by the environment and by a file.
#include "server/config.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace tenure::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::variant<Config, Farewell> read(std::vector<const char*> words) {
  words.insert(words.begin(), "tenured");
  return read_config(static_cast<int>(words.size()), words.data());
}

Config accepted(const std::vector<const char*>& words) {
  auto config = read(words);
  if (const auto* farewell = std::get_if<Farewell>(&config)) ADD_FAILURE() << farewell->text;
  return std::get<Config>(config);
}

Farewell refused(const std::vector<const char*>& words) {
  auto config = read(words);
  EXPECT_TRUE(std::holds_alternative<Farewell>(config));
  return std::get<Farewell>(config);
}

TEST(ConfigTest, HasDefaults) {
  const Config config = accepted({});
  EXPECT_EQ("tenure-data", config.folder);
  EXPECT_THAT(config.binds, ElementsAre("127.0.0.1"));
  EXPECT_EQ(8368, config.port);
  EXPECT_EQ(8369, config.http_port);
  EXPECT_FALSE(config.is_insecure);
  EXPECT_EQ("", config.users);
  EXPECT_EQ(Millis{10'000}, config.clients.sign_in);
  EXPECT_EQ(1'000U, config.clients.strangers);
  EXPECT_FALSE(config.tls.is_given());
  EXPECT_EQ(10'000U, config.clients.connections);
  EXPECT_EQ(Settings().waiters_max, config.settings.waiters_max);
}

TEST(ConfigTest, TakesFlags) {
  const Config config = accepted({"--data",
                                  "d",
                                  "--bind",
                                  "127.0.0.1",
                                  "--bind",
                                  "::1",
                                  "--port",
                                  "0",
                                  "--http-port",
                                  "1",
                                  "--insecure",
                                  "--stalled-ms",
                                  "5",
                                  "--retention-ms",
                                  "6",
                                  "--users",
                                  "u",
                                  "--sign-in-ms",
                                  "7",
                                  "--tls-cert",
                                  "c",
                                  "--tls-key",
                                  "k",
                                  "--tls-client-ca",
                                  "a",
                                  "--strangers",
                                  "8"});
  EXPECT_EQ("d", config.folder);
  EXPECT_THAT(config.binds, ElementsAre("127.0.0.1", "::1"));
  EXPECT_EQ(0, config.port);
  EXPECT_EQ(1, config.http_port);
  EXPECT_TRUE(config.is_insecure);
  EXPECT_EQ(Millis{5}, config.clients.stalled);
  EXPECT_EQ(Millis{7}, config.clients.sign_in);
  EXPECT_EQ("u", config.users);
  EXPECT_EQ("c", config.tls.certificate);
  EXPECT_EQ("k", config.tls.key);
  EXPECT_EQ("a", config.tls.client_ca);
  EXPECT_EQ(8U, config.clients.strangers);
  EXPECT_EQ(Millis{6}, config.settings.retention_time);
}

TEST(ConfigTest, UnderstandsUnitsOfBytes) {
  const Config config = accepted({"--request-bytes", "2mb", "--payload-bytes", "3 kb", "--state-bytes", "1073741824"});
  EXPECT_EQ(2U << 20, config.clients.request_bytes);
  EXPECT_EQ(3U << 10, config.settings.payload_bytes_max);
  EXPECT_EQ(1U << 30, config.settings.state_bytes_max);
}

TEST(ConfigTest, ShowsEveryOptionWithItsValue) {
  const Config config = accepted({"--waiters", "7", "--request-bytes", "2mb"});
  EXPECT_THAT(config.shown, AllOf(Contains(Pair("waiters", "7")), Contains(Pair("request-bytes", "2097152")),
                                  Contains(Pair("port", "8368")), Contains(Pair("stalled-ms", "60000"))));
}

TEST(ConfigTest, AJournalInEtcdTakesTheFoldersPlace) {
  const Config config = accepted({"--journal", "etcd://a,b/p", "--advertise", "h:1", "--leadership-ms", "3000"});
  EXPECT_TRUE(config.cluster.is_given());
  EXPECT_EQ("etcd://a,b/p", config.cluster.journal);
  EXPECT_EQ("h:1", config.cluster.advertise);
  EXPECT_EQ(Millis{3000}, config.cluster.leadership);
  EXPECT_EQ("", config.folder);
  EXPECT_EQ(512U << 10, config.settings.payload_bytes_max);
  EXPECT_THAT(config.shown, Contains(Pair("payload-bytes", "524288")));
  EXPECT_FALSE(accepted({}).cluster.is_given());
  EXPECT_THAT(refused({"--journal", "etcd://a/p", "--data", "d"}).text, HasSubstr("found both"));
  EXPECT_THAT(refused({"--journal", "etcd://a/p", "--payload-bytes", "1mb"}).text,
              HasSubstr("expected at most 524288 with --journal, found 1048576"));
}

TEST(ConfigTest, RefusesWhatItDoesNotUnderstand) {
  for (const auto& words : std::vector<std::vector<const char*>>{{"--prot", "1"},
                                                                 {"--port", "65536"},
                                                                 {"--port", "-1"},
                                                                 {"--port", "many"},
                                                                 {"--connections", "0"},
                                                                 {"--request-bytes", "1"},
                                                                 {"--stalled-ms", "0"},
                                                                 {"--config", "/missing/file"},
                                                                 {"more"}}) {
    const Farewell farewell = refused(words);
    EXPECT_EQ(2, farewell.status) << words[0];
    EXPECT_THAT(farewell.text, AllOf(HasSubstr(words[0]), HasSubstr("--help")));
  }
}

TEST(ConfigTest, SaysWhichNumberWasExpected) {
  EXPECT_THAT(refused({"--port", "many"}).text,
              HasSubstr("--port: expected a whole number from 0 to 65535, found 'many'"));
  EXPECT_THAT(refused({"--stalled-ms", "-1"}).text,
              HasSubstr("--stalled-ms: expected a whole number from 1 to 31622400000, found '-1'"));
  EXPECT_THAT(refused({"--request-bytes", "1b"}).text,
              HasSubstr("--request-bytes: expected a whole number from 1024 to 9223372036854775807, found '1'"));
}

TEST(ConfigTest, TellsTheFileWhoseLineItDoesNotUnderstand) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/tenured.conf";
  std::ofstream(path) << "port = 1\nprot = 2\n";
  EXPECT_THAT(refused({"--config", path.c_str()}).text, AllOf(HasSubstr(path), HasSubstr("found"), HasSubstr("prot")));
}

TEST(ConfigTest, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(0, refused({"--help"}).status);
  EXPECT_THAT(refused({"--help"}).text, AllOf(HasSubstr("--output-bytes"), HasSubstr("TENURE_PORT")));
  EXPECT_THAT(refused({"--version"}).text, HasSubstr("tenured "));
}

}  // namespace
}  // namespace tenure::server
