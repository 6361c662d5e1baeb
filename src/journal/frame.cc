#include "journal/frame.h"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "base/hash.h"

namespace tenure {
namespace {

constexpr std::size_t kChecksumBytes = 8;

std::uint64_t checksum_of(std::string_view frame, std::uint64_t seed) {
  return hash64(frame.substr(kChecksumBytes), seed);
}

// A header as it lies in the frame.
using HeaderBytes = std::array<char, kFrameHeaderBytes>;
static_assert(sizeof(FrameHeader) == kFrameHeaderBytes && std::is_trivially_copyable_v<FrameHeader>);
static_assert(std::endian::native == std::endian::little, "headers are stored as they lie in memory");

void write_header(char* frame, const FrameHeader& header) {
  const auto bytes = std::bit_cast<HeaderBytes>(header);
  std::memcpy(frame, bytes.data(), bytes.size());
}

constexpr std::array<char, kFrameAlign> kZeros{};

}  // namespace

void put_frame(std::string& buffer, std::uint64_t sequence, Instant stamp, std::string_view payload) {
  const auto header =
      std::bit_cast<HeaderBytes>(FrameHeader{.length = payload.size(), .sequence = sequence, .stamp = stamp});
  buffer.append(header.data(), header.size()).append(payload);
  buffer.append(kZeros.data(), frame_bytes(payload.size()) - kFrameHeaderBytes - payload.size());
}

FrameHeader peek_frame(std::string_view buffer) {
  HeaderBytes bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): it is copied into
  TENURE_CHECK(buffer.size() >= bytes.size(), "{} bytes for a frame's header", buffer.size());
  std::memcpy(bytes.data(), buffer.data(), bytes.size());
  return std::bit_cast<FrameHeader>(bytes);
}

std::uint64_t seal_frame(absl::Span<char> frame, std::uint64_t batch, std::uint64_t previous, std::uint64_t seed) {
  const std::string_view bytes(frame.data(), frame.size());
  FrameHeader header = peek_frame(bytes);
  header.batch = batch;
  header.previous = previous;
  write_header(frame.data(), header);
  header.checksum = checksum_of(bytes, seed);
  std::memcpy(frame.data(), &header.checksum, kChecksumBytes);
  return header.checksum;
}

std::optional<SealedFrame> parse_frame(std::string_view buffer, std::uint64_t seed) {
  if (buffer.size() < kFrameHeaderBytes) return std::nullopt;
  const FrameHeader header = peek_frame(buffer);
  if (header.length > kPayloadBytesMax || frame_bytes(header.length) > buffer.size()) return std::nullopt;
  if (header.sequence == 0 || header.batch == 0 || header.batch > header.sequence) return std::nullopt;
  if (header.checksum != checksum_of(buffer.substr(0, frame_bytes(header.length)), seed)) return std::nullopt;
  return SealedFrame{header, buffer.substr(kFrameHeaderBytes, header.length)};
}

}  // namespace tenure
