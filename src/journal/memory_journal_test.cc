// The journal in memory: numbered frames, durability that can be held back, failures that can be asked for.
#include "journal/memory_journal.h"

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

using ::testing::ElementsAre;
using Keep = MemoryJournal::Keep;

struct Ear final : Journal::Listener {
  void on_durable(std::uint64_t sequence) override { durable.push_back(sequence); }
  void on_failed(Journal::Outcome /*outcome*/, const std::string& why) override { failed.push_back(why); }
  std::vector<std::uint64_t> durable;
  std::vector<std::string> failed;
};

std::vector<std::string> frames_of(const Journal& journal) {
  std::vector<std::string> frames;
  const auto read = journal.read({}, [&](const Frame& frame) -> Result<Done> {
    frames.push_back(std::to_string(frame.sequence) + "@" + std::to_string(frame.stamp.ms) + ":" +
                     std::string(frame.payload));
    return Done{};
  });
  EXPECT_TRUE(read.has_value());
  return frames;
}

TEST(MemoryJournalTest, NumbersFramesFromOneAndReadsThemInOrder) {
  MemoryJournal journal(Keep::kFrames);
  EXPECT_EQ(1U, journal.append(0, Instant{10}, "a"));
  EXPECT_EQ(2U, journal.append(0, Instant{10}, ""));
  EXPECT_EQ(3U, journal.append(0, Instant{11}, "c"));
  EXPECT_THAT(frames_of(journal), ElementsAre("1@10:a", "2@10:", "3@11:c"));
}

TEST(MemoryJournalTest, KeepsItsOwnCopy) {
  MemoryJournal journal(Keep::kFrames);
  std::string payload = "before";
  journal.append(0, Instant{1}, payload);
  payload = "after!";
  EXPECT_THAT(frames_of(journal), ElementsAre("1@1:before"));
}

TEST(MemoryJournalTest, ReadsUntilTheVisitorHasEnough) {
  MemoryJournal journal(Keep::kFrames);
  for (int i = 0; i < 5; ++i) journal.append(0, Instant{i}, "x");
  int seen = 0;
  const auto read = journal.read({.after = 1}, [&](const Frame& /*frame*/) -> Result<Done> {
    if (++seen < 2) return Done{};
    return fail_with(ErrorCode::kInvalid, "enough");
  });
  EXPECT_EQ("enough", read.error().message);
  EXPECT_EQ(2, seen);
}

TEST(MemoryJournalTest, MayKeepNothing) {
  MemoryJournal journal(Keep::kNothing);
  Ear ear;
  journal.listen(&ear);
  EXPECT_EQ(1U, journal.append(0, Instant{1}, "a"));
  journal.commit();
  EXPECT_THAT(ear.durable, ElementsAre(1U));
  EXPECT_TRUE(frames_of(journal).empty());
}

TEST(MemoryJournalTest, ReportsDurabilityWhenAskedAndNotBefore) {
  MemoryJournal journal(Keep::kFrames);
  Ear ear;
  journal.listen(&ear);
  journal.append(0, Instant{1}, "a");
  journal.append(0, Instant{1}, "b");
  EXPECT_TRUE(ear.durable.empty());
  journal.commit();
  EXPECT_THAT(ear.durable, ElementsAre(2U));
}

TEST(MemoryJournalTest, IsDurableAtOnceUnlessItIsHeld) {
  MemoryJournal journal(Keep::kFrames);
  EXPECT_EQ(0U, journal.durable());
  journal.append(0, Instant{1}, "a");
  EXPECT_EQ(1U, journal.durable());
  journal.hold(true);
  journal.append(0, Instant{1}, "b");
  journal.commit();
  EXPECT_EQ(1U, journal.durable());
  journal.hold(false);
  EXPECT_EQ(2U, journal.durable());
  journal.fail("no space");
  journal.append(0, Instant{1}, "c");
  journal.commit();
  EXPECT_EQ(2U, journal.durable());
}

TEST(MemoryJournalTest, HoldsBackDurabilityUntilLetGo) {
  MemoryJournal journal(Keep::kFrames);
  Ear ear;
  journal.listen(&ear);
  journal.hold(true);
  journal.append(0, Instant{1}, "a");
  journal.commit();
  journal.append(0, Instant{1}, "b");
  journal.commit();
  EXPECT_TRUE(ear.durable.empty());
  journal.hold(false);
  EXPECT_THAT(ear.durable, ElementsAre(2U));
}

TEST(MemoryJournalTest, AFailureIsReportedOnceAndNothingIsDurableAfterIt) {
  MemoryJournal journal(Keep::kFrames);
  Ear ear;
  journal.listen(&ear);
  journal.append(0, Instant{1}, "a");
  journal.fail("no space");
  journal.commit();
  journal.hold(false);
  EXPECT_THAT(ear.failed, ElementsAre("no space"));
  EXPECT_TRUE(ear.durable.empty());
}

TEST(MemoryJournalTest, ACutDropsWhatCameAfterIt) {
  MemoryJournal journal(Keep::kFrames);
  for (const char* payload : {"a", "b", "c"}) journal.append(0, Instant{1}, payload);
  journal.cut_after(1);
  EXPECT_THAT(frames_of(journal), ElementsAre("1@1:a"));
  EXPECT_EQ(2U, journal.append(0, Instant{2}, "d"));
}

TEST(MemoryJournalTest, TellsNobodyWhenNobodyListens) {
  MemoryJournal journal(Keep::kFrames);
  Ear ear;
  journal.listen(&ear);
  journal.listen(nullptr);
  journal.append(0, Instant{1}, "a");
  journal.commit();
  journal.fail("gone");
  EXPECT_TRUE(ear.durable.empty());
  EXPECT_TRUE(ear.failed.empty());
}

TEST(MemoryJournalTest, NumbersWithoutGapsFromManyThreads) {
  MemoryJournal journal(Keep::kFrames);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) journal.append(0, Instant{1}, "x");
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(4000U, frames_of(journal).size());
  EXPECT_EQ(4001U, journal.append(0, Instant{1}, "x"));
}

}  // namespace
}  // namespace tenure
