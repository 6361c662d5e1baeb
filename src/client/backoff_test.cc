#include "client/backoff.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

constexpr Millis kInitial{20};
constexpr Millis kLongest{2000};

TEST(BackoffTest, TheFirstTimeAtOnce) { EXPECT_EQ(Millis{0}, reconnect_pause(kInitial, kLongest, 1, 12345)); }

TEST(BackoffTest, DoublesUpToTheLongest) {
  EXPECT_EQ(Millis{20}, reconnect_pause(kInitial, kLongest, 2, 0));
  EXPECT_EQ(Millis{40}, reconnect_pause(kInitial, kLongest, 3, 0));
  EXPECT_EQ(Millis{2000}, reconnect_pause(kInitial, kLongest, 9, 0));
  EXPECT_EQ(Millis{2000}, reconnect_pause(kInitial, kLongest, 1'000'000, 0));
}

TEST(BackoffTest, ChanceTakesHalfOfItAtMost) {
  Millis least = kLongest;
  for (std::uint64_t chance = 0; chance < 5000; ++chance) {
    least = std::min(least, spread_pause(kInitial, kLongest, 20, chance));
  }
  EXPECT_EQ(kLongest / 2, least);
}

}  // namespace
}  // namespace tenure
