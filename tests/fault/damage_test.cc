// The files are changed while nobody looks: bits, lengths, blocks. The journal was closed well, so that its last batch
// is vouched for: whatever of it is gone was durable.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "image.h"
#include "journal/segment.h"
#include "lives.h"

namespace tenure {
namespace {

// A journal that has ended well, the damage that is done to it, and chance.
class DamageTest : public ::testing::Test {
 protected:
  FaultyFiles files_;
  Damager damager_{files_, live(files_, Script::AfterFailure::kStop, Script::Snapshots::kNone).promises};
  SeededEntropy dice_{5};

  [[nodiscard]] const std::vector<SegmentImage>& segments() const { return damager_.image().segments; }
  [[nodiscard]] std::size_t last_segment() const { return segments().size() - 1; }

  void flip(std::size_t index, std::uint64_t bit) {
    const SegmentImage& segment = segments()[index];
    std::string bytes = segment.bytes;
    bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << bit % 8));
    const std::uint64_t starts = damager_.tally().whole + damager_.tally().shortened;
    const std::string refusal = damager_.make(index, std::move(bytes));
    const FrameImage* const frame = segment.frame_at(bit / 8);
    const bool is_last_frame = frame != nullptr && frame->sequence == damager_.image().last();
    const bool is_blank = frame == nullptr && bit / 8 >= kSegmentHeaderBytes;
    const bool may_start = is_last_frame || (is_blank && index == last_segment());
    EXPECT_EQ(may_start ? starts + 1 : starts, damager_.tally().whole + damager_.tally().shortened);
    if (!may_start) expect_place(refusal, segment, bit / 8);
  }

  // A refusal names the file, and where in it.
  static void expect_place(const std::string& refusal, const SegmentImage& segment, std::uint64_t offset) {
    EXPECT_NE(std::string::npos, refusal.find(segment.path)) << refusal;
    const FrameImage* const frame = segment.frame_at(offset);
    const std::string place = frame != nullptr               ? fmt::format("offset {}:", frame->offset)
                              : offset < 8                   ? "offset 0"
                              : offset < kSegmentHeaderBytes ? "header"
                                                             : fmt::format("offset {}:", segment.end());
    EXPECT_NE(std::string::npos, refusal.find(place)) << refusal << "\nhas no " << place;
  }

  void report(const char* name, const std::string& what) const {
    const Damager::Tally& tally = damager_.tally();
    EXPECT_GT(tally.refused, 0U);
    EXPECT_EQ(tally.changes, tally.same + tally.refused + tally.whole + tally.shortened);
    fmt::print("{}: {}, {} changes: {} refused, {} started whole, {} without a torn tail, {} changed nothing\n", name,
               what, tally.changes, tally.refused, tally.whole, tally.shortened, tally.same);
  }
};

TEST_F(DamageTest, FlipEveryBit) {
  EXPECT_LE(damager_.image().bytes(), 64U << 10);
  EXPECT_GE(segments().size(), 4U);
  for (std::size_t index = 0; index < segments().size(); ++index) {
    for (std::uint64_t bit = 0; bit < segments()[index].bytes.size() * 8; bit += stride()) {
      SCOPED_TRACE(fmt::format("segment {}, bit {}", index, bit));
      flip(index, bit + dice_.next() % stride());
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(damager_.tally().whole, 0U);
  EXPECT_EQ(0U, damager_.tally().shortened);  // all that can be torn is the frame that vouches
  report("flip_every_bit", fmt::format("{} segments, {} bytes", segments().size(), damager_.image().bytes()));
}

TEST_F(DamageTest, CutEveryByte) {
  for (const std::size_t index : {last_segment(), last_segment() / 2}) {
    const SegmentImage& segment = segments()[index];
    for (std::uint64_t length = 0; length < segment.bytes.size(); length += stride()) {
      SCOPED_TRACE(fmt::format("segment {}, length {}", index, length));
      const std::string refusal = damager_.make(index, segment.bytes.substr(0, length + dice_.next() % stride()));
      EXPECT_NE(std::string::npos, refusal.find(segment.path)) << refusal;
      ASSERT_FALSE(HasFailure());
    }
    const std::string grown = damager_.make(index, segment.bytes + std::string(1 + dice_.next() % 5000, '\0'));
    EXPECT_NE(std::string::npos, grown.find(segment.path)) << grown;
  }
  EXPECT_EQ(damager_.tally().changes, damager_.tally().refused);
  report("cut_every_byte", "2 segments");
}

}  // namespace
}  // namespace tenure
