// The journal in a folder: batches, segments, how it ends, what it refuses.
#include "journal/file_journal.h"

#include <filesystem>
#include <stdlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "journal/file_names.h"
#include "journal/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct StrictEar final : Journal::Listener {
  void on_durable(std::uint64_t sequence) override { durable.push_back(sequence); }
  void on_failed(Journal::Outcome outcome, const std::string& why) override {
    EXPECT_EQ(Journal::Outcome::kUnknown, outcome);
    failed.push_back(why);
  }
  std::vector<std::uint64_t> durable;
  std::vector<std::string> failed;
};

std::string text(int i) { return "payload number " + std::to_string(i); }

TEST(FileJournalTest, WhatIsAppendedIsThereAfterARestart) {
  JournalWorld world;
  EXPECT_TRUE(world.journal->report().is_new);
  world.write({"one", "two"});
  world.write({"three"});
  ASSERT_TRUE(world.start());
  EXPECT_FALSE(world.journal->report().is_new);
  EXPECT_EQ(3U, world.journal->report().frames);
  EXPECT_THAT(world.replayed, ElementsAre("one", "two", "three"));
  EXPECT_EQ(4U, world.journal->append(0, Instant{9}, "four"));
}

TEST(FileJournalTest, ManyAppendsAreOneWriteAndOneSync) {
  JournalWorld world;
  const std::uint64_t before = world.files.operations();
  world.write({"one", "two", "three"});
  EXPECT_EQ(2U, world.files.operations() - before);
}

TEST(FileJournalTest, TellsWhatItHasDone) {
  JournalWorld world;
  world.write({"one", "two", "three"});
  world.write({"four"});
  const JournalFigures figures = world.journal->figures();
  EXPECT_EQ(2U, figures.sync_seconds.count());
  EXPECT_EQ(2U, figures.batch_frames.count());
  EXPECT_DOUBLE_EQ(4, figures.batch_frames.sum());
  EXPECT_EQ(1U, figures.batch_frames.counts()[0]);  // of one frame,
  EXPECT_EQ(1U, figures.batch_frames.counts()[2]);  // and of up to four
  EXPECT_GT(figures.written_bytes, 15U);
  EXPECT_GE(figures.segment_bytes, figures.written_bytes);
  EXPECT_EQ(0U, figures.snapshot_bytes);
  EXPECT_GT(figures.free_bytes, 0U);
}

TEST(FileJournalTest, ReportsOncePerBatch) {
  JournalWorld world;
  StrictEar ear;
  world.journal->listen(&ear);
  world.write({"one", "two", "three"});
  EXPECT_THAT(ear.durable, ElementsAre(3U));
  EXPECT_EQ(3U, world.journal->durable());
  EXPECT_FALSE(world.journal->step());
  EXPECT_THAT(ear.durable, ElementsAre(3U));
  world.journal->listen(nullptr);
  world.write({"four"});
  EXPECT_THAT(ear.durable, ElementsAre(3U));
}

TEST(FileJournalTest, NothingIsDurableBeforeItIsWritten) {
  JournalWorld world;
  world.journal->append(0, Instant{1}, "one");
  EXPECT_EQ(0U, world.journal->durable());
  ASSERT_TRUE(world.start());
  EXPECT_THAT(world.replayed, IsEmpty());
}

TEST(FileJournalTest, RollsFromSegmentToSegment) {
  JournalWorld world;
  std::vector<std::string> all;
  for (int i = 1; i <= 300; ++i) {
    all.push_back(text(i));
    world.write({text(i)});
  }
  EXPECT_GT(world.segments().size(), 4U);
  ASSERT_TRUE(world.start());
  EXPECT_EQ(all, world.replayed);
}

TEST(FileJournalTest, ABatchLargerThanASegmentIsSeveral) {
  JournalWorld world;
  StrictEar ear;
  world.journal->listen(&ear);
  std::vector<std::string> all;
  for (int i = 1; i <= 300; ++i) all.push_back(text(i));
  world.write(all);
  EXPECT_GT(ear.durable.size(), 4U);
  EXPECT_EQ(300U, ear.durable.back());
  ASSERT_TRUE(world.start());
  EXPECT_EQ(all, world.replayed);
}

TEST(FileJournalTest, AFrameLargerThanASegmentGetsOneOfItsOwnSize) {
  JournalWorld world;
  const std::string large(10'000, 'x');
  world.write({"one", large, "three"});
  ASSERT_TRUE(world.start());
  EXPECT_THAT(world.replayed, ElementsAre("one", large, "three"));
}

TEST(FileJournalTest, ReadsWhatIsDurableWhileItGoesOn) {
  JournalWorld world;
  for (int i = 1; i <= 100; ++i) world.write({text(i)});
  world.journal->append(0, Instant{1000}, "not yet");
  std::vector<std::string> tail;
  const auto read = [&](std::uint64_t after) {
    return world.journal->read({.after = after}, [&](const Frame& frame) -> Result<Done> {
      tail.emplace_back(frame.payload);
      return Done{};
    });
  };
  ASSERT_TRUE(read(98));
  EXPECT_THAT(tail, ElementsAre(text(99), text(100)));
  world.journal->step();
  ASSERT_TRUE(read(100));
  EXPECT_THAT(tail, ElementsAre(text(99), text(100), "not yet"));
  ASSERT_TRUE(read(101));
  EXPECT_EQ(3U, tail.size());
}

// --- vouching and the end ---

TEST(FileJournalTest, AnEmptyBatchVouchesForTheLastOnce) {
  JournalWorld world;
  EXPECT_FALSE(world.journal->vouch());
  world.write({"one"});
  EXPECT_TRUE(world.journal->vouch());
  EXPECT_FALSE(world.journal->vouch());
  EXPECT_TRUE(world.walk_all().is_vouched);
  EXPECT_EQ(3U, world.journal->append(0, Instant{9}, "two"));
}

TEST(FileJournalTest, WhatWasAppendedMeanwhileVouchesItself) {
  JournalWorld world;
  world.write({"one"});
  world.journal->append(0, Instant{9}, "two");
  EXPECT_FALSE(world.journal->vouch());
  EXPECT_TRUE(world.journal->step());
}

TEST(FileJournalTest, AfterARestartTheLastBatchIsVouchedFor) {
  JournalWorld world;
  world.write({"one"});
  ASSERT_TRUE(world.start());
  EXPECT_TRUE(world.journal->vouch());
  ASSERT_TRUE(world.start());
  EXPECT_FALSE(world.journal->vouch());
}

TEST(FileJournalTest, ACleanEndLeavesNothingInDoubt) {
  JournalWorld world;
  world.write({"one"});
  world.journal->append(0, Instant{9}, "two");
  EXPECT_TRUE(world.journal->close());
  EXPECT_EQ(3U, world.journal->durable());
  world.files.crash(FaultyFiles::Damage::kLoseAll, 1);
  ASSERT_TRUE(world.start());
  EXPECT_THAT(world.replayed, ElementsAre("one", "two"));
  EXPECT_TRUE(world.walk_all().is_vouched);
}

// --- failures ---

TEST(FileJournalTest, AFailedWriteOrSyncEndsIt) {
  for (const std::uint64_t which : {1U, 2U}) {
    JournalWorld world;
    StrictEar ear;
    world.journal->listen(&ear);
    world.write({"one"});
    world.files.fail_at(world.files.operations() + which, FaultyFiles::Fault::kIoError);
    EXPECT_FALSE(world.write({"two"}));
    EXPECT_THAT(ear.durable, ElementsAre(1U));
    EXPECT_EQ(1U, ear.failed.size());
    // It is not tried again.
    EXPECT_FALSE(world.write({"three"}));
    EXPECT_FALSE(world.journal->vouch());
    EXPECT_FALSE(world.journal->close());
    EXPECT_THAT(ear.durable, ElementsAre(1U));
    EXPECT_EQ(1U, ear.failed.size());
    world.files.crash(FaultyFiles::Damage::kLoseAll, 1);
    ASSERT_TRUE(world.start());
    EXPECT_THAT(world.replayed, ElementsAre("one"));
  }
}

TEST(FileJournalTest, AStartRestsOnNothingThatOnlyThePageCacheHas) {
  for (const bool is_full : {false, true}) {
    JournalWorld world;
    world.write({"one"});
    world.files.fail_at(world.files.operations() + 2, FaultyFiles::Fault::kIoError);  // the sync
    EXPECT_FALSE(world.write({"two"}));
    world.files.kill();
    world.files.set_capacity(is_full ? 0 : 1 << 30);
    ASSERT_TRUE(world.start());
    EXPECT_THAT(world.replayed, ElementsAre("one", "two"));
    EXPECT_TRUE(world.write({"three"}));
    world.files.crash(FaultyFiles::Damage::kLoseAll, 1);
    ASSERT_TRUE(world.start());
    EXPECT_THAT(world.replayed, ElementsAre("one", "two", "three"));
  }
}

TEST(FileJournalTest, AFullDiskIsToldBeforeItHurts) {
  JournalWorld world;
  EXPECT_TRUE(world.journal->has_room());
  world.files.set_capacity(0);
  int written = 0;
  while (world.journal->has_room()) {
    ASSERT_TRUE(world.write({text(++written)}));
    ASSERT_LT(written, 1000);
  }
  // A half of a segment is left to finish with.
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(world.write({text(++written)}));
  world.files.set_capacity(1 << 30);
  EXPECT_TRUE(world.write({text(++written)}));
  EXPECT_TRUE(world.journal->has_room());
  ASSERT_TRUE(world.start());
  EXPECT_EQ(static_cast<std::size_t>(written), world.replayed.size());
}

// --- what it refuses ---

TEST(FileJournalTest, OneProcessPerFolder) {
  JournalWorld world;
  const auto second = FileJournal::open(world.files, kFolder, world.entropy, world.options);
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(is_in_use(second.error()));
}

TEST(FileJournalTest, AFolderOfSomethingElseIsRefusedAndLeftAlone) {
  JournalWorld world(JournalWorld::kEmpty);
  world.files.put(std::string(kFolder) + "/notes.txt", "x");
  const auto before = world.files.state();
  const auto started = world.start();
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().message, HasSubstr("expected a journal or an empty folder"));
  EXPECT_THAT(started.error().message, HasSubstr("notes.txt"));
  EXPECT_EQ(before, world.files.state());
}

TEST(FileJournalTest, DamageIsRefusedAndNothingIsChanged) {
  JournalWorld world;
  const JournalEnd start = world.walk_all();
  world.write({"one"});
  ASSERT_TRUE(world.journal->close());
  world.journal.reset();
  world.files.flip_bit(start.path, (start.offset + 50) * 8);
  const auto before = world.files.state();
  const auto started = world.start();
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().message, HasSubstr("the journal is damaged"));
  EXPECT_THAT(started.error().message, HasSubstr("offset 64"));
  EXPECT_THAT(started.error().message, HasSubstr("repair --accept-loss /data"));
  EXPECT_EQ(before, world.files.state());
}

TEST(FileJournalTest, ATornTailIsReported) {
  JournalWorld world;
  world.write({"one"});
  const JournalEnd end = world.walk_all();
  world.write({"two"});
  world.files.flip_bit(end.path, (end.offset + 50) * 8);
  ASSERT_TRUE(world.start());
  EXPECT_THAT(world.journal->report().torn, HasSubstr("expected frame 2"));
  EXPECT_THAT(world.journal->report().torn_copy, HasSubstr(".torn"));
  EXPECT_EQ(56U, world.journal->report().torn_bytes);
  EXPECT_THAT(world.replayed, ElementsAre("one"));
  world.write({"another two"});
  ASSERT_TRUE(world.start());
  EXPECT_THAT(world.replayed, ElementsAre("one", "another two"));
  EXPECT_THAT(world.journal->report().torn, IsEmpty());
}

TEST(FileJournalTest, AVisitorThatRefusesChangesNothing) {
  JournalWorld world;
  world.write({"one"});
  const JournalEnd end = world.walk_all();
  world.write({"two"});
  world.files.flip_bit(end.path, (end.offset + 50) * 8);  // torn, but not cut
  world.journal.reset();
  const auto before = world.files.state();
  auto journal = FileJournal::open(world.files, kFolder, world.entropy, world.options).value();
  const auto started =
      journal->start(0, [](const Frame&) -> Result<Done> { return fail_with(ErrorCode::kInvalid, "an invariant"); });
  EXPECT_EQ("an invariant", started.error().message);
  EXPECT_EQ(before, world.files.state());
}

// --- with threads, on the machine's files ---

TEST(FileJournalThreadTest, ManyThreadsShareBatches) {
  const TemporaryFolder folder;
  SystemEntropy entropy;
  const FileJournal::Options options{.segment_bytes = 256 << 10, .idle = Millis{5}};
  constexpr std::uint64_t kThreads = 8;
  constexpr std::uint64_t kEach = 500;
  {
    auto journal = FileJournal::open(real_files(), folder.path(), entropy, options).value();
    ASSERT_TRUE(journal->start(0, [](const Frame&) -> Result<Done> { return Done{}; }));
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t k = 0; k < kEach; ++k) {
          const std::uint64_t sequence = journal->append(0, Instant{1}, std::string(100, 'x'));
          journal->commit();
          while (journal->durable() < sequence) std::this_thread::yield();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    ASSERT_TRUE(journal->close());
  }
  auto journal = FileJournal::open(real_files(), folder.path(), entropy, options).value();
  std::uint64_t frames = 0;
  ASSERT_TRUE(journal->start(0, [&](const Frame& frame) -> Result<Done> {
    if (!frame.payload.empty()) ++frames;
    return Done{};
  }));
  EXPECT_EQ(kThreads * kEach, frames);
  EXPECT_TRUE(walk(real_files(), folder.path(), {}, [](const Frame&) -> Result<Done> { return Done{}; })->is_vouched);
}

TEST(FileJournalThreadTest, VouchesWhenIdle) {
  const TemporaryFolder folder;
  SystemEntropy entropy;
  auto journal =
      FileJournal::open(real_files(), folder.path() + "/made", entropy, {.segment_bytes = 64 << 10, .idle = Millis{1}})
          .value();
  ASSERT_TRUE(journal->start(0, [](const Frame&) -> Result<Done> { return Done{}; }));
  journal->append(0, Instant{1}, "one");
  journal->commit();
  while (journal->durable() < 2) std::this_thread::yield();
  EXPECT_EQ(3U, journal->append(0, Instant{1}, "two"));
}

TEST(FileJournalThreadTest, BeginsAheadWithMuchAndNotWithLittle) {
  const TemporaryFolder folder;
  SystemEntropy entropy;
  auto journal = FileJournal::open(real_files(), folder.path(), entropy,
                                   {.segment_bytes = 256 << 10, .idle = std::chrono::minutes(1)})
                     .value();
  ASSERT_TRUE(journal->start(0, [](const Frame&) -> Result<Done> { return Done{}; }));
  journal->append(0, Instant{1}, "one");
  journal->commit_ahead();
  journal->append(0, Instant{1}, "two");
  journal->commit();
  while (journal->durable() < 2) std::this_thread::yield();
  EXPECT_EQ(1U, journal->figures().batch_frames.count());
  for (int i = 0; i < 60; ++i) journal->append(0, Instant{1}, std::string(1000, 'x'));
  journal->commit_ahead();
  while (journal->durable() < 62) std::this_thread::yield();
}

}  // namespace
}  // namespace tenure
