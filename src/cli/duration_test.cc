#include "cli/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/quantity.h"

namespace tenure::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(DurationTest, IsReadWithItsUnit) {
  EXPECT_EQ(parse_duration("250ms"), Millis{250});
  EXPECT_EQ(parse_duration("30s"), Millis{seconds(30)});
  EXPECT_EQ(parse_duration("1.5s"), Millis{1500});
  EXPECT_EQ(parse_duration("5m"), Millis{minutes(5)});
  EXPECT_EQ(parse_duration("1m30s"), Millis{seconds(90)});
  EXPECT_EQ(parse_duration("12h"), Millis{hours(12)});
  EXPECT_EQ(parse_duration("7d"), Millis{hours(7 * 24)});
  EXPECT_EQ(parse_duration("0s"), Millis{0});
}

TEST(DurationTest, IsRefusedWithoutAUnitAndWhatToWriteIsSaid) {
  for (const char* text : {"", "30", "s", "-1s", "1x", "1s2", "5 m", "nan s", "inf", "1e3s", "9999999999d"}) {
    const auto found = parse_duration(text);
    ASSERT_FALSE(found.has_value()) << text;
    EXPECT_THAT(found.error().message, testing::HasSubstr("30s"));
  }
}

TEST(DurationTest, IsShownShort) {
  EXPECT_EQ(short_duration(Millis{0}), "0ms");
  EXPECT_EQ(short_duration(Millis{-5}), "0ms");
  EXPECT_EQ(short_duration(Millis{999}), "999ms");
  EXPECT_EQ(short_duration(Millis{4250}), "4.2s");
  EXPECT_EQ(short_duration(seconds(31)), "31s");
  EXPECT_EQ(short_duration(seconds(725)), "12m05s");
  EXPECT_EQ(short_duration(minutes(200)), "3h20m");
  EXPECT_EQ(short_duration(hours(220)), "9d04h");
}

TEST(QuantityTest, IsShownShort) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(24.0 * 1024 * 1024), "24 MiB");
  EXPECT_EQ(amount_text(7), "7");
  EXPECT_EQ(amount_text(0.5), "0.5");
  EXPECT_EQ(amount_text(9500), "9500");
  EXPECT_EQ(amount_text(12'345), "12.3k");
  EXPECT_EQ(amount_text(4'500'000), "4.5M");
}

}  // namespace
}  // namespace tenure::cli
