#include "wire/word.h"

#include <gtest/gtest.h>

namespace tenure::wire {
namespace {

std::string repeated(int times, std::string_view text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(QuoteTest, CleanTextStaysAsItIs) {
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("gr\xc3\xbc\xc3\x9f"), "'gr\xc3\xbc\xc3\x9f'");
}

TEST(QuoteTest, WhatIsNotCleanIsShownAsBytes) {
  EXPECT_EQ(quote("a\x7f~\r\n"), "'a\\x7f~\\x0d\\x0a'");
  EXPECT_EQ(quote("a\xff~"), "'a\\xff~'");
}

TEST(QuoteTest, NoCharacterIsCutInTheMiddle) {
  EXPECT_EQ(quote(std::string(64, 'x')), "'" + std::string(64, 'x') + "'");
  EXPECT_EQ(quote(std::string(65, 'x')), "'" + std::string(64, 'x') + "'...");
  EXPECT_EQ(quote("x" + repeated(40, "\xc3\xbc")), "'x" + repeated(31, "\xc3\xbc") + "'...");
  EXPECT_EQ(quote("x" + repeated(20, "\xf0\x9f\x94\x92")), "'x" + repeated(15, "\xf0\x9f\x94\x92") + "'...");
}

TEST(QuoteTest, OfWhatHasNoCharactersLittleIsLeftOut) {
  EXPECT_EQ(quote(std::string(65, '\xff')), "'" + repeated(61, "\\xff") + "'...");
}

}  // namespace
}  // namespace tenure::wire
