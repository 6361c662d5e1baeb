// Backup and restore: what they make, what they refuse, and what a crash in between leaves.
#include "cli/journal_copy.h"

#include "cli/testing.h"
#include "journal/file_names.h"

namespace tenure::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JournalCopyTest : public testing::Test {
 protected:
  [[nodiscard]] int backup(const std::string& to = "/copy") const {
    return finish(world_.desk, backup_journal(world_.desk, {.folder = kFolder, .to = to}));
  }
  [[nodiscard]] int restore(const std::string& folder = "/new") const {
    return finish(world_.desk, restore_journal(world_.desk, {.from = kFolder, .folder = folder}));
  }
  std::string dump(const std::string& folder) {
    world_.take_out();
    EXPECT_EQ(0, finish(world_.desk, dump_journal(world_.desk, {.folder = folder, .all = true})));
    return world_.take_out();
  }

  CommandWorld world_;
};

TEST_F(JournalCopyTest, ABackupHoldsTheSameRecords) {
  world_.write_story(100);
  const auto before = state_of(world_.files, kFolder);
  EXPECT_EQ(0, backup());
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("/copy: journal "), HasSubstr("frames 1 to 109, 3 segments")));
  EXPECT_EQ(dump(kFolder), dump("/copy"));
  EXPECT_EQ(before, state_of(world_.files, kFolder));
  for (const std::string& path : world_.segments()) {
    EXPECT_EQ(world_.files.contents(path), world_.files.contents("/copy" + path.substr(5)));
  }
}

TEST_F(JournalCopyTest, ABackupIsDurable) {
  world_.write_story(100);
  EXPECT_EQ(0, backup("/copy/"));
  const std::string records = dump("/copy");
  world_.files.crash(FaultyFiles::Damage::kLoseAll, 1);
  EXPECT_EQ(records, dump("/copy"));
}

TEST_F(JournalCopyTest, ABackupBesideARunningServerEndsWithItsLastFrame) {
  Writer writer = world_.write();
  writer.get(Submission{.queue = "q", .payload = "p", .id = "T1"});
  EXPECT_EQ(0, backup());
  writer.get(Submission{.queue = "q", .payload = "p", .id = "T2"});
  EXPECT_THAT(dump("/copy"), HasSubstr(R"("task_id":"T1")"));
  EXPECT_EQ(0, finish(world_.desk, verify_journal(world_.desk, "/copy")));
}

TEST_F(JournalCopyTest, ATornTailIsCutInTheCopy) {
  world_.write_story();
  world_.tear();
  const auto before = state_of(world_.files, kFolder);
  EXPECT_EQ(0, backup());
  EXPECT_THAT(world_.take_err(), HasSubstr("note: the last batch is not whole"));
  EXPECT_EQ(Tail::kClean, walk(world_.files, "/copy", {}, [](const Frame&) -> Result<Done> { return Done{}; })->tail);
  EXPECT_EQ(before, state_of(world_.files, kFolder));
}

TEST_F(JournalCopyTest, OnlyIntoAnEmptyFolder) {
  world_.write_story();
  ASSERT_TRUE(world_.files.make_folder("/copy"));
  EXPECT_EQ(0, backup());
  const auto before = world_.files.state();
  EXPECT_EQ(1, backup());
  EXPECT_THAT(world_.take_err(),
              HasSubstr("/copy: expected an empty folder or none, found '00000000000000000001.journal' in it"));
  EXPECT_EQ(1, restore("/copy"));
  EXPECT_THAT(world_.take_err(), HasSubstr("/copy: expected an empty folder or none"));
  EXPECT_EQ(1, backup("/missing/copy"));
  EXPECT_THAT(world_.take_err(), HasSubstr("make folder /missing/copy: No such file or directory"));
  EXPECT_EQ(before, world_.files.state());
}

// Whatever fails, and at whatever moment power is lost: there is a whole copy, or none that passes for one.
TEST_F(JournalCopyTest, AnInterruptedBackupIsNeverTakenForOne) {
  world_.write_story(100);
  const auto whole = world_.files.copy();
  EXPECT_EQ(0, backup());
  world_.take_out();
  const std::string records = dump("/copy");
  for (const auto fault : {FaultyFiles::Fault::kIoError, FaultyFiles::Fault::kCrash}) {
    bool is_done = false;
    for (std::uint64_t at = 1; !is_done; ++at) {
      const auto files = whole->copy();
      files->fail_at(at, fault);
      std::ostringstream out;
      std::ostringstream err;
      const Desk desk{*files, world_.clock, world_.entropy, out, err};
      is_done = finish(desk, backup_journal(desk, {.folder = kFolder, .to = "/copy"})) == 0;
      files->heal();
      files->crash(at % 2 == 0 ? FaultyFiles::Damage::kKeepAll : FaultyFiles::Damage::kReorder, at);
      out.str("");
      const bool is_sound = finish(desk, verify_journal(desk, "/copy")) == 0;
      if (is_done) {
        EXPECT_TRUE(is_sound) << "operation " << at;
      } else {
        EXPECT_FALSE(err.str().empty());
      }
      // A copy that is sound is complete: only the removal of its mark was left.
      if (is_sound) {
        out.str("");
        EXPECT_EQ(0, finish(desk, dump_journal(desk, {.folder = "/copy", .all = true})));
        EXPECT_EQ(records, out.str()) << "operation " << at;
      }
    }
  }
}

TEST_F(JournalCopyTest, AFullDiskIsTold) {
  world_.write_story(100);
  world_.files.set_capacity(world_.files.contents(world_.segments()[0]).size() * 6);
  EXPECT_EQ(1, backup());
  EXPECT_THAT(world_.take_err(),
              AllOf(HasSubstr("No space left on device"), HasSubstr("/copy is not finished"), HasSubstr("remove it")));
  EXPECT_EQ(1, finish(world_.desk, verify_journal(world_.desk, "/copy")));
}

// --- restore ---

TEST_F(JournalCopyTest, ARestoredFolderHasAHigherFence) {
  world_.write_story(100);
  const auto before = state_of(world_.files, kFolder);
  const std::string records = dump(kFolder);
  EXPECT_EQ(0, restore());
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("frames 1 to 109"), HasSubstr("108 records"),
                                       HasSubstr("the fence was 2 and is now 75497474")));
  EXPECT_EQ(before, state_of(world_.files, kFolder));
  const std::string restored = dump("/new");
  EXPECT_TRUE(restored.starts_with(records));
  EXPECT_THAT(restored.substr(records.size()), AllOf(HasSubstr("FenceRaised"), HasSubstr("DigestTaken")));
  world_.files.crash(FaultyFiles::Damage::kLoseAll, 1);
  Writer writer = world_.write("/new");
  EXPECT_GT(writer.lease("W3", "rest").fence.value, 1'000'000U);
}

TEST_F(JournalCopyTest, ABackupThatDoesNotReplayIsNotRestored) {
  JournalWorld raw;
  std::string payload;
  encode(record::DigestTaken{Digest{1, 2}}, payload);
  raw.write({payload});
  world_.files.put(raw.segments()[0], raw.files.contents(raw.segments()[0]));
  const auto before = world_.files.state();
  EXPECT_EQ(1, restore());
  EXPECT_THAT(world_.take_err(), HasSubstr("digest must equal the state's"));
  EXPECT_EQ(before, world_.files.state());
}

// Without its fence raised a restored folder must not be used.
TEST_F(JournalCopyTest, AnInterruptedRestoreIsRefused) {
  world_.write_story();
  const auto whole = world_.files.copy();
  bool is_done = false;
  for (std::uint64_t at = 1; !is_done; ++at) {
    const auto files = whole->copy();
    files->fail_at(at, FaultyFiles::Fault::kCrash);
    std::ostringstream out;
    std::ostringstream err;
    const Desk desk{*files, world_.clock, world_.entropy, out, err};
    is_done = finish(desk, restore_journal(desk, {.from = kFolder, .folder = "/new"})) == 0;
    files->heal();
    files->crash(at % 2 == 0 ? FaultyFiles::Damage::kKeepAll : FaultyFiles::Damage::kReorder, at);
    // As a server would open it: new, refused, or with its fence raised.
    auto journal = FileJournal::open(*files, "/new", world_.entropy,
                                     {.segment_bytes = 4096, .threads = FileJournal::Threads::kNone});
    if (!journal) {
      EXPECT_THAT(journal.error().message, AllOf(HasSubstr("UNFINISHED-COPY"), HasSubstr("do it again")));
      EXPECT_FALSE(is_done);
      continue;
    }
    State state;
    const auto started = (*journal)->start(
        0, [&](const Frame& frame) { return replay_frame(state, frame.sequence, frame.stamp, frame.payload); });
    ASSERT_TRUE(started) << started.error().message;
    if ((*journal)->report().is_new) {
      EXPECT_FALSE(is_done);
    } else {
      EXPECT_GT(state.fence().value, 1'000'000U) << "operation " << at;
    }
  }
}

}  // namespace
}  // namespace tenure::cli
