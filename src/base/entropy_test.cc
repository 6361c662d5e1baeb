// Randomness: unguessable from the system, repeatable from a seed.
#include "base/entropy.h"

#include <set>

#include <gtest/gtest.h>

namespace tenure {
namespace {

TEST(EntropyTest, ASeedGivesTheSameNumbersAgain) {
  SeededEntropy one(7);
  SeededEntropy same(7);
  SeededEntropy other(8);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = one.next();
    EXPECT_EQ(number, same.next());
    EXPECT_NE(number, other.next());
  }
}

// splitmix64's published first numbers for seed 1234567.
TEST(EntropyTest, SeededNumbersAreThoseOfSplitmix64) {
  SeededEntropy entropy(1234567);
  EXPECT_EQ(6457827717110365317U, entropy.next());
  EXPECT_EQ(3203168211198807973U, entropy.next());
  EXPECT_EQ(9817491932198370423U, entropy.next());
}

TEST(EntropyTest, WhatIsDrawnAheadIsWhatComes) {
  SeededEntropy entropy(1234567);
  EXPECT_EQ(6457827717110365317U, entropy.next_ahead());
  EXPECT_EQ(3203168211198807973U, entropy.coming());
  EXPECT_EQ(9817491932198370423U, entropy.next());
  EXPECT_EQ(3203168211198807973U, entropy.next_ahead());
  const std::uint64_t coming = entropy.coming();
  EXPECT_NE(3203168211198807973U, coming);
  EXPECT_EQ(coming, entropy.next_ahead());
}

TEST(EntropyTest, TheSystemsNumbersDoNotRepeat) {
  SystemEntropy one;
  SystemEntropy other;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 600; ++i) {  // over two blocks
    seen.insert(one.next());
    seen.insert(other.next());
  }
  EXPECT_EQ(1200U, seen.size());
}

}  // namespace
}  // namespace tenure
