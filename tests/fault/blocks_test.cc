// Blocks that a disk has lost, mixed up, or brought back from earlier.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "image.h"
#include "journal/segment.h"
#include "lives.h"

namespace tenure {
namespace {

constexpr std::uint64_t kBlockSizes[] = {512, 4096};

struct Block {
  std::size_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class BlocksTest : public ::testing::Test {
 protected:
  BlocksTest() {
    // The states of the files while they grew; of a segment that was not there yet there is nothing.
    Process process(files_);
    Script script(process);
    for (int i = 0; i < kMoments; ++i) {
      script.run(Script::kSteps / kMoments);
      moments_.push_back(files_.state());
    }
    EXPECT_TRUE(process.close());
    promises_ = process.promises();
    FaultyFiles others;
    {
      Process(others, kStart, 77).close();
    }
    live_as_another(others);
    foreign_ = others.state();
  }

  static void live_as_another(FaultyFiles& files) {
    Process process(files, kStart, 78);
    Script(process).run();
    EXPECT_TRUE(process.close());
  }

  [[nodiscard]] static std::vector<Block> blocks_of(const JournalImage& image) {
    std::vector<Block> blocks;
    for (const std::uint64_t bytes : kBlockSizes) {
      for (std::size_t i = 0; i < image.segments.size(); ++i) {
        for (std::uint64_t at = 0; at < image.segments[i].bytes.size(); at += bytes) blocks.push_back({i, at, bytes});
      }
    }
    return blocks;
  }

  std::string noise(std::uint64_t bytes) {
    std::string text(bytes, '\0');
    for (char& byte : text) byte = static_cast<char>(dice_.next());
    return text;
  }

  // The segment with these bytes in the place of the block.
  static std::string with(const JournalImage& image, const Block& block, std::string_view bytes) {
    return std::string(image.segments[block.segment].bytes).replace(block.offset, block.bytes, bytes);
  }
  static std::string_view text_of(const JournalImage& image, const Block& block) {
    return std::string_view(image.segments[block.segment].bytes).substr(block.offset, block.bytes);
  }

  void swap(Damager& damager, const Block& one, const Block& other) {
    const JournalImage& image = damager.image();
    if (one.segment == other.segment) {
      std::string bytes = with(image, one, text_of(image, other));
      bytes.replace(other.offset, other.bytes, text_of(image, one));
      damager.make(one.segment, std::move(bytes));
    } else {
      damager.make({{one.segment, with(image, one, text_of(image, other))},
                    {other.segment, with(image, other, text_of(image, one))}});
    }
  }

  // The block as it was in other files, if it was there.
  void replace_by(Damager& damager, const Block& block, const FaultyFiles::State& files) {
    const auto found = files.find(damager.image().segments[block.segment].path);
    if (found == files.end() || found->second.size() < block.offset + block.bytes) return;
    damager.make(block.segment,
                 with(damager.image(), block, std::string_view(found->second).substr(block.offset, block.bytes)));
  }

  void report(const char* name, const std::string& what, const Damager::Tally& tally) {
    fmt::print("{}: {}, {} changes: {} refused, {} started whole, {} without a torn tail, {} changed nothing\n", name,
               what, tally.changes, tally.refused, tally.whole, tally.shortened, tally.same);
  }

  static constexpr int kMoments = 17;
  FaultyFiles files_;
  Promises promises_;
  std::vector<FaultyFiles::State> moments_;
  FaultyFiles::State foreign_;
  SeededEntropy dice_{11};
};

TEST_F(BlocksTest, AreRefusedUnlessTheyAreTheTail) {
  Damager damager(files_, promises_);
  const std::vector<Block> blocks = blocks_of(damager.image());
  for (const Block& block : blocks) {
    SCOPED_TRACE(fmt::format("segment {}, offset {}, {} bytes", block.segment, block.offset, block.bytes));
    damager.make(block.segment, with(damager.image(), block, std::string(block.bytes, '\0')));
    damager.make(block.segment, with(damager.image(), block, noise(block.bytes)));
    for (const FaultyFiles::State& moment : moments_) replace_by(damager, block, moment);
    replace_by(damager, block, foreign_);
    for (const Block& other : blocks) {
      const bool is_wanted = in_soak() || dice_.next() % 16 == 0;
      if (is_wanted && other.bytes == block.bytes && &other > &block) swap(damager, block, other);
    }
    ASSERT_FALSE(HasFailure());
  }
  const Damager::Tally& tally = damager.tally();
  EXPECT_GT(tally.refused, 0U);
  EXPECT_GT(tally.whole, 0U);
  EXPECT_GT(tally.shortened, 0U);
  report("blocks", fmt::format("{} blocks zeroed, random, swapped, stale, of another journal", blocks.size()), tally);
}

// Behind the tail there may be frames that once were valid: they are no proof of anything.
TEST_F(BlocksTest, OldFramesBehindTheTailAreNeverReplayed) {
  Damager damager(files_, promises_);
  const std::size_t last = damager.image().segments.size() - 1;
  const SegmentImage& tail = damager.image().segments[last];
  for (const SegmentImage& source : damager.image().segments) {
    for (const FrameImage& frame : source.frames) {
      // From this frame to its segment's end, as far as there is room.
      for (const std::uint64_t gap : {0U, 8U, 48U, 512U}) {
        const std::uint64_t at = tail.end() + gap;
        if (at + frame.bytes > tail.bytes.size()) continue;
        std::string bytes = tail.bytes;
        const std::uint64_t count = std::min(source.end() - frame.offset, tail.bytes.size() - at);
        damager.make(last, bytes.replace(at, count, source.bytes, frame.offset, count));
        ASSERT_FALSE(HasFailure()) << "frame " << frame.sequence << ", gap " << gap;
      }
    }
  }
  const Damager::Tally& tally = damager.tally();
  EXPECT_GT(tally.changes, 1000U);
  EXPECT_EQ(tally.changes, tally.whole);
  report("old_frames", fmt::format("{} frames", damager.image().last()), tally);
}

}  // namespace
}  // namespace tenure
