// The numbers of INFO and /metrics, and that there is an end to their labels.
#include "server/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Outcome = wire::LockAttempt::Outcome;

TEST(FamiliesTest, TasksByQueueAndState) {
  Standing standing;
  standing.engine.tasks = {.queue = "", .waiting = 7, .dead = 3};
  standing.engine.queues = {{.queue = "mail", .waiting = 5}, {.queue = "a:b,c=d%", .dead = 1}};
  const std::string text = describe_metrics(standing);
  EXPECT_THAT(text, HasSubstr("# TYPE tenure_tasks gauge\n"));
  EXPECT_THAT(text, HasSubstr("tenure_tasks{queue=\"mail\",state=\"waiting\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("tenure_tasks{queue=\"(other)\",state=\"waiting\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("tenure_tasks{queue=\"(other)\",state=\"dead\"} 2\n"));
  const std::string info = describe(standing, {});
  EXPECT_THAT(info, HasSubstr("\r\ntasks_mail:waiting=5,delayed=0,leased=0,completed=0,failed=0,dead=0\r\n"));
  EXPECT_THAT(info, HasSubstr("\r\ntasks_a%3Ab%2Cc%3Dd%25:waiting=0,"));
  EXPECT_THAT(describe_json(standing), HasSubstr(R"("tasks_mail":{"waiting":5,"delayed":0,)"));
}

TEST(FamiliesTest, AQueueThatIsCalledLikeTheOthersIsOneOfThem) {
  Standing standing;
  standing.engine.tasks = {.queue = "", .waiting = 3};
  standing.engine.queues = {{.queue = std::string(kOthers), .waiting = 3}};
  const std::string text = describe_metrics(standing);
  const std::string line = "tenure_tasks{queue=\"(other)\",state=\"waiting\"} 3\n";
  EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text.substr(text.find(line) + line.size()), Not(HasSubstr("state=\"waiting\"")));
}

TEST(FamiliesTest, NamesAreEscaped) {
  Standing standing;
  standing.engine.queues = {{.queue = "a\"b\\c"}};
  EXPECT_THAT(describe_metrics(standing), HasSubstr(R"(tenure_tasks{queue="a\"b\\c",state="waiting"} 0)"));
}

TEST(FamiliesTest, HistogramsAreCumulative) {
  Standing standing;
  for (const double frames : {1.0, 2.0, 2.0, 1e6}) standing.journal.batch_frames.add(frames);
  const std::string text = describe_metrics(standing);
  EXPECT_THAT(text, HasSubstr("tenure_batch_frames_count 4\n"));
  EXPECT_THAT(text, HasSubstr("tenure_batch_frames_bucket{le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tenure_batch_frames_bucket{le=\"4096\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("tenure_batch_frames_bucket{le=\"+Inf\"} 4\n"));
  EXPECT_THAT(describe(standing, {}), HasSubstr("\r\nbatch_frames:count=4,sum=1000005\r\n"));
}

TEST(FamiliesTest, NoFieldOfASectionIsToldTwice) {
  Standing standing;
  standing.engine.queues = {{.queue = "a"}};
  standing.domains.emplace_back().domain = "d";
  const std::string info = describe(standing, {});
  for (const std::string field : {"buffer_bytes", "durable_frame", "state_bytes", "state_bytes_max"}) {
    const std::string line = "\r\n" + field + ":";
    ASSERT_THAT(info, HasSubstr(line));
    EXPECT_EQ(info.find(line), info.rfind(line)) << field;
  }
}

TEST(LockFiguresTest, TellsOfADomainsLocks) {
  LockFigures figures;
  figures.on_held("orders");
  figures.on_held("orders");
  figures.on_attempt({.domain = "orders", .outcome = Outcome::kAcquired, .seconds = 0.5});
  figures.on_attempt({.domain = "orders", .outcome = Outcome::kTimeout, .seconds = 2});
  figures.on_freed("orders", Millis{1500}, true);
  Standing standing;
  standing.domains = figures.by_domain();
  const std::string text = describe_metrics(standing);
  EXPECT_THAT(text, HasSubstr("softlock_active{domain=\"orders\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("softlock_expired_total{domain=\"orders\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("softlock_acquire_attempts_total{domain=\"orders\",result=\"acquired\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("softlock_acquire_attempts_total{domain=\"orders\",result=\"timeout\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("softlock_acquire_seconds_sum{domain=\"orders\",result=\"timeout\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("softlock_held_time_seconds_sum{domain=\"orders\"} 1.5\n"));
  const std::string info = describe(standing, {});
  EXPECT_THAT(info, HasSubstr("\r\nsoftlock_acquire_attempts_orders:acquired=1,timeout=1\r\n"));
  EXPECT_THAT(info, HasSubstr("\r\nsoftlock_held_time_seconds_orders:count=1,sum=1.5\r\n"));
}

TEST(LockFiguresTest, ThereIsAnEndToTheDomains) {
  LockFigures figures;
  for (int i = 0; i < 1000; ++i) figures.on_held(fmt::format("domain {}", i));
  figures.on_held(kOthers);
  figures.on_freed("domain 999", Millis{1}, false);
  figures.on_attempt({.domain = "\xff not a name", .outcome = Outcome::kError, .seconds = 0});
  const auto domains = figures.by_domain();
  ASSERT_EQ(domains.size(), kNamesShown + 1);
  EXPECT_EQ(domains.front().domain, "domain 0");
  EXPECT_EQ(domains.back().domain, kOthers);
  EXPECT_EQ(domains.back().active, 1000 - kNamesShown);
  EXPECT_TRUE(domains.back().attempts[3].has_value());
}

TEST(LockFiguresTest, WhatIsRefusedGetsNoNameOfItsOwn) {
  LockFigures figures;
  figures.on_attempt({.domain = "unknown", .outcome = Outcome::kError, .seconds = 0});
  ASSERT_EQ(figures.by_domain().size(), 1U);
  EXPECT_EQ(figures.by_domain().front().domain, kOthers);
}

}  // namespace
}  // namespace tenure::server
