// A segment: a file of frames, preallocated with zeros. Its header says which journal it belongs to, which frame it
// begins with and how long it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "journal/frame.h"

namespace tenure {

inline constexpr std::uint64_t kFormatVersion = 1;
inline constexpr std::uint64_t kSegmentHeaderBytes = 64;

// Tells a journal from every other; its frames' checksums begin with it, so that bytes from elsewhere never pass for a
// frame.
struct JournalId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  [[nodiscard]] std::uint64_t seed() const { return high ^ low; }
  [[nodiscard]] std::string text() const;  // 32 hex digits
  friend bool operator==(const JournalId& a, const JournalId& b) { return a.high == b.high && a.low == b.low; }
};

struct SegmentHeader {
  JournalId journal;
  std::uint64_t first = 0;  // the sequence number of its first frame
  std::uint64_t chain = 0;  // the checksum of the frame before that
  std::uint64_t bytes = 0;  // of the whole file

  [[nodiscard]] std::string encode() const;
  // `path` is for the failure's text.
  static Result<SegmentHeader> decode(std::string_view from, const std::string& path);
};

// Gives a file of zeros its header and then its name: the segment is whole before anybody sees it. Answers its path.
Result<std::string> begin_segment(Files& files, const std::string& folder, const std::string& blank,
                                  const SegmentHeader& header);

// Reads the frames of a segment in order, through a window that is as large as the largest frame. One thread.
class SegmentReader {
 public:
  static Result<std::unique_ptr<SegmentReader>> open(Files& files, const std::string& path,
                                                     Files::Mode mode = Files::Mode::kRead);

  [[nodiscard]] const SegmentHeader& header() const { return header_; }
  [[nodiscard]] const std::string& path() const { return file_->path(); }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  // The frame at the offset, or nothing if there is no valid one; views the reader until the next call.
  Result<std::optional<SealedFrame>> peek();
  // What would be its header, unchecked; nothing if no frame of this segment can begin there.
  Result<std::optional<FrameHeader>> peek_header();
  // Behind the frame that was peeked at.
  void skip(const SealedFrame& frame) { offset_ += frame.bytes(); }
  void go_to(std::uint64_t offset) { offset_ = offset; }
  // Moves on by this many bytes.
  void skip_bytes(std::uint64_t bytes) { offset_ += bytes; }
  // The first byte from the offset on that is not zero; nullopt if all are.
  Result<std::optional<std::uint64_t>> find_nonzero();

 private:
  explicit SegmentReader(std::unique_ptr<File> file) : file_(std::move(file)) {}
  // At least `bytes` from the offset on, or all there are.
  Result<std::string_view> window(std::uint64_t bytes);

  std::unique_ptr<File> file_;
  SegmentHeader header_;
  std::uint64_t offset_ = kSegmentHeaderBytes;
  std::unique_ptr<DiskBlock[]> buffer_;  // so many blocks
  std::uint64_t blocks_ = 0;
  std::uint64_t buffered_ = 0;   // of those, read from the file
  std::uint64_t buffer_at_ = 0;  // where that lies in the file
};

}  // namespace tenure
