// UTF-8, JSON, base64, hexadecimal and decimal text.
#include "base/text.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure {
namespace {

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(TextTest, WellFormedUtf8IsAccepted) {
  for (const char* text :
       {"", "a", "~", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "gr\xc3\xbc\xc3\x9f", "12345678\xc3\xbc"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

TEST(TextTest, IllFormedUtf8IsRefused) {
  for (const char* text : {"\x80",
                           "\xbf",
                           "\xc0\x80",
                           "\xc1\xbf",  // a tail alone, overlong
                           "\xc2",
                           "\xc2\x7f",
                           "\xc2\xc0",  // two bytes
                           "\xe0\x9f\xbf",
                           "\xe0\xa0",
                           "\xe1\x80\xc0",  // overlong, cut, bad third
                           "\xe1\x80\x7f",
                           "\xed\xa0\x80",
                           "\xed\xbf\xbf",  // surrogates
                           "\xf0\x8f\xbf\xbf",
                           "\xf4\x90\x80\x80",  // overlong, above U+10FFFF
                           "\xf0\x90\x80",
                           "\xf1\x80\x80\x7f",
                           "\xf5\x80\x80\x80",
                           "\xff",
                           "a\xff",
                           "12345678\xff"}) {
    EXPECT_FALSE(is_utf8(text)) << json(text);
    EXPECT_FALSE(is_clean(text)) << json(text);
  }
}

TEST(TextTest, NamesAreCleanWithoutControlCharacters) {
  for (const char* text :
       {"", "a", " ", "~", "tasks/mail", "gr\xc3\xbc\xc3\x9f", "\xc2\xa0", "\xf0\x9f\x90\x98", "12345678", "12345678~",
        "1234567\xc3\xbc"
        "89"}) {
    EXPECT_TRUE(is_clean(text)) << text;
  }
  for (const char* text : {"\n", "\x01", "\x1f", "\x7f", "\xc2\x80", "\xc2\x9f", "a\tb"}) {
    EXPECT_FALSE(is_clean(text)) << json(text);
  }
  EXPECT_FALSE(is_clean(std::string_view("a\0b", 3)));
}

// Eight bytes are looked at together: a bad one is found wherever it stands, and whatever stands beside it.
TEST(TextTest, ABadByteIsFoundAtEveryPlace) {
  for (int bad = 0; bad < 256; ++bad) {
    const bool is_plain = bad >= 0x20 && bad < 0x7f;
    for (std::size_t place = 0; place < 17; ++place) {
      for (const char other : {' ', '~', 'm'}) {
        std::string text(17, other);
        text[place] = static_cast<char>(bad);
        EXPECT_EQ(is_plain, is_clean(text)) << bad << " at " << place;
      }
    }
  }
}

TEST(TextTest, PlainTextWithoutAByteHasItNowhere) {
  for (std::size_t size = 1; size < 20; ++size) {
    const std::string plain(size, 'm');
    EXPECT_TRUE(is_plain_without(plain, ':')) << size;
    for (std::size_t place = 0; place < size; ++place) {
      for (const char bad : {':', '\n', '\x7f', '\xc3'}) {
        std::string text = plain;
        text[place] = bad;
        EXPECT_FALSE(is_plain_without(text, ':')) << json(text);
      }
      // Next to it on both sides.
      for (const char good : {';', '9'}) {
        std::string text = plain;
        text[place] = good;
        EXPECT_TRUE(is_plain_without(text, ':')) << text;
      }
    }
  }
}

TEST(TextTest, JsonStringsAreEscaped) {
  EXPECT_EQ(R"("")", json(""));
  EXPECT_EQ(R"("a\"b\\c/d")", json("a\"b\\c/d"));
  EXPECT_EQ(R"("a\nb")", json("a\nb"));
  EXPECT_EQ(R"("\u0000\u0001\u001f\u0009")", json(std::string_view("\0\x01\x1f\t", 4)));
  EXPECT_EQ("\"gr\xc3\xbc\xc3\x9f\x7f\"", json("gr\xc3\xbc\xc3\x9f\x7f"));
}

// The vectors of RFC 4648.
TEST(TextTest, Base64IsTheStandards) {
  EXPECT_EQ("", base64(""));
  EXPECT_EQ("Zg==", base64("f"));
  EXPECT_EQ("Zm8=", base64("fo"));
  EXPECT_EQ("Zm9v", base64("foo"));
  EXPECT_EQ("Zm9vYg==", base64("foob"));
  EXPECT_EQ("Zm9vYmE=", base64("fooba"));
  EXPECT_EQ("Zm9vYmFy", base64("foobar"));
  EXPECT_EQ("+/8A", base64(std::string_view("\xfb\xff\0", 3)));
}

RC_GTEST_PROP(TextTest, Base64IsReadAsItWasWritten, (const std::string& bytes)) {
  RC_ASSERT(parse_base64(base64(bytes)) == bytes);
}

TEST(TextTest, OnlyTheStandardsBase64IsRead) {
  for (const char* text :
       {"Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v\n", "Zm 9", "Zm-_", "=Zg=", "Zh==", "Zm9=", "Zg==Zg=="}) {
    EXPECT_EQ(std::nullopt, parse_base64(text)) << text;
  }
}

RC_GTEST_PROP(TextTest, HexadecimalIsReadAsItWasWritten, (std::uint64_t number)) {
  const std::uint64_t wide = number * 0x9e3779b97f4a7c15U;
  RC_ASSERT(hex16(wide).size() == 16U);
  RC_ASSERT(parse_hex16(hex16(wide)) == wide);
}

TEST(TextTest, HexadecimalHasSixteenLowerCaseDigits) {
  EXPECT_EQ("00000000000000a1", hex16(0xa1));
  EXPECT_EQ("ffffffffffffffff", hex16(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(0x09afU, parse_hex16("00000000000009af"));
  for (const char* text : {"", "1", "00000000000000A1", "00000000000000g1", "0000000000000/a1", "0000000000000:a1",
                           "0000000000000`a1", "000000000000000a1", "-000000000000001"}) {
    EXPECT_EQ(std::nullopt, parse_hex16(text)) << text;
  }
}

std::string written_decimal(auto value) {
  char text[20];
  return {text, write_decimal(text, value)};
}

TEST(TextTest, DecimalsAreWrittenAtEveryLength) {
  std::uint64_t power = 1;
  for (int digits = 1; digits <= 20; ++digits, power *= 10) {
    for (const std::uint64_t value : {power - 1, power, power + 1, power / 3}) {
      EXPECT_EQ(std::to_string(value), written_decimal(value));
    }
  }
  for (std::uint64_t value = 0; value < 20'000; ++value) EXPECT_EQ(std::to_string(value), written_decimal(value));
  EXPECT_EQ("18446744073709551615", written_decimal(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ("-9223372036854775808", written_decimal(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ("9223372036854775807", written_decimal(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ("-1", written_decimal(std::int64_t{-1}));
}

RC_GTEST_PROP(TextTest, DecimalsAreWrittenAsTheyAre, (std::int64_t number, std::uint8_t shift)) {
  const std::uint64_t wide = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15U >> (shift % 64);
  RC_ASSERT(written_decimal(wide) == std::to_string(wide));
  RC_ASSERT(written_decimal(static_cast<std::int64_t>(wide)) == std::to_string(static_cast<std::int64_t>(wide)));
}

TEST(TextTest, DecimalsHaveNeitherSignNorLeadingZeros) {
  EXPECT_EQ(0U, parse_decimal("0"));
  EXPECT_EQ(10U, parse_decimal("10"));
  EXPECT_EQ(std::numeric_limits<std::uint64_t>::max(), parse_decimal("18446744073709551615"));
  for (const char* text : {"", "00", "01", "-1", "+1", " 1", "1 ", "1x", "x", "0x1", "1.0", "18446744073709551616"}) {
    EXPECT_EQ(std::nullopt, parse_decimal(text)) << text;
  }
}

}  // namespace
}  // namespace tenure
