// A set of offsets kept as intervals, against a plain set.
#include "core/interval_set.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

// Keeps the intervals that the set says have come and gone.
class Ledgers {
 public:
  void add(std::int64_t offset) {
    set.add(Offset{offset}, [&](Interval gone) { take(gone); }, [&](Interval come) { put(come); });
  }
  void trim(std::int64_t below) {
    set.trim(Offset{below}, [&](Interval gone) { take(gone); }, [&](Interval come) { put(come); });
  }
  [[nodiscard]] bool agrees() const {
    std::set<std::pair<std::int64_t, std::int64_t>> now(set.map().begin(), set.map().end());
    return consistent_ && now == told_;
  }

  IntervalSet set;

 private:
  void take(Interval gone) { consistent_ = consistent_ && told_.erase({gone.first.value, gone.last.value}) == 1; }
  void put(Interval come) { consistent_ = consistent_ && told_.insert({come.first.value, come.last.value}).second; }

  std::set<std::pair<std::int64_t, std::int64_t>> told_;
  bool consistent_ = true;
};

TEST(IntervalSetTest, ConsecutiveOffsetsAreOneInterval) {
  Ledgers of;
  for (const std::int64_t offset : {5, 7, 6, 4, 9}) of.add(offset);
  EXPECT_EQ(2U, of.set.intervals());
  EXPECT_EQ(5U, of.set.offsets());
  EXPECT_EQ((IntervalSet::Map{{4, 7}, {9, 9}}), of.set.map());
  EXPECT_TRUE(of.agrees());
  EXPECT_FALSE(of.set.contains(Offset{8}));
  EXPECT_FALSE(of.set.contains(Offset{3}));
  EXPECT_TRUE(of.set.contains(Offset{4}));
}

TEST(IntervalSetTest, TheLastOffsetsAreOffsetsToo) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  Ledgers of;
  of.add(kLast);
  of.add(0);
  of.add(kLast - 1);
  EXPECT_EQ((IntervalSet::Map{{0, 0}, {kLast - 1, kLast}}), of.set.map());
  EXPECT_TRUE(of.set.contains(Offset{kLast}));
  of.trim(kLast);
  EXPECT_EQ((IntervalSet::Map{{kLast, kLast}}), of.set.map());
  EXPECT_EQ(1U, of.set.offsets());
}

TEST(IntervalSetTest, AMillionConsecutiveOffsetsAreOneEntry) {
  Ledgers of;
  for (std::int64_t offset = 0; offset < 1'000'000; ++offset) of.add(offset);
  EXPECT_EQ(1U, of.set.intervals());
  EXPECT_EQ(1'000'000U, of.set.offsets());
}

TEST(IntervalSetTest, TrimmingCutsAnIntervalInTwo) {
  Ledgers of;
  for (const std::int64_t offset : {1, 2, 3, 4, 8}) of.add(offset);
  of.trim(0);
  EXPECT_EQ(5U, of.set.offsets());
  of.trim(3);
  EXPECT_EQ((IntervalSet::Map{{3, 4}, {8, 8}}), of.set.map());
  of.trim(8);
  EXPECT_EQ((IntervalSet::Map{{8, 8}}), of.set.map());
  of.trim(9);
  EXPECT_EQ(0U, of.set.offsets());
  of.trim(10);
  EXPECT_TRUE(of.agrees());
}

RC_GTEST_PROP(IntervalSetTest, AgreesWithAPlainSet, (std::uint64_t seed)) {
  Dice dice(seed);
  Ledgers of;
  std::set<std::int64_t> plain;
  const std::uint64_t range = 1 + dice.roll(60);
  for (int i = 0; i < 80; ++i) {
    const auto offset = static_cast<std::int64_t>(dice.roll(range));
    if (dice.one_in(20)) {
      of.trim(offset);
      plain.erase(plain.begin(), plain.lower_bound(offset));
    } else if (plain.insert(offset).second) {
      of.add(offset);
    }
    std::uint64_t runs = 0;
    for (std::int64_t at = -1; at <= static_cast<std::int64_t>(range); ++at) {
      RC_ASSERT(of.set.contains(Offset{at}) == plain.contains(at));
      if (plain.contains(at) && !plain.contains(at - 1)) ++runs;
    }
    RC_ASSERT(of.set.offsets() == plain.size());
    RC_ASSERT(of.set.intervals() == runs);
    RC_ASSERT(of.agrees());
  }
}

}  // namespace
}  // namespace tenure
