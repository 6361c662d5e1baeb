// The hash table that never pauses, against a plain map.
#include "base/table.h"

#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/entropy.h"

namespace tenure {
namespace {

struct Entry : TableLink<Entry> {
  std::uint64_t key = 0;
};

class Shelf {
 public:
  // Few different hashes when `mask` is small, so that chains are long.
  explicit Shelf(std::uint32_t mask = 0xffffffff) : mask_(mask) {}

  [[nodiscard]] std::uint32_t hash(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key * 0x9e3779b97f4a7c15U >> 32) & mask_;
  }
  Entry& insert(std::uint64_t key) {
    auto& entry = entries_[key] = std::make_unique<Entry>();
    entry->key = key;
    table.insert(*entry, hash(key));
    return *entry;
  }
  void remove(std::uint64_t key) {
    table.remove(*entries_.at(key));
    entries_.erase(key);
  }
  [[nodiscard]] Entry* find(std::uint64_t key) const {
    return table.find(hash(key), [&](const Entry& entry) { return entry.key == key; });
  }
  [[nodiscard]] bool holds(std::uint64_t key) const { return entries_.contains(key); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  Table<Entry> table;

 private:
  const std::uint32_t mask_;
  std::map<std::uint64_t, std::unique_ptr<Entry>> entries_;
};

TEST(TableTest, AnEmptyTableHoldsNothing) {
  const Shelf shelf;
  EXPECT_EQ(0U, shelf.table.size());
  EXPECT_EQ(nullptr, shelf.find(1));
  shelf.table.visit_all([](Entry&) { FAIL(); });
}

RC_GTEST_PROP(TableTest, AgreesWithAMap, (std::uint64_t seed, bool crowded)) {
  SeededEntropy entropy(seed);
  Shelf shelf(crowded ? 7 : 0xffffffff);
  for (int i = 0; i < 600; ++i) {
    const std::uint64_t key = entropy.next() % 200;
    if (!shelf.holds(key)) {
      shelf.insert(key);
    } else if (entropy.next() % 2 == 0) {
      shelf.remove(key);
    }
    const std::uint64_t asked = entropy.next() % 200;
    RC_ASSERT((shelf.find(asked) != nullptr) == shelf.holds(asked));
    RC_ASSERT(shelf.table.size() == shelf.size());
  }
  std::set<std::uint64_t> visited;
  shelf.table.visit_all([&](Entry& entry) { visited.insert(entry.key); });
  RC_ASSERT(visited.size() == shelf.size());
}

TEST(TableTest, EachInsertionAddsAtMostOneBucket) {
  Shelf shelf;
  for (std::uint64_t key = 0; key < 5'000; ++key) {  // over several segments
    const std::uint64_t before = shelf.table.bucket_count();
    shelf.insert(key);
    EXPECT_LE(shelf.table.bucket_count() - before, 1U);
    EXPECT_GE(shelf.table.bucket_count() * 3, shelf.table.size());
  }
  for (std::uint64_t key = 0; key < 5'000; ++key) {
    ASSERT_NE(nullptr, shelf.find(key)) << key;
  }
  EXPECT_EQ(nullptr, shelf.find(5'000));
}

TEST(TableTest, ReservedBucketsAreUsed) {
  Shelf shelf;
  shelf.insert(0);
  shelf.table.reserve(1000);
  EXPECT_EQ(500U, shelf.table.bucket_count());
  shelf.table.reserve(10);
  for (std::uint64_t key = 1; key < 1000; ++key) shelf.insert(key);
  EXPECT_EQ(500U, shelf.table.bucket_count());
  for (std::uint64_t key = 0; key < 1000; ++key) {
    ASSERT_NE(nullptr, shelf.find(key)) << key;
  }
}

TEST(TableTest, EntriesOfOneHashAreToldApart) {
  Shelf shelf(0);
  for (std::uint64_t key = 0; key < 20; ++key) shelf.insert(key);
  for (std::uint64_t key = 0; key < 20; ++key) {
    EXPECT_EQ(key, shelf.find(key)->key);
  }
  shelf.remove(10);
  EXPECT_EQ(nullptr, shelf.find(10));
  EXPECT_NE(nullptr, shelf.find(11));
}

TEST(TableTest, AnEntryMayBeDeletedWhileItIsVisited) {
  Table<Entry> table;
  for (std::uint32_t i = 0; i < 100; ++i) {
    auto* entry = new Entry;
    entry->key = i;
    table.insert(*entry, i % 10);
  }
  int visited = 0;
  table.visit_all([&](Entry& entry) {
    ++visited;
    delete &entry;
  });
  EXPECT_EQ(100, visited);
}

TEST(TableTest, AScanDuringGrowthMissesNothing) {
  for (const std::uint64_t at_first : {1U, 7U, 100U, 192U, 200U, 1'500U}) {
    Shelf shelf;
    for (std::uint64_t key = 0; key < at_first; ++key) shelf.insert(key);
    std::set<std::uint64_t> seen;
    std::uint64_t more = at_first;
    for (std::uint64_t bucket = 0; bucket < shelf.table.bucket_count(); ++bucket) {
      shelf.table.visit_bucket(bucket, [&](Entry& entry) { seen.insert(entry.key); });
      for (int i = 0; i < 6 && more < 20 * at_first; ++i) shelf.insert(more++);
    }
    for (std::uint64_t key = 0; key < at_first; ++key) {
      EXPECT_TRUE(seen.contains(key)) << key << " of " << at_first;
    }
  }
}

}  // namespace
}  // namespace tenure
