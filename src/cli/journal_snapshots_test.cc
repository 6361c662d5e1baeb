// The journal commands on a folder whose oldest frames are only in snapshots.
#include "cli/testing.h"
#include "journal/file_names.h"
#include "journal/snapshot_file.h"

namespace tenure::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class JournalSnapshotsTest : public testing::Test {
 protected:
  JournalSnapshotsTest() {
    Writer writer = world_.write();
    writer.get(Submission{.queue = "mail", .payload = "hello", .id = "T1"});
    submit(writer, 100);
    older_ = writer.snapshot();
    lease_ = writer.lease("W1", "mail");
    submit(writer, 100);
    newer_ = writer.snapshot();
    writer.get(Completion{"T1", lease_.lease_id, "done"});
    submit(writer, 100);
    writer.close();
  }

  void submit(Writer& writer, int count) {
    for (int i = 0; i < count; ++i) writer.get(Submission{.queue = "rest", .payload = "p"});
  }
  [[nodiscard]] int verify(const std::string& folder = kFolder) const {
    return finish(world_.desk, verify_journal(world_.desk, folder));
  }
  [[nodiscard]] int repair() const {
    return finish(world_.desk, repair_journal(world_.desk, {.folder = kFolder, .accept_loss = true}));
  }
  [[nodiscard]] std::uint64_t first() { return find_segments(world_.files, kFolder)->front().first; }
  void damage_snapshot(std::uint64_t frame) { world_.files.flip_bit(snapshot_path(kFolder, frame), 8 * 100); }
  // Makes a byte of this frame wrong.
  void damage_frame(std::uint64_t sequence) {
    const auto place = *walk(world_.files, kFolder, {.after = first() - 1, .upto = sequence - 1},
                             [](const Frame&) -> Result<Done> { return Done{}; });
    world_.files.flip_bit(place.path, (place.offset + 50) * 8);
  }

  CommandWorld world_;
  TaskLease lease_;
  std::uint64_t older_ = 0;
  std::uint64_t newer_ = 0;
};

TEST_F(JournalSnapshotsTest, VerifyBeginsWithTheOldestAndComparesTheOthers) {
  ASSERT_GT(first(), 1U);
  EXPECT_EQ(0, verify()) << world_.take_err();
  EXPECT_THAT(world_.take_out(), HasSubstr("snapshots 2 agreed; frames up to " + std::to_string(older_)));
}

TEST_F(JournalSnapshotsTest, VerifyTellsOfADamagedOne) {
  damage_snapshot(newer_);
  EXPECT_EQ(1, verify());
  EXPECT_THAT(world_.take_err(),
              AllOf(HasSubstr("the journal is sound, a snapshot is not"), HasSubstr("remove the file")));
  damage_snapshot(older_);
  EXPECT_EQ(1, verify());
  EXPECT_THAT(world_.take_err(), HasSubstr("expected the segment with frame 1 or a good snapshot"));
}

TEST_F(JournalSnapshotsTest, DumpBeginsWithTheFirstFrameThatIsLeft) {
  EXPECT_EQ(0, finish(world_.desk, dump_journal(world_.desk, {.folder = kFolder})));
  EXPECT_THAT(world_.take_out(), StartsWith("{\"sequence\":" + std::to_string(first()) + ","));
}

TEST_F(JournalSnapshotsTest, StatListsThem) {
  EXPECT_EQ(0, finish(world_.desk, stat_journal(world_.desk, {.folder = kFolder})));
  EXPECT_THAT(world_.take_out(), HasSubstr("snapshot                 of frame"));
  EXPECT_EQ(0, finish(world_.desk, stat_journal(world_.desk, {.folder = kFolder, .json = true})));
  EXPECT_THAT(world_.take_out(), HasSubstr("\"snapshots\":[{\"frame\":" + std::to_string(newer_) + ",\"bytes\":"));
}

TEST_F(JournalSnapshotsTest, HistoryBeginsWithWhatTheSnapshotHolds) {
  EXPECT_EQ(0, finish(world_.desk, tell_history(world_.desk, {.folder = kFolder, .task = "T1"})));
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("What its snapshot of frame " + std::to_string(older_) + " holds"),
                                       HasSubstr("attempt 1: leased to W1"), HasSubstr("completed"),
                                       HasSubstr("It ran 1 time and is COMPLETED.")));
  EXPECT_EQ(0, finish(world_.desk, tell_history(world_.desk, {.folder = kFolder, .task = "T1", .json = true})));
  EXPECT_THAT(world_.take_out(), StartsWith("{\"snapshot\":" + std::to_string(older_) + ",\"holds\":{"));
  EXPECT_EQ(1, finish(world_.desk, tell_history(world_.desk, {.folder = kFolder, .task = "none"})));
}

TEST_F(JournalSnapshotsTest, HistoryGoesOnFromWhatTheSnapshotHolds) {
  CommandWorld world;
  {
    Writer writer = world.write();
    writer.get(Submission{.queue = "mail", .payload = "hello", .id = "T1"});
    writer.get(Submission{.queue = "mail", .payload = "hello", .id = "T2"});
    const TaskLease done = writer.lease("W1", "mail");
    writer.get(Completion{"T1", done.lease_id, ""});
    const TaskLease lease = writer.lease("W2", "mail");
    submit(writer, 100);
    writer.snapshot();
    submit(writer, 100);
    writer.snapshot();
    writer.get(Completion{"T2", lease.lease_id, ""});
    writer.close();
  }
  EXPECT_EQ(0, finish(world.desk, tell_history(world.desk, {.folder = kFolder, .task = "T1"})));
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("by then COMPLETED"), HasSubstr("It ran 1 time and is COMPLETED."),
                                      HasSubstr("attempt 1 by W1, fence 1: COMPLETED")));
  EXPECT_EQ(0, finish(world.desk, tell_history(world.desk, {.folder = kFolder, .task = "T2"})));
  EXPECT_THAT(world.take_out(),
              AllOf(HasSubstr("attempt 1: completed by W2"), HasSubstr("It ran 1 time and is COMPLETED."),
                    HasSubstr("attempt 1 by W2, fence 2: COMPLETED")));
}

TEST_F(JournalSnapshotsTest, ABackupHasThemAndCanBeRestored) {
  const auto before = state_of(world_.files, kFolder);
  EXPECT_EQ(0, finish(world_.desk, backup_journal(world_.desk, {.folder = kFolder, .to = "/copy"})));
  EXPECT_THAT(world_.take_out(), HasSubstr(", 2 snapshots"));
  EXPECT_EQ(0, verify("/copy")) << world_.take_err();
  EXPECT_EQ(0, finish(world_.desk, restore_journal(world_.desk, {.from = "/copy", .folder = "/new"})));
  EXPECT_EQ(0, verify("/new")) << world_.take_err();
  EXPECT_EQ(before, state_of(world_.files, kFolder));
  Writer writer = world_.write("/new");
  EXPECT_EQ(newer_, writer.engine().origin().snapshot);
  EXPECT_GT(writer.lease("W2", "rest").fence.value, 1'000'000U);
}

TEST_F(JournalSnapshotsTest, ABackupLeavesADamagedOneOut) {
  damage_snapshot(newer_);
  EXPECT_EQ(0, finish(world_.desk, backup_journal(world_.desk, {.folder = kFolder, .to = "/copy"})));
  EXPECT_THAT(world_.take_err(), HasSubstr("note: a damaged snapshot is not copied"));
  EXPECT_EQ(0, verify("/copy")) << world_.take_err();
  EXPECT_THAT(find_snapshots(world_.files, "/copy").value(), SizeIs(1));
}

// Whatever is wrong before the newest good one, it and all behind it stay.
TEST_F(JournalSnapshotsTest, DamageInItsOwnSegmentDoesNotCostASnapshot) {
  damage_frame(newer_ - 1);
  EXPECT_EQ(1, verify());
  EXPECT_THAT(world_.take_err(), HasSubstr("A start needs nothing of that"));
  EXPECT_EQ(0, repair()) << world_.take_err();
  EXPECT_THAT(world_.take_out(), HasSubstr("healthy"));
  Writer writer = world_.write();
  EXPECT_EQ(newer_, writer.engine().origin().snapshot);
  EXPECT_EQ(TaskState::kCompleted, writer.get(GetTask{"T1"})->state);
}

TEST_F(JournalSnapshotsTest, TheFrameOfASnapshotItselfMayBeDamaged) {
  damage_frame(newer_);
  Writer writer = world_.write();
  EXPECT_EQ(newer_, writer.engine().origin().snapshot);
  EXPECT_EQ(TaskState::kCompleted, writer.get(GetTask{"T1"})->state);
}

TEST_F(JournalSnapshotsTest, WithoutFramesThatLeadToItASnapshotIsAllThatIsKept) {
  for (const bool all : {false, true}) {
    SCOPED_TRACE(all);
    const auto before = world_.files.copy();
    std::ostringstream out;
    std::ostringstream err;
    const Desk desk{*before, world_.clock, world_.entropy, out, err};
    const auto segments = find_segments(*before, kFolder).value();
    for (const SegmentFile& segment : segments) {
      if (!all && segment.first <= older_ + 1) continue;
      ASSERT_TRUE(before->remove(segment.path));
    }
    EXPECT_EQ(1, finish(desk, repair_journal(desk, {.folder = kFolder})));
    EXPECT_THAT(out.str(), HasSubstr("would keep  the snapshot of frame " + std::to_string(newer_)));
    EXPECT_EQ(0, finish(desk, repair_journal(desk, {.folder = kFolder, .accept_loss = true}))) << err.str();
    EXPECT_EQ(0, finish(desk, verify_journal(desk, kFolder))) << err.str();
    Writer writer(*before, world_.clock, world_.entropy, kFolder, 4096);
    EXPECT_EQ(newer_, writer.engine().origin().snapshot);
    EXPECT_EQ(TaskState::kLeased, writer.get(GetTask{"T1"})->state);
    EXPECT_GT(writer.lease("W2", "rest").fence.value, 1'000'000U);
  }
}

TEST_F(JournalSnapshotsTest, ABackupOfWhatAStartNeedsIsMadeThoughTheRestIsDamaged) {
  damage_frame(newer_ - 1);
  EXPECT_EQ(0, finish(world_.desk, backup_journal(world_.desk, {.folder = kFolder, .to = "/copy"})));
  EXPECT_THAT(world_.take_err(), HasSubstr("note: only what a start needs is copied"));
  EXPECT_EQ(0, finish(world_.desk, restore_journal(world_.desk, {.from = "/copy", .folder = "/new"})))
      << world_.take_err();
  Writer writer = world_.write("/new");
  EXPECT_EQ(TaskState::kCompleted, writer.get(GetTask{"T1"})->state);
}

TEST_F(JournalSnapshotsTest, OneUnderAnotherNameProvesNothing) {
  world_.files.put(snapshot_path(kFolder, 100'000), world_.files.contents(snapshot_path(kFolder, newer_)));
  Writer writer = world_.write();
  EXPECT_EQ(newer_, writer.engine().origin().snapshot);
}

TEST_F(JournalSnapshotsTest, RepairBehindTheNewestKeepsBoth) {
  damage_frame(newer_ + 20);
  EXPECT_EQ(0, repair()) << world_.take_err();
  EXPECT_THAT(find_snapshots(world_.files, kFolder).value(), SizeIs(2));
  EXPECT_EQ(0, verify()) << world_.take_err();
}

TEST_F(JournalSnapshotsTest, DamageBeforeWhatAStartNeedsIsNoReasonToCut) {
  damage_frame(older_ + 1);  // in the segment of the older one, which is useless then
  EXPECT_EQ(1, verify());
  EXPECT_THAT(world_.take_err(), HasSubstr("A start needs nothing of that: it begins with the snapshot of frame " +
                                           std::to_string(newer_)));
  const auto before = world_.files.state();
  EXPECT_EQ(0, repair()) << world_.take_err();
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("healthy"), HasSubstr("after the snapshot of frame")));
  EXPECT_EQ(before, world_.files.state());
  Writer writer = world_.write();
  EXPECT_EQ(newer_, writer.engine().origin().snapshot);
}

TEST_F(JournalSnapshotsTest, WithoutAGoodOneNothingCanBeRepaired) {
  damage_snapshot(older_);
  damage_snapshot(newer_);
  const auto before = world_.files.state();
  EXPECT_EQ(1, repair());
  EXPECT_THAT(world_.take_err(), AllOf(HasSubstr("expected at least one good frame to keep, found none"),
                                       HasSubstr("a block's checksum is wrong")));
  EXPECT_EQ(before, world_.files.state());
}

// The newest segments are gone: a snapshot tells that there were some.
TEST_F(JournalSnapshotsTest, AJournalThatEndsBeforeASnapshotIsDamaged) {
  const auto segments = world_.segments();
  for (std::size_t i = 1; i < segments.size(); ++i) ASSERT_TRUE(world_.files.remove(segments[i]));
  EXPECT_EQ(1, verify());
  EXPECT_THAT(world_.take_err(), HasSubstr("as there is a snapshot of frame " + std::to_string(newer_)));
  EXPECT_EQ(0, repair()) << world_.take_err();
  EXPECT_EQ(std::vector<std::uint64_t>{newer_}, find_snapshots(world_.files, kFolder).value());
  EXPECT_EQ(0, verify()) << world_.take_err();
}

// A file that somebody has put there.
TEST_F(JournalSnapshotsTest, AStrayAmongTheSegmentsIsAllThatRepairPutsAside) {
  CommandWorld world;
  world.write_story(100);
  const std::string stray = "/data/00000000000000000002.journal";
  world.files.put(stray, world.files.contents(world.segments()[0]));
  const auto count = world.segments().size();
  EXPECT_EQ(1, finish(world.desk, verify_journal(world.desk, kFolder)));
  EXPECT_EQ(0, finish(world.desk, repair_journal(world.desk, {.folder = kFolder, .accept_loss = true})))
      << world.take_err();
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("lost        nothing: 1 files"), Not(HasSubstr("everything"))));
  EXPECT_EQ(count - 1, world.segments().size());
  EXPECT_FALSE(world.files.exists(stray));
  EXPECT_EQ(0, finish(world.desk, verify_journal(world.desk, kFolder))) << world.take_err();
}

}  // namespace
}  // namespace tenure::cli
