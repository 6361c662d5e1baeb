// Older fences are refused, also by a guard that was killed or lost power.
#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/fence_guard.h>
#include "base/faulty_files.h"
#include "base/temporary_folder.h"

namespace tenure {
namespace {

TEST(FenceGuardTest, RefusesEveryFenceOlderThanTheNewestSeen) {
  FenceGuard guard;
  EXPECT_TRUE(guard.admit("r", Fence{5}));
  EXPECT_TRUE(guard.admit("r", Fence{5}));
  EXPECT_FALSE(guard.admit("r", Fence{4}));
  EXPECT_TRUE(guard.admit("r", Fence{7}));
  EXPECT_FALSE(guard.admit("r", Fence{5}));
  EXPECT_THROW(guard.require("r", Fence{6}), StaleFence);
  guard.require("r", Fence{7});
  EXPECT_EQ(Fence{7}, guard.newest("r"));
}

TEST(FenceGuardTest, KeepsResourcesApart) {
  FenceGuard guard;
  EXPECT_TRUE(guard.admit("a", Fence{5}));
  EXPECT_TRUE(guard.admit("b", Fence{1}));
  EXPECT_EQ(std::nullopt, guard.newest("c"));
}

TEST(FenceGuardTest, WritesOnlyWhatIsAdmitted) {
  FenceGuard guard;
  int written = 0;
  EXPECT_TRUE(guard.write("r", Fence{2}, [&] { ++written; }));
  EXPECT_FALSE(guard.write("r", Fence{1}, [&] { ++written; }));
  EXPECT_EQ(1, written);
}

TEST(FenceGuardTest, NamesHaveALimit) {
  FenceGuard guard;
  EXPECT_THROW(guard.admit("", Fence{1}), InvalidRequest);
  EXPECT_THROW(guard.admit(std::string(256, 'x'), Fence{1}), InvalidRequest);
  EXPECT_TRUE(guard.admit(std::string(255, 'x'), Fence{1}));
}

// Between the check of an older fence and its write no newer one gets in: the last write is the newest's.
TEST(FenceGuardTest, CheckAndWriteAreOne) {
  FenceGuard guard;
  std::uint64_t written = 0;
  constexpr std::uint64_t kThreads = 8;
  std::latch ready(static_cast<std::ptrdiff_t>(kThreads));
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ready.arrive_and_wait();
      for (std::uint64_t fence = i; fence < 500; fence += kThreads) {
        guard.write("r", Fence{fence}, [&] {
          EXPECT_LE(written, fence);
          written = fence;
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(499U, written);
}

TEST(FenceGuardTest, ADurableOneRemembers) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/fences";
  {
    auto guard = FenceGuard::open(path);
    EXPECT_TRUE(guard.admit("r", Fence{5}));
    EXPECT_TRUE(guard.admit("s", Fence{~std::uint64_t{0}}));
    EXPECT_THROW(FenceGuard::open(path), Unavailable);  // by a second one, too
  }
  auto guard = FenceGuard::open(path);
  EXPECT_FALSE(guard.admit("r", Fence{4}));
  EXPECT_FALSE(guard.admit("s", Fence{~std::uint64_t{0} - 1}));
  EXPECT_TRUE(guard.admit("r", Fence{6}));
}

// At every operation: power is lost, and whatever was admitted before still counts.
TEST(FenceGuardTest, NothingAdmittedIsLostWithThePower) {
  for (const auto damage : FaultyFiles::kDamages) {
    for (std::uint64_t n = 1; n < 14; ++n) {
      FaultyFiles files(n);
      files.fail_at(n, FaultyFiles::Fault::kCrash);
      std::uint64_t admitted = 0;
      try {
        auto guard = FenceGuard::open("/fences", files);
        for (std::uint64_t fence = 1; fence <= 5; ++fence) {
          guard.admit("r", Fence{fence});
          admitted = fence;
        }
      } catch (const Unavailable&) {
        // As planned.
      }
      files.crash(damage, n);
      auto guard = FenceGuard::open("/fences", files);
      EXPECT_GE(guard.newest("r").value_or(Fence{0}).value, admitted);
      EXPECT_LE(guard.newest("r").value_or(Fence{0}).value, admitted + 1);
      EXPECT_TRUE(guard.admit("r", Fence{10}));
    }
  }
}

TEST(FenceGuardTest, AfterAFailedSyncItAnswersNoMore) {
  FaultyFiles files;
  auto guard = FenceGuard::open("/fences", files);
  EXPECT_TRUE(guard.admit("r", Fence{1}));
  files.fail_at(files.operations() + 2, FaultyFiles::Fault::kIoError);
  EXPECT_THROW(guard.admit("r", Fence{2}), Unavailable);
  EXPECT_THROW(guard.admit("r", Fence{3}), Unavailable);
  EXPECT_THROW(guard.admit("r", Fence{1}), Unavailable);
}

TEST(FenceGuardTest, DamageBeforeTheEndIsRefused) {
  FaultyFiles files;
  {
    auto guard = FenceGuard::open("/fences", files);
    for (std::uint64_t fence = 1; fence <= 40; ++fence) guard.admit("resource", Fence{fence});
  }
  files.flip_bit("/fences", std::uint64_t{8} * 60);
  EXPECT_THROW(FenceGuard::open("/fences", files), InvalidRequest);
  files.put("/fences", "something else");
  EXPECT_THROW(FenceGuard::open("/fences", files), InvalidRequest);
}

TEST(FenceGuardTest, ItsFileStaysSmall) {
  FaultyFiles files;
  auto guard = FenceGuard::open("/fences", files);
  guard.admit("other", Fence{1});
  const std::string name(200, 'r');
  for (std::uint64_t fence = 1; fence <= 12'000; ++fence) guard.admit(name, Fence{fence});
  EXPECT_LT(files.contents("/fences").size(), (std::size_t{1} << 20) + 4096);
  EXPECT_EQ(Fence{12'000}, guard.newest(name));
  EXPECT_FALSE(guard.admit("other", Fence{0}));
}

}  // namespace
}  // namespace tenure
