// Many threads on few locks, each guarding a plain counter: the lock alone makes the counters exact, and orders what is
// done under it for the next holder.
#include <array>
#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/authority.h>
#include "stress.h"

namespace tenure {
namespace {

constexpr std::uint64_t kThreads = 64;
constexpr std::uint64_t kLocks = 8;
constexpr std::uint64_t kRounds = kUnderTsan ? 400 : 1500;  // of each thread

// Guarded by its lock and by nothing else: plain on purpose.
struct Guarded {
  std::uint64_t counter = 0;
  Fence newest;
};

TEST(LockStressTest, PlainCountersAreExact) {
  const auto authority = Authority::in_memory();
  Locks& locks = authority->locks();
  std::array<Guarded, kLocks> guarded;
  std::atomic<int> faults = 0;
  on_threads(kThreads, [&](std::uint64_t number) {
    Dice dice(number);
    const std::string owner = "thread-" + std::to_string(number);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      // Every thread visits every lock equally often, in an order of its own.
      const std::uint64_t which = (round + number) % kLocks;
      const std::string identifier = std::to_string(which);
      const LockName lock{.domain = "counters", .identifier = identifier};
      const auto grant = locks.acquire({.lock = lock, .owner = owner}, kLong);
      if (!grant) {
        ++faults;
        continue;
      }
      Guarded& mine = guarded[which];
      if (*grant->fence <= mine.newest) ++faults;
      mine.newest = *grant->fence;
      const std::uint64_t before = mine.counter;
      work_a_little(dice);
      mine.counter = before + 1;
      if (dice.one_in(10)) {  // once more, by the same owner
        if (locks.acquire({.lock = lock, .owner = owner})->holds != 2) ++faults;
        if (locks.release({.lock = lock, .token = grant->token}) != 1) ++faults;
      }
      if (locks.release({.lock = lock, .token = grant->token}) != 0) ++faults;
    }
  });
  EXPECT_EQ(0, faults);
  std::uint64_t sum = 0;
  for (const Guarded& one : guarded) sum += one.counter;
  EXPECT_EQ(kThreads * kRounds, sum);
  EXPECT_TRUE(locks.list({}).locks.empty());
}

// Waiters that give up while the lock changes hands: none is granted what it no longer wants, and no lock is lost.
TEST(LockStressTest, GivingUpLosesNoLock) {
  const auto authority = Authority::in_memory();
  Locks& locks = authority->locks();
  const LockName lock{.domain = "d", .identifier = "1"};
  std::uint64_t counter = 0;  // guarded by the lock alone
  std::atomic<std::uint64_t> granted = 0;
  on_threads(16, [&](std::uint64_t number) {
    Dice dice(number);
    const std::string owner = std::to_string(number);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      std::stop_source stop;
      std::optional<std::jthread> stopper;
      if (dice.one_in(8)) stopper.emplace([&stop] { stop.request_stop(); });
      const Millis wait = dice.one_in(2) ? kLong : Millis{1};
      const auto grant = locks.acquire({.lock = lock, .owner = owner}, wait, stop.get_token());
      if (!grant) continue;
      ++counter;
      ++granted;
      locks.release({.lock = lock, .token = grant->token});
    }
  });
  EXPECT_FALSE(locks.is_locked(lock));
  EXPECT_EQ(granted, counter);
  EXPECT_GT(counter, 0U);
}

}  // namespace
}  // namespace tenure
