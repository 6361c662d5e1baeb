// Clocks, and the authority's time, which a jump of the wall clock does not change.
#include "base/clock.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

// A clock whose two hands move apart.
class LooseClock final : public Clock {
 public:
  [[nodiscard]] Instant wall() const override { return wall_now; }
  [[nodiscard]] Millis boot() const override { return boot_now; }

  Instant wall_now{5'000};
  Millis boot_now{100};
};

TEST(ClockTest, AManualClockStandsStillUntilMoved) {
  ManualClock clock(Instant{1000});
  EXPECT_EQ(Instant{1000}, clock.wall());
  EXPECT_EQ(Millis{0}, clock.boot());
  clock.advance(Millis{5});
  clock.advance(Millis{7});
  EXPECT_EQ(Instant{1012}, clock.wall());
  EXPECT_EQ(Millis{12}, clock.boot());
}

TEST(ClockTest, TheMachinesClocksRun) {
  const SystemClock clock;
  EXPECT_GT(clock.wall(), Instant{1'600'000'000'000});  // after 2020, in milliseconds
  const Millis before = clock.boot();
  EXPECT_GT(before, Millis{0});
  EXPECT_GE(clock.boot(), before);
}

TEST(AuthorityTimeTest, StartsWithTheWallClockAndFollowsTheBootClock) {
  LooseClock clock;
  const AuthorityTime time(clock, Instant{0});
  EXPECT_EQ(Instant{5'000}, time.now());
  clock.boot_now += Millis{30};
  EXPECT_EQ(Instant{5'030}, time.now());
}

TEST(AuthorityTimeTest, AWallClockThatJumpsChangesNothing) {
  LooseClock clock;
  const AuthorityTime time(clock, Instant{0});
  clock.wall_now = Instant{999'999'999};
  EXPECT_EQ(Instant{5'000}, time.now());
  clock.wall_now = Instant{0};
  clock.boot_now += Millis{1};
  EXPECT_EQ(Instant{5'001}, time.now());
}

TEST(AuthorityTimeTest, NeverStartsBeforeItsFloor) {
  LooseClock clock;
  const AuthorityTime time(clock, Instant{8'000});
  EXPECT_EQ(Instant{8'000}, time.now());
  clock.boot_now += Millis{1};
  EXPECT_EQ(Instant{8'001}, time.now());
}

TEST(AuthorityTimeTest, TheFirstStampOfAnotherCountsInPlaceOfTheWallClock) {
  LooseClock clock;
  AuthorityTime time(clock, Instant{0});
  time.follow(Instant{2'000});
  EXPECT_EQ(Instant{2'000}, time.now());
  clock.boot_now += Millis{10};
  EXPECT_EQ(Instant{2'010}, time.now());
}

// Whoever took over may have been behind, and has granted leases by its own time.
TEST(AuthorityTimeTest, AStampOfAnotherCountsEvenIfItPutsItBack) {
  LooseClock clock;
  AuthorityTime time(clock, Instant{0});
  time.settle();
  time.follow(Instant{2'000});
  EXPECT_EQ(Instant{2'000}, time.now());
  clock.boot_now += Millis{100};
  time.follow(Instant{2'050});
  EXPECT_EQ(Instant{2'050}, time.now());
  time.follow(Instant{2'200});
  EXPECT_EQ(Instant{2'200}, time.now());
}

TEST(AuthorityTimeTest, WhatIsReadLateCountsUnlessTheWallClockIsTheBetterGuess) {
  LooseClock clock;
  AuthorityTime time(clock, Instant{0});
  const Instant by_wall = time.now();
  time.resume(Instant{2'000});
  EXPECT_EQ(by_wall, time.now());
  time.settle();
  time.resume(Instant{2'000});
  EXPECT_EQ(Instant{2'000}, time.now());
}

}  // namespace
}  // namespace tenure
