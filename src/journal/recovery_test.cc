// The proof of torn against damaged, and the walk through a folder.
#include "journal/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/faulty_files.h"
#include "journal/file_names.h"
#include "journal/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- the decision table, all of it ---

TEST(JudgeTest, EveryRow) {
  int rows = 0;
  for (const bool in_last : {false, true}) {
    for (const bool is_blank : {false, true}) {
      for (const std::uint64_t latest : {0U, 1U, 9U, 10U, 11U, 1000U}) {
        const Tail tail = judge({.in_last_segment = in_last, .is_blank = is_blank, .next = 10, .latest_batch = latest});
        ++rows;
        if (is_blank) {
          EXPECT_EQ(Tail::kClean, tail);
        } else if (!in_last) {
          EXPECT_EQ(Tail::kDamaged, tail) << "a later segment vouches for this one";
        } else if (latest > 10) {
          EXPECT_EQ(Tail::kDamaged, tail) << "batch " << latest << " vouches for frame 10";
        } else {
          EXPECT_EQ(Tail::kTorn, tail) << "batch " << latest << " does not vouch for frame 10";
        }
      }
    }
  }
  EXPECT_EQ(24, rows);
}

// --- the walk ---

TEST(WalkTest, VisitsEveryFrameInOrder) {
  JournalWorld world;
  world.write({"one", "two"});
  world.write({"three"});
  EXPECT_THAT(world.walk_payloads(), ElementsAre("one", "two", "three"));
  const JournalEnd end = world.walk_all();
  EXPECT_EQ(Tail::kClean, end.tail);
  EXPECT_EQ(4U, end.next);
  EXPECT_EQ(3U, end.frames);
  EXPECT_EQ(3U, end.batch);
  EXPECT_FALSE(end.is_vouched);
}

TEST(WalkTest, BeginsBehindTheFrameAskedFor) {
  JournalWorld world;
  for (int i = 1; i <= 200; ++i) world.write({"payload number " + std::to_string(i)});
  ASSERT_GT(world.segments().size(), 2U);
  std::vector<std::string> seen;
  const auto end = walk(world.files, kFolder, {.after = 150}, [&](const Frame& frame) -> Result<Done> {
    EXPECT_EQ(151U + seen.size(), frame.sequence);
    seen.emplace_back(frame.payload);
    return Done{};
  });
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_EQ(50U, seen.size());
  EXPECT_EQ("payload number 151", seen.front());
}

TEST(WalkTest, AVisitorMayStopIt) {
  JournalWorld world;
  world.write({"one", "two"});
  int visited = 0;
  const auto end = walk(world.files, kFolder, {}, [&](const Frame&) -> Result<Done> {
    ++visited;
    return fail_with(ErrorCode::kInvalid, "enough");
  });
  EXPECT_EQ("enough", end.error().message);
  EXPECT_EQ(1, visited);
}

std::string failure_of(JournalWorld& world) {
  const auto end = walk(world.files, kFolder, {}, [](const Frame&) -> Result<Done> { return Done{}; });
  return end ? "none" : end.error().message;
}

TEST(WalkTest, RefusesAFolderWithoutAJournal) {
  JournalWorld world(JournalWorld::kEmpty);
  world.files.put(std::string(kFolder) + "/notes.txt", "x");
  EXPECT_THAT(failure_of(world), HasSubstr("expected a journal, found no segment"));
}

TEST(WalkTest, RefusesWhatIsNoSegment) {
  JournalWorld world;
  world.files.put(world.segments()[0], std::string(5000, 'x'));
  EXPECT_THAT(failure_of(world), HasSubstr("expected a segment of a Tenure journal"));
  world.files.put(world.segments()[0], "short");
  EXPECT_THAT(failure_of(world), HasSubstr("found 5 bytes"));
}

TEST(WalkTest, RefusesANewerFormat) {
  JournalWorld world;
  std::string bytes = world.files.contents(world.segments()[0]);
  bytes[8] = 2;
  reseal_segment_header(bytes);
  world.files.put(world.segments()[0], bytes);
  EXPECT_THAT(failure_of(world), HasSubstr("expected format version 1, found 2"));
}

TEST(WalkTest, RefusesAFileGrownOrCutByHand) {
  JournalWorld world;
  const std::string bytes = world.files.contents(world.segments()[0]);
  world.files.put(world.segments()[0], bytes + "x");
  EXPECT_THAT(failure_of(world), HasSubstr(std::to_string(bytes.size() + 1)));
  world.files.put(world.segments()[0], bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(failure_of(world), HasSubstr("as its header says"));
}

TEST(WalkTest, RefusesAnotherJournalsSegment) {
  JournalWorld world;
  JournalWorld other(2);
  for (auto* each : {&world, &other}) {
    for (int i = 1; i <= 100; ++i) each->write({"payload number " + std::to_string(i)});
  }
  ASSERT_GT(world.segments().size(), 1U);
  ASSERT_EQ(world.segments(), other.segments());
  world.files.put(world.segments()[1], other.files.contents(other.segments()[1]));
  EXPECT_THAT(failure_of(world), HasSubstr("expected a segment of journal"));
}

TEST(WalkTest, RefusesAMissingSegment) {
  JournalWorld world;
  for (int i = 1; i <= 200; ++i) world.write({"payload number " + std::to_string(i)});
  const auto segments = world.segments();
  ASSERT_GT(segments.size(), 2U);
  ASSERT_TRUE(world.files.remove(segments[1]));
  EXPECT_THAT(failure_of(world), HasSubstr("are missing"));
  ASSERT_TRUE(world.files.remove(segments[0]));
  EXPECT_THAT(failure_of(world), HasSubstr("expected the segment with frame 1"));
}

TEST(WalkTest, RefusesASegmentUnderAnotherName) {
  JournalWorld world;
  ASSERT_TRUE(world.files.rename(world.segments()[0], std::string(kFolder) + "/00000000000000000000.journal"));
  EXPECT_THAT(failure_of(world), HasSubstr("as its name says"));
}

TEST(WalkTest, RefusesASegmentThatContinuesAnother) {
  JournalWorld world;
  while (world.segments().size() < 2) world.write({"some payload of some length"});
  const std::string second = world.segments()[1];
  std::string bytes = world.files.contents(second);
  bytes[40] = static_cast<char>(bytes[40] ^ 1);  // of its chain
  reseal_segment_header(bytes);
  world.files.put(second, bytes);
  EXPECT_THAT(failure_of(world), HasSubstr("found one that continues from another"));
}

TEST(WalkTest, RefusesAHeaderThatIsDamaged) {
  JournalWorld world;
  world.files.flip_bit(world.segments()[0], 20 * 8);
  EXPECT_THAT(failure_of(world), HasSubstr("of the segment's header"));
}

TEST(WalkTest, OnlyNumbersOfTwentyDigitsAreNamesOfSegments) {
  EXPECT_EQ(7U, number_in("00000000000000000007.journal", ".journal"));
  EXPECT_EQ(7U, number_in(numbered_name(7, ".torn"), ".torn"));
  for (const char* name : {"7.journal", "00000000000000000007.journa1", "0000000000000000000x.journal",
                           "x0000000000000000000.journal", "99999999999999999999.journal"}) {
    EXPECT_EQ(std::nullopt, number_in(name, ".journal")) << name;
  }
}

TEST(WalkTest, AFrameThatDoesNotFollowIsNone) {
  JournalWorld world;
  world.write({"one"});
  world.write({"two"});
  const JournalEnd end = world.walk_all();
  const std::string whole = world.files.contents(end.path);
  const auto count_with_third = [&](std::uint64_t batch, std::uint64_t previous) {
    std::string frame;
    put_frame(frame, 3, Instant{3}, "three");
    seal_frame(absl::MakeSpan(frame), batch, previous, end.segment.journal.seed());
    std::string bytes = whole;
    world.files.put(end.path, bytes.replace(end.offset, frame.size(), frame));
    return world.walk_payloads().size();
  };
  EXPECT_EQ(3U, count_with_third(3, end.chain));
  EXPECT_EQ(3U, count_with_third(2, end.chain)) << "it goes on with the batch of the second";
  EXPECT_EQ(2U, count_with_third(3, end.chain + 1)) << "it continues from another";
  EXPECT_EQ(2U, count_with_third(1, end.chain)) << "of a batch that is over";
}

// --- snapshots beside the journal ---

void put_snapshot(JournalWorld& world, const SnapshotMark& mark) {
  auto writer = SnapshotWriter::create(world.files, kFolder, mark).value();
  ASSERT_TRUE(writer->complete("0123456789abcdef").has_value());
  ASSERT_TRUE(writer->publish().has_value());
}

TEST(SnapshotsOfAJournalTest, AreOpenedOnlyIfTheyAreOfItsFrames) {
  JournalWorld world;
  for (int i = 1; i <= 5; ++i) world.write({"payload"});
  const auto third = walk(world.files, kFolder, {.upto = 3}, [](const Frame&) -> Result<Done> { return Done{}; });
  const SnapshotMark good{.journal = third->segment.journal, .sequence = 3, .chain = third->chain};
  const FileSnapshots snapshots(world.files, kFolder, 1);
  const auto refusal = [&](std::uint64_t sequence) {
    const auto opened = snapshots.open(sequence);
    return opened ? "none" : opened.error().message;
  };
  put_snapshot(world, good);
  EXPECT_EQ("none", refusal(3));
  world.files.put(snapshot_path(kFolder, 4), world.files.contents(snapshot_path(kFolder, 3)));
  EXPECT_THAT(refusal(4), HasSubstr("as its name says"));
  EXPECT_FALSE(snapshots.mark_of(4).has_value());
  put_snapshot(world, {.journal = good.journal, .sequence = 6, .chain = 1});
  EXPECT_THAT(refusal(6), HasSubstr("found that the journal ends with frame 5"));
  put_snapshot(world, {.journal = good.journal, .sequence = 3, .chain = good.chain + 1});
  EXPECT_THAT(refusal(3), HasSubstr("found another"));
  JournalId other = good.journal;
  other.low ^= 1;
  put_snapshot(world, {.journal = other, .sequence = 3, .chain = good.chain});
  EXPECT_THAT(refusal(3), HasSubstr("found another"));
}

TEST(SnapshotsOfAJournalTest, OneOfAFrameThatIsNotThereProvesALoss) {
  JournalWorld world;
  world.write({"one"});
  const JournalEnd end = world.walk_all();
  const auto judged = [&](const std::vector<std::uint64_t>& snapshots, Tail before = Tail::kClean) {
    JournalEnd found = end;
    found.tail = before;
    compare_with_snapshots(world.files, kFolder, snapshots, found);
    return found;
  };
  put_snapshot(world, {.journal = end.segment.journal, .sequence = 9, .chain = 1});
  put_snapshot(world, {.journal = {1, 2}, .sequence = 8, .chain = 1});
  put_snapshot(world, {.journal = end.segment.journal, .sequence = 1, .chain = 1});
  world.files.put(snapshot_path(kFolder, 7), "damaged");
  world.files.put(snapshot_path(kFolder, 6), world.files.contents(snapshot_path(kFolder, 9)));
  EXPECT_EQ(Tail::kClean, judged({8, 7, 6, 1}).tail) << "none of these proves anything";
  EXPECT_EQ(Tail::kDamaged, judged({9, 8}).tail);
  EXPECT_THAT(judged({9, 8}).why, HasSubstr("as there is a snapshot of frame 9"));
  EXPECT_EQ("", judged({9}, Tail::kDamaged).why) << "it has its reason already";
}

TEST(SnapshotsOfAJournalTest, NeedRoom) {
  JournalWorld world;
  while (world.segments().size() < 3) world.write({"some payload of some length"});
  FileSnapshots snapshots(world.files, kFolder, 1);
  world.files.set_capacity(0);
  EXPECT_THAT(snapshots.begin(1).error().message, HasSubstr("bytes free, which a snapshot may take, found 0"));
}

TEST(SnapshotsOfAJournalTest, AreToldThatTheJournalHasGrown) {
  JournalWorld world;
  FileSnapshots snapshots(world.files, kFolder, 1);
  int told = 0;
  snapshots.grown();
  snapshots.on_growth([&] { ++told; });
  snapshots.grown();
  EXPECT_EQ(1, told);
  snapshots.on_growth(nullptr);
  snapshots.grown();
  EXPECT_EQ(1, told);
}

// --- torn and damaged ---

TEST(TailTest, ATornLastBatchIsCutAndKeptAside) {
  JournalWorld world;
  world.write({"one"});
  const JournalEnd before = world.walk_all();
  world.write({"two", "three"});
  world.files.flip_bit(before.path, (before.offset + 50) * 8);  // within "two"
  const JournalEnd end = world.walk_all();
  EXPECT_EQ(Tail::kTorn, end.tail);
  EXPECT_EQ(2U, end.next);
  EXPECT_EQ(before.offset, end.offset);
  EXPECT_THAT(end.why, HasSubstr("expected frame 2"));
  const std::string tail = world.files.contents(end.path).substr(end.offset, end.tail_bytes);
  const auto copy = cut_tail(world.files, kFolder, end);
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(std::string(kFolder) + "/00000000000000000002.torn", *copy);
  EXPECT_EQ(tail, world.files.contents(*copy));
  EXPECT_EQ(Tail::kClean, world.walk_all().tail);
  EXPECT_THAT(world.walk_payloads(), ElementsAre("one"));
}

TEST(TailTest, ALaterBatchProvesDamage) {
  JournalWorld world;
  world.write({"one"});
  const JournalEnd before = world.walk_all();
  world.write({"two"});
  world.write({"three"});
  world.files.flip_bit(before.path, (before.offset + 50) * 8);
  const JournalEnd end = world.walk_all();
  EXPECT_EQ(Tail::kDamaged, end.tail);
  EXPECT_THAT(end.why, HasSubstr("frames of batch 3"));
  EXPECT_THAT(refuse_damage(kFolder, end).value().message, HasSubstr("tenure journal repair --accept-loss"));
}

TEST(TailTest, AnEmptyBatchVouchesForTheLast) {
  JournalWorld world;
  const JournalEnd before = world.walk_all();
  world.write({"one"});
  world.journal->vouch();
  world.files.flip_bit(before.path, (before.offset + 50) * 8);
  EXPECT_EQ(Tail::kDamaged, world.walk_all().tail);
}

TEST(TailTest, ALaterSegmentProvesDamage) {
  JournalWorld world;
  while (world.segments().size() < 2) world.write({"some payload of some length"});
  const JournalEnd end = world.walk_all();
  const std::string first = world.segments()[0];
  // The last frame of the first segment.
  const std::string bytes = world.files.contents(first);
  world.files.flip_bit(first, bytes.find_last_not_of('\0') * 8);
  EXPECT_EQ(Tail::kDamaged, world.walk_all().tail);
  EXPECT_THAT(world.walk_all().why, HasSubstr("a later segment"));
}

TEST(TailTest, OldFramesBehindTheTailAreNoProof) {
  JournalWorld world;
  const JournalEnd start = world.walk_all();
  world.write({"one"});
  world.write({"two"});
  const JournalEnd end = world.walk_all();
  std::string bytes = world.files.contents(end.path);
  const std::string old = bytes.substr(start.offset, end.offset - start.offset);
  bytes.replace(end.offset, old.size(), old);
  world.files.put(end.path, bytes);
  const JournalEnd again = world.walk_all();
  EXPECT_EQ(Tail::kTorn, again.tail);
  EXPECT_EQ(3U, again.next);
  EXPECT_EQ(old.size(), again.tail_bytes);
}

TEST(TailTest, AnEarlierCopyOfATornTailIsKept) {
  JournalWorld world;
  world.files.put(std::string(kFolder) + "/00000000000000000002.torn", "earlier");
  world.write({"one"});
  const JournalEnd before = world.walk_all();
  world.write({"two"});
  world.files.flip_bit(before.path, (before.offset + 50) * 8);
  const auto copy = cut_tail(world.files, kFolder, world.walk_all());
  ASSERT_TRUE(copy.has_value());
  EXPECT_THAT(*copy, HasSubstr("00000000000000000002-2.torn"));
  EXPECT_EQ("earlier", world.files.contents(std::string(kFolder) + "/00000000000000000002.torn"));
}

}  // namespace
}  // namespace tenure
