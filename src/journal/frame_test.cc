// Frames: what is sealed is read back, and nothing else is.
#include "journal/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure {
namespace {

constexpr std::uint64_t kSeed = 7;

std::string sealed(std::string_view payload, std::uint64_t sequence = 5, std::uint64_t batch = 4,
                   std::uint64_t previous = 99) {
  std::string frame;
  put_frame(frame, sequence, Instant{1234}, payload);
  seal_frame(absl::MakeSpan(frame), batch, previous, kSeed);
  return frame;
}

TEST(FrameTest, IsAMultipleOfEightBytes) {
  EXPECT_EQ(48U, frame_bytes(0));
  EXPECT_EQ(56U, frame_bytes(1));
  EXPECT_EQ(56U, frame_bytes(8));
  EXPECT_EQ(64U, frame_bytes(9));
}

RC_GTEST_PROP(FrameTest, WhatIsSealedIsReadBack, (const std::string& payload, const std::string& behind)) {
  const std::string frame = sealed(payload);
  RC_ASSERT(frame.size() == frame_bytes(payload.size()));
  const std::string buffer = frame + behind;
  const auto parsed = parse_frame(buffer, kSeed);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->payload == payload);
  RC_ASSERT(parsed->bytes() == frame.size());
  RC_ASSERT(parsed->header.length == payload.size());
  RC_ASSERT(parsed->header.sequence == 5U);
  RC_ASSERT(parsed->header.batch == 4U);
  RC_ASSERT(parsed->header.stamp == Instant{1234});
  RC_ASSERT(parsed->header.previous == 99U);
}

TEST(FrameTest, EveryFlippedBitIsSeen) {
  std::string frame = sealed("a payload");
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    frame[bit / 8] = static_cast<char>(frame[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(parse_frame(frame, kSeed).has_value()) << "bit " << bit;
    frame[bit / 8] = static_cast<char>(frame[bit / 8] ^ (1 << bit % 8));
  }
  EXPECT_TRUE(parse_frame(frame, kSeed).has_value());
}

TEST(FrameTest, EveryCutIsSeen) {
  const std::string frame = sealed("a payload");
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(parse_frame(std::string_view(frame).substr(0, size), kSeed).has_value()) << size;
  }
}

TEST(FrameTest, AFrameOfAnotherJournalIsNone) { EXPECT_FALSE(parse_frame(sealed("p"), kSeed + 1).has_value()); }

TEST(FrameTest, ZerosAreNone) { EXPECT_FALSE(parse_frame(std::string(4096, '\0'), kSeed).has_value()); }

TEST(FrameTest, NoSequenceIsBeforeItsBatch) {
  EXPECT_FALSE(parse_frame(sealed("p", 5, 6), kSeed).has_value());
  EXPECT_FALSE(parse_frame(sealed("p", 0, 0), kSeed).has_value());
  EXPECT_TRUE(parse_frame(sealed("p", 5, 5), kSeed).has_value());
}

TEST(FrameTest, SeveralLieBehindEachOther) {
  std::string buffer;
  put_frame(buffer, 1, Instant{1}, "one");
  put_frame(buffer, 2, Instant{2}, "a second one");
  const std::size_t first = frame_bytes(peek_frame(buffer).length);
  const std::uint64_t chain = seal_frame(absl::MakeSpan(buffer).subspan(0, first), 1, 0, kSeed);
  seal_frame(absl::MakeSpan(buffer).subspan(first), 1, chain, kSeed);
  const auto one = parse_frame(buffer, kSeed);
  ASSERT_TRUE(one.has_value());
  const auto two = parse_frame(std::string_view(buffer).substr(one->bytes()), kSeed);
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ("a second one", two->payload);
  EXPECT_EQ(one->header.checksum, two->header.previous);
}

}  // namespace
}  // namespace tenure
