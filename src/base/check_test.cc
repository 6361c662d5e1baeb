// Always-on checks.
#include "base/check.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

TEST(CheckTest, ACheckThatHoldsCostsNothingElse) {
  int asked = 0;
  const auto found = [&] { return ++asked; };
  TENURE_CHECK(asked == 0, "asked {} times", found());
  EXPECT_EQ(0, asked);
}

TEST(CheckDeathTest, ACheckThatFailsSaysWhereWhatAndWhy) {
  const int found = 3;
  EXPECT_DEATH(TENURE_CHECK(found == 2, "{} of them", found),
               "tenure: bug: .*check_test.cc:[0-9]+: expected found == 2; found: 3 of them");
}

}  // namespace
}  // namespace tenure
