// The power fails at every operation.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "lives.h"

namespace tenure {
namespace {

TEST(FaultTest, CrashEveryIo) {
  const std::uint64_t seeds = in_soak() ? 20 : 2;
  const std::uint64_t operations = operations_of_a_life();
  std::uint64_t recoveries = 0;
  std::uint64_t torn = 0;
  std::uint64_t longer = 0;  // what was on its way, and not yet acknowledged, was there
  for (std::uint64_t n = 1; n <= operations; ++n) {
    FaultyFiles files(n);
    files.fail_at(n, FaultyFiles::Fault::kCrash);
    const Promises promises = live(files);
    ASSERT_GE(files.operations(), n);
    for_each_damage(seeds, [&](FaultyFiles::Damage damage, std::uint64_t seed) {
      SCOPED_TRACE(fmt::format("crash at operation {}, damage {}, seed {}", n, static_cast<int>(damage), seed));
      const auto disk = files.copy();
      disk->crash(damage, seed * 1000 + n);
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
      "crash_every_io: {} operations x {} damages x {} seeds: {} recoveries, {} torn tails cut, {} kept more than was "
      "acknowledged\n",
      operations, std::size(FaultyFiles::kDamages), seeds, recoveries, torn, longer);
}

}  // namespace
}  // namespace tenure
