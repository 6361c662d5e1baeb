#include "cli/place.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/faulty_files.h"

namespace tenure::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct PlaceTest : testing::Test {
  FaultyFiles files;
  std::map<std::string, std::string> variables{{"HOME", "home"}};
  PlaceOptions options;

  [[nodiscard]] Result<Place> find() {
    return find_place(files, options, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  }
  void write(const std::string& folder, const std::string& path, std::string_view text) {
    for (std::size_t end = folder.find('/'); end != std::string::npos; end = folder.find('/', end + 1)) {
      ASSERT_TRUE(files.make_folder(folder.substr(0, end)).has_value());
    }
    ASSERT_TRUE(files.make_folder(folder).has_value());
    auto file = files.open(folder + "/" + path, Files::Mode::kCreate);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE((*file)->write_at(0, text).has_value());
  }
};

TEST_F(PlaceTest, IsThisMachineIfNobodySaysAnything) {
  const auto place = find();
  ASSERT_TRUE(place.has_value());
  EXPECT_THAT(place->servers, ElementsAre("127.0.0.1:8368"));
  EXPECT_FALSE(place->is_embedded());
  EXPECT_EQ(place->timeout, Millis{10'000});
}

TEST_F(PlaceTest, IsWhatTheFlagSaysBeforeTheEnvironmentAndThatBeforeTheFile) {
  write("home/.config", "tenure.conf", "# mine\n\nserver = file:1\nuser = \"joe\"\r\ntimeout=2s\n");
  EXPECT_THAT(find()->servers, ElementsAre("file:1"));
  EXPECT_EQ(find()->user, "joe");
  EXPECT_EQ(find()->timeout, Millis{2000});
  variables["TENURE_SERVER"] = "variable:1, second:2";
  variables["TENURE_PASSWORD_FILE"] = "secret";
  EXPECT_THAT(find()->servers, ElementsAre("variable:1", "second:2"));
  EXPECT_EQ(find()->password_file, "secret");
  options.server = "flag:1";
  EXPECT_EQ(find()->name(), "flag:1");
}

TEST_F(PlaceTest, AFlagForAFolderBeatsAServerInTheEnvironment) {
  variables["TENURE_SERVER"] = "variable:1";
  options.embedded = "data";
  ASSERT_TRUE(find().has_value());
  EXPECT_TRUE(find()->is_embedded());
  EXPECT_EQ(find()->name(), "data");
}

TEST_F(PlaceTest, AServerAndAFolderAtOnceAreRefused) {
  options.embedded = "data";
  options.server = "s:1";
  EXPECT_THAT(find().error().message, AllOf(HasSubstr("data"), HasSubstr("s:1")));
}

TEST_F(PlaceTest, TlsToAFolderIsRefused) {
  options.embedded = "data";
  options.tls = true;
  EXPECT_THAT(find().error().message, HasSubstr("TLS"));
}

TEST_F(PlaceTest, AFileThatIsNamedMustBeThere) {
  options.config = "missing.conf";
  EXPECT_THAT(find().error().message, HasSubstr("missing.conf"));
}

TEST_F(PlaceTest, WhatIsWrongInAFileIsToldWithItsLine) {
  write("etc", "t.conf", "server = s:1\nsrever = t:1\n");
  variables["TENURE_CLIENT_CONFIG"] = "etc/t.conf";
  EXPECT_THAT(find().error().message, AllOf(HasSubstr("etc/t.conf, line 2"), HasSubstr("srever")));
}

TEST_F(PlaceTest, SpeaksTlsIfToldOrIfToldOfCertificates) {
  EXPECT_FALSE(find()->tls.has_value());
  options.tls = true;
  EXPECT_EQ(find()->tls.value().ca_file, "");
  options.tls = false;
  variables["TENURE_CLIENT_CERT"] = "joe.pem";
  options.ca = "ca.pem";
  EXPECT_EQ(find()->tls.value().ca_file, "ca.pem");
  EXPECT_EQ(find()->tls.value().certificate_file, "joe.pem");
}

TEST_F(PlaceTest, PlainTextIsNotSpokenToWhoeverMustHaveACertificate) {
  write("home/.config", "tenure.conf", "tls = off\n");
  EXPECT_FALSE(find()->tls.has_value());
  options.tls = true;
  EXPECT_TRUE(find()->tls.has_value());
  options.tls = false;
  options.server_name = "tenure.example";
  EXPECT_THAT(find().error().message, AllOf(HasSubstr("tls"), HasSubstr("off")));
  variables["TENURE_TLS"] = "maybe";
  EXPECT_THAT(find().error().message, AllOf(HasSubstr("on or off"), HasSubstr("maybe")));
}

TEST_F(PlaceTest, ATimeoutWithoutAUnitIsRefused) {
  options.timeout = "10";
  EXPECT_THAT(find().error().message, HasSubstr("timeout"));
  options.timeout = "0s";
  EXPECT_THAT(find().error().message, HasSubstr("more than 0"));
}

}  // namespace
}  // namespace tenure::cli
