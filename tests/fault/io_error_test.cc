// An operation fails, once or from then on, and the process lives to tell. One failure ends the authority: it says
// UNAVAILABLE to everybody for ever, and what it said before stays true.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "image.h"
#include "lives.h"

namespace tenure {
namespace {

using Fault = FaultyFiles::Fault;
using Lasting = FaultyFiles::Lasting;
using Damage = FaultyFiles::Damage;

struct Tally {
  std::uint64_t lives = 0;
  std::uint64_t survived = 0;
  std::uint64_t recoveries = 0;
};

// What the next life finds after the process was killed, and after the machine has lost its power; one of them, when
// time is short.
void expect_recovery(const FaultyFiles& files, const Promises& promises, bool is_killed, Tally& tally) {
  for (const bool kill : {false, true}) {
    if (kill != is_killed && !in_soak()) continue;
    const auto disk = files.copy();
    Promises owed = promises;
    if (kill) disk->kill();
    // What a failed sync has left in the page cache is not on the disk: the next life has to see to that. (If names
    // were not saved nothing can.)
    if (kill && !files.has_failed_folder_sync()) owed = live_on(*disk, promises);
    if (!kill || !files.has_failed_folder_sync()) disk->crash(Damage::kLoseAll, 1);
    recover_and_go_on(*disk, owed);
    ++tally.recoveries;
  }
}

void fail_every_operation(Fault fault, Lasting lasting, Tally& tally) {
  const std::uint64_t operations = operations_of_a_life();
  for (std::uint64_t n = 1; n <= operations; ++n) {
    SCOPED_TRACE(fmt::format("operation {}, fault {}, {}", n, static_cast<int>(fault),
                             lasting == Lasting::kOnce ? "once" : "for ever"));
    FaultyFiles files(n);
    files.fail_at(n, fault, lasting);
    const Lived lived = live(files, Script::AfterFailure::kAskOn);
    ++tally.lives;
    tally.survived += lived.ended_well ? 1 : 0;
    expect_recovery(files, lived.promises, (n + static_cast<std::uint64_t>(fault)) % 2 == 0, tally);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

// Only this may fail: making a spare segment (create, write and sync, once for each segment), and a snapshot.
std::uint64_t operations_that_may_fail() {
  FaultyFiles files;
  const Lived lived = live(files);
  return 3 * lived.segments + lived.snapshot_operations;
}

TEST(FaultTest, IoErrorEveryOp) {
  Tally once;
  Tally for_ever;
  for (const Fault fault : {Fault::kIoError, Fault::kNoSpace, Fault::kShortWrite}) {
    fail_every_operation(fault, Lasting::kOnce, once);
    fail_every_operation(fault, Lasting::kForEver, for_ever);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_EQ(3 * operations_that_may_fail(), once.survived);
  EXPECT_EQ(0U, for_ever.survived);
  EXPECT_GT(once.lives, 900U);
  fmt::print("io_error_every_op: {} lives with one failure, {} survived it; {} with failures for ever; {} recoveries\n",
             once.lives, once.survived, for_ever.lives, once.recoveries + for_ever.recoveries);
}

}  // namespace
}  // namespace tenure
