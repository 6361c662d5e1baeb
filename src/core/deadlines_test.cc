// Who is next to expire, and that putting it off costs nothing.
#include "core/deadlines.h"

#include <deque>

#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

struct Sleeper {
  Alarm alarm;
  Instant deadline;
};

class DeadlinesTest : public testing::Test {
 protected:
  Sleeper& arm(std::int64_t at) {
    Sleeper& sleeper = sleepers.emplace_back(Sleeper{{}, Instant{at}});
    deadlines.arm(sleeper, sleeper.deadline, sleepers.size());
    return sleeper;
  }
  Sleeper* due(std::int64_t now) {
    return deadlines.first_due(Instant{now}, [&](const Sleeper& sleeper) {
      ++looks;
      return sleeper.deadline;
    });
  }

  std::deque<Sleeper> sleepers;
  Deadlines<Sleeper> deadlines;
  int looks = 0;
};

TEST_F(DeadlinesTest, NothingArmedIsNeverDue) {
  EXPECT_EQ(kNever, deadlines.next());
  EXPECT_EQ(nullptr, due(1'000'000));
}

TEST_F(DeadlinesTest, AnEntityIsDueBehindItsDeadlineNotAtIt) {
  Sleeper& sleeper = arm(100);
  EXPECT_EQ(Instant{100}, deadlines.next());
  EXPECT_EQ(nullptr, due(100));
  EXPECT_EQ(&sleeper, due(101));
  EXPECT_EQ(&sleeper, due(101));  // until it is disarmed
  deadlines.disarm(sleeper);
  deadlines.disarm(sleeper);
  EXPECT_EQ(nullptr, due(101));
  EXPECT_FALSE(sleeper.alarm.armed);
}

TEST_F(DeadlinesTest, ManyExtendedOnesAreMetInPieces) {
  constexpr int kMany = 2 * Deadlines<Sleeper>::kRearmedMax;
  for (int i = 0; i < kMany; ++i) arm(100).deadline = Instant{300};
  Sleeper& last = arm(100);
  EXPECT_EQ(nullptr, due(200));
  EXPECT_EQ(kMany / 2, looks);
  EXPECT_LT(deadlines.next(), Instant{200});
  EXPECT_EQ(nullptr, due(200));
  EXPECT_EQ(&last, due(200));
}

TEST_F(DeadlinesTest, TheEarliestComesFirstAndEqualOnesInOrder) {
  Sleeper& late = arm(200);
  Sleeper& first = arm(100);
  Sleeper& second = arm(100);
  for (Sleeper* expected : {&first, &second, &late}) {
    EXPECT_EQ(expected, due(1000));
    deadlines.disarm(*expected);
  }
}

TEST_F(DeadlinesTest, ExtensionsCostNothingHoweverMany) {
  Sleeper& sleeper = arm(100);
  for (int i = 0; i < 10'000; ++i) sleeper.deadline = sleeper.deadline + Millis{1};
  EXPECT_EQ(1U, deadlines.map().size());
  EXPECT_EQ(nullptr, due(101));  // found out now, once
  EXPECT_EQ(1, looks);
  EXPECT_EQ(1U, deadlines.map().size());
  EXPECT_EQ(Instant{10'100}, deadlines.next());
  EXPECT_EQ(nullptr, due(10'100));
  EXPECT_EQ(1, looks);
  EXPECT_EQ(&sleeper, due(10'101));
  EXPECT_EQ(2, looks);
}

TEST_F(DeadlinesTest, ArmingAnewMovesAnEntity) {
  Sleeper& sleeper = arm(100);
  sleeper.deadline = Instant{50};
  deadlines.arm(sleeper, sleeper.deadline, 7);
  EXPECT_EQ(1U, deadlines.map().size());
  EXPECT_EQ(&sleeper, due(51));
}

TEST_F(DeadlinesTest, EverybodyComesUpInTheOrderOfTheirLastDeadline) {
  Dice dice(3);
  for (int i = 0; i < 500; ++i) arm(static_cast<std::int64_t>(dice.roll(1000)));
  for (Sleeper& sleeper : sleepers) {
    if (dice.one_in(2)) sleeper.deadline = sleeper.deadline + Millis{static_cast<std::int64_t>(dice.roll(1000))};
  }
  std::size_t woken = 0;
  for (std::int64_t now = 0; now <= 2001; ++now) {
    while (Sleeper* sleeper = due(now)) {
      EXPECT_EQ(now, sleeper->deadline.ms + 1);
      deadlines.disarm(*sleeper);
      ++woken;
    }
  }
  EXPECT_EQ(500U, woken);
  EXPECT_LE(looks, 1000);  // each at most once for each time it was armed
}

}  // namespace
}  // namespace tenure
