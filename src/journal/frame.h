// A frame: one decision's records, numbered, stamped, chained to the frame before it, and checked.
// docs/journal-format.md has the grammar.
//
//   checksum  length  sequence  batch  stamp  previous | payload, zeros up to a multiple of 8
//   8 bytes each, little-endian; the checksum is over all that follows it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/types/span.h>

#include <tenure/types.h>

namespace tenure {

// Frames lie at multiples of this.
inline constexpr std::size_t kFrameAlign = 8;
inline constexpr std::size_t kFrameHeaderBytes = 48;
// A limit that only damage exceeds.
inline constexpr std::uint64_t kPayloadBytesMax = std::uint64_t{1} << 30;

constexpr std::size_t frame_bytes(std::size_t payload) {
  return kFrameHeaderBytes + (payload + kFrameAlign - 1) / kFrameAlign * kFrameAlign;
}

// What a frame says beside its payload, in the order in which it lies there.
struct FrameHeader {
  std::uint64_t checksum = 0;
  std::uint64_t length = 0;    // of the payload
  std::uint64_t sequence = 0;  // consecutive, from 1
  std::uint64_t batch = 0;     // the sequence number its batch began with
  Instant stamp;
  std::uint64_t previous = 0;  // the checksum of the frame before it
};

// Frames are made in two steps: put into a buffer without their checksum, batch and predecessor, and sealed there when
// the batch is written.
void put_frame(std::string& buffer, std::uint64_t sequence, Instant stamp, std::string_view payload);
// The header of the frame that begins the buffer, unchecked; the buffer must have room for one.
FrameHeader peek_frame(std::string_view buffer);
// Completes the frame, whose room is exactly `frame`. Answers its checksum.
std::uint64_t seal_frame(absl::Span<char> frame, std::uint64_t batch, std::uint64_t previous, std::uint64_t seed);

struct SealedFrame {
  FrameHeader header;
  std::string_view payload;
  [[nodiscard]] std::size_t bytes() const { return frame_bytes(payload.size()); }
};

// The frame that begins the buffer, if there is a whole one and its checksum is right.
std::optional<SealedFrame> parse_frame(std::string_view buffer, std::uint64_t seed);

}  // namespace tenure
