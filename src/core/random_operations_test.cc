// Random operations over all three books, legal and not: after every record the state, the state replayed from its
// bytes and (often) the digest made anew agree.
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "core/testing.h"

namespace tenure {
namespace {

constexpr std::uint64_t kManyOperations = 22'000;  // of each of the five seeds
constexpr std::uint64_t kFewOperations = 4'000;

class Chaos {
 public:
  Chaos(std::uint64_t seed, std::uint64_t prove_every) : ledger(seed, prove_every), dice_(seed * 77 + 5) {
    ledger.settings.retention_time = 5 * kMinute;
    ledger.settings.retention_count = 60;
    ledger.settings.retention_bytes = 20'000;
    ledger.settings.backlog_max = 12;
    ledger.settings.intervals_max = 8;
    ledger.settings.domains_max = 12;
    ledger.settings.holds_max = 5;
    ledger.settings.state_bytes_max = 120'000;
  }

  void run(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations && !testing::Test::HasFatalFailure(); ++i) {
      if (dice_.one_in(3)) pass_time();
      operate();
      note();
    }
  }

  Ledger ledger;
  std::set<std::string> seen;  // names of the records written

 private:
  void note() { seen.insert(ledger.last().begin(), ledger.last().end()); }

  void pass_time() {
    ledger.now =
        ledger.now + Millis{static_cast<std::int64_t>(dice_.one_in(50) ? dice_.roll(200'000) : dice_.roll(900))};
    // Not by settle alone, so that the names of what time writes are noted too.
    while (const Task* task = ledger.tasks().first_expired(ledger.now)) write(TaskBook::decide_expiry(*task));
    while (const Domain* domain = ledger.work().first_expired(ledger.now)) write(WorkBook::decide_expiry(*domain));
    while (const Lock* lock = ledger.locks().first_expired(ledger.now)) write(LockBook::decide_expiry(*lock));
    ledger.settle();
    note();
  }
  void write(const Records& records) {
    ledger.write(records);
    note();
    if (testing::Test::HasFatalFailure()) throw std::runtime_error("a record of time was refused");
  }

  std::string name(const char* kind, std::uint64_t of) { return fmt::format("{}{}", kind, dice_.roll(of)); }
  std::optional<std::string_view> maybe(std::string_view text, std::uint64_t sides = 3) {
    return dice_.one_in(sides) ? std::optional(text) : std::nullopt;
  }
  Millis time() { return Millis{static_cast<std::int64_t>(1 + dice_.roll(5'000))}; }

  // A token that was given to somebody, most often not long ago, or one that never was.
  std::string token() {
    if (tokens_.empty() || dice_.one_in(15)) return dice_.one_in(2) ? "junk" : Token{ledger.state().fence(), 1}.text();
    const std::size_t back =
        dice_.one_in(4) ? dice_.roll(tokens_.size()) : dice_.roll(std::min<std::size_t>(8, tokens_.size()));
    return tokens_[tokens_.size() - 1 - back];
  }
  void keep(const std::string& given) {
    if (tokens_.size() > 400) tokens_.erase(tokens_.begin(), tokens_.begin() + 200);
    tokens_.push_back(given);
  }

  void operate() {
    switch (dice_.roll(20)) {
      case 0:
      case 1:
      case 2:
        return submit();
      case 3:
      case 4:
      case 5:
        return lease();
      case 6:
      case 7:
        return report_task();
      case 8:
        return kill_or_resubmit();
      case 9:
        return pause_or_system();
      case 10:
      case 11:
      case 12:
        return acquire_work();
      case 13:
      case 14:
        return report_work();
      case 15:
        return trim();
      case 16:
      case 17:
        return acquire_lock();
      default:
        return use_lock();
    }
  }

  // --- tasks ---

  void submit() {
    const std::string id = name("t", 300);
    const std::string request_id = name("r", 60);
    const std::string key = name("k", 4);
    const std::string queue = name("q", 4);
    const std::string payload(dice_.roll(40), 'p');
    Submission request{.queue = queue, .payload = payload, .id = maybe(id, 2), .request_id = maybe(request_id)};
    request.window = Millis{static_cast<std::int64_t>(1 + dice_.roll(20'000))};
    request.retries = static_cast<std::int64_t>(dice_.roll(4));
    request.backoff_initial = Millis{static_cast<std::int64_t>(dice_.roll(500))};
    request.backoff_max = request.backoff_initial + Millis{static_cast<std::int64_t>(dice_.roll(1000))};
    if (dice_.one_in(3)) request.attempts = static_cast<std::int64_t>(1 + dice_.roll(3));
    if (dice_.one_in(4)) request.delay = time();
    request.priority = static_cast<std::int64_t>(dice_.roll(10));
    request.key = maybe(key);
    if (const auto made = ledger.ask(request)) remember_task(made->task_id);
  }
  void remember_task(const std::string& id) {
    if (task_ids_.size() > 200) task_ids_.erase(task_ids_.begin(), task_ids_.begin() + 100);
    task_ids_.push_back(id);
  }

  void lease() {
    const std::string one = name("q", 4);
    const std::string two = name("q", 5);
    const std::string worker = name("w", 3);
    const std::string request_id = name("r", 60);
    const auto leases = ledger.ask(LeaseRequest{.worker = worker,
                                                .queues = {one, two},
                                                .count = static_cast<std::int64_t>(1 + dice_.roll(3)),
                                                .lease = time(),
                                                .request_id = maybe(request_id)});
    if (!leases) return;
    for (const TaskLease& lease : *leases) {
      leases_.emplace_back(lease.task_id, lease.lease_id);
      if (leases_.size() > 100) leases_.erase(leases_.begin(), leases_.begin() + 50);
    }
  }

  void report_task() {
    if (leases_.empty()) return;
    const std::size_t back =
        dice_.one_in(3) ? dice_.roll(leases_.size()) : dice_.roll(std::min<std::size_t>(6, leases_.size()));
    auto [task_id, lease_id] = leases_[leases_.size() - 1 - back];
    if (dice_.one_in(12)) lease_id = token();
    if (dice_.one_in(20)) task_id = dice_.pick(task_ids_);
    switch (dice_.roll(4)) {
      case 0:
        ledger.ask(TaskExtension{task_id, lease_id, dice_.one_in(2) ? std::optional(time()) : std::nullopt});
        break;
      case 1:
        ledger.ask(FailureReport{task_id, lease_id, "why", dice_.one_in(6)});
        break;
      default:
        ledger.ask(Completion{task_id, lease_id, maybe("result")});
        break;
    }
  }

  void kill_or_resubmit() {
    if (task_ids_.empty()) return;
    const std::string id = dice_.pick(task_ids_);
    const std::string request_id = name("r", 60);
    if (dice_.one_in(2)) {
      ledger.ask(TaskKill{id, "operator"});
    } else if (const auto made = ledger.ask(Resubmission{id, maybe(request_id)})) {
      remember_task(made->task_id);
    }
  }

  void pause_or_system() {
    const std::string queue = name("q", 6);
    if (dice_.one_in(10)) {
      ledger.write({record::FenceRaised{Fence{ledger.state().fence().value + 1 + dice_.roll(100)}}});
    } else if (dice_.one_in(5)) {
      ledger.write({record::DigestTaken{ledger.state().digest()}});
    } else {
      ledger.ask(QueuePause{queue, dice_.one_in(3)});
    }
  }

  // --- work ---

  void acquire_work() {
    const std::string domain = name("d", 14);
    WorkRequest request{.domain = domain, .offset = Offset{static_cast<std::int64_t>(dice_.roll(40))}};
    // Ask for the head most of the time, as an orchestrator does.
    const auto status = ledger.work().inspect(domain);
    if (status && !status->in_flight && status->backlog_head && !dice_.one_in(5))
      request.offset = *status->backlog_head;
    if (dice_.one_in(2)) request.lease = time();
    const auto answer = ledger.ask(request);
    if (!answer || !std::holds_alternative<Acquired>(*answer)) return;
    keep(std::get<Acquired>(*answer).token);
    holds_.emplace_back(domain, std::get<Acquired>(*answer).token);
    if (holds_.size() > 60) holds_.erase(holds_.begin(), holds_.begin() + 30);
  }

  void report_work() {
    if (holds_.empty()) return;
    auto [domain, held] = holds_[holds_.size() - 1 - dice_.roll(std::min<std::size_t>(10, holds_.size()))];
    const std::string request_id = name("r", 40);
    if (dice_.one_in(10)) held = token();
    switch (dice_.roll(4)) {
      case 0:
        ledger.ask(WorkExtension{domain, held, time()});
        break;
      case 1:
        ledger.ask(WorkFailure{domain, held, maybe("why"), maybe(request_id)});
        break;
      default:
        ledger.ask(WorkSuccess{domain, held, maybe(request_id)});
        break;
    }
  }

  void trim() {
    const std::string domain = name("d", 14);
    ledger.ask(WorkTrim{domain, Offset{static_cast<std::int64_t>(dice_.roll(30))}});
    // A domain whose offsets are all used up would do nothing more: report failures on the rest of them.
    const std::string other = name("d", 14);
    if (const Domain* found = ledger.work().find(other); found != nullptr && found->hold) {
      const std::string held = found->hold->token.text();
      ledger.ask(WorkFailure{other, held});
    }
  }

  // --- locks ---

  void acquire_lock() {
    const std::string identifier = name("i", 12);
    const std::string owner = name("o", 3);
    const std::string session = name("s", 3);
    const std::string request_id = name("r", 40);
    LockAcquire request{};
    request.lock = {"d", identifier};
    request.owner = owner;
    request.lease = time();
    request.request_id = maybe(request_id);
    request.session = maybe(session, 2);
    request.grace = Millis{static_cast<std::int64_t>(dice_.roll(1000))};
    request.user = maybe("user", 10);
    const auto grant = ledger.ask(request);
    if (!grant || !*grant) return;
    keep((*grant)->token);
    locks_.emplace_back(identifier, (*grant)->token);
    if (locks_.size() > 60) locks_.erase(locks_.begin(), locks_.begin() + 30);
  }

  void use_lock() {
    if (locks_.empty()) return;
    auto [identifier, held] = locks_[locks_.size() - 1 - dice_.roll(std::min<std::size_t>(10, locks_.size()))];
    const std::string request_id = name("r", 40);
    const std::string session = name("s", 3);
    if (dice_.one_in(10)) held = token();
    switch (dice_.roll(8)) {
      case 0:
        ledger.ask(
            LockForce{{"d", identifier}, dice_.one_in(2) ? std::optional(ledger.state().fence()) : std::nullopt});
        break;
      case 1:
      case 2:
        ledger.ask(LockExtension{{"d", identifier}, held, dice_.one_in(2) ? std::optional(time()) : std::nullopt});
        break;
      case 3:
        while (const Lock* lock = ledger.locks().first_of(session)) write(LockBook::decide_disconnection(*lock));
        break;
      default: {
        LockGiveBack request{};
        request.lock = {"d", identifier};
        request.token = held;
        request.request_id = maybe(request_id);
        request.cause = dice_.one_in(8) ? ReleaseCause::kUndelivered : ReleaseCause::kByHolder;
        ledger.ask(request);
        break;
      }
    }
  }

  Dice dice_;
  std::vector<std::string> tokens_;
  std::vector<std::string> task_ids_;
  std::vector<std::pair<std::string, std::string>> leases_;
  std::vector<std::pair<std::string, std::string>> holds_;
  std::vector<std::pair<std::string, std::string>> locks_;
};

std::set<std::string> every_name() { return {record_names().begin(), record_names().end()}; }

class RandomOperationsTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomOperationsTest, TheReplayedStateIsTheLiveOneAfterEveryRecord) {
  Chaos chaos(GetParam(), 50);
  chaos.run(kManyOperations);
  EXPECT_EQ(every_name(), chaos.seen) << "every record must have been written";
  EXPECT_GT(chaos.ledger.written(), kManyOperations / 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperationsTest, testing::Values(1, 2, 3, 4, 5));

TEST(RandomOperationsTest, TheDigestMadeAnewIsTheSameAfterEveryRecord) {
  Chaos chaos(42, 1);
  chaos.run(kFewOperations);
  EXPECT_GT(chaos.ledger.written(), kFewOperations / 3);
}

// What is told of all queues together is what they tell one by one, whatever has happened.
TEST(RandomOperationsTest, TheTotalsAreThoseOfAllQueues) {
  Chaos chaos(44, 50);
  for (int i = 0; i < 20; ++i) {
    chaos.run(kFewOperations / 20);
    const TaskBook& tasks = chaos.ledger.tasks();
    QueuePage::Entry sum;
    const auto page = tasks.queues({.count = 1000}).value();
    for (const auto& queue : page.queues) {
      sum.waiting += queue.waiting;
      sum.delayed += queue.delayed;
      sum.leased += queue.leased;
      sum.completed += queue.completed;
      sum.failed += queue.failed;
      sum.dead += queue.dead;
    }
    const QueuePage::Entry& totals = tasks.totals();
    EXPECT_EQ(sum.waiting, totals.waiting);
    EXPECT_EQ(sum.delayed, totals.delayed);
    EXPECT_EQ(sum.leased, totals.leased);
    EXPECT_EQ(sum.completed, totals.completed);
    EXPECT_EQ(sum.failed, totals.failed);
    EXPECT_EQ(sum.dead, totals.dead);
    EXPECT_EQ(page.queues.size(), tasks.queue_count());
  }
  EXPECT_GT(chaos.ledger.tasks().totals().completed, 0U);
}

// When everything has ended and is forgotten, tasks and locks take no memory: every byte counted in was counted out.
TEST(RandomOperationsTest, WhatIsForgottenTakesNoMemory) {
  Chaos chaos(43, 50);
  chaos.run(kFewOperations);
  Ledger& ledger = chaos.ledger;
  EXPECT_GT(ledger.tasks().bytes(), 0U);
  for (int i = 0; i < 6; ++i) {
    const auto queues = ledger.tasks().queues({.count = 1000}).value();
    for (const auto& queue : queues.queues) {
      ledger.ask(QueuePause{queue.queue, false});
      const auto page = ledger.tasks().list({.queue = queue.queue, .paging = {.count = 1000}}).value();
      for (const auto& task : page.tasks) {
        if (!is_terminal(task.state)) {
          EXPECT_TRUE(ledger.ask(TaskKill{task.task_id, "end"}).has_value());
        }
      }
    }
  }
  ledger.advance(std::chrono::hours(1));
  ledger.advance(std::chrono::hours(1));
  EXPECT_EQ(0U, ledger.tasks().tasks());
  EXPECT_EQ(0U, ledger.tasks().bytes());
  EXPECT_EQ(0U, ledger.tasks().queues({.count = 1}).value().queues.size());
  EXPECT_EQ(0U, ledger.locks().bytes());
  EXPECT_EQ(0U, ledger.work().archive().bytes());
}

}  // namespace
}  // namespace tenure
