// The power fails again while what the first failure tore is being cleared away.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "image.h"
#include "lives.h"

namespace tenure {
namespace {

using Damage = FaultyFiles::Damage;
using Fault = FaultyFiles::Fault;

constexpr std::uint64_t kAnotherLife = 4;

// Calls do_it(const FaultyFiles&, const Promises&) with every torn tail that a crash of the script leaves.
template <class Do>
void for_each_torn_tail(const Do& do_it) {
  const std::uint64_t operations = operations_of_a_life();
  for (std::uint64_t n = 1; n <= operations; ++n) {
    FaultyFiles files(n);
    files.fail_at(n, Fault::kCrash);
    const Promises promises = live(files).promises;
    for (const Damage damage : {Damage::kTear, Damage::kReorder, Damage::kGarbage}) {
      const auto torn = files.copy();
      torn->crash(damage, n);
      const auto tried = torn->copy();
      const Process process(*tried, kStart, kAnotherLife);
      ASSERT_TRUE(process.is_up()) << process.refusal();
      if (process.has_cut()) do_it(*torn, promises);
      ASSERT_FALSE(::testing::Test::HasFailure()) << "crash at operation " << n;
    }
  }
}

TEST(FaultTest, SecondFault) {
  const std::uint64_t every = in_soak() ? 1 : 20;  // torn tail
  std::uint64_t tails = 0;
  std::uint64_t operations = 0;
  std::uint64_t recoveries = 0;
  const auto interrupt = [&](const FaultyFiles& torn, const Promises& promises, std::uint64_t n) {
    const auto disk = torn.copy();
    disk->fail_at(n, Fault::kCrash);
    {
      const Process interrupted(*disk, kStart, kAnotherLife);
    }
    if (disk->operations() < n) return false;
    for_each_damage(in_soak() ? 5 : 1, [&](Damage damage, std::uint64_t seed) {
      SCOPED_TRACE(fmt::format("operation {} of recovery, damage {}, seed {}", n, static_cast<int>(damage), seed));
      const auto again = disk->copy();
      again->crash(damage, seed * 1000 + n);
      recover_and_go_on(*again, promises);
      ++recoveries;
    });
    ++operations;
    return true;
  };
  for_each_torn_tail([&](const FaultyFiles& torn, const Promises& promises) {
    if (++tails % every != 0) return;
    for (std::uint64_t n = 1; interrupt(torn, promises, n); ++n) {
    }
  });
  EXPECT_GT(tails, 100U);
  EXPECT_GT(operations, 100U);
  fmt::print("second_fault: {} torn tails, every {}th, {} operations of their recovery: {} second recoveries\n", tails,
             every, operations, recoveries);
}

// Lives on behind a tail that was cut. Answers the bytes that were.
std::string live_behind_cut(FaultyFiles& files) {
  Process process(files, kStart, kAnotherLife);
  Script script(process, kAnotherLife);
  script.run(2);
  return files.contents(process.report().torn_copy);
}

TEST(FaultTest, WhatWasCutIsNeverReplayed) {
  std::uint64_t tails = 0;
  for_each_torn_tail([&](const FaultyFiles& torn, const Promises& /*promises*/) {
    const auto disk = torn.copy();
    const std::string cut = live_behind_cut(*disk);
    const SegmentImage tail = image_of(*disk).segments.back();
    if (tail.end() + cut.size() > tail.bytes.size()) return;
    ++tails;
    const auto untouched = disk->copy();
    disk->put(tail.path, std::string(tail.bytes).replace(tail.end(), cut.size(), cut));
    const Process process(*disk, kStart, kAnotherLife);
    ASSERT_TRUE(process.is_up()) << process.refusal();
    const Process expected(*untouched, kStart, kAnotherLife);
    ASSERT_TRUE(expected.is_up()) << expected.refusal();
    EXPECT_EQ(expected.recovered(), process.recovered());
    EXPECT_EQ(expected.digest(), process.digest());
  });
  EXPECT_GT(tails, 100U);
  fmt::print("cut_frames: {} torn tails brought back behind what was written since: none replayed\n", tails);
}

}  // namespace
}  // namespace tenure
