// The commands that only read: dump, verify, stat, history.
#include "cli/journal_commands.h"

#include "cli/testing.h"

namespace tenure::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class JournalCommandsTest : public testing::Test {
 protected:
  [[nodiscard]] int dump(const DumpOptions& options = {.folder = kFolder}) const {
    return finish(world_.desk, dump_journal(world_.desk, options));
  }
  [[nodiscard]] int verify() const { return finish(world_.desk, verify_journal(world_.desk, kFolder)); }
  [[nodiscard]] int stat(bool json = false) const {
    return finish(world_.desk, stat_journal(world_.desk, {.folder = kFolder, .json = json}));
  }
  [[nodiscard]] int history(const std::string& task, bool json = false) const {
    return finish(world_.desk, tell_history(world_.desk, {.folder = kFolder, .task = task, .json = json}));
  }

  CommandWorld world_;
};

// --- dump ---

TEST_F(JournalCommandsTest, DumpShowsEveryRecordAsOneLine) {
  world_.write_story();
  const auto before = world_.files.state();
  EXPECT_EQ(0, dump());
  const auto lines = lines_of(world_.take_out());
  ASSERT_THAT(lines, SizeIs(8));
  EXPECT_THAT(lines[0], HasSubstr(R"({"sequence":1,"stamp":1800000000000,"time":"2027-01-15T08:00:00.000Z",)"
                                  R"("record":"TaskCreated","task_id":"T1","payload":"hello")"));
  EXPECT_THAT(lines[1], HasSubstr(R"("record":"LeaseGranted","task_id":"T1")"));
  EXPECT_THAT(lines[2], HasSubstr(R"("record":"LeaseExtended")"));
  EXPECT_THAT(lines[3], HasSubstr(R"("time":"2027-01-15T08:00:51.000Z","record":"LeaseExpired")"));
  EXPECT_THAT(lines[4], HasSubstr(R"("record":"LeaseGranted")"));
  EXPECT_THAT(lines[5], HasSubstr(R"("record":"TaskCompleted")"));
  EXPECT_THAT(lines[6], HasSubstr(R"("record":"TaskCancelled")"));
  EXPECT_THAT(lines[7], HasSubstr(R"("record":"DigestTaken")"));
  EXPECT_THAT(world_.take_err(), IsEmpty());
  EXPECT_EQ(before, world_.files.state());
}

TEST_F(JournalCommandsTest, DumpShowsEmptyFramesWhenAskedTo) {
  world_.write_story();
  EXPECT_EQ(0, dump({.folder = kFolder, .from = 8, .all = true}));
  EXPECT_THAT(
      lines_of(world_.take_out()),
      ElementsAre(HasSubstr("DigestTaken"), AllOf(HasSubstr(R"("sequence":9)"), HasSubstr(R"("record":null})"))));
}

TEST_F(JournalCommandsTest, DumpShowsARange) {
  world_.write_story(100);
  ASSERT_GT(world_.segments().size(), 2U);
  EXPECT_EQ(0, dump({.folder = kFolder, .from = 70, .to = 71}));
  EXPECT_THAT(lines_of(world_.take_out()), ElementsAre(HasSubstr(R"("sequence":70,)"), HasSubstr(R"("sequence":71,)")));
  EXPECT_EQ(0, dump({.folder = kFolder, .from = 0, .to = 1}));
  EXPECT_THAT(lines_of(world_.take_out()), SizeIs(1));
  EXPECT_EQ(0, dump({.folder = kFolder, .from = 1000}));
  EXPECT_THAT(world_.take_out(), IsEmpty());
  EXPECT_EQ(1, dump({.folder = kFolder, .from = 3, .to = 2}));
  EXPECT_THAT(world_.take_err(), HasSubstr("--from 3 --to 2: expected"));
}

TEST_F(JournalCommandsTest, DumpWorksBesideARunningServer) {
  Writer writer = world_.write();
  writer.get(Submission{.queue = "q", .payload = "p", .id = "T1"});
  EXPECT_EQ(0, dump({.folder = std::string(kFolder) + "/"}));
  EXPECT_THAT(lines_of(world_.take_out()), SizeIs(1));
}

TEST_F(JournalCommandsTest, DumpNotesATornTail) {
  world_.write_story();
  world_.tear();
  EXPECT_EQ(0, dump());
  EXPECT_THAT(lines_of(world_.take_out()), SizeIs(8));
  EXPECT_THAT(world_.take_err(), AllOf(HasSubstr("note: the last batch is not whole"), HasSubstr("expected frame 10")));
}

TEST_F(JournalCommandsTest, DumpEndsAtDamage) {
  world_.write_story();
  world_.damage(3);
  EXPECT_EQ(1, dump());
  EXPECT_THAT(lines_of(world_.take_out()), SizeIs(2));
  EXPECT_THAT(world_.take_err(),
              AllOf(HasSubstr("the journal is damaged"), HasSubstr("expected frame 3"), HasSubstr("repair")));
  EXPECT_EQ(0, dump({.folder = kFolder, .to = 1}));
}

TEST_F(JournalCommandsTest, DumpFailsIfItsOutputDoes) {
  world_.write_story();
  world_.out.setstate(std::ios::badbit);
  EXPECT_EQ(1, dump());
  EXPECT_THAT(world_.take_err(), HasSubstr("standard output"));
}

// A server that writes while it is read: the end that was being written is read again.
TEST_F(JournalCommandsTest, DumpReadsAnUnfinishedWriteAgain) {
  world_.write_story();
  world_.tear();
  const std::string path = world_.segments().back();
  const std::string torn = world_.files.contents(path);
  std::string whole = torn;
  const auto bad = world_.offset_of(10) + 50;
  whole[bad] = static_cast<char>(whole[bad] ^ 1);
  // Healed by the time of the second look: the note's writer comes after the first one's last record.
  struct Healing final : std::stringbuf {
    std::streamsize xsputn(const char* text, std::streamsize size) override {
      if (std::string_view(text, static_cast<std::size_t>(size)).find("DigestTaken") != std::string_view::npos) heal();
      return std::stringbuf::xsputn(text, size);
    }
    std::function<void()> heal;
  } healing;
  healing.heal = [&] { world_.files.put(path, whole); };
  std::ostream out(&healing);
  const Desk desk{world_.files, world_.clock, world_.entropy, out, world_.err};
  EXPECT_EQ(0, finish(desk, dump_journal(desk, {.folder = kFolder})));
  const auto lines = lines_of(healing.str());
  EXPECT_THAT(lines, SizeIs(9));
  EXPECT_THAT(lines.back(), HasSubstr(R"("sequence":10,)"));
  EXPECT_THAT(world_.take_err(), HasSubstr("a server is writing to /data; read up to frame 10"));
}

// --- verify ---

TEST_F(JournalCommandsTest, VerifyCountsAndCompares) {
  world_.write_story(100);
  EXPECT_EQ(0, verify());
  const std::string out = world_.take_out();
  EXPECT_THAT(out, HasSubstr("frames    109, 1 of them without records"));
  EXPECT_THAT(out, HasSubstr("records   108"));
  EXPECT_THAT(out, HasSubstr("; 1 in the journal agreed"));
  EXPECT_THAT(world_.take_err(), IsEmpty());
}

TEST_F(JournalCommandsTest, VerifyNamesThePlaceOfDamage) {
  world_.write_story();
  world_.damage(3);
  const auto before = world_.files.state();
  EXPECT_EQ(1, verify());
  EXPECT_THAT(world_.take_err(), AllOf(HasSubstr("00000000000000000001.journal, offset 256: expected frame 3"),
                                       HasSubstr("tenure journal repair --accept-loss /data")));
  EXPECT_EQ(before, world_.files.state());
}

TEST_F(JournalCommandsTest, VerifyNamesTheRecordThatBreaksAnInvariant) {
  JournalWorld raw;
  std::string payload;
  encode(record::FenceRaised{Fence{5}}, payload);
  encode(record::DigestTaken{Digest{1, 2}}, payload);
  raw.write({payload});
  CommandWorld world;
  world.files.put(raw.segments()[0], raw.files.contents(raw.segments()[0]));
  EXPECT_EQ(1, finish(world.desk, verify_journal(world.desk, kFolder)));
  EXPECT_THAT(world.take_err(), AllOf(HasSubstr("offset 64: sequence number 1: {\"record\":\"DigestTaken\""),
                                      HasSubstr("digest must equal the state's"), HasSubstr("repair --accept-loss")));
}

TEST_F(JournalCommandsTest, WhatThisVersionCannotReadIsNoDamage) {
  JournalWorld raw;
  raw.write({std::string("\x63\x00", 2)});
  CommandWorld world;
  world.files.put(raw.segments()[0], raw.files.contents(raw.segments()[0]));
  const auto expect_refused = [&](const Result<Done>& result) {
    EXPECT_EQ(1, finish(world.desk, result));
    EXPECT_THAT(world.take_err(),
                AllOf(HasSubstr("sequence number 1: unknown record type 99"),
                      HasSubstr("Use the version of tenure that wrote it"), Not(HasSubstr("repair"))));
  };
  const auto before = world.files.state();
  expect_refused(dump_journal(world.desk, {.folder = kFolder}));
  expect_refused(verify_journal(world.desk, kFolder));
  expect_refused(stat_journal(world.desk, {.folder = kFolder}));
  expect_refused(tell_history(world.desk, {.folder = kFolder, .task = "T1"}));
  expect_refused(restore_journal(world.desk, {.from = kFolder, .folder = "/new"}));
  expect_refused(repair_journal(world.desk, {.folder = kFolder, .accept_loss = true}));
  EXPECT_EQ(before, world.files.state());
}

// --- stat ---

TEST_F(JournalCommandsTest, StatTellsSegmentsRecordsAndTail) {
  world_.write_story(100);
  EXPECT_EQ(0, stat());
  const std::string out = world_.take_out();
  EXPECT_THAT(out, HasSubstr("format version 1"));
  EXPECT_THAT(out, HasSubstr("frames    109, of "));
  EXPECT_THAT(out, HasSubstr("stamps    2027-01-15T08:00:00.000Z to 2027-01-15T08:00:51.000Z"));
  EXPECT_THAT(out, HasSubstr("tail      clean, vouched for; the next frame is 110"));
  EXPECT_THAT(out, HasSubstr("bytes free"));
  EXPECT_THAT(out, ::testing::ContainsRegex("TaskCreated +101 +[0-9]+"));
  EXPECT_THAT(out, ::testing::ContainsRegex("1 +1 +4096 +40[0-9]+"));
}

TEST_F(JournalCommandsTest, StatAsJson) {
  world_.write_story();
  EXPECT_EQ(0, stat(true));
  const std::string out = world_.take_out();
  EXPECT_THAT(out, HasSubstr(R"("format":1,"frames":9,)"));
  EXPECT_THAT(out, HasSubstr(R"("tail":"clean, vouched for","next":10,)"));
  EXPECT_THAT(out, HasSubstr(R"({"path":"/data/00000000000000000001.journal","first":1,"bytes":4096,"used":)"));
  EXPECT_THAT(out, HasSubstr(R"("LeaseExpired":{"number":1,"bytes":)"));
  EXPECT_THAT(lines_of(out), SizeIs(1));
}

TEST_F(JournalCommandsTest, StatOfAnEmptyJournalAndOfADamagedOne) {
  {
    const Writer writer = world_.write();
  }
  EXPECT_EQ(0, stat());
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("frames    0"), HasSubstr("the next frame is 1")));
  EXPECT_EQ(0, stat(true));
  EXPECT_THAT(world_.take_out(), Not(HasSubstr("stamp")));
  world_.write_story();
  world_.damage(3);
  EXPECT_EQ(1, stat());
  EXPECT_THAT(world_.take_out(), AllOf(HasSubstr("tail      damaged; the next frame is 3"), HasSubstr("frames    2")));
}

// --- history ---

TEST_F(JournalCommandsTest, HistoryTellsWhyATaskRanTwice) {
  world_.write_story(3);
  EXPECT_EQ(0, history("T1"));
  const auto lines = lines_of(world_.take_out());
  ASSERT_THAT(lines, SizeIs(11));
  EXPECT_THAT(lines[0],
              AllOf(HasSubstr("2027-01-15T08:00:00.000Z  #1 "), HasSubstr("submitted to queue mail: 5 bytes")));
  EXPECT_THAT(lines[1], HasSubstr("attempt 1: leased to W1 for 30 s, until 2027-01-15T08:00:30.000Z, fence 1"));
  EXPECT_THAT(lines[2], HasSubstr("attempt 1: extended by W1 until 2027-01-15T08:00:50.000Z"));
  EXPECT_THAT(lines[3], HasSubstr("attempt 1: expired; W1 had it for 51 s"));
  EXPECT_THAT(lines[4], HasSubstr("attempt 2: leased to W2"));
  EXPECT_THAT(lines[5], HasSubstr("attempt 2: completed by W2 after 0 s"));
  EXPECT_THAT(lines[6], HasSubstr("attempt 1: a late report of W1 was refused; this attempt had EXPIRED"));
  EXPECT_EQ("It ran 2 times and is COMPLETED.", lines[8]);
  EXPECT_EQ("attempt 1 by W1, fence 1: EXPIRED after 51 s, 1 extension, 1 late report refused; so it ran again",
            lines[9]);
  EXPECT_EQ("attempt 2 by W2, fence 2: COMPLETED after 0 s, 0 extensions, 0 late reports refused", lines[10]);
}

TEST_F(JournalCommandsTest, HistoryAsJsonLines) {
  world_.write_story();
  EXPECT_EQ(0, history("T1", true));
  const auto lines = lines_of(world_.take_out());
  ASSERT_THAT(lines, SizeIs(7));
  EXPECT_THAT(lines[3], AllOf(HasSubstr(R"({"sequence":4,)"), HasSubstr(R"("record":"LeaseExpired")"),
                              HasSubstr(R"("story":{"attempt":1,"worker":"W1","text":"attempt 1: expired;)")));
}

TEST_F(JournalCommandsTest, HistoryTellsFailuresKillsAndResubmissions) {
  {
    Writer writer = world_.write();
    writer.get(Submission{.queue = "q", .payload = "p", .id = "T1", .retries = 1, .key = "k"});
    writer.get(FailureReport{"T1", writer.lease("W1", "q").lease_id, "bad\nline"});
    writer.pass(std::chrono::minutes(10));
    const TaskLease second = writer.lease("W1", "q");
    writer.get(TaskKill{"T1", "not wanted"});
    writer.get(Completion{"T1", second.lease_id});
    writer.get(Completion{"T1", "nonsense"});
    writer.get(Resubmission{"T1"});
    writer.pass(std::chrono::hours(3));
    writer.close();
  }
  EXPECT_EQ(0, history("T1"));
  const std::string out = world_.take_out();
  EXPECT_THAT(out,
              HasSubstr(R"(attempt 1: W1 reported failure after 0 s, reason: "bad\nline"; the task is now WAITING)"));
  EXPECT_THAT(out, HasSubstr("attempt 2: taken from W1 as the task was killed, reason: not wanted"));
  EXPECT_THAT(out, HasSubstr("attempt 2: a late report of W1 was refused; this attempt had KILLED"));
  EXPECT_THAT(out, HasSubstr("a report under lease id nonsense, which is none of this task's, was refused"));
  EXPECT_THAT(out, HasSubstr("resubmitted as the new task "));
  EXPECT_THAT(out, HasSubstr("forgotten by the authority"));
  EXPECT_THAT(out, HasSubstr("It ran 2 times and is forgotten."));
  EXPECT_THAT(out, HasSubstr("1 report under foreign lease ids refused"));
}

TEST_F(JournalCommandsTest, HistoryOfAnUnknownTaskFails) {
  world_.write_story();
  EXPECT_EQ(1, history("T9"));
  EXPECT_THAT(world_.take_err(), HasSubstr("task T9: expected records of it, found none in frames 1 to 9 of /data"));
  EXPECT_THAT(world_.take_out(), IsEmpty());
}

TEST_F(JournalCommandsTest, HistoryEndsAtDamage) {
  world_.write_story();
  world_.damage(5);
  EXPECT_EQ(1, history("T1"));
  EXPECT_THAT(world_.take_out(), HasSubstr("It ran 1 time and is WAITING."));
  EXPECT_THAT(world_.take_err(), HasSubstr("expected frame 5"));
}

// --- progress ---

TEST_F(JournalCommandsTest, LongReadingTellsHowFarItIs) {
  struct Ticking final : Clock {
    [[nodiscard]] Instant wall() const override { return Instant{0}; }
    [[nodiscard]] Millis boot() const override { return Millis{now += 600}; }
    mutable std::int64_t now = 0;
  } ticking;
  {
    Writer writer = world_.write(kFolder, std::uint64_t{1} << 20);
    const std::string large(500'000, 'x');
    for (int i = 0; i < 8; ++i) writer.get(Submission{.queue = "q", .payload = large});
  }
  const Desk desk{world_.files, ticking, world_.entropy, world_.out, world_.err};
  EXPECT_EQ(0, finish(desk, dump_journal(desk, {.folder = kFolder})));
  EXPECT_THAT(lines_of(world_.take_err()), ElementsAre(HasSubstr("reading /data: 2 of at most ")));
}

}  // namespace
}  // namespace tenure::cli
