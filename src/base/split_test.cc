#include "base/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::ElementsAre;

TEST(SplitTest, PartsMayBeEmpty) {
  EXPECT_THAT(split("a b", ' '), ElementsAre("a", "b"));
  EXPECT_THAT(split("a", ' '), ElementsAre("a"));
  EXPECT_THAT(split("", ' '), ElementsAre(""));
  EXPECT_THAT(split(" a  ", ' '), ElementsAre("", "a", "", ""));
}

}  // namespace
}  // namespace tenure
