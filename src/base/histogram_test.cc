#include "base/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/stopwatch.h"

namespace tenure {
namespace {

constexpr double kBounds[] = {1, 10, 100};

TEST(HistogramTest, AValueStandsUnderTheFirstBoundThatIsNotLess) {
  Histogram histogram(kBounds);
  for (const double value : {0.0, 1.0, 1.5, 10.0, 100.0, 100.5, 1e9}) histogram.add(value);
  EXPECT_THAT(histogram.counts(), ::testing::ElementsAre(2, 2, 1, 2));
  EXPECT_EQ(histogram.count(), 7U);
  EXPECT_DOUBLE_EQ(histogram.sum(), 213.0 + 1e9);
}

TEST(StopwatchTest, NeverRunsBackwards) {
  const Stopwatch watch;
  const double first = watch.seconds();
  EXPECT_GE(first, 0.0);
  EXPECT_GE(watch.seconds(), first);
}

}  // namespace
}  // namespace tenure
