// The packing code: what is written is read again, and nothing is read beyond the end.
#include "base/bytes.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure {
namespace {

std::string varint_of(std::uint64_t value) {
  std::string out;
  ByteWriter(out, varint_size(value)).varint(value);
  return out;
}

TEST(BytesTest, VarintsTakeSevenBitsAByteLowBitsFirst) {
  EXPECT_EQ(std::string(1, '\0'), varint_of(0));
  EXPECT_EQ("\x7f", varint_of(127));
  EXPECT_EQ("\x80\x01", varint_of(128));
  EXPECT_EQ("\xac\x02", varint_of(300));
  EXPECT_EQ(std::string(9, '\xff') + "\x01", varint_of(std::numeric_limits<std::uint64_t>::max()));
}

TEST(BytesTest, AVarintIsReadAlikeWhateverIsBehindIt) {
  for (int bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << bits, (std::uint64_t{1} << bits) - 1, ~std::uint64_t{0} >> bits}) {
      for (const std::string_view behind : {"", "\xff", "1234567", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}) {
        const std::string bytes = varint_of(value) + std::string(behind);
        ByteReader in(bytes);
        EXPECT_EQ(value, in.varint());
        EXPECT_EQ(behind.size(), in.left());
        EXPECT_TRUE(in.ok());
      }
    }
  }
}

TEST(BytesTest, AVarintsSizeIsKnownBefore) {
  EXPECT_EQ(1U, varint_size(0));
  for (unsigned bits = 1; bits < 64; ++bits) {
    EXPECT_EQ(varint_of(std::uint64_t{1} << bits).size(), varint_size(std::uint64_t{1} << bits));
    EXPECT_EQ(varint_of((std::uint64_t{1} << bits) - 1).size(), varint_size((std::uint64_t{1} << bits) - 1));
  }
  EXPECT_EQ(10U, varint_size(std::numeric_limits<std::uint64_t>::max()));
}

TEST(BytesTest, ZigzagKeepsSmallNumbersShort) {
  EXPECT_EQ(0U, zigzag(0));
  EXPECT_EQ(1U, zigzag(-1));
  EXPECT_EQ(2U, zigzag(1));
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(value, unzigzag(zigzag(value)));
  }
}

RC_GTEST_PROP(BytesTest, WhatIsWrittenIsReadAgain,
              (std::uint64_t number, std::int64_t small, const std::string& text)) {
  const std::uint64_t wide = number * 0x9e3779b97f4a7c15U;
  std::string out = "before";
  {
    ByteWriter writer(out, varint_size(wide) + 8 + varint_size(text.size()) + text.size() + varint_size(zigzag(small)));
    writer.varint(wide);
    writer.fixed64(wide);
    writer.bytes(text);
    writer.varint(zigzag(small));
  }
  ByteReader in(std::string_view(out).substr(6));
  RC_ASSERT(in.varint() == wide);
  RC_ASSERT(in.fixed64() == wide);
  RC_ASSERT(in.bytes() == text);
  RC_ASSERT(unzigzag(in.varint()) == small);
  RC_ASSERT(in.ok());
  RC_ASSERT(in.at_end());
}

TEST(BytesTest, AShortTextOfAnyLengthIsCopiedWholeAndNothingBehindIt) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::string room(text.size() + 1, '.');
    copy_short(std::string_view(text).substr(0, size), room.data());
    EXPECT_EQ(text.substr(0, size) + std::string(room.size() - size, '.'), room);
  }
}

TEST(BytesTest, ShortTextsOfAnyLengthAreTheSameOnlyIfEveryByteIs) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string one = text.substr(0, size);
    std::string other = one;
    EXPECT_TRUE(equals_short(one, other));
    EXPECT_FALSE(equals_short(one, other + "x"));
    for (char& byte : other) {
      ++byte;
      EXPECT_FALSE(equals_short(one, other)) << size;
      --byte;
    }
  }
}

TEST(BytesTest, FixedIntegersAreLittleEndian) {
  std::string out;
  ByteWriter(out, 8).fixed64(0x0807060504030201);
  EXPECT_EQ("\x01\x02\x03\x04\x05\x06\x07\x08", out);
}

TEST(BytesTest, NothingIsReadBeyondTheEnd) {
  EXPECT_EQ(0U, ByteReader("").varint());
  ByteReader cut("\x80\x80");
  EXPECT_EQ(0U, cut.varint());
  EXPECT_FALSE(cut.ok());
  ByteReader seven("1234567");
  EXPECT_EQ(0U, seven.fixed64());
  EXPECT_FALSE(seven.ok());
  ByteReader text(
      "\x05"
      "abcd");
  EXPECT_EQ("", text.bytes());
  EXPECT_FALSE(text.ok());
}

TEST(BytesTest, ALengthBeyondAllBytesIsAFault) {
  const std::string bytes = varint_of(std::numeric_limits<std::uint64_t>::max()) + "abc";
  ByteReader in(bytes);
  EXPECT_EQ("", in.bytes());
  EXPECT_FALSE(in.ok());
}

TEST(BytesTest, AVarintOfMoreThan64BitsIsAFault) {
  const std::string too_wide = std::string(9, '\xff') + "\x02";
  ByteReader in(too_wide);
  EXPECT_EQ(0U, in.varint());
  EXPECT_FALSE(in.ok());
  const std::string too_long(11, '\x80');
  ByteReader longer(too_long);
  EXPECT_EQ(0U, longer.varint());
  EXPECT_FALSE(longer.ok());
}

TEST(BytesTest, AfterAFaultEverythingIsNothing) {
  ByteReader in(
      "\x05"
      "abc");
  EXPECT_EQ("", in.bytes());
  EXPECT_EQ(0U, in.varint());
  EXPECT_EQ(0U, in.fixed64());
  EXPECT_EQ("", in.raw(0));
  EXPECT_EQ(0U, in.left());
  EXPECT_TRUE(in.at_end());
  EXPECT_FALSE(in.ok());
}

TEST(BytesTest, RawTakesAsManyAsAsked) {
  ByteReader in("abc");
  EXPECT_EQ("ab", in.raw(2));
  EXPECT_EQ(1U, in.left());
  EXPECT_EQ("", in.raw(2));
  EXPECT_FALSE(in.ok());
}

TEST(BytesDeathTest, RoomThatIsNotWrittenIsABug) {
  std::string out;
  EXPECT_DEATH(ByteWriter(out, 3).varint(1), "2 bytes of the room not written");
}

}  // namespace
}  // namespace tenure
