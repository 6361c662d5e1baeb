// Ordered work on simulated time: order within a domain, hints, retries, and what an earlier run has left.
#include <deque>
#include <map>
#include <set>

#include "client/lock_testing.h"
#include "client/orchestra.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A log in memory that can be read again, and can find what it has given before.
class MemoryLog final : public OrderedSource {
 public:
  explicit MemoryLog(std::vector<OrderedItem> items, bool can_fetch = true)
      : items_(std::move(items)), can_fetch_(can_fetch) {}

  std::optional<OrderedItem> next(const std::stop_token& /*stop*/) override {
    return at_ < items_.size() ? std::optional(items_[at_++]) : std::nullopt;
  }
  std::optional<std::string> fetch(std::string_view domain, Offset offset) override {
    for (const OrderedItem& item : items_) {
      if (can_fetch_ && item.domain == domain && item.offset == offset) return item.payload;
    }
    return std::nullopt;
  }
  void done(std::string_view domain, Offset offset, bool is_processed) override {
    const MutexLock lock(mutex_);
    done_[std::string(domain)].push_back(is_processed ? offset.value : -offset.value);
  }
  void begin_at(std::size_t at) { at_ = at; }
  // Those given up are negative.
  std::vector<std::int64_t> done_of(const std::string& domain) {
    const MutexLock lock(mutex_);
    return done_[domain];
  }

 private:
  const std::vector<OrderedItem> items_;
  const bool can_fetch_;
  std::size_t at_ = 0;
  Mutex mutex_;
  std::map<std::string, std::vector<std::int64_t>> done_ TENURE_GUARDED_BY(mutex_);
};

std::vector<OrderedItem> items_of(const std::vector<std::pair<std::string, std::int64_t>>& list) {
  std::vector<OrderedItem> items;
  for (const auto& [domain, offset] : list) {
    items.push_back({domain, Offset{offset}, domain + std::to_string(offset)});
  }
  return items;
}

class OrderedTest : public ::testing::Test {
 protected:
  OrchestratorOptions options() {
    return {.threads = 4, .backoff = {.initial = Millis{1000}}, .log = [](const std::string&) {}};
  }
  OrchestratorTally run(MemoryLog& log, const Orchestrator::Handler& handler) {
    Orchestra here(face, options(), *world.clock);
    return here.run(log, handler, stop.get_token());
  }
  // Runs it on a thread of its own, while the test lets time pass.
  void start(MemoryLog& log, const Orchestrator::Handler& handler, const OrchestratorOptions& with) {
    orchestra = std::make_unique<Orchestra>(face, with, *world.clock);
    thread = std::thread([this, &log, handler] { tally = orchestra->run(log, handler, stop.get_token()); });
  }
  void pass(Millis time) {
    world.advance(time);
    orchestra->settle();
    world.pass(Millis{0});
  }

  World world{Settings{.work_retries_max = 2}};
  WorkFace face{*world.engine};
  std::unique_ptr<Orchestra> orchestra;
  std::stop_source stop;
  std::thread thread;
  OrchestratorTally tally;
};

TEST_F(OrderedTest, DoesEachDomainInOrderAndNeverTwoOfOneAtOnce) {
  std::vector<OrderedItem> items;
  for (std::int64_t offset = 0; offset < 200; ++offset) {
    items.push_back({"d" + std::to_string(offset % 7), Offset{offset}, "p" + std::to_string(offset)});
  }
  MemoryLog log(items);
  std::map<std::string, std::atomic<int>> inside;
  for (int i = 0; i < 7; ++i) inside["d" + std::to_string(i)] = 0;
  const OrchestratorTally done = run(log, [&](const OrderedWork& work) {
    EXPECT_EQ(1, ++inside.at(work.domain));
    EXPECT_EQ("p" + std::to_string(work.offset.value), work.payload);
    EXPECT_EQ(1U, work.attempt);
    std::this_thread::yield();
    --inside.at(work.domain);
  });
  EXPECT_EQ(200U, done.processed);
  EXPECT_EQ(0U, done.left);
  for (int i = 0; i < 7; ++i) {
    const auto order = log.done_of("d" + std::to_string(i));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(i < 4 ? 29U : 28U, order.size());
  }
}

TEST_F(OrderedTest, DomainsWithNothingToDoAreForgotten) {
  std::vector<OrderedItem> items;
  for (std::size_t i = 0; i < Orchestra::kDomainsKept * 2; ++i)
    items.push_back({"d" + std::to_string(i), Offset{1}, "p"});
  items.push_back({"d0", Offset{2}, "p"});
  MemoryLog log(items);
  OrchestratorOptions with = options();
  with.buffer = 10;
  Orchestra here(face, with, *world.clock);
  EXPECT_EQ(items.size(), here.run(log, [](const OrderedWork&) {}, {}).processed);
  EXPECT_LE(here.domain_count(), Orchestra::kDomainsKept);
  EXPECT_THAT(log.done_of("d0"), ElementsAre(1, 2));
}

TEST_F(OrderedTest, DoesNothingTwice) {
  MemoryLog log(items_of({{"a", 1}, {"a", 2}, {"a", 1}, {"b", 1}}));
  EXPECT_EQ(3U, run(log, [](const OrderedWork&) {}).processed);
  log.begin_at(0);
  const OrchestratorTally again = run(log, [](const OrderedWork&) { ADD_FAILURE() << "done before"; });
  EXPECT_EQ(0U, again.processed);
  EXPECT_EQ(4U, again.skipped);
}

TEST_F(OrderedTest, AFailureIsRetriedBeforeWhatComesAfterIt) {
  MemoryLog log(items_of({{"a", 1}, {"a", 2}, {"b", 1}}));
  std::atomic<int> attempts{0};
  start(
      log,
      [&](const OrderedWork& work) {
        if (work.domain != "a" || work.offset != Offset{1}) return;
        ++attempts;
        EXPECT_EQ(static_cast<std::uint32_t>(attempts), work.attempt);
        if (work.attempt < 3) throw std::runtime_error("not yet");
      },
      options());
  await([&] { return log.done_of("b").size() == 1 && face.inspect("a")->retry_count == 1U; });
  pass(Millis{999});
  EXPECT_EQ(1, attempts);
  pass(Millis{1});
  await([&] { return face.inspect("a")->retry_count == 2U; });
  EXPECT_THAT(log.done_of("a"), IsEmpty());
  pass(Millis{1999});
  EXPECT_EQ(2, attempts);
  pass(Millis{1});
  thread.join();
  EXPECT_THAT(log.done_of("a"), ElementsAre(1, 2));
  EXPECT_EQ(2U, tally.retried);
  EXPECT_EQ(3U, tally.processed);
}

TEST_F(OrderedTest, WhatIsGivenUpDoesNotHoldUpTheRest) {
  MemoryLog log(items_of({{"a", 1}, {"a", 2}}));
  start(
      log,
      [](const OrderedWork& work) {
        if (work.offset == Offset{1}) throw std::runtime_error("never");
      },
      options());
  await([&] { return face.inspect("a") && face.inspect("a")->retry_count == 1U; });
  pass(Millis{1000});
  await([&] { return face.inspect("a")->retry_count == 2U; });
  pass(Millis{2000});
  thread.join();
  EXPECT_THAT(log.done_of("a"), ElementsAre(-1, 2));
  EXPECT_EQ(1U, tally.given_up);
}

TEST(BackoffTest, DependsOnTheFirstAcquisitionAndTheRetriesAlone) {
  const Backoff backoff{.initial = Millis{100}, .longest = Millis{350}};
  EXPECT_EQ(Millis{0}, pause_before(0, backoff));
  EXPECT_EQ(Millis{100}, pause_before(1, backoff));
  EXPECT_EQ(Millis{200}, pause_before(2, backoff));
  EXPECT_EQ(Millis{350}, pause_before(3, backoff));
  EXPECT_EQ(Millis{350}, pause_before(4'000'000'000, backoff));
  EXPECT_EQ(Instant{1000}, retry_due(Instant{1000}, 0, backoff));
  EXPECT_EQ(Instant{1000 + 100 + 200 + 350}, retry_due(Instant{1000}, 3, backoff));
}

// --- what an earlier run has left ---

TEST_F(OrderedTest, TakesUpWhatAnEarlierRunHadInFlightAndInLine) {
  face.try_acquire({.domain = "a", .offset = Offset{1}});
  face.try_acquire({.domain = "a", .offset = Offset{2}});
  face.try_acquire({.domain = "a", .offset = Offset{3}});
  MemoryLog log(items_of({{"a", 1}, {"a", 2}, {"a", 3}, {"a", 4}}));
  log.begin_at(3);  // it is read from behind them
  EXPECT_EQ(4U, run(log, [](const OrderedWork&) {}).processed);
  EXPECT_THAT(log.done_of("a"), ElementsAre(1, 2, 3, 4));
}

TEST_F(OrderedTest, WaitsForTheLogToBringWhatGoesFirst) {
  const auto held = face.try_acquire({.domain = "a", .offset = Offset{5}});
  face.try_acquire({.domain = "a", .offset = Offset{6}});
  face.succeed({.domain = "a", .token = std::get<Acquired>(held).token});
  MemoryLog log(items_of({{"a", 7}, {"a", 6}}), false);
  EXPECT_EQ(2U, run(log, [](const OrderedWork&) {}).processed);
  EXPECT_THAT(log.done_of("a"), ElementsAre(6, 7));
}

TEST_F(OrderedTest, EndsWithWhatCannotBeDoneLeft) {
  face.try_acquire({.domain = "a", .offset = Offset{5}});
  MemoryLog log(items_of({{"a", 7}, {"b", 1}}), false);
  const OrchestratorTally done = run(log, [](const OrderedWork&) {});
  EXPECT_EQ(1U, done.processed);
  EXPECT_EQ(1U, done.left);
}

TEST_F(OrderedTest, ARetryGoesOnAfterARestartWithItsCountAndItsPause) {
  const auto held = std::get<Acquired>(face.try_acquire({.domain = "a", .offset = Offset{1}}));
  face.fail({.domain = "a", .token = held.token});
  world.advance(Millis{400});
  MemoryLog log(items_of({{"a", 1}}));
  std::atomic<std::uint32_t> attempt{0};
  start(log, [&](const OrderedWork& work) { attempt = work.attempt; }, options());
  pass(Millis{100});
  EXPECT_EQ(0U, attempt);
  // However long the thread took to begin: 1000 ms after the first acquisition it is due.
  while (attempt == 0) pass(Millis{100});
  thread.join();
  EXPECT_EQ(2U, attempt);
  EXPECT_THAT(log.done_of("a"), ElementsAre(1));
}

// --- lease times ---

TEST_F(OrderedTest, ALeaseIsRenewedWhileItIsWorkedOn) {
  MemoryLog log(items_of({{"a", 1}}));
  std::atomic<bool> is_open{false};
  std::atomic<bool> entered{false};
  OrchestratorOptions with = options();
  with.lease = Millis{3000};
  start(
      log,
      [&](const OrderedWork& work) {
        entered = true;
        await([&] { return is_open.load(); });
        EXPECT_FALSE(work.lost.stop_requested());
      },
      with);
  await([&] { return entered.load(); });
  for (int i = 0; i < 10; ++i) pass(Millis{1000});
  is_open = true;
  thread.join();
  EXPECT_EQ(1U, tally.processed);
  EXPECT_EQ(0U, tally.lost);
}

TEST_F(OrderedTest, WhatWasLostIsDoneAgain) {
  MemoryLog log(items_of({{"a", 1}, {"a", 2}}));
  OrchestratorOptions with = options();
  with.lease = Millis{3000};
  std::atomic<int> runs{0};
  Fence first{0};
  start(
      log,
      [&](const OrderedWork& work) {
        if (work.offset != Offset{1}) return;
        if (++runs == 1) {
          first = work.fence;
          await([&] { return work.lost.stop_requested(); });
        } else {
          EXPECT_GT(work.fence, first);
        }
      },
      with);
  await([&] { return runs == 1; });
  // The whole lease at once: no renewal has a chance.
  world.advance(Millis{3001});
  world.pass(Millis{0});
  orchestra->settle();
  thread.join();
  EXPECT_EQ(2, runs);
  EXPECT_EQ(1U, tally.lost);
  EXPECT_THAT(log.done_of("a"), ElementsAre(1, 2));
}

TEST_F(OrderedTest, StopsWhenToldAndLeavesTheRest) {
  MemoryLog log(items_of({{"a", 1}, {"a", 2}, {"a", 3}}));
  const OrchestratorTally done = run(log, [&](const OrderedWork&) { stop.request_stop(); });
  EXPECT_EQ(1U, done.processed);
  stop = std::stop_source();
  MemoryLog again(items_of({{"a", 1}, {"a", 2}, {"a", 3}}));
  EXPECT_EQ(2U, run(again, [](const OrderedWork&) {}).processed);
  // What was fetched, done and then read is told of twice.
  const auto done_of_a = again.done_of("a");
  EXPECT_THAT(std::set(done_of_a.begin(), done_of_a.end()), ElementsAre(1, 2, 3));
}

TEST_F(OrderedTest, ABufferSmallerThanABacklogIsEnough) {
  std::vector<OrderedItem> items;
  for (std::int64_t offset = 1; offset <= 100; ++offset) items.push_back({"a", Offset{offset}, "p"});
  MemoryLog log(items);
  OrchestratorOptions with = options();
  with.buffer = 2;
  Orchestra small(face, with, *world.clock);
  EXPECT_EQ(100U, small.run(log, [](const OrderedWork&) {}, {}).processed);
}

TEST_F(OrderedTest, RefusesOptionsThatCannotBe) {
  EXPECT_THROW(Orchestrator(face, {.threads = 0}), std::invalid_argument);
  EXPECT_THROW(Orchestrator(face, {.lease = Millis{0}}), std::invalid_argument);
}

}  // namespace
}  // namespace tenure
