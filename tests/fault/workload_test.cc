// The script does what the other tests rely on.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "image.h"
#include "lives.h"

namespace tenure {
namespace {

TEST(WorkloadTest, RollsAndBatchesAndHasEveryKindOfRecord) {
  FaultyFiles files;
  Process process(files);
  Script(process, 11, Script::Snapshots::kTwo).run();
  ASSERT_TRUE(process.close());
  const JournalImage image = image_of(files);
  std::uint64_t in_larger_batches = 0;
  for (const SegmentImage& segment : image.segments) {
    for (const FrameImage& frame : segment.frames) in_larger_batches += frame.sequence > frame.batch ? 1 : 0;
  }
  EXPECT_GE(process.asked(), 300U);
  EXPECT_GE(process.segments(), 4U);
  EXPECT_EQ(2U, process.snapshots());
  EXPECT_GT(image.segments.front().frames.front().sequence, 1U);  // what only the first snapshot needed is gone
  EXPECT_GE(in_larger_batches, 50U);
  const auto& types = process.record_types();
  EXPECT_EQ(std::variant_size_v<Record>, types.size()) << ::testing::PrintToString(types);
  fmt::print("workload: {} requests, {} frames in {} segments, {} snapshots, {} operations, {} kinds of records\n",
             process.asked(), image.last(), process.segments(), process.snapshots(), files.operations(), types.size());
}

TEST(WorkloadTest, IsTheSameEveryTime) {
  FaultyFiles one(1);
  FaultyFiles other(2);
  live(one);
  live(other);
  EXPECT_EQ(one.state(), other.state());
}

}  // namespace
}  // namespace tenure
