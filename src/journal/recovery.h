// What is in a data folder: its segments and frames, in order, each checked against the one before; and where they end,
// the proof of whether that end was torn by a crash or is damage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "journal/journal.h"
#include "journal/segment.h"
#include "journal/snapshot_file.h"

namespace tenure {

// --- the proof ---

// What was found where the next frame should be and was not.
struct TailEvidence {
  bool in_last_segment = false;
  bool is_blank = false;           // zeros from there to the segment's end
  std::uint64_t next = 0;          // the sequence number that should have come
  std::uint64_t latest_batch = 0;  // of all valid frames behind it, the latest batch; 0: there are none
};

enum class Tail : std::uint8_t {
  kClean,    // the journal ends here
  kTorn,     // a crash tore the last batch, which nobody was told is durable
  kDamaged,  // something that was durable is gone
};

// A batch is written only when the one before it is durable. So a frame of a later batch proves that the missing one
// was durable, and a later segment proves it too; without such a proof the missing frame belongs to the last batch,
// whose blocks may have reached the disk in any order when the power failed.
Tail judge(const TailEvidence& evidence);

// --- the walk ---

// The segments of a folder by their names, in order.
struct SegmentFile {
  std::uint64_t first = 0;
  std::string path;
};
Result<std::vector<SegmentFile>> find_segments(Files& files, const std::string& folder);

// Where the frames end.
struct JournalEnd {
  std::string path;  // of the segment
  SegmentHeader segment;
  std::uint64_t offset = 0;  // behind the last frame
  std::uint64_t next = 1;    // the sequence number of the frame to come
  std::uint64_t chain = 0;   // the last frame's checksum
  std::uint64_t batch = 0;   // the last frame's: all before it are durable beyond doubt
  std::uint64_t batch_offset = 0;
  bool is_vouched = true;  // the last batch is empty, or there is none
  Instant last_stamp;
  Tail tail = Tail::kClean;
  std::uint64_t tail_bytes = 0;  // from the offset up to the last byte that is not zero
  std::string why;               // with kTorn and kDamaged: what was expected, what found
  std::uint64_t frames = 0;      // visited
};

// Visits these frames. Fails, naming file, offset and what was expected and found, if a
// segment is missing, misplaced or not one of this journal; a damaged end is not a failure here, but told in the
// answer. The tail is looked at only if the range goes on to the end. A snapshot's mark stands for all frames up to its
// own: damage before that does not matter. Segments are opened in this mode: whoever waits for all of it has the kernel
// read ahead, as with kRead.
Result<JournalEnd> walk(Files& files, const std::string& folder, FrameRange range, Journal::Visit visit,
                        const std::optional<SnapshotMark>& mark = std::nullopt, Files::Mode mode = Files::Mode::kRead);

// The failure that a damaged end is to whoever wanted to go on from there.
tl::unexpected<Failure> refuse_damage(const std::string& folder, const JournalEnd& end);
// The same for what failed a walk, if it is the journal that is wrong.
tl::unexpected<Failure> refuse_damage(const std::string& folder, const Failure& failure);

// Puts a copy of the last segment, up to its end, in its place. If the last sync had failed, the page cache may have
// the last batch and the disk not, and another sync would not know. A copy, because what is there may be durable, and a
// crash could tear it.
Result<Done> rewrite_last_segment(Files& files, const std::string& folder, const JournalEnd& end);
// The same on a disk that has no room for a copy: writes the last batch over itself.
Result<Done> rewrite_last_batch(Files& files, const JournalEnd& end);

// Copies the tail into a file of its own and puts zeros in its place. Answers the copy's path.
Result<std::string> cut_tail(Files& files, const std::string& folder, const JournalEnd& end);

}  // namespace tenure
