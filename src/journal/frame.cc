#include "journal/frame.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace tenure {
namespace {

constexpr std::size_t kChecksumBytes = 8;

std::uint64_t checksum_of(std::string_view frame, std::uint64_t seed) {
  return hash64(frame.substr(kChecksumBytes), seed);
}

void write_header(absl::Span<char> room, const FrameHeader& header) {
  ByteWriter out(room.subspan(0, kFrameHeaderBytes));
  out.fixed64(header.checksum);
  out.fixed64(header.length);
  out.fixed64(header.sequence);
  out.fixed64(header.batch);
  out.fixed64(static_cast<std::uint64_t>(header.stamp.ms));
  out.fixed64(header.previous);
}

}  // namespace

void put_frame(std::string& buffer, std::uint64_t sequence, Instant stamp, std::string_view payload) {
  const std::size_t begin = buffer.size();
  buffer.resize(begin + frame_bytes(payload.size()));
  const absl::Span<char> room = absl::MakeSpan(buffer).subspan(begin);
  write_header(room, {.length = payload.size(), .sequence = sequence, .stamp = stamp});
  if (!payload.empty()) std::memcpy(room.data() + kFrameHeaderBytes, payload.data(), payload.size());
}

FrameHeader peek_frame(std::string_view buffer) {
  ByteReader in(buffer.substr(0, kFrameHeaderBytes));
  FrameHeader header;
  header.checksum = in.fixed64();
  header.length = in.fixed64();
  header.sequence = in.fixed64();
  header.batch = in.fixed64();
  header.stamp = Instant{static_cast<std::int64_t>(in.fixed64())};
  header.previous = in.fixed64();
  TENURE_CHECK(in.ok(), "{} bytes for a frame's header", buffer.size());
  return header;
}

std::uint64_t seal_frame(absl::Span<char> frame, std::uint64_t batch, std::uint64_t previous, std::uint64_t seed) {
  const std::string_view bytes(frame.data(), frame.size());
  FrameHeader header = peek_frame(bytes);
  header.batch = batch;
  header.previous = previous;
  write_header(frame, header);
  header.checksum = checksum_of(bytes, seed);
  write_header(frame, header);
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
