#include "authority/effort.h"

#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::HasSubstr;

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The part of the time in which the processor was used.
double use_of(Effort effort) {
  const Stopwatch watch;
  const double before = processor_seconds();
  while (watch.seconds() < 0.1) EXPECT_TRUE(effort.go_on());
  return (processor_seconds() - before) / watch.seconds();
}

TEST(EffortTest, AGentleOneRestsAsLongAsItWorks) { EXPECT_LT(use_of(Effort({}, Pace::kGentle)), 0.7); }

TEST(EffortTest, FailsOnceItIsGivenUp) {
  std::stop_source stop;
  for (const Pace pace : {Pace::kFull, Pace::kGentle}) {
    Effort effort(stop.get_token(), pace);
    EXPECT_TRUE(effort.go_on());
    EXPECT_FALSE(effort.is_given_up());
  }
  stop.request_stop();
  Effort effort(stop.get_token());
  EXPECT_THAT(effort.go_on().error().message, HasSubstr("given up"));
  EXPECT_TRUE(effort.is_given_up());
}

}  // namespace
}  // namespace tenure
