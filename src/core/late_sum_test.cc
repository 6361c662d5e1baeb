#include "core/late_sum.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Thing {
  std::string name;
  std::uint32_t late = kNotLate;
};

std::vector<std::string> clear(LateSum<Thing>& late) {
  std::vector<std::string> names;
  late.clear([&](const Thing& thing) { names.push_back(thing.name); });
  return names;
}

TEST(LateSumTest, ClearsWhatHasJoinedAndNotLeft) {
  LateSum<Thing> late;
  Thing a{"a"};
  Thing b{"b"};
  Thing c{"c"};
  EXPECT_FALSE(late.leave(a));
  for (Thing* thing : {&a, &b, &c}) EXPECT_FALSE(late.join(*thing));
  EXPECT_TRUE(late.leave(a));
  EXPECT_FALSE(late.leave(a));
  EXPECT_THAT(clear(late), UnorderedElementsAre("b", "c"));
  EXPECT_FALSE(late.leave(b));
  EXPECT_THAT(clear(late), IsEmpty());
}

TEST(LateSumTest, WhatHasLeftMayJoinAgain) {
  LateSum<Thing> late;
  Thing a{"a"};
  Thing b{"b"};
  EXPECT_FALSE(late.join(a));
  EXPECT_FALSE(late.join(b));
  EXPECT_TRUE(late.leave(b));
  EXPECT_TRUE(late.leave(a));
  EXPECT_FALSE(late.join(b));
  EXPECT_THAT(clear(late), ElementsAre("b"));
}

TEST(LateSumTest, SaysWhenTheLineIsLong) {
  std::vector<Thing> things(LateSum<Thing>::kMost);
  LateSum<Thing> late;
  for (std::size_t i = 0; i + 1 < things.size(); ++i) ASSERT_FALSE(late.join(things[i]));
  EXPECT_TRUE(late.join(things.back()));
  EXPECT_EQ(things.size(), clear(late).size());
}

}  // namespace
}  // namespace tenure
