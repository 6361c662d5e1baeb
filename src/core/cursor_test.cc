// Cursors, and pages of a table that grows meanwhile.
#include "core/cursor.h"

#include <deque>
#include <map>

#include <gtest/gtest.h>

namespace tenure {
namespace {

struct Item : TableLink<Item> {
  int number = 0;
};

class ScanTest : public testing::Test {
 protected:
  void insert(std::uint32_t hash) {
    Item& item = items.emplace_back();
    item.number = static_cast<int>(items.size());
    table.insert(item, hash);
  }
  // The next page; counts what it shows.
  void page(std::int64_t count) {
    auto next = scan_page(table, Paging{.count = count, .cursor = cursor}, [&](const Item& item) {
      if (item.number % 10 == 0) return false;  // passed over
      ++shown[item.number];
      return true;
    });
    ASSERT_TRUE(next.has_value());
    cursor = *next;
    ++pages;
  }

  std::deque<Item> items;
  Table<Item> table;
  std::map<int, int> shown;
  std::string cursor = "0";
  int pages = 0;
};

TEST(CursorTest, ZeroIsTheBeginning) {
  EXPECT_EQ(std::nullopt, parse_cursor<1>("0").value());
  EXPECT_EQ(std::nullopt, parse_cursor<3>("0").value());
}

TEST(CursorTest, ACursorIsReadAsItWasWritten) {
  const CursorKey<3> key{0, 18446744073709551615U, 7};
  EXPECT_EQ("0.18446744073709551615.7", cursor_text<3>(key));
  EXPECT_EQ(key, parse_cursor<3>(cursor_text<3>(key)).value());
  EXPECT_EQ((CursorKey<1>{5}), parse_cursor<1>("5").value());
}

TEST(CursorTest, ACursorOfAnotherShapeIsInvalid) {
  for (const char* text :
       {"", "1", "1.", ".1", "1.2.3", "a.b", "1.b", "01.1", "1.-1", "1. 2", "1.18446744073709551616"}) {
    const auto parsed = parse_cursor<2>(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(ErrorCode::kInvalid, parsed.error().code);
    EXPECT_EQ("cursor: expected 0 or one that a listing gave, found '" + std::string(text) + "'",
              parsed.error().message);
  }
}

TEST_F(ScanTest, AnEmptyTableEndsAtOnce) {
  page(10);
  EXPECT_EQ("0", cursor);
}

TEST_F(ScanTest, EveryPageSizeShowsEverythingOnce) {
  for (std::uint32_t i = 0; i < 100; ++i) insert(i * 2654435761U);
  for (const std::int64_t count : {1, 7, 1000}) {
    shown.clear();
    cursor = "0";
    do page(count);
    while (cursor != "0" && !HasFatalFailure());
    EXPECT_EQ(90U, shown.size());
    for (const auto& [number, times] : shown) {
      EXPECT_EQ(1, times) << number;
    }
  }
}

TEST_F(ScanTest, EntriesOfOneHashAreShownTogether) {
  for (int i = 0; i < 9; ++i) insert(0x1234);
  insert(0x9234);
  insert(0xfffffffd);
  page(1);
  EXPECT_EQ(9U, shown.size());
  while (cursor != "0") page(1);
  EXPECT_EQ(10U, shown.size());  // the tenth is passed over
}

TEST_F(ScanTest, AGrowingTableHidesNothing) {
  for (std::uint32_t i = 0; i < 300; ++i) insert(i * 2654435761U);
  std::uint32_t more = 300;
  do {
    page(5);
    for (int i = 0; i < 2; ++i) insert(more++ * 2654435761U);
  } while (cursor != "0" && more < 10'000 && !HasFatalFailure());
  EXPECT_EQ("0", cursor);
  EXPECT_GT(more, 400U);
  for (int number = 1; number <= 300; ++number) {
    if (number % 10 != 0) {
      EXPECT_GE(shown[number], 1) << number;
    }
  }
}

TEST_F(ScanTest, APageLooksAtABoundedNumberOfBuckets) {
  for (std::uint32_t i = 0; i < 10'000; ++i) insert(i);
  page(100'000);
  EXPECT_EQ("1024.0", cursor);
  while (cursor != "0") page(100'000);
  EXPECT_EQ(5, pages);
  EXPECT_EQ(9'000U, shown.size());
}

TEST_F(ScanTest, ACursorBeyondTheTableIsTheEnd) {
  insert(1);
  cursor = "18446744073709551615.0";
  page(5);
  EXPECT_EQ("0", cursor);
  EXPECT_TRUE(shown.empty());
}

}  // namespace
}  // namespace tenure
