// What the work book answers: every row of work-lease's method contracts, and what design page 3 adds.
#include "core/work_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kLastOffset = std::numeric_limits<std::int64_t>::max();

class WorkBookTest : public testing::Test {
 protected:
  Result<AcquireResult> ask(std::int64_t offset, std::optional<Millis> lease = {}, std::string_view domain = "A") {
    return ledger.ask(WorkRequest{.domain = domain, .offset = Offset{offset}, .lease = lease});
  }
  template <class Answer>
  bool answers(std::int64_t offset) {
    return std::holds_alternative<Answer>(ask(offset).value());
  }
  Result<SucceedResult> succeed(std::string_view token, std::optional<std::string_view> request_id = {}) {
    return ledger.ask(WorkSuccess{.domain = "A", .token = token, .request_id = request_id});
  }
  Result<FailResult> fail(std::string_view token, std::optional<std::string_view> request_id = {}) {
    return ledger.ask(WorkFailure{.domain = "A", .token = token, .reason = "why", .request_id = request_id});
  }
  Result<Trimmed> trim(std::int64_t below, std::string_view domain = "A") {
    return ledger.ask(WorkTrim{.domain = domain, .below = Offset{below}});
  }
  // Acquires the offset and reports it done.
  void process(std::int64_t offset) {
    const Acquired lease = ledger.acquire("A", offset);
    ASSERT_TRUE(succeed(lease.token).has_value());
  }
  void give_up(std::int64_t offset) {
    const std::uint32_t retries = std::exchange(ledger.settings.work_retries_max, 0);
    ASSERT_TRUE(fail(ledger.acquire("A", offset).token).has_value());
    ledger.settings.work_retries_max = retries;
  }

  Ledger ledger;
};

// --- the sanity scenarios of the seed ---

TEST_F(WorkBookTest, HappyPath) {
  const Acquired lease = ledger.acquire("A", 1);
  EXPECT_THAT(ledger.last(), ElementsAre("WorkAcquired"));
  EXPECT_FALSE(lease.already);
  EXPECT_EQ(ledger.now, lease.acquired_at);
  EXPECT_EQ(0U, lease.retry_count);
  EXPECT_EQ(std::nullopt, lease.remaining);
  EXPECT_EQ(std::nullopt, succeed(lease.token)->next);
  EXPECT_THAT(ledger.last(), ElementsAre("WorkSucceeded"));
}

TEST_F(WorkBookTest, QueueThenOrchestratedHandOff) {
  const Acquired first = ledger.acquire("A", 1);
  const auto queued = ask(2);
  EXPECT_EQ(1U, std::get<Enqueued>(queued.value()).position);
  EXPECT_THAT(ledger.last(), ElementsAre("WorkEnqueued"));
  EXPECT_EQ(Offset{2}, succeed(first.token)->next);
  const Acquired second = ledger.acquire("A", 2);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(0U, ledger.work().inspect("A")->backlog);
}

TEST_F(WorkBookTest, OutOfOrderAcquireIsAHardBug) {
  const Acquired first = ledger.acquire("A", 1);
  ask(2);
  ask(3);
  ASSERT_TRUE(succeed(first.token).has_value());
  const auto wrong = ask(3);
  EXPECT_EQ(ErrorCode::kBacklogOrder, wrong.error().code);
  EXPECT_EQ(Offset{2}, wrong.error().expected);
  EXPECT_EQ(Offset{3}, wrong.error().got);
  EXPECT_EQ(ErrorCode::kBacklogOrder, ask(9).error().code);
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_TRUE(answers<Acquired>(2));
}

TEST_F(WorkBookTest, ARetryKeepsTheLeaseAndItsAcquisition) {
  const Acquired lease = ledger.acquire("A", 1);
  const Instant acquired_at = ledger.now;
  ledger.advance(kMinute);
  for (std::uint32_t retry = 1; retry <= 3; ++retry) {
    EXPECT_EQ(retry, std::get<RetryScheduled>(fail(lease.token).value()).retry_count);
    EXPECT_THAT(ledger.last(), ElementsAre("WorkRetried"));
  }
  const Acquired again = ledger.acquire("A", 1);
  EXPECT_TRUE(again.already);
  EXPECT_EQ(lease.token, again.token);
  EXPECT_EQ(3U, again.retry_count);
  EXPECT_EQ(acquired_at, again.acquired_at);
}

TEST_F(WorkBookTest, AfterTheLastRetryItIsGivenUp) {
  const Acquired lease = ledger.acquire("A", 1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(fail(lease.token).has_value());
  }
  EXPECT_EQ(std::nullopt, std::get<GivenUp>(fail(lease.token).value()).next);
  EXPECT_THAT(ledger.last(), ElementsAre("WorkGivenUp"));
  EXPECT_TRUE(answers<AlreadyFailed>(1));
  ledger.settings.work_retries_max = 0;
  const Acquired second = ledger.acquire("A", 2);
  ask(3);
  EXPECT_EQ(Offset{3}, std::get<GivenUp>(fail(second.token).value()).next);
}

TEST_F(WorkBookTest, WhatIsDoneIsNeverEnqueuedNorAcquired) {
  process(1);
  give_up(2);
  EXPECT_TRUE(answers<AlreadyProcessed>(1));
  EXPECT_TRUE(answers<AlreadyFailed>(2));
  ledger.acquire("A", 3);
  EXPECT_TRUE(answers<AlreadyProcessed>(1));
  EXPECT_TRUE(answers<AlreadyFailed>(2));
  EXPECT_THAT(ledger.last(), IsEmpty());
}

// --- the rest of the contract ---

TEST_F(WorkBookTest, AnOffsetWaitsOnce) {
  ledger.acquire("A", 1);
  ask(5);
  ask(4);
  EXPECT_EQ(2U, std::get<Enqueued>(ask(4).value()).position);
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_EQ(1U, std::get<Enqueued>(ask(5).value()).position);
  EXPECT_EQ(Offset{5}, ledger.work().inspect("A")->backlog_head);
}

TEST_F(WorkBookTest, AReportWithoutALeaseOrWithAnotherTokenIsAHardBug) {
  EXPECT_EQ(ErrorCode::kNoLease, succeed("1-0000000000000000").error().code);
  const Acquired lease = ledger.acquire("A", 1);
  EXPECT_EQ(ErrorCode::kTokenMismatch, succeed("1-0000000000000000").error().code);
  EXPECT_EQ(ErrorCode::kTokenMismatch, fail("junk").error().code);
  EXPECT_EQ(ErrorCode::kTokenMismatch, ledger.ask(WorkExtension{"A", "", kMinute}).error().code);
  ASSERT_TRUE(succeed(lease.token).has_value());
  EXPECT_EQ(ErrorCode::kNoLease, succeed(lease.token).error().code);
  EXPECT_EQ(ErrorCode::kNoLease, fail(lease.token).error().code);
  EXPECT_EQ(ErrorCode::kNoLease, ledger.ask(WorkExtension{"A", lease.token, kMinute}).error().code);
  EXPECT_THAT(ledger.last(), IsEmpty());
}

TEST_F(WorkBookTest, ARepeatedReportGivesTheSameAnswer) {
  const Acquired first = ledger.acquire("A", 1);
  ask(2);
  EXPECT_EQ(1U, std::get<RetryScheduled>(fail(first.token, "f1").value()).retry_count);
  EXPECT_EQ(1U, std::get<RetryScheduled>(fail(first.token, "f1").value()).retry_count);
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_EQ(Offset{2}, succeed(first.token, "s1")->next);
  const Acquired second = ledger.acquire("A", 2);
  EXPECT_EQ(Offset{2}, succeed(first.token, "s1")->next);
  ledger.settings.work_retries_max = 0;
  EXPECT_EQ(std::nullopt, std::get<GivenUp>(fail(second.token, "f2").value()).next);
  EXPECT_EQ(std::nullopt, std::get<GivenUp>(fail(second.token, "f2").value()).next);
  EXPECT_EQ(ErrorCode::kInvalid, succeed(second.token, "f2").error().code);  // another verb
  EXPECT_EQ(ErrorCode::kInvalid, fail(first.token, "f2").error().code);      // another argument
}

TEST_F(WorkBookTest, AnErrorIsNotRemembered) {
  EXPECT_EQ(ErrorCode::kNoLease, succeed("1-0000000000000000", "r").error().code);
  const Acquired lease = ledger.acquire("A", 1);
  EXPECT_TRUE(succeed(lease.token, "r").has_value());
}

TEST_F(WorkBookTest, RememberedReportsAreForgottenInTime) {
  const Acquired lease = ledger.acquire("A", 1);
  ASSERT_TRUE(succeed(lease.token, "r").has_value());
  ledger.advance(std::chrono::hours(1) + Millis{1});
  EXPECT_THAT(ledger.last(), ElementsAre("Forgotten"));
  EXPECT_EQ(ErrorCode::kNoLease, succeed(lease.token, "r").error().code);
}

// --- lease times ---

TEST_F(WorkBookTest, ALeaseWithoutALeaseTimeNeverEnds) {
  const Acquired lease = ledger.acquire("A", 1);
  ledger.advance(std::chrono::hours(24 * 365));
  EXPECT_EQ(kNever, ledger.work().next_expiry());
  EXPECT_EQ(nullptr, ledger.work().expired("A", ledger.now));
  const auto extended = ledger.ask(WorkExtension{"A", lease.token, kMinute}).value();
  EXPECT_EQ(std::nullopt, extended.expires_at);
  EXPECT_EQ(std::nullopt, extended.remaining);
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_TRUE(succeed(lease.token).has_value());
}

TEST_F(WorkBookTest, ALeaseThatExpiredReturnsItsOffsetToTheHead) {
  const Acquired lease = ledger.acquire("A", 5, kMinute);
  EXPECT_EQ(kMinute, lease.remaining);
  ask(6);
  ASSERT_TRUE(fail(lease.token).has_value());
  ledger.settings.backlog_max = 1;  // also when the backlog is full
  EXPECT_EQ(ledger.now + kMinute, ledger.work().next_expiry());
  ledger.advance(kMinute);
  EXPECT_EQ(Millis{0}, ledger.acquire("A", 5).remaining);
  EXPECT_EQ(nullptr, ledger.work().expired("A", ledger.now));
  EXPECT_NE(nullptr, ledger.work().expired("A", ledger.now + Millis{1}));
  EXPECT_EQ(nullptr, ledger.work().expired("B", kNever));
  ledger.advance(Millis{1});
  EXPECT_THAT(ledger.last(), ElementsAre("WorkExpired"));
  EXPECT_EQ(nullptr, ledger.work().expired("A", kNever));
  EXPECT_EQ(ErrorCode::kNoLease, succeed(lease.token).error().code);
  EXPECT_EQ(ErrorCode::kBacklogOrder, ask(6).error().code);
  ledger.advance(kMinute);
  const Acquired again = ledger.acquire("A", 5);
  EXPECT_EQ(lease.acquired_at, again.acquired_at);
  EXPECT_EQ(1U, again.retry_count);
  EXPECT_NE(lease.token, again.token);
  EXPECT_GT(again.fence, lease.fence);
  EXPECT_EQ(ErrorCode::kTokenMismatch, succeed(lease.token).error().code);
  EXPECT_EQ(Offset{6}, succeed(again.token)->next);
  // The next offset has its own acquisition.
  const Acquired next = ledger.acquire("A", 6);
  EXPECT_EQ(ledger.now, next.acquired_at);
  EXPECT_EQ(0U, next.retry_count);
}

TEST_F(WorkBookTest, AskingAndFailingDoNotExtend) {
  const Acquired lease = ledger.acquire("A", 1, kMinute);
  ledger.advance(Millis{40'000});
  EXPECT_EQ(Millis{20'000}, ledger.acquire("A", 1, kMinute).remaining);
  ASSERT_TRUE(fail(lease.token).has_value());
  EXPECT_EQ(Millis{20'000}, ledger.acquire("A", 1).remaining);
}

TEST_F(WorkBookTest, AnExtensionNeverShortens) {
  const Acquired lease = ledger.acquire("A", 1, kMinute);
  const auto shorter = ledger.ask(WorkExtension{"A", lease.token, Millis{1}}).value();
  EXPECT_EQ(ledger.now + kMinute, shorter.expires_at);
  EXPECT_THAT(ledger.last(), IsEmpty());
  const auto longer = ledger.ask(WorkExtension{"A", lease.token, 3 * kMinute}).value();
  EXPECT_EQ(3 * kMinute, longer.remaining);
  EXPECT_THAT(ledger.last(), ElementsAre("WorkExtended"));
  ledger.advance(2 * kMinute);
  EXPECT_TRUE(ledger.work().inspect("A")->in_flight);
  ledger.advance(kMinute + Millis{1});
  EXPECT_FALSE(ledger.work().inspect("A")->in_flight);
}

TEST_F(WorkBookTest, ALeaseTimeGivenWithAnEnqueuedAcquireIsNotRemembered) {
  const Acquired first = ledger.acquire("A", 1);
  ask(2, kMinute);
  ASSERT_TRUE(succeed(first.token).has_value());
  EXPECT_EQ(std::nullopt, ledger.acquire("A", 2).remaining);
}

// --- trim ---

TEST_F(WorkBookTest, TrimmingCollapsesWhatIsProcessed) {
  for (const std::int64_t offset : {1, 2, 3, 7}) process(offset);
  give_up(4);
  EXPECT_TRUE(trim(3)->complete);
  EXPECT_THAT(ledger.last(), ElementsAre("WorkTrimmed"));
  const auto status = ledger.work().inspect("A").value();
  EXPECT_EQ(Offset{3}, status.trimmed_below);
  EXPECT_EQ(2U, status.processed);  // 3 and 7
  EXPECT_EQ(1U, status.failed);
  ASSERT_TRUE(trim(6).has_value());
  EXPECT_TRUE(answers<AlreadyProcessed>(0));
  EXPECT_TRUE(answers<AlreadyProcessed>(5));
  EXPECT_TRUE(answers<AlreadyFailed>(4));
  EXPECT_TRUE(answers<AlreadyProcessed>(7));
  EXPECT_TRUE(answers<Acquired>(6));
}

TEST_F(WorkBookTest, ALowerMarkChangesNothing) {
  ASSERT_TRUE(trim(5).has_value());
  EXPECT_EQ(Offset{5}, ledger.work().inspect("A")->trimmed_below);  // an unknown domain is created
  EXPECT_TRUE(trim(5)->complete);
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_TRUE(trim(4)->complete);
  EXPECT_THAT(ledger.last(), IsEmpty());
}

TEST_F(WorkBookTest, AMarkAboveWhatIsOpenIsInvalidAndNamesIt) {
  const Acquired lease = ledger.acquire("A", 10);
  EXPECT_THAT(trim(11).error().message, testing::HasSubstr("offset 10"));
  ask(8);
  ask(12);
  EXPECT_EQ(ErrorCode::kInvalid, trim(10).error().code);
  EXPECT_THAT(trim(10).error().message, testing::HasSubstr("offset 8"));
  EXPECT_TRUE(trim(8).has_value());
  ASSERT_TRUE(succeed(lease.token).has_value());
  EXPECT_THAT(trim(9).error().message, testing::HasSubstr("offset 8"));
}

TEST_F(WorkBookTest, ALongTrimGoesInSteps) {
  Records records;
  for (std::int64_t i = 0; i < 1030; ++i) {
    const Token token = token_of(static_cast<std::uint64_t>(i) + 1);
    records.emplace_back(acquired("A", 2 * i, token));
    records.emplace_back(record::WorkSucceeded{"A", token, Offset{2 * i}});
  }
  Ledger fast(1, 1000);
  fast.write(records);
  EXPECT_FALSE(fast.ask(WorkTrim{"A", Offset{3000}})->complete);
  EXPECT_EQ(Offset{2048}, fast.work().inspect("A")->trimmed_below);
  EXPECT_EQ(6U, fast.work().inspect("A")->processed);
  EXPECT_TRUE(fast.ask(WorkTrim{"A", Offset{3000}})->complete);
  EXPECT_EQ(Offset{3000}, fast.work().inspect("A")->trimmed_below);
  EXPECT_EQ(0U, fast.work().inspect("A")->processed);
}

// --- limits ---

TEST_F(WorkBookTest, AFullBacklogPushesBack) {
  ledger.settings.backlog_max = 1;
  const Acquired lease = ledger.acquire("A", 1);
  EXPECT_TRUE(answers<Enqueued>(2));
  EXPECT_EQ(ErrorCode::kBackpressure, ask(3).error().code);
  EXPECT_TRUE(answers<Enqueued>(2));  // it waits already
  EXPECT_TRUE(succeed(lease.token).has_value());
}

TEST_F(WorkBookTest, TooManyIntervalsPushBackAndTrimmingHelps) {
  ledger.settings.intervals_max = 2;
  process(1);
  give_up(3);
  EXPECT_EQ(ErrorCode::kBackpressure, ask(5).error().code);
  EXPECT_TRUE(answers<AlreadyProcessed>(1));
  ASSERT_TRUE(trim(2).has_value());
  const Acquired lease = ledger.acquire("A", 5);
  ledger.settings.intervals_max = 0;
  EXPECT_TRUE(succeed(lease.token).has_value());  // never refused for a limit
}

TEST_F(WorkBookTest, TooManyDomainsPushBack) {
  ledger.settings.domains_max = 1;
  ledger.acquire("A", 1);
  EXPECT_EQ(ErrorCode::kBackpressure, ask(1, {}, "B").error().code);
  EXPECT_EQ(ErrorCode::kBackpressure, trim(1, "B").error().code);
  EXPECT_EQ(1U, ledger.work().domains());
}

TEST_F(WorkBookTest, FullMemoryRefusesNewWorkOnly) {
  const Acquired lease = ledger.acquire("A", 1);
  ask(2);
  ledger.settings.state_bytes_max = 1;
  EXPECT_EQ(ErrorCode::kBackpressure, ask(3).error().code);
  EXPECT_EQ(ErrorCode::kBackpressure, ask(1, {}, "B").error().code);
  EXPECT_EQ(ErrorCode::kBackpressure, trim(1, "B").error().code);
  EXPECT_TRUE(answers<Enqueued>(2));
  EXPECT_TRUE(succeed(lease.token).has_value());
  EXPECT_TRUE(answers<Acquired>(2));  // it was taken in already
}

TEST_F(WorkBookTest, NothingIsLeasedWhenTheJournalIsFull) {
  const Acquired lease = ledger.acquire("A", 1);
  ask(2);
  ledger.has_room = false;
  EXPECT_TRUE(succeed(lease.token).has_value());
  EXPECT_EQ(ErrorCode::kBackpressure, ask(2).error().code);
  ledger.has_room = true;
  EXPECT_TRUE(answers<Acquired>(2));
}

TEST_F(WorkBookTest, TheLastOffsetIsAnOffsetLikeAnyOther) {
  process(kLastOffset);
  process(kLastOffset - 1);
  process(0);
  EXPECT_TRUE(answers<AlreadyProcessed>(kLastOffset));
  EXPECT_EQ(2U, ledger.work().list_done("A", {}).value().intervals.size());
  give_up(kLastOffset - 2);
  EXPECT_THAT(ledger.work().list_failed("A", {}).value().offsets, ElementsAre(Offset{kLastOffset - 2}));
}

// --- views ---

TEST_F(WorkBookTest, InspectionShowsTheDomain) {
  EXPECT_EQ(std::nullopt, ledger.work().inspect("A"));
  process(1);
  auto status = ledger.work().inspect("A").value();
  EXPECT_FALSE(status.in_flight);
  EXPECT_EQ(std::nullopt, status.offset);
  EXPECT_EQ(std::nullopt, status.backlog_head);
  EXPECT_EQ(Offset{0}, status.trimmed_below);
  const Acquired lease = ledger.acquire("A", 2, kMinute);
  ask(4);
  status = ledger.work().inspect("A").value();
  EXPECT_TRUE(status.in_flight);
  EXPECT_EQ("A", status.domain);
  EXPECT_EQ(Offset{2}, status.offset);
  EXPECT_EQ(lease.fence, status.fence);
  EXPECT_EQ(0U, status.retry_count);
  EXPECT_EQ(ledger.now, status.acquired_at);
  EXPECT_EQ(ledger.now + kMinute, status.expires_at);
  EXPECT_EQ(1U, status.backlog);
  EXPECT_EQ(Offset{4}, status.backlog_head);
  EXPECT_EQ(1U, status.processed);
  ledger.acquire("B", 1);
  EXPECT_EQ(std::nullopt, ledger.work().inspect("B")->expires_at);
}

TEST_F(WorkBookTest, ListingsGoPageByPage) {
  for (const std::int64_t offset : {10, 11, 20, 30}) process(offset);
  for (const std::int64_t offset : {40, 41, 42, 50}) give_up(offset);
  ledger.acquire("A", 60);
  for (const std::int64_t offset : {9, 7, 8}) ask(offset);
  for (const std::int64_t count : {1, 2, 3, 4, 100}) {
    const auto all = [&](auto list, auto of) {
      std::vector<std::int64_t> found;
      std::string cursor = "0";
      do {
        const auto page = list(Paging{.count = count, .cursor = cursor}).value();
        for (const auto& item : of(page)) found.push_back(item.value);
        cursor = page.cursor;
      } while (cursor != "0");
      return found;
    };
    const WorkBook& book = ledger.work();
    const auto offsets = [](const OffsetPage& page) { return page.offsets; };
    const auto ends = [](const IntervalPage& page) {
      std::vector<Offset> found;
      for (const Interval& interval : page.intervals) {
        found.push_back(interval.first);
        found.push_back(interval.last);
      }
      return found;
    };
    EXPECT_THAT(all([&](const Paging& paging) { return book.list_backlog("A", paging); }, offsets),
                ElementsAre(9, 7, 8));
    EXPECT_THAT(all([&](const Paging& paging) { return book.list_failed("A", paging); }, offsets),
                ElementsAre(40, 41, 42, 50));
    EXPECT_THAT(all([&](const Paging& paging) { return book.list_done("A", paging); }, ends),
                ElementsAre(10, 11, 20, 20, 30, 30));
  }
}

TEST_F(WorkBookTest, AListingGoesOnBehindAHeadThatHasMoved) {
  ledger.acquire("A", 1);
  for (const std::int64_t offset : {2, 3, 4}) ask(offset);
  const auto page = ledger.work().list_backlog("A", {.count = 1});
  EXPECT_THAT(page->offsets, ElementsAre(Offset{2}));
  ledger.ask(WorkSuccess{.domain = "A", .token = ledger.work().find("A")->hold->token.text()});
  ledger.acquire("A", 2);
  ledger.ask(WorkSuccess{.domain = "A", .token = ledger.work().find("A")->hold->token.text()});
  ledger.acquire("A", 3);
  EXPECT_THAT(ledger.work().list_backlog("A", {.cursor = page->cursor})->offsets, ElementsAre(Offset{4}));
}

TEST_F(WorkBookTest, ListingsOfNothingAreEmpty) {
  EXPECT_THAT(ledger.work().list_backlog("A", {})->offsets, IsEmpty());
  EXPECT_THAT(ledger.work().list_failed("A", {})->offsets, IsEmpty());
  EXPECT_THAT(ledger.work().list_done("A", {})->intervals, IsEmpty());
  EXPECT_THAT(ledger.work().list({})->domains, IsEmpty());
  process(1);
  EXPECT_THAT(ledger.work().list_backlog("A", {})->offsets, IsEmpty());
  EXPECT_THAT(ledger.work().list_failed("A", {})->offsets, IsEmpty());
  EXPECT_THAT(ledger.work().list({})->domains, ElementsAre("A"));
}

TEST_F(WorkBookTest, ACursorThatNoListingGaveIsInvalidOrTheEnd) {
  process(0);
  give_up(5);
  ledger.acquire("A", 1);
  ask(2);
  for (const char* cursor : {"", "x", "01", "-1", "1.1", "18446744073709551616"}) {
    EXPECT_EQ(ErrorCode::kInvalid, ledger.work().list_backlog("A", {.cursor = cursor}).error().code) << cursor;
    EXPECT_EQ(ErrorCode::kInvalid, ledger.work().list_failed("A", {.cursor = cursor}).error().code) << cursor;
    EXPECT_EQ(ErrorCode::kInvalid, ledger.work().list_done("A", {.cursor = cursor}).error().code) << cursor;
  }
  EXPECT_EQ(ErrorCode::kInvalid, ledger.work().list({.cursor = "x"}).error().code);
  EXPECT_EQ(ErrorCode::kInvalid, ledger.work().list({.cursor = "5"}).error().code);
  EXPECT_EQ("0", ledger.work().list({.cursor = "999.0"})->cursor);
  const char* const highest = "18446744073709551615";
  EXPECT_THAT(ledger.work().list_backlog("A", {.cursor = highest})->offsets, IsEmpty());
  EXPECT_THAT(ledger.work().list_failed("A", {.cursor = highest})->offsets, IsEmpty());
  EXPECT_THAT(ledger.work().list_done("A", {.cursor = highest})->intervals, IsEmpty());
}

}  // namespace
}  // namespace tenure
