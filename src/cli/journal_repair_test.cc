// Repair: what is kept, what is put aside, and that nothing else ever changes a folder.
#include "cli/testing.h"
#include "journal/file_names.h"

namespace tenure::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class JournalRepairTest : public testing::Test {
 protected:
  [[nodiscard]] int repair(bool accept_loss = true) const {
    return finish(world_.desk, repair_journal(world_.desk, {.folder = kFolder, .accept_loss = accept_loss}));
  }
  // The folder works again, with a higher fence.
  void expect_repaired() {
    EXPECT_FALSE(world_.files.exists("/data/UNFINISHED-REPAIR"));
    EXPECT_EQ(0, finish(world_.desk, verify_journal(world_.desk, kFolder))) << world_.take_err();
    Writer writer = world_.write();
    writer.get(Submission{.queue = "new", .payload = "p"});
    EXPECT_GT(writer.lease("W9", "new").fence.value, 1'000'000U);
  }
  std::uint64_t frames() {
    return walk(world_.files, kFolder, {}, [](const Frame&) -> Result<Done> { return Done{}; })->frames;
  }

  CommandWorld world_;
};

TEST_F(JournalRepairTest, AHealthyJournalIsLeftAlone) {
  world_.write_story(100);
  const auto before = world_.files.state();
  EXPECT_EQ(0, repair());
  EXPECT_EQ(0, repair(false));
  EXPECT_THAT(world_.take_out(), HasSubstr("/data: healthy, 109 frames; nothing was changed"));
  EXPECT_EQ(before, world_.files.state());
}

TEST_F(JournalRepairTest, ATornTailNeedsNoRepair) {
  world_.write_story();
  world_.tear();
  const auto before = world_.files.state();
  EXPECT_EQ(0, repair());
  EXPECT_THAT(world_.take_err(), HasSubstr("The next start cuts it off"));
  EXPECT_EQ(before, world_.files.state());
}

TEST_F(JournalRepairTest, WithoutAcceptingTheLossItOnlyTells) {
  world_.write_story(100);
  world_.damage(3);
  const auto before = world_.files.state();
  EXPECT_EQ(1, repair(false));
  EXPECT_THAT(world_.take_out(),
              AllOf(HasSubstr("offset 256: expected frame 3"), HasSubstr("would keep  2 frames up to 2, 2 records"),
                    HasSubstr("would lose  everything from frame 3 on: "),
                    HasSubstr("2 whole segments, in which 106 frames up to 109 could be read")));
  EXPECT_THAT(world_.take_err(), HasSubstr("tenure journal repair --accept-loss /data"));
  EXPECT_EQ(before, world_.files.state());
}

TEST_F(JournalRepairTest, CutsAtTheFirstBadPlaceAndKeepsTheRestAside) {
  world_.write_story(100);
  world_.damage(3);
  const auto before = world_.files.state();
  const auto segments = world_.segments();
  const std::uint64_t offset = world_.offset_of(3);
  EXPECT_EQ(0, repair());
  const std::string out = world_.take_out();
  EXPECT_THAT(out, AllOf(HasSubstr("kept        2 frames up to 2"), HasSubstr("lost        everything from frame 3 on"),
                         HasSubstr("aside       /data/00000000000000000003.torn"),
                         HasSubstr("fence       was 1, is now 75497474"), HasSubstr("/data: repaired")));
  for (std::size_t i = 1; i < segments.size(); ++i) {
    const std::string aside = segments[i].substr(0, segments[i].size() - 8) + ".lost";
    EXPECT_EQ(before.at(segments[i]), world_.files.contents(aside));
    EXPECT_FALSE(world_.files.exists(segments[i]));
  }
  const std::string tail = world_.files.contents("/data/00000000000000000003.torn");
  EXPECT_EQ(tail, before.at(segments[0]).substr(offset, tail.size()));
  EXPECT_EQ(std::string::npos, before.at(segments[0]).find_first_not_of('\0', offset + tail.size()));
  expect_repaired();
}

TEST_F(JournalRepairTest, AMissingSegmentLosesWhatFollows) {
  world_.write_story(100);
  const auto segments = world_.segments();
  ASSERT_TRUE(world_.files.remove(segments[1]));
  EXPECT_EQ(0, repair());
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("frames between them are missing"), HasSubstr("aside")));
  EXPECT_TRUE(world_.files.exists(segments[2].substr(0, segments[2].size() - 8) + ".lost"));
  expect_repaired();
}

TEST_F(JournalRepairTest, AnotherJournalsSegmentIsPutAside) {
  world_.write_story(100);
  CommandWorld other;
  other.entropy = SeededEntropy(6);
  other.write_story(100);
  const std::string path = world_.segments()[2];
  world_.files.put(path, other.files.contents(path));
  EXPECT_EQ(0, repair());
  EXPECT_EQ(other.files.contents(path), world_.files.contents(path.substr(0, path.size() - 8) + ".lost"));
  expect_repaired();
}

TEST_F(JournalRepairTest, ACutFileKeepsItsGoodFrames) {
  world_.write_story(20);
  ASSERT_EQ(1U, world_.segments().size());
  const std::string path = world_.segments()[0];
  const std::uint64_t length = world_.offset_of(20) + 20;
  world_.files.cut(path, length);
  const std::string before = world_.files.contents(path);
  EXPECT_EQ(1, repair(false));
  EXPECT_THAT(world_.take_out(),
              AllOf(HasSubstr("whatever was behind them is gone"), HasSubstr("would keep  19 frames")));
  EXPECT_EQ(before, world_.files.contents(path));
  EXPECT_EQ(0, repair());
  EXPECT_EQ(before, world_.files.contents("/data/00000000000000000001.lost"));
  EXPECT_EQ(4096U, world_.files.contents(path).size());
  EXPECT_EQ(22U, frames());  // and those of the raised fence
  expect_repaired();
}

TEST_F(JournalRepairTest, AGrownFileGetsItsSizeBack) {
  world_.write_story();
  const std::string path = world_.segments()[0];
  const std::string grown = world_.files.contents(path) + "more";
  world_.files.put(path, grown);
  EXPECT_EQ(0, repair());
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("found 4100"), Not(HasSubstr("lost  "))));
  EXPECT_EQ(grown, world_.files.contents("/data/00000000000000000001.lost"));
  expect_repaired();
}

TEST_F(JournalRepairTest, ARecordThatBreaksAnInvariantIsTheBadPlace) {
  {
    JournalWorld raw;
    std::string good;
    encode(record::FenceRaised{Fence{5}}, good);
    std::string bad;
    encode(record::DigestTaken{Digest{1, 2}}, bad);
    raw.write({good});
    raw.write({bad});
    raw.write({good});
    world_.files.put(raw.segments()[0], raw.files.contents(raw.segments()[0]));
  }
  EXPECT_EQ(0, repair());
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("kept        1 frames up to 1"), HasSubstr("digest must equal")));
  expect_repaired();
}

TEST_F(JournalRepairTest, NothingToKeepIsNoRepair) {
  world_.write_story();
  world_.files.put(world_.segments()[0], std::string(4096, 'x'));
  const auto before = world_.files.state();
  EXPECT_EQ(1, repair());
  EXPECT_THAT(world_.take_err(), AllOf(HasSubstr("expected at least one good frame to keep, found none"),
                                       HasSubstr("Restore a backup"), Not(HasSubstr("accept-loss"))));
  EXPECT_EQ(before, world_.files.state());
}

TEST_F(JournalRepairTest, AFolderInUseIsNotRepaired) {
  world_.write_story();
  const Writer writer = world_.write();
  world_.damage(3);
  const auto before = world_.files.state();
  EXPECT_EQ(1, repair());
  EXPECT_THAT(world_.take_err(), AllOf(HasSubstr("in use by"), HasSubstr("Stop the server")));
  EXPECT_EQ(before, world_.files.state());
}

TEST_F(JournalRepairTest, AFolderThatCannotBeWrittenIsTold) {
  world_.write_story();
  world_.damage(3);
  const auto segment = world_.files.contents(world_.segments()[0]);
  world_.files.fail_at(world_.files.operations() + 1, FaultyFiles::Fault::kIoError, FaultyFiles::Lasting::kForEver);
  EXPECT_EQ(1, repair());
  EXPECT_THAT(world_.take_err(), HasSubstr("create /data/UNFINISHED-REPAIR: Input/output error"));
  EXPECT_EQ(segment, world_.files.contents(world_.segments()[0]));
}

TEST_F(JournalRepairTest, AnEarlierCopyIsNotOverwritten) {
  world_.write_story(100);
  const std::string aside = world_.segments()[1].substr(0, world_.segments()[1].size() - 8) + ".lost";
  world_.files.put(aside, "earlier");
  world_.damage(3);
  EXPECT_EQ(0, repair());
  EXPECT_EQ("earlier", world_.files.contents(aside));
  EXPECT_THAT(world_.take_out(), HasSubstr("-2.lost"));
}

// At whatever moment power is lost: a server is refused until the repair was done, and doing it again works.
TEST_F(JournalRepairTest, AnInterruptedRepairIsRefusedAndCanBeFinished) {
  world_.write_story(100);
  world_.damage(3);
  const auto damaged = world_.files.copy();
  bool is_done = false;
  for (std::uint64_t at = 1; !is_done; ++at) {
    SCOPED_TRACE(at);
    const auto files = damaged->copy();
    files->fail_at(at, FaultyFiles::Fault::kCrash);
    std::ostringstream out;
    std::ostringstream err;
    const Desk desk{*files, world_.clock, world_.entropy, out, err};
    const RepairOptions options{.folder = kFolder, .accept_loss = true};
    is_done = finish(desk, repair_journal(desk, options)) == 0;
    files->heal();
    files->crash(at % 2 == 0 ? FaultyFiles::Damage::kKeepAll : FaultyFiles::Damage::kReorder, at);
    const auto fence_at_start = [&]() -> Result<Fence> {
      auto journal = FileJournal::open(*files, kFolder, world_.entropy,
                                       {.segment_bytes = 4096, .threads = FileJournal::Threads::kNone});
      if (!journal) return tl::unexpected(journal.error());
      State state;
      auto started = (*journal)->start(
          0, [&](const Frame& frame) { return replay_frame(state, frame.sequence, frame.stamp, frame.payload); });
      if (!started) return tl::unexpected(started.error());
      return state.fence();
    };
    if (const auto fence = fence_at_start()) {
      EXPECT_GT(fence->value, 1'000'000U);
    } else {
      EXPECT_FALSE(is_done);
      EXPECT_THAT(fence.error().message, HasSubstr("tenure journal repair --accept-loss /data"));
    }
    EXPECT_EQ(0, finish(desk, repair_journal(desk, options))) << err.str();
    const auto fence = fence_at_start();
    ASSERT_TRUE(fence.has_value()) << fence.error().message;
    EXPECT_GT(fence->value, 1'000'000U);
  }
}

}  // namespace
}  // namespace tenure::cli
