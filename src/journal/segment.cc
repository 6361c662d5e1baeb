#include "journal/segment.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"
#include "journal/file_names.h"

namespace tenure {
namespace {

constexpr std::string_view kSegmentMagic = "TENURE-J";
constexpr std::uint64_t kWindowBlocks = (std::uint64_t{1} << 20) / kDiskBlockBytes;

}  // namespace

std::string JournalId::text() const { return hex16(high) + hex16(low); }

std::string SegmentHeader::encode() const {
  std::string header(kSegmentMagic);
  {
    ByteWriter out(header, kSegmentHeaderBytes - kSegmentMagic.size() - 8);
    out.fixed64(kFormatVersion);
    out.fixed64(journal.high);
    out.fixed64(journal.low);
    out.fixed64(first);
    out.fixed64(chain);
    out.fixed64(bytes);
  }
  const std::uint64_t checksum = hash64(header);
  ByteWriter(header, 8).fixed64(checksum);
  return header;
}

Result<SegmentHeader> SegmentHeader::decode(std::string_view from, const std::string& path) {
  if (from.size() < kSegmentHeaderBytes) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a segment's header of {} bytes, found {} bytes", path,
                     kSegmentHeaderBytes, from.size());
  }
  if (!from.starts_with(kSegmentMagic)) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a segment of a Tenure journal, found other bytes at offset 0",
                     path);
  }
  ByteReader in(from.substr(kSegmentMagic.size(), kSegmentHeaderBytes - kSegmentMagic.size()));
  const std::uint64_t version = in.fixed64();
  SegmentHeader header;
  header.journal.high = in.fixed64();
  header.journal.low = in.fixed64();
  header.first = in.fixed64();
  header.chain = in.fixed64();
  header.bytes = in.fixed64();
  const std::uint64_t expected = hash64(from.substr(0, kSegmentHeaderBytes - 8));
  if (const std::uint64_t found = in.fixed64(); found != expected) {
    return fail_with(ErrorCode::kInvalid, "{}: expected checksum {} of the segment's header, found {}", path,
                     hex16(expected), hex16(found));
  }
  // No damage: another version can read it.
  if (version != kFormatVersion) {
    return fail_with(ErrorCode::kErr, "{}: expected format version {}, found {}; use a version of tenure that knows it",
                     path, kFormatVersion, version);
  }
  return header;
}

Result<std::string> begin_segment(Files& files, const std::string& folder, const std::string& blank,
                                  const SegmentHeader& header) {
  const auto file = files.open(blank, Files::Mode::kReadWrite);
  if (!file) return tl::unexpected(file.error());
  std::string path = path_of(folder, numbered_name(header.first, kSegmentSuffix));
  auto done = (*file)->write_at(0, header.encode());
  if (done) done = (*file)->sync();
  if (done) done = files.rename(blank, path);
  if (done) done = files.sync_folder(folder);
  if (!done) return tl::unexpected(done.error());
  return path;
}

Result<std::unique_ptr<SegmentReader>> SegmentReader::open(Files& files, const std::string& path, Files::Mode mode) {
  auto file = files.open(path, mode);
  if (!file) return tl::unexpected(file.error());
  std::unique_ptr<SegmentReader> reader(new SegmentReader(std::move(*file)));
  reader->offset_ = 0;
  const auto bytes = reader->window(kSegmentHeaderBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  auto header = SegmentHeader::decode(*bytes, path);
  if (!header) return tl::unexpected(header.error());
  const auto size = reader->file_->size();
  if (!size) return tl::unexpected(size.error());
  if (*size != header->bytes) {
    return fail_with(ErrorCode::kInvalid, "{}: expected {} bytes, as its header says, found {}", path, header->bytes,
                     *size);
  }
  reader->header_ = *header;
  reader->offset_ = kSegmentHeaderBytes;
  return reader;
}

Result<std::string_view> SegmentReader::window(std::uint64_t bytes) {
  if (offset_ < buffer_at_ || offset_ + bytes > buffer_at_ + buffered_) {
    buffered_ = 0;
    buffer_at_ = offset_ / kDiskBlockBytes * kDiskBlockBytes;
    const std::uint64_t blocks = (offset_ + bytes - buffer_at_ + kDiskBlockBytes - 1) / kDiskBlockBytes;
    // Not filled with zeros: many a segment is much shorter, or opened for its header alone.
    if (blocks > blocks_) {
      blocks_ = std::max(blocks, kWindowBlocks);
      buffer_ = std::make_unique_for_overwrite<DiskBlock[]>(blocks_);
    }
    const auto read = file_->read_at(buffer_at_, {buffer_[0].bytes, blocks_ * kDiskBlockBytes});
    if (!read) return tl::unexpected(read.error());
    buffered_ = *read;
  }
  return std::string_view(buffer_[0].bytes, buffered_).substr(std::min(offset_ - buffer_at_, buffered_));
}

// What cannot be one is not worth a checksum: whoever looks for frames at every place would read everything many times.
Result<std::optional<FrameHeader>> SegmentReader::peek_header() {
  const auto bytes = window(kFrameHeaderBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  if (bytes->size() < kFrameHeaderBytes) return std::nullopt;
  const FrameHeader header = peek_frame(*bytes);
  if (header.length > header_.bytes || offset_ + frame_bytes(header.length) > header_.bytes) return std::nullopt;
  const std::uint64_t frames_max = header_.bytes / kFrameHeaderBytes;
  if (header.sequence < header_.first || header.sequence - header_.first > frames_max) return std::nullopt;
  if (header.batch < header_.first || header.batch > header.sequence) return std::nullopt;
  return header;
}

Result<std::optional<SealedFrame>> SegmentReader::peek() {
  const auto header = peek_header();
  if (!header) return tl::unexpected(header.error());
  if (!header->has_value()) return std::nullopt;
  const auto bytes = window(frame_bytes((*header)->length));
  if (!bytes) return tl::unexpected(bytes.error());
  return parse_frame(*bytes, header_.journal.seed());
}

Result<std::optional<std::uint64_t>> SegmentReader::find_nonzero() {
  for (std::uint64_t at = offset_; at < header_.bytes;) {
    const std::uint64_t back = std::exchange(offset_, at);
    const auto bytes = window(1);
    offset_ = back;
    if (!bytes) return tl::unexpected(bytes.error());
    if (bytes->empty()) {
      return fail_with(ErrorCode::kUnavailable, "{}: expected {} bytes, found its end at {}", path(), header_.bytes,
                       at);
    }
    const std::size_t found = bytes->find_first_not_of('\0');
    if (found != std::string_view::npos) return at + found;
    at += bytes->size();
  }
  return std::nullopt;
}

}  // namespace tenure
