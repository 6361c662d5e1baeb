// The script does what the other tests rely on.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "image.h"
#include "lives.h"

namespace tenure {
namespace {

std::set<std::string> kinds_of_records(FaultyFiles& files) {
  std::set<std::string> kinds;
  const auto end = walk(files, kFolder, 0, [&](const Frame& frame) -> Result<Done> {
    for (const std::string& name : World::names_in(frame.payload)) kinds.insert(name);
    return Done{};
  });
  EXPECT_TRUE(end.has_value());
  return kinds;
}

TEST(WorkloadTest, RollsAndBatchesAndHasEveryKindOfRecord) {
  FaultyFiles files;
  Process process(files);
  Script(process).run();
  ASSERT_TRUE(process.close());
  const JournalImage image = image_of(files);
  std::uint64_t in_larger_batches = 0;
  for (const SegmentImage& segment : image.segments) {
    for (const FrameImage& frame : segment.frames) in_larger_batches += frame.sequence > frame.batch ? 1 : 0;
  }
  const auto kinds = kinds_of_records(files);
  EXPECT_GE(process.asked(), 300U);
  EXPECT_GE(image.segments.size(), 4U);
  EXPECT_GE(in_larger_batches, 50U);
  EXPECT_EQ(std::variant_size_v<Record>, kinds.size()) << ::testing::PrintToString(kinds);
  fmt::print("workload: {} requests, {} frames in {} segments, {} operations, {} kinds of records\n", process.asked(),
             image.last(), image.segments.size(), files.operations(), kinds.size());
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
