// What has ended and is still remembered.
#include "core/archive.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

struct Note {
  std::string text;

  [[nodiscard]] std::uint64_t bytes() const { return text.size(); }
  template <class V>
  void fields(V&& visit) const {
    visit("text", text);
  }
};

TEST(ArchiveTest, AnEmptyArchiveIsNeverOver) {
  const Archive archive;
  EXPECT_EQ(nullptr, archive.oldest());
  EXPECT_EQ(kNever, archive.due({}));
  EXPECT_FALSE(archive.is_over({}, kNever));
}

TEST(ArchiveTest, TheOldestGoesFirst) {
  Archive archive;
  Keepsake first(Remembered::kTask);
  Keepsake second(Remembered::kTaskRequest);
  archive.add(first, Instant{10}, 100);
  archive.add(second, Instant{20}, 50);
  EXPECT_EQ(&first, archive.oldest());
  EXPECT_EQ(2U, archive.count());
  EXPECT_EQ(150U, archive.bytes());
  archive.grow(second, 7);
  archive.drop(*archive.oldest());
  EXPECT_EQ(&second, archive.oldest());
  EXPECT_EQ(57U, archive.bytes());
  archive.drop(*archive.oldest());
  EXPECT_EQ(nullptr, archive.oldest());
  EXPECT_EQ(0U, archive.bytes());
  Keepsake third(Remembered::kTask);
  archive.add(third, Instant{30}, 1);
  EXPECT_EQ(&third, archive.oldest());
}

TEST(ArchiveTest, RetentionIsByTimeCountAndBytes) {
  Archive archive;
  Keepsake first(Remembered::kTask);
  Keepsake second(Remembered::kTask);
  archive.add(first, Instant{10}, 100);
  archive.add(second, Instant{20}, 100);
  Settings settings{.retention_time = Millis{5}, .retention_count = 2, .retention_bytes = 200};
  EXPECT_EQ(Instant{15}, archive.due(settings));
  EXPECT_FALSE(archive.is_over(settings, Instant{15}));
  EXPECT_TRUE(archive.is_over(settings, Instant{16}));
  settings.retention_count = 1;
  EXPECT_TRUE(archive.is_over(settings, Instant{15}));
  settings.retention_count = 2;
  settings.retention_bytes = 199;
  EXPECT_TRUE(archive.is_over(settings, Instant{15}));
}

TEST(ArchiveDeathTest, OnlyTheOldestIsDropped) {
  Archive archive;
  Keepsake first(Remembered::kTask);
  Keepsake second(Remembered::kTask);
  archive.add(first, Instant{10}, 1);
  archive.add(second, Instant{10}, 1);
  EXPECT_DEATH(archive.drop(second), "keepsake 2 after 0");
}

class RequestMemoriesTest : public testing::Test {
 protected:
  Common common;
  Archive archive;
  RequestMemories<Note> memories{Remembered::kTaskRequest, common, archive};
  const Digest empty = common.entities();
};

TEST_F(RequestMemoriesTest, ARequestWithoutAnIdIsAlwaysNew) {
  EXPECT_TRUE(memories.is_new(std::nullopt));
  EXPECT_EQ(nullptr, memories.recall(std::nullopt, 1).value());
  memories.remember(std::nullopt, Instant{1}, Note{"unkept"});
  EXPECT_EQ(0U, archive.count());
  EXPECT_EQ(empty, common.entities());
}

TEST_F(RequestMemoriesTest, AnAnswerIsRecalledByItsIdAndPrint) {
  memories.remember(RequestMark{"r", 1}, Instant{5}, Note{"kept"});
  EXPECT_FALSE(memories.is_new(RequestMark{"r", 1}));
  EXPECT_TRUE(memories.is_new(RequestMark{"s", 1}));
  EXPECT_EQ("kept", memories.recall("r", 1).value()->answer.text);
  EXPECT_EQ(nullptr, memories.recall("s", 1).value());
  const auto other = memories.recall("r", 2);
  EXPECT_EQ(ErrorCode::kInvalid, other.error().code);
  EXPECT_EQ("request id 'r': expected the request it was first used for, found another", other.error().message);
}

TEST_F(RequestMemoriesTest, AmendingKeepsDigestAndBytesTrue) {
  memories.remember(RequestMark{"r", 1}, Instant{5}, Note{"kept"});
  const Digest before = common.entities();
  const std::uint64_t bytes = archive.bytes();
  memories.amend(*memories.find("r"), [](Note& note) { note.text += " and more"; });
  EXPECT_NE(before, common.entities());
  EXPECT_EQ(bytes + 9, archive.bytes());
  EXPECT_EQ(nullptr, memories.forget("r"));
  EXPECT_EQ(empty, common.entities());
  EXPECT_EQ(0U, archive.bytes());
}

TEST_F(RequestMemoriesTest, OnlyTheOldestIsForgotten) {
  memories.remember(RequestMark{"a", 1}, Instant{5}, Note{});
  memories.remember(RequestMark{"b", 1}, Instant{5}, Note{});
  EXPECT_STREQ("the request must be remembered", memories.forget("c"));
  EXPECT_STREQ("what is forgotten must be the oldest", memories.forget("b"));
  EXPECT_EQ(nullptr, memories.forget("a"));
  EXPECT_EQ(nullptr, memories.forget("b"));
  EXPECT_EQ(empty, common.entities());
}

}  // namespace
}  // namespace tenure
