// A journal's folder: any bytes as its last segment, as they are, and as payloads of frames that are whole.
#include <string>

#include "base/check.h"
#include "base/faulty_files.h"
#include "core/state.h"
#include "fuzz.h"
#include "journal/file_names.h"
#include "journal/recovery.h"

namespace tenure {
namespace {

constexpr JournalId kJournal{.high = 1, .low = 2};
constexpr std::uint64_t kSegmentBytes = 16 << 10;

void walk_segment(std::string_view frames) {
  const SegmentHeader header{.journal = kJournal, .first = 1, .chain = 0, .bytes = kSegmentBytes};
  std::string segment = header.encode();
  segment += frames.substr(0, kSegmentBytes - segment.size());
  segment.resize(kSegmentBytes);
  FaultyFiles files;
  files.put(path_of("data", numbered_name(1, kSegmentSuffix)), segment);
  State state;
  std::uint64_t last = 0;
  const auto end = walk(files, "data", {}, [&](const Frame& frame) {
    TENURE_CHECK(frame.sequence == last + 1, "frame {} behind {}", frame.sequence, last);
    last = frame.sequence;
    return replay_frame(state, frame.sequence, frame.stamp, frame.payload);
  });
  if (end) TENURE_CHECK(end->frames == last, "{} frames told of, {} visited", end->frames, last);
}

// Each line is a frame's payload.
std::string sealed(std::string_view lines) {
  std::string frames;
  std::uint64_t chain = 0;
  for (std::uint64_t sequence = 1; !lines.empty(); ++sequence) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    const std::size_t begin = frames.size();
    put_frame(frames, sequence, Instant{static_cast<std::int64_t>(sequence)}, line);
    chain = seal_frame(absl::MakeSpan(frames).subspan(begin), sequence, chain, kJournal.seed());
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return frames;
}

}  // namespace

void fuzz(std::string_view input) {
  walk_segment(input);
  walk_segment(sealed(input));
}

}  // namespace tenure
