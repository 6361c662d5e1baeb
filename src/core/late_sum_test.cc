#include "core/late_sum.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
  for (Thing* thing : {&a, &b, &c}) EXPECT_EQ(nullptr, late.join(*thing));
  EXPECT_TRUE(late.leave(b));
  EXPECT_FALSE(late.leave(b));
  EXPECT_THAT(clear(late), ElementsAre("c", "a"));
  EXPECT_FALSE(late.leave(a));
  EXPECT_THAT(clear(late), IsEmpty());
}

TEST(LateSumTest, WhatHasLeftMayJoinAgain) {
  LateSum<Thing> late;
  Thing a{"a"};
  Thing b{"b"};
  EXPECT_EQ(nullptr, late.join(a));
  EXPECT_EQ(nullptr, late.join(b));
  EXPECT_TRUE(late.leave(a));
  EXPECT_TRUE(late.leave(b));
  EXPECT_EQ(nullptr, late.join(b));
  EXPECT_THAT(clear(late), ElementsAre("b"));
}

TEST(LateSumTest, WhoFindsNoPlaceTakesThatOfTheFirst) {
  std::vector<Thing> things(LateSum<Thing>::kPlaces);
  LateSum<Thing> late;
  for (Thing& thing : things) ASSERT_EQ(nullptr, late.join(thing));
  EXPECT_TRUE(late.leave(things[1]));
  Thing a{"a"};
  Thing b{"b"};
  Thing c{"c"};
  EXPECT_EQ(&things[0], late.join(a));
  EXPECT_FALSE(late.leave(things[0]));
  EXPECT_EQ(nullptr, late.join(b));
  EXPECT_EQ(&things[2], late.join(c));
  EXPECT_EQ(LateSum<Thing>::kPlaces, clear(late).size());
  EXPECT_EQ(nullptr, late.join(things[0]));
}

}  // namespace
}  // namespace tenure
