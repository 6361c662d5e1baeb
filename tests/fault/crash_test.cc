// The power fails at every operation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lives.h"

namespace tenure {
namespace {

TEST(FaultTest, CrashEveryIo) {
  const std::uint64_t seeds = in_soak() ? 10 : 2;
  const std::uint64_t variants = in_soak() ? 10 : 1;  // of how far the last operation got
  const std::uint64_t operations = operations_of_a_life();
  std::uint64_t recoveries = 0;
  std::uint64_t torn = 0;
  std::uint64_t longer = 0;  // what was on its way, and not yet acknowledged, was there
  for (std::uint64_t i = 0; i < operations * variants; ++i) {
    const std::uint64_t n = i / variants + 1;
    FaultyFiles files(i);
    files.fail_at(n, FaultyFiles::Fault::kCrash);
    const Promises promises = live(files).promises;
    ASSERT_GE(files.operations(), n);
    for_each_damage(seeds, [&](FaultyFiles::Damage damage, std::uint64_t seed) {
      SCOPED_TRACE(fmt::format("crash at operation {}, damage {}, seed {}", n, static_cast<int>(damage), seed));
      const auto disk = files.copy();
      disk->crash(damage, seed * 100'000 + i);
      const Recovered recovered = recover_and_go_on(*disk, promises);
      ++recoveries;
      torn += recovered.has_cut ? 1 : 0;
      longer += recovered.frames > promises.acknowledged() ? 1 : 0;
    });
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(operations, 300U);
  EXPECT_GT(torn, 0U);
  EXPECT_GT(longer, 0U);
  fmt::print(
      "crash_every_io: {} operations x {} variants x {} damages x {} seeds: {} recoveries, {} torn tails cut, {} kept "
      "more than was acknowledged\n",
      operations, variants, std::size(FaultyFiles::kDamages), seeds, recoveries, torn, longer);
}

// The process is killed, so that files are as they were written, synced or not. The next life builds on them, and then
// the power fails: it must have made sure of what it found.
TEST(FaultTest, KillEveryIoThenCrash) {
  const std::uint64_t operations = operations_of_a_life();
  const std::uint64_t variants = in_soak() ? 20 : 2;  // of how far the last operation got
  std::uint64_t recoveries = 0;
  for (std::uint64_t i = 0; i < operations * variants; ++i) {
    const std::uint64_t n = i / variants + 1;
    FaultyFiles files(i);
    files.fail_at(n, FaultyFiles::Fault::kCrash);
    const Promises promises = live(files).promises;
    files.kill();
    const Promises more = live_on(files, promises);
    for_each_damage(1, [&](FaultyFiles::Damage damage, std::uint64_t seed) {
      // When time is short: the loss of all that was not synced, and another kind in turn.
      const bool is_its_turn = static_cast<std::uint64_t>(damage) == n % std::size(FaultyFiles::kDamages);
      if (!in_soak() && damage != FaultyFiles::Damage::kLoseAll && !is_its_turn) return;
      SCOPED_TRACE(fmt::format("killed at operation {}, then damage {}, seed {}", n, static_cast<int>(damage), seed));
      const auto disk = files.copy();
      disk->crash(damage, seed * 100'000 + i);
      recover_and_go_on(*disk, more);
      ++recoveries;
    });
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(recoveries, operations);
  fmt::print("kill_every_io: {} operations x {} variants, a life after each, then a crash: {} recoveries\n", operations,
             variants, recoveries);
}

}  // namespace
}  // namespace tenure
