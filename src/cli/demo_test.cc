// The demo with its journal kept, and the command line of the journal's commands.
#include "cli/demo.h"

#include "cli/journal_cli.h"
#include "cli/testing.h"

namespace tenure::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStdout;

std::vector<std::string> records_in(CommandWorld& world, const std::string& folder) {
  std::vector<std::string> names;
  const auto end = walk(world.files, folder, {}, [&](const Frame& frame) -> Result<Done> {
    ByteReader in(frame.payload);
    while (!in.at_end()) names.emplace_back(name_of(*decode(in)));
    return Done{};
  });
  TENURE_CHECK(end.has_value(), "{}", end.error().message);
  return names;
}

TEST(DemoTest, KeepsItsJournal) {
  CommandWorld world;
  CaptureStdout();
  const int status = run_demo(world.desk, {.plain = true, .keep = "/demo"});
  const std::string told = GetCapturedStdout();
  EXPECT_EQ(0, status);
  EXPECT_THAT(told, HasSubstr("It is kept in /demo; every record of it: tenure journal dump /demo\n"));
  std::vector<std::string> records = records_in(world, "/demo");
  records.resize(7);
  // The list at the end of the unhappy path, with the expiry made explicit.
  EXPECT_THAT(records, ElementsAre("TaskCreated", "LeaseGranted", "LeaseExtended", "LeaseExpired", "LeaseGranted",
                                   "TaskCompleted", "TaskCancelled"));
  EXPECT_EQ(0, finish(world.desk, verify_journal(world.desk, "/demo")));
}

TEST(DemoTest, KeepsNothingInAFolderOfSomethingElse) {
  CommandWorld world;
  world.files.put("/demo/notes.txt", "x");
  const auto before = world.files.state();
  EXPECT_EQ(1, run_demo(world.desk, {.plain = true, .keep = "/demo"}));
  EXPECT_THAT(world.take_err(), HasSubstr("/demo: expected an empty folder or none, found 'notes.txt' in it"));
  EXPECT_EQ(before, world.files.state());
}

TEST(DemoTest, TellsThatItCannotWrite) {
  CommandWorld world;
  world.files.fail_at(1, FaultyFiles::Fault::kIoError, FaultyFiles::Lasting::kForEver);
  EXPECT_EQ(1, run_demo(world.desk, {.plain = true, .keep = "/demo"}));
  EXPECT_THAT(world.take_err(), HasSubstr("make folder /demo: Input/output error"));
}

// --- the command line ---

int run(CommandWorld& world, const std::string& line) {
  CLI::App app;
  Chosen chosen;
  add_journal_commands(app, chosen);
  app.parse(line);
  return chosen(world.desk);
}

TEST(CommandLineTest, FindsEveryCommand) {
  CommandWorld world;
  world.write_story(60);
  EXPECT_EQ(0, run(world, "journal dump /data --from 2 --to 3 --all"));
  EXPECT_THAT(world.take_out(), HasSubstr(R"({"sequence":2,)"));
  EXPECT_EQ(0, run(world, "journal verify /data"));
  EXPECT_THAT(world.take_out(), HasSubstr("digest"));
  EXPECT_EQ(0, run(world, "journal stat /data --json"));
  EXPECT_THAT(world.take_out(), HasSubstr(R"({"journal":)"));
  EXPECT_EQ(0, run(world, "journal history /data T1 --json"));
  EXPECT_THAT(world.take_out(), HasSubstr(R"("story":{)"));
  EXPECT_EQ(0, run(world, "journal backup /data /copy"));
  EXPECT_THAT(world.take_out(), HasSubstr("/copy: journal"));
  EXPECT_EQ(0, run(world, "journal restore /copy /new"));
  EXPECT_THAT(world.take_out(), HasSubstr("the fence was 2"));
  EXPECT_EQ(0, run(world, "journal repair --accept-loss /data"));
  EXPECT_THAT(world.take_out(), HasSubstr("healthy"));
}

TEST(CommandLineTest, RefusesWhatItDoesNotKnow) {
  CommandWorld world;
  EXPECT_THROW(run(world, "journal"), CLI::RequiredError);
  EXPECT_THROW(run(world, "journal dump"), CLI::RequiredError);
  EXPECT_THROW(run(world, "journal dump /data --from x"), CLI::ValidationError);
  EXPECT_THROW(run(world, "journal history /data"), CLI::RequiredError);
}

}  // namespace
}  // namespace tenure::cli
