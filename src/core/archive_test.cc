// What has ended and is still remembered.
#include "core/archive.h"

#include <deque>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

using testing::ElementsAre;

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

// The since of those that are to be forgotten now.
std::vector<Instant> overdue(const Archive& archive, const Settings& settings, Instant now) {
  std::vector<Instant> since;
  archive.visit_overdue(settings, now, [&](const Keepsake& kept) { since.push_back(kept.kept_since); });
  return since;
}

TEST(ArchiveTest, ManyTooManyAreForgottenTogether) {
  Archive archive;
  std::deque<Keepsake> kept;
  std::int64_t time = 0;
  const auto add = [&](int count) {
    for (int i = 0; i < count; ++i) archive.add(kept.emplace_back(Remembered::kTask), Instant{time++}, 1);
  };
  Settings settings{.retention_time = Millis{10'000}, .retention_count = 1000};
  add(1007);
  EXPECT_TRUE(archive.is_over(settings, Instant{0}));
  EXPECT_FALSE(archive.is_forgetting_due(settings, Instant{0}));
  EXPECT_EQ(0U, overdue(archive, settings, Instant{0}).size());
  add(1);
  EXPECT_TRUE(archive.is_forgetting_due(settings, Instant{0}));
  EXPECT_THAT(overdue(archive, settings, Instant{0}), ElementsAre(Instant{0}, Instant{1}, Instant{2}, Instant{3},
                                                                  Instant{4}, Instant{5}, Instant{6}, Instant{7}));
  settings.retention_count = 0;
  EXPECT_EQ(64U, overdue(archive, settings, Instant{0}).size()) << "no more than a frame should hold";
  settings = {.retention_bytes = 1005};
  EXPECT_FALSE(archive.is_forgetting_due(settings, Instant{0}));
  settings.retention_bytes = 990;
  EXPECT_EQ(18U, overdue(archive, settings, Instant{0}).size());
}

TEST(ArchiveTest, WhatIsTooOldIsForgottenAndNoMore) {
  Archive archive;
  std::deque<Keepsake> kept;
  for (int i = 1; i <= 3; ++i) archive.add(kept.emplace_back(Remembered::kTask), Instant{i * 10}, 1);
  const Settings settings{.retention_time = Millis{5}};
  EXPECT_THAT(overdue(archive, settings, Instant{15}), ElementsAre());
  EXPECT_THAT(overdue(archive, settings, Instant{26}), ElementsAre(Instant{10}, Instant{20}));
  EXPECT_THAT(overdue(archive, settings, Instant{36}), ElementsAre(Instant{10}, Instant{20}, Instant{30}));
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
