// Snapshots are changed while nobody looks, and segments of a journal that needs them. Whatever starts has every
// change; whatever does not is as it was before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "journal/snapshot_file.h"
#include "lives.h"

namespace tenure {
namespace {

class SnapshotDamageTest : public ::testing::Test {
 protected:
  SnapshotDamageTest() : promises_(live(files_).promises) {
    snapshots_ = find_snapshots(files_, kFolder).value();
    EXPECT_EQ(2U, snapshots_.size());
  }

  [[nodiscard]] std::string path(std::size_t index) const { return snapshot_path(kFolder, snapshots_[index]); }

  // Starts on files that are changed; it must, and must have everything.
  void expect_whole(FaultyFiles& disk) {
    const Process process(disk);
    ASSERT_TRUE(process.is_up()) << process.refusal();
    EXPECT_EQ(promises_.digest_after(promises_.frames()), process.digest());
    ++whole_;
  }
  void expect_whole_or_refused(FaultyFiles& disk) {
    const auto before = disk.state();
    const Process process(disk);
    if (process.is_up()) {
      // Only what vouches for the last batch may be missing.
      EXPECT_EQ(promises_.digest_after(promises_.frames()), process.digest());
      ++whole_;
    } else {
      EXPECT_EQ(before, disk.state());
      ++refused_;
    }
  }

  FaultyFiles files_;
  Promises promises_;
  std::vector<std::uint64_t> snapshots_;
  SeededEntropy dice_{3};
  std::uint64_t whole_ = 0;
  std::uint64_t refused_ = 0;
};

TEST_F(SnapshotDamageTest, AFlippedBitCostsTheSnapshotOnly) {
  for (std::size_t index = 0; index < snapshots_.size(); ++index) {
    const std::uint64_t bits = files_.contents(path(index)).size() * 8;
    for (std::uint64_t bit = 0; bit < bits; bit += stride()) {
      SCOPED_TRACE(fmt::format("snapshot {}, bit {}", index, bit));
      const auto disk = files_.copy();
      disk->flip_bit(path(index), std::min(bit + dice_.next() % stride(), bits - 1));
      expect_whole(*disk);
      ASSERT_FALSE(HasFailure());
    }
  }
  fmt::print("snapshot_flips: {} bits of 2 snapshots, all started whole\n", whole_);
}

TEST_F(SnapshotDamageTest, ACutCostsTheSnapshotOnly) {
  for (std::size_t index = 0; index < snapshots_.size(); ++index) {
    const std::string bytes = files_.contents(path(index));
    for (std::uint64_t length = 0; length < bytes.size(); length += stride()) {
      SCOPED_TRACE(fmt::format("snapshot {}, length {}", index, length));
      const auto disk = files_.copy();
      disk->put(path(index), std::string_view(bytes).substr(0, length));
      expect_whole(*disk);
      ASSERT_FALSE(HasFailure());
    }
  }
  fmt::print("snapshot_cuts: {} lengths of 2 snapshots, all started whole\n", whole_);
}

TEST_F(SnapshotDamageTest, WithoutAnyOfThemTheJournalIsRefused) {
  files_.flip_bit(path(0), 1000);
  files_.flip_bit(path(1), 1000);
  const auto before = files_.state();
  const Process process(files_);
  EXPECT_FALSE(process.is_up());
  EXPECT_NE(std::string::npos, process.refusal().find("expected the segment with frame 1")) << process.refusal();
  EXPECT_EQ(before, files_.state());
}

// What a snapshot holds need not be read any more, so damage there may go unseen; it is never believed.
TEST_F(SnapshotDamageTest, ADamagedSegmentIsRefusedOrNotNeeded) {
  const auto segments = find_segments(files_, kFolder).value();
  for (const SegmentFile& segment : segments) {
    const std::uint64_t bits = files_.contents(segment.path).size() * 8;
    for (std::uint64_t bit = 0; bit < bits; bit += stride()) {
      SCOPED_TRACE(fmt::format("segment {}, bit {}", segment.first, bit));
      const auto disk = files_.copy();
      disk->flip_bit(segment.path, bit + dice_.next() % stride());
      expect_whole_or_refused(*disk);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(whole_, 0U);
  EXPECT_GT(refused_, 0U);
  fmt::print("flips_beside_snapshots: {} bits: {} started whole, {} refused\n", whole_ + refused_, whole_, refused_);
}

}  // namespace
}  // namespace tenure
