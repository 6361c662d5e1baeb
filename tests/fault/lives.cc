#include "lives.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

// Each life has chances of its own.
constexpr std::uint64_t kSecondLife = 2;
constexpr std::uint64_t kThirdLife = 3;
constexpr int kGoOnSteps = 3;

}  // namespace

Lived live(FaultyFiles& files, Script::AfterFailure after, Script::Snapshots snapshots) {
  Process process(files);
  if (!process.is_up()) return {.promises = process.promises()};
  Script script(process, 11, snapshots);
  script.run(Script::kSteps, after);
  const bool ended_well = process.close();
  EXPECT_EQ(process.asked(), process.answered());
  EXPECT_EQ(0U, process.answers_after_failure());
  return {.promises = process.promises(),
          .ended_well = ended_well,
          .segments = process.segments(),
          .snapshots = process.snapshots(),
          .snapshot_operations = process.snapshot_operations()};
}

std::uint64_t operations_of_a_life() {
  FaultyFiles files;
  live(files);
  return files.operations();
}

std::unique_ptr<Process> recover(FaultyFiles& files, const Promises& promises) {
  auto process = std::make_unique<Process>(files, kStart, kSecondLife + promises.frames());
  EXPECT_TRUE(process->is_up()) << process->refusal();
  if (!process->is_up()) return nullptr;
  EXPECT_GE(process->recovered(), promises.acknowledged());
  EXPECT_EQ(promises.digest_after(process->recovered()), process->digest()) << "after " << process->recovered();
  EXPECT_LE(promises.fence(), process->fence());
  return process;
}

Promises live_on(FaultyFiles& files, const Promises& promises) {
  const auto process = recover(files, promises);
  if (process == nullptr) return promises;
  Script script(*process, kSecondLife);
  script.run(kGoOnSteps);
  EXPECT_GT(process->promises().acknowledged(), promises.acknowledged());
  return process->promises();
}

Recovered recover_and_go_on(FaultyFiles& files, const Promises& promises) {
  auto process = recover(files, promises);
  if (process == nullptr) return {};
  const Recovered recovered{.frames = process->recovered(), .has_cut = process->has_cut()};
  Script script(*process, kSecondLife);
  script.run(kGoOnSteps);
  EXPECT_FALSE(process->has_failed());
  EXPECT_TRUE(process->close());
  const Promises more = process->promises();
  process.reset();

  const Process third(files, kStart, kThirdLife);
  EXPECT_TRUE(third.is_up()) << third.refusal();
  if (!third.is_up()) return recovered;
  EXPECT_FALSE(third.has_cut());
  EXPECT_GE(third.recovered(), more.frames());
  EXPECT_EQ(more.digest_after(third.recovered()), third.digest());
  return recovered;
}

}  // namespace tenure
