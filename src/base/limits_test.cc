// The limits of single values: each refusal names the value, what was expected and what was found.
#include "base/limits.h"

#include <limits>

#include <gtest/gtest.h>

namespace tenure {
namespace {

using namespace std::string_view_literals;

const std::string kLong(256, 'x');

std::string fault(const Checker& checker) {
  return checker.fault() ? std::string(to_string(checker.fault()->code)) + " " + checker.fault()->message : "";
}

TEST(LimitsTest, ANameHasOneTo255BytesWithoutControlCharacters) {
  EXPECT_EQ("", fault(Checker().name("queue", "q"sv).name("queue", std::string_view(kLong).substr(1))));
  EXPECT_EQ("INVALID queue: expected 1 to 255 bytes, found none", fault(Checker().name("queue", ""sv)));
  EXPECT_EQ("INVALID queue: expected 1 to 255 bytes, found 256",
            fault(Checker().name("queue", std::string_view(kLong))));
  EXPECT_EQ("INVALID queue: expected UTF-8 without control characters", fault(Checker().name("queue", "a\nb"sv)));
  EXPECT_EQ("INVALID queue: expected UTF-8 without control characters", fault(Checker().name("queue", "\xff"sv)));
}

TEST(LimitsTest, AnAbsentNameIsNotChecked) {
  EXPECT_EQ("", fault(Checker().name("key", std::optional<std::string_view>())));
  EXPECT_EQ("INVALID key: expected 1 to 255 bytes, found none",
            fault(Checker().name("key", std::optional<std::string_view>(""))));
}

TEST(LimitsTest, ALocksNameIsWithoutItsDelimiter) {
  EXPECT_EQ("", fault(Checker().lock_name("domain", "a:b:c")));
  EXPECT_EQ("INVALID domain: expected a name without '::', found 'a::b'", fault(Checker().lock_name("domain", "a::b")));
  EXPECT_EQ("INVALID domain: expected a name without '::', found '::'", fault(Checker().lock_name("domain", "::")));
  EXPECT_EQ("INVALID domain: expected 1 to 255 bytes, found none", fault(Checker().lock_name("domain", "")));
}

TEST(LimitsTest, ATokenIsAnyTextOfAtMost255Bytes) {
  EXPECT_EQ("", fault(Checker().token("lease", "").token("lease", "\xff\n").token("lease", std::string(255, 'x'))));
  EXPECT_EQ("INVALID lease: expected at most 255 bytes, found 256", fault(Checker().token("lease", kLong)));
}

TEST(LimitsTest, AReasonHasAtMost4096Bytes) {
  EXPECT_EQ("", fault(Checker().reason("reason", std::string(4096, 'x'))));
  EXPECT_EQ("INVALID reason: expected at most 4096 bytes, found 4097",
            fault(Checker().reason("reason", std::string(4097, 'x'))));
}

TEST(LimitsTest, APayloadOverTheLimitIsTooLarge) {
  EXPECT_EQ("", fault(Checker().payload("payload", "abc", 3)));
  EXPECT_EQ("TOOLARGE payload: expected at most 3 bytes, found 4", fault(Checker().payload("payload", "abcd", 3)));
}

TEST(LimitsTest, ARangeIncludesItsEnds) {
  EXPECT_EQ("", fault(Checker().range("priority", 0, 0, 9).range("priority", 9, 0, 9)));
  EXPECT_EQ("INVALID priority: expected 0 to 9, found -1", fault(Checker().range("priority", -1, 0, 9)));
  EXPECT_EQ("INVALID priority: expected 0 to 9, found 10", fault(Checker().range("priority", 10, 0, 9)));
}

TEST(LimitsTest, ALeaseIsFromOneMillisecondToADay) {
  EXPECT_EQ("", fault(Checker().lease("lease", Millis{1}).lease("lease", std::chrono::hours(24))));
  EXPECT_EQ("INVALID lease: expected 1 to 86400000, found 0", fault(Checker().lease("lease", Millis{0})));
  EXPECT_EQ("INVALID lease: expected 1 to 86400000, found 86400001",
            fault(Checker().lease("lease", Millis{86'400'001})));
}

TEST(LimitsTest, AnOffsetIsNotNegative) {
  EXPECT_EQ(
      "",
      fault(Checker().offset("offset", Offset{0}).offset("offset", Offset{std::numeric_limits<std::int64_t>::max()})));
  EXPECT_EQ("INVALID offset: expected 0 to 9223372036854775807, found -1",
            fault(Checker().offset("offset", Offset{-1})));
}

TEST(LimitsTest, TheFirstFaultIsTheOneReported) {
  EXPECT_EQ(
      "TOOLARGE payload: expected at most 0 bytes, found 1",
      fault(Checker().name("queue", "q"sv).payload("payload", "x", 0).name("id", ""sv).lease("lease", Millis{0})));
}

}  // namespace
}  // namespace tenure
