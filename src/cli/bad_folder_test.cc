// What every command says about a folder that is no sound journal: its own message, status 1, and nothing changed.
#include <functional>

#include "cli/testing.h"

namespace tenure::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Command {
  const char* name;
  std::function<Result<Done>(const Desk&)> run;
};

std::vector<Command> commands() {
  return {
      {"dump", [](const Desk& desk) { return dump_journal(desk, {.folder = kFolder}); }},
      {"verify", [](const Desk& desk) { return verify_journal(desk, kFolder); }},
      {"stat", [](const Desk& desk) { return stat_journal(desk, {.folder = kFolder}); }},
      {"history", [](const Desk& desk) { return tell_history(desk, {.folder = kFolder, .task = "T1"}); }},
      {"backup", [](const Desk& desk) { return backup_journal(desk, {.folder = kFolder, .to = "/copy"}); }},
      {"restore", [](const Desk& desk) { return restore_journal(desk, {.from = kFolder, .folder = "/copy"}); }},
      {"repair", [](const Desk& desk) { return repair_journal(desk, {.folder = kFolder}); }},
  };
}

// A journal of several segments, made bad by `spoil`.
class BadFolderTest : public testing::Test {
 protected:
  void expect_refused(const std::function<void(CommandWorld&)>& spoil, const std::string& message) {
    for (const Command& command : commands()) {
      SCOPED_TRACE(command.name);
      CommandWorld world;
      world.write_story(150);
      spoil(world);
      const auto before = world.files.state();
      EXPECT_EQ(1, finish(world.desk, command.run(world.desk)));
      EXPECT_THAT(world.err.str() + world.out.str(), HasSubstr(message));
      EXPECT_EQ(before, world.files.state());
    }
  }
};

TEST_F(BadFolderTest, NoFolder) {
  for (const Command& command : commands()) {
    CommandWorld world;
    EXPECT_EQ(1, finish(world.desk, command.run(world.desk))) << command.name;
    EXPECT_THAT(world.err.str(), HasSubstr("/data: expected a data folder, found nothing")) << command.name;
    EXPECT_THAT(world.files.state(), IsEmpty()) << command.name;
  }
}

TEST_F(BadFolderTest, NotAJournal) {
  expect_refused(
      [](CommandWorld& world) {
        for (const std::string& path : world.segments()) ASSERT_TRUE(world.files.remove(path));
        world.files.put("/data/notes.txt", "x");
      },
      "/data: expected a journal, found no segment (*.journal). Give the data folder");
}

TEST_F(BadFolderTest, AFileInsteadOfAFolder) {
  for (const Command& command : commands()) {
    CommandWorld world;
    world.files.put("/data", "x");
    EXPECT_EQ(1, finish(world.desk, command.run(world.desk))) << command.name;
    EXPECT_THAT(world.err.str(), HasSubstr("list /data: Not a directory")) << command.name;
  }
}

TEST_F(BadFolderTest, AnUnfinishedCopy) {
  expect_refused([](CommandWorld& world) { world.files.put("/data/UNFINISHED-COPY", ""); },
                 "/data: expected a finished copy, found UNFINISHED-COPY");
}

TEST_F(BadFolderTest, ANewerFormatVersion) {
  expect_refused(
      [](CommandWorld& world) {
        const std::string path = world.segments().back();
        std::string bytes = world.files.contents(path);
        bytes[8] = 2;
        reseal_segment_header(bytes);
        world.files.put(path, bytes);
      },
      "expected format version 1, found 2; use a version of tenure that knows it");
}

TEST_F(BadFolderTest, OtherBytesThanASegments) {
  expect_refused([](CommandWorld& world) { world.files.put(world.segments().at(1), std::string(4096, 'x')); },
                 "expected a segment of a Tenure journal, found other bytes at offset 0");
}

TEST_F(BadFolderTest, AnotherJournalsSegment) {
  expect_refused(
      [](CommandWorld& world) {
        CommandWorld other;
        other.entropy = SeededEntropy(6);
        other.write_story(150);
        ASSERT_EQ(world.segments(), other.segments());
        world.files.put(world.segments().at(1), other.files.contents(world.segments().at(1)));
      },
      "00000000000000000047.journal: expected a segment of journal ");
}

TEST_F(BadFolderTest, AMissingSegment) {
  expect_refused([](CommandWorld& world) { ASSERT_TRUE(world.files.remove(world.segments().at(1))); },
                 "frames between them are missing");
}

TEST_F(BadFolderTest, ACutFile) {
  expect_refused([](CommandWorld& world) { world.files.cut(world.segments().back(), 1000); },
                 "expected 4096 bytes, as its header says, found 1000");
}

TEST_F(BadFolderTest, AGrownFile) {
  expect_refused(
      [](CommandWorld& world) {
        const std::string path = world.segments().back();
        world.files.put(path, world.files.contents(path) + "more");
      },
      "expected 4096 bytes, as its header says, found 4100");
}

TEST_F(BadFolderTest, Damage) {
  expect_refused([](CommandWorld& world) { world.damage(3); }, "offset 256: expected frame 3, found no valid one");
}

TEST_F(BadFolderTest, AFileThatCannotBeRead) {
  expect_refused([](CommandWorld& world) { world.files.fail_reads_of(world.segments().at(1)); }, "Input/output error");
}

// Without the beginning nothing can be replayed, but what is there can be looked at.
TEST_F(BadFolderTest, TheFirstSegmentIsMissing) {
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.name);
    CommandWorld world;
    world.write_story(150);
    ASSERT_TRUE(world.files.remove(world.segments().at(0)));
    const auto before = world.files.state();
    const std::string name = command.name;
    if (name == "dump" || name == "stat") {
      EXPECT_EQ(0, finish(world.desk, command.run(world.desk)));
    } else if (name == "history") {
      EXPECT_EQ(1, finish(world.desk, command.run(world.desk)));
      EXPECT_THAT(world.err.str(), HasSubstr("found none in frames 47 to "));
    } else {
      EXPECT_EQ(1, finish(world.desk, command.run(world.desk)));
      EXPECT_THAT(world.err.str(), AllOf(HasSubstr("expected the segment with frame 1"), HasSubstr("begins with 47"),
                                         HasSubstr("Restore a backup")));
    }
    EXPECT_EQ(before, world.files.state());
  }
}

}  // namespace
}  // namespace tenure::cli
