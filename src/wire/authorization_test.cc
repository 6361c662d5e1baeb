// Names and passwords out of HTTP's Authorization.
#include "wire/authorization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace tenure::wire {
namespace {

std::string read(std::string_view field) {
  const auto found = parse_authorization(field);
  if (!found) return std::string(to_string(found.error().code));
  return fmt::format("{}|{}", *found->view().user, found->view().password);
}

TEST(AuthorizationTest, IsBasicOrBearer) {
  EXPECT_EQ("joe|secret", read("Basic " + base64("joe:secret")));
  EXPECT_EQ("joe|secret", read("bearer " + base64("joe:secret")));
  EXPECT_EQ("joe|secret", read("BASIC   " + base64("joe:secret")));
}

TEST(AuthorizationTest, APasswordMayHaveAnything) {
  EXPECT_EQ("joe|a:b c\xff", read("Basic " + base64("joe:a:b c\xff")));
  EXPECT_EQ("joe|", read("Basic " + base64("joe:")));
  EXPECT_EQ("|", read("Basic " + base64(":")));
}

TEST(AuthorizationTest, EitherAlphabetAndPaddingOrNone) {
  ASSERT_EQ("am9lOv/+/T4=", base64("joe:\xff\xfe\xfd>"));
  for (const char* token : {"am9lOv/+/T4=", "am9lOv/+/T4", "am9lOv_-_T4=", "am9lOv_-_T4"}) {
    EXPECT_EQ("joe|\xff\xfe\xfd>", read(fmt::format("Bearer {}", token)));
  }
}

TEST(AuthorizationTest, WhatIsSomethingElseIsNotRepeated) {
  for (const std::string field : {"", "Basic", "Basic ", "Basic x", "Basic am9l", "Digest am9lOnNlY3JldA==",
                                  "Basic joe:secret", "Basic am9l OnNl", "am9lOnNlY3JldA=="}) {
    EXPECT_EQ("NOAUTH", read(field)) << field;
  }
  EXPECT_THAT(parse_authorization("Basic joe:secret").error().message, ::testing::Not(::testing::HasSubstr("secret")));
}

}  // namespace
}  // namespace tenure::wire
