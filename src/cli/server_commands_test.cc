#include "cli/server_commands.h"

#include <fstream>
#include <iterator>

#include "cli/bench.h"
#include "cli/errand_testing.h"
#include "cli/top.h"

namespace tenure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kInfo =
    "# Server\r\ntenure_version:0.1.0\r\nuptime_in_seconds:75\r\n\r\n"
    "# Tasks\r\ntasks_submitted:10\r\nleases_granted:task=3,work=0,lock=4\r\nname:a=b\r\n";

TEST(ServerFiguresTest, TakesInfoApart) {
  const ServerFigures figures(kInfo);
  ASSERT_THAT(figures.sections(), SizeIs(2));
  EXPECT_EQ(figures.sections()[1].name, "tasks");
  EXPECT_EQ(figures.text("tenure_version"), "0.1.0");
  EXPECT_EQ(figures.number("tasks_submitted"), 10);
  EXPECT_EQ(figures.sum("leases_granted"), 7);
  EXPECT_EQ(figures.sum("tasks_submitted"), 10);
  EXPECT_EQ(figures.number("name"), 0);
  EXPECT_EQ(figures.text("missing"), "");
}

TopView view_of(int queues) {
  TopView view;
  view.at = Millis{1000};
  view.now = {1'800'000'000'000};
  view.figures.emplace(kInfo);
  for (int i = 0; i < queues; ++i) view.queues.queues.push_back({.queue = "queue" + std::to_string(i), .waiting = 5});
  view.workers.workers.push_back({.worker = "w1", .leases = 2, .last_seen = view.now});
  LockStatus lock;
  lock.domain = "d";
  lock.identifier = "i";
  lock.owner = "me";
  lock.fence = {9};
  lock.granted_at = view.now;
  view.locks.locks.push_back(lock);
  return view;
}

TEST(TopTest, ShowsQueuesWorkersLocksAndTheRatesBetweenTwoViews) {
  TopView later = view_of(1);
  later.at = Millis{3000};
  later.figures = ServerFigures("# Tasks\r\ntasks_submitted:30\r\n");
  const auto lines = top_lines("s:1", later, view_of(1), {.columns = 100, .rows = 40});
  const std::string all = testing::PrintToString(lines);
  EXPECT_THAT(all, AllOf(HasSubstr("s:1"), HasSubstr("submitted 10/s"), HasSubstr("queue0"), HasSubstr("w1"),
                         HasSubstr("d::i")));
  EXPECT_THAT(testing::PrintToString(top_lines("s:1", later, std::nullopt, {})), HasSubstr("submitted -"));
}

TEST(TopTest, FitsTheTerminalAndSharesItsRows) {
  const auto lines = top_lines("s:1", view_of(100), std::nullopt, {.columns = 30, .rows = 15});
  EXPECT_THAT(lines, SizeIs(15));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 30U) << line;
  EXPECT_THAT(testing::PrintToString(lines), AllOf(HasSubstr("queue0"), HasSubstr("w1"), HasSubstr("d::i")));
  EXPECT_THAT(top_lines("s:1", view_of(3), std::nullopt, {.columns = 1, .rows = 1}), SizeIs(1));
}

TEST(LatenciesTest, TellHowManyWereAnsweredInWhichTime) {
  Latencies found;
  EXPECT_EQ(found.quantile_ms(0.5), 0);
  EXPECT_EQ(found.drawn(10), "");
  for (int i = 0; i < 99; ++i) found.add(0.001);
  Latencies other;
  other.add(0.1);
  found.add(other);
  EXPECT_EQ(found.count(), 100U);
  EXPECT_NEAR(found.quantile_ms(0.5), 1, 0.13);
  EXPECT_NEAR(found.quantile_ms(0.99), 1, 0.13);
  EXPECT_NEAR(found.quantile_ms(1), 100, 1e-6);
  EXPECT_NEAR(found.mean_ms(), 1.99, 1e-6);
  EXPECT_NEAR(found.max_ms(), 100, 1e-6);
  EXPECT_THAT(found.drawn(10), AllOf(StartsWith("<=     "), HasSubstr(" 99 ##########\n"), HasSubstr(" 1 #\n")));
}

TEST(ProgressBarTest, GoesFromNothingToAll) {
  EXPECT_EQ(progress_bar(0, 4), "[....]   0%");
  EXPECT_EQ(progress_bar(0.5, 4), "[##..]  50%");
  EXPECT_EQ(progress_bar(2, 4), "[####] 100%");
}

TEST(StatusTest, OfAnAuthorityInThisProcessTellsWhatCanBeAskedOfAnyone) {
  ErrandWorld world;
  world.authority->tasks().submit({.queue = "q", .payload = ""});
  EXPECT_EQ(show_status(world.errand()), kDone);
  EXPECT_THAT(world.take_out(), HasSubstr("1 not ended, in 1 queues"));
  show_status(world.errand(true));
  EXPECT_THAT(world.take_out(), HasSubstr("\"open_tasks\":1"));
}

TEST(ExitStatusTest, EveryOneStandsInTheManual) {
  std::ifstream file("docs/cli.md");
  const std::string manual{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
#define TENURE_X(symbol, number, meaning) EXPECT_THAT(manual, HasSubstr("| " #number " | " meaning " |"));
  TENURE_EXIT_STATUSES(TENURE_X)
#undef TENURE_X
}

TEST(AdviceTest, SaysWhatToDoNext) {
  const Place place{.servers = {"s:1"}};
  EXPECT_THAT(advise(ErrorCode::kUnavailable, place).text, AllOf(HasSubstr("s:1"), HasSubstr("tenured")));
  EXPECT_EQ(advise(ErrorCode::kUnavailable, place).status, kUnavailable);
  EXPECT_THAT(advise(ErrorCode::kNoAuth, place).text, HasSubstr("--password-file"));
  EXPECT_EQ(advise(ErrorCode::kNoTask, place).status, kNotFound);
  EXPECT_EQ(advise(ErrorCode::kTerminal, place).status, kRefused);
  EXPECT_EQ(advise(ErrorCode::kBackpressure, place).status, kNotNow);
  EXPECT_EQ(advise(ErrorCode::kNoPerm, place).status, kNoPermission);
  EXPECT_EQ(advise(ErrorCode::kInvalid, place).status, kUsage);
  ErrandWorld world;
  complain(world.desk, true, ErrorCode::kNoTask, "no \"such\"", "look");
  EXPECT_EQ(world.take_err(),
            "{\"error\":{\"code\":\"NOTASK\",\"message\":\"no \\\"such\\\"\",\"advice\":\"look\"}}\n");
}

}  // namespace
}  // namespace tenure::cli
