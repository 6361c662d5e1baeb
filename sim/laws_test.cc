// Each law can be broken, and then says so.
#include "laws.h"

#include <concepts>
#include <functional>

#include <gtest/gtest.h>

#include "fleet.h"
#include "world.h"

namespace tenure::sim {
namespace {

constexpr Token kFirst{Fence{1}, 7};
constexpr Token kSecond{Fence{2}, 8};
constexpr Instant kNow{1000};
constexpr Instant kExpiry{2000};
constexpr Instant kLater{2001};

// What breaks; empty: nothing.
std::string breach_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Breach& breach) {
    return breach.what();
  }
  return "";
}

// Laws, and the shortest way to show them records.
struct Court {
  Laws laws;
  State state;
  Settings settings;

  void see(const Record& record, Instant stamp = kNow) { laws.see(record, stamp, state, settings); }
  std::string breach(const Record& record, Instant stamp = kNow) {
    return breach_of([&] { see(record, stamp); });
  }
  template <std::convertible_to<Request> Asked, class Said>
  std::string breach(const Asked& request, const Said& reply) {
    return breach_of([&] { laws.judge(request, Result<Said>(reply), true); });
  }

  void create(std::string_view id, std::optional<std::string_view> key = {}, std::uint32_t retries = 3) {
    see(record::TaskCreated{
        .task_id = id, .payload = "", .retry_policy = {.retries = retries}, .queue = "q", .key = key});
  }
};

record::LeaseGranted granted(std::string_view id, Token token, std::uint32_t attempt = 1) {
  return {.task_id = id, .lease_id = token, .worker_id = "w", .attempt = attempt, .lease_expiry = kExpiry};
}

record::WorkAcquired acquired(std::int64_t offset, Token token) {
  return {.domain = "d", .offset = Offset{offset}, .token = token, .acquired_at = kNow, .lease_expiry = kExpiry};
}

record::LockGranted locked(Token token) {
  return {.space = "s", .domain = "d", .identifier = "i", .owner = "o", .token = token, .lease_expiry = kExpiry};
}

TEST(LawsTest, ATaskIsLeasedToOneWorkerAtATime) {
  Court court;
  court.create("T");
  court.see(granted("T", kFirst));
  EXPECT_EQ("task T: leased while it is LEASED", court.breach(granted("T", kSecond, 2)));
}

TEST(LawsTest, FencesRise) {
  Court court;
  court.create("T");
  court.see(granted("T", kSecond));
  EXPECT_EQ("fence 1 after 2", court.breach(locked(kFirst)));
}

TEST(LawsTest, NoLeaseExpiresEarly) {
  Court court;
  court.create("T");
  court.see(granted("T", kFirst));
  EXPECT_EQ("task T: expired at 2000, held until 2000", court.breach(record::LeaseExpired{"T", kFirst}, kExpiry));
  EXPECT_EQ("", court.breach(record::LeaseExpired{"T", kFirst}, kLater));
}

TEST(LawsTest, NoLeaseIsUsedLate) {
  Court court;
  court.create("T");
  court.see(granted("T", kFirst));
  EXPECT_NE("", court.breach(record::TaskCompleted{"T", kFirst}, kLater));
  EXPECT_NE("", court.breach(record::TaskCompleted{"T", kSecond}));
  EXPECT_EQ("", court.breach(record::TaskCompleted{"T", kFirst}));
}

TEST(LawsTest, ATaskEndsOnce) {
  Court court;
  court.create("T");
  court.see(record::TaskDead{"T", "not wanted"});
  EXPECT_EQ("task T: ended twice, DEAD and DEAD", court.breach(record::TaskDead{"T", "not wanted"}));
}

TEST(LawsTest, TasksOfOneKeyRunInOrder) {
  Court court;
  court.create("T1", "k");
  court.create("T2", "k");
  EXPECT_EQ("task T2: leased before an older one of its key k", court.breach(granted("T2", kFirst)));
  EXPECT_EQ("", court.breach(granted("T1", kSecond)));
}

TEST(LawsTest, TasksOfOneQueueRunInOrder) {
  Court court;
  court.create("T1");
  court.create("T2");
  EXPECT_EQ("task T2: leased before the task of its queue that comes first, number 1",
            court.breach(granted("T2", kFirst)));
}

TEST(LawsTest, OnlyTheHolderCompletes) {
  Court court;
  court.create("T");
  court.see(granted("T", kFirst));
  court.see(record::TaskCompleted{"T", kFirst});
  const std::string first = kFirst.text();
  const std::string second = kSecond.text();
  EXPECT_EQ("", court.breach(Completion{.task_id = "T", .lease_id = first}, Report::kCommitted));
  EXPECT_NE("", court.breach(Completion{.task_id = "T", .lease_id = second}, Report::kCommitted));
  EXPECT_NE("", court.breach(Completion{.task_id = "T", .lease_id = first}, Report::kCancelled));
}

TEST(LawsTest, ExpiryUsesUpNoRetry) {
  Court court;
  court.create("T", {}, 1);
  court.see(granted("T", kFirst));
  court.see(record::LeaseExpired{"T", kFirst}, kLater);
  auto second = granted("T", kSecond, 2);
  second.lease_expiry = Instant{3000};
  court.see(second, kLater);
  court.see(record::TaskFailed{"T", kSecond, "no", TaskState::kFailed}, kLater);
  const std::string token = kSecond.text();
  EXPECT_EQ("task T: FAILED after 1 failures, 1 retries allowed",
            court.breach(FailureReport{.task_id = "T", .lease_id = token, .reason = "no"},
                         std::optional(TaskState::kFailed)));
}

TEST(LawsTest, AnAcknowledgedTaskIsThere) {
  Court court;
  court.laws.acknowledge(Result<Submitted>(Submitted{.task_id = "T"}));
  EXPECT_EQ("task T: acknowledged, and lost", breach_of([&] { court.laws.finish(); }));
  court.create("T");
  EXPECT_EQ("", breach_of([&] { court.laws.finish(); }));
}

TEST(LawsTest, NothingIsForgottenBeforeItsTime) {
  Court court;
  court.create("T");
  EXPECT_EQ("task 'T': forgotten before its time", court.breach(record::Forgotten{Remembered::kTask, "T"}));
}

TEST(LawsTest, ADomainHasOneInFlightAndKeepsItsOrder) {
  Court court;
  court.see(acquired(1, kFirst));
  EXPECT_EQ("domain d: acquired while offset 1 is in flight", court.breach(acquired(2, kSecond)));
  court.see(record::WorkEnqueued{"d", Offset{2}});
  court.see(record::WorkSucceeded{"d", kFirst, Offset{1}});
  EXPECT_EQ("domain d: offset 3 acquired before 2, the head of its backlog",
            court.breach(acquired(3, Token{Fence{3}, 1})));
  EXPECT_EQ("domain d: offset 1 acquired, and it is done", court.breach(acquired(1, Token{Fence{4}, 1})));
}

TEST(LawsTest, ALockHasOneHolder) {
  Court court;
  court.see(locked(kFirst));
  EXPECT_EQ("lock d::i: granted while 1-0000000000000007 holds it", court.breach(locked(kSecond)));
  EXPECT_NE("", court.breach(record::LockExpired{"s", "d", "i", kFirst}, kExpiry));
  EXPECT_NE("", court.breach(record::LockReleased{"s", "d", "i", kSecond, 0}));
  EXPECT_EQ("", court.breach(record::LockReleased{"s", "d", "i", kFirst, 0}));
}

TEST(LawsTest, ASessionThatIsJoinedDoesNotEnd) {
  Court court;
  auto bound = locked(kFirst);
  bound.session = "s1";
  court.laws.sessions().join("s1", kNow, Millis{100});
  court.see(bound);
  const record::LockReleased released{"s", "d", "i", kFirst, 0, ReleaseCause::kDisconnected};
  EXPECT_NE("", court.breach(released, Instant{1500}));
  court.laws.sessions().leave("s1", Instant{1500});
  EXPECT_NE("", court.breach(released, Instant{1599}));
  EXPECT_EQ("", court.breach(released, Instant{1600}));
}

TEST(SimulationTest, ASeedHoldsAndTellsTheSameStoryTwice) {
  std::string first;
  std::string second;
  const Outcome outcome = run_seed(3, [&](const std::string& line) { first += line; });
  run_seed(3, [&](const std::string& line) { second += line; });
  EXPECT_EQ("", outcome.breach);
  EXPECT_GE(outcome.tally.events(), World::kEvents);
  EXPECT_EQ(first, second);
}

TEST(SimulationTest, SeedsAreANumberOrARange) {
  EXPECT_EQ(1U, parse_seeds("7")->count());
  EXPECT_EQ(5U, parse_seeds("3..7")->count());
  for (const char* wrong : {"", "x", "3..", "..3", "7..3", "3..x", "-1"}) EXPECT_FALSE(parse_seeds(wrong)) << wrong;
}

TEST(TallyTest, KnowsWhatNeverOccurred) {
  Tally tally;
  const std::size_t missing = tally.missing(Where::kServer).size();
  tally.count(Fault::kDiskFull);
  tally.count("submit q", Reply(Result<Submitted>(Submitted{.task_id = "T"})), "CREATED T");
  EXPECT_EQ(missing - 2, tally.missing(Where::kServer).size());
  Tally sum;
  for (const std::string& line : tally.lines()) sum.add(line);
  EXPECT_EQ(tally.lines(), sum.lines());
}

}  // namespace
}  // namespace tenure::sim
