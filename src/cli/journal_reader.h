// How the journal commands read a folder: what is no journal is refused with advice, progress is told, and each frame's
// place is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/desk.h"
#include "journal/recovery.h"

namespace tenure::cli {

// Tells on `err`, about once a second, how far a long piece of work has got. One thread.
class Progress {
 public:
  Progress(const Desk& desk, std::string what, std::uint64_t total_bytes);
  void add(std::uint64_t bytes);

 private:
  const Desk& desk_;
  const std::string what_;
  const std::uint64_t total_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t asked_at_bytes_ = 0;  // when the clock was last asked
  Millis told_at_;
};

// Where frames end, and whether somebody is still adding to them.
struct Reading {
  JournalEnd end;
  bool is_written_to = false;  // a server is at work: what looked like a bad end was its unfinished write
};

// One thread.
class JournalReader {
 public:
  // Fails if the folder has no journal, one of a newer format, or an unfinished copy of one.
  static Result<JournalReader> open(const Desk& desk, const std::string& folder);

  [[nodiscard]] Files& files() const { return desk_->files; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::vector<SegmentFile>& segments() const { return segments_; }
  // Of all segments, used or not.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // The journal's first frame still there.
  [[nodiscard]] std::uint64_t first() const { return segments_.front().first; }
  // The frames that there were snapshots of when it was opened, newest first.
  [[nodiscard]] const std::vector<std::uint64_t>& snapshots() const { return snapshots_; }
  // Where the longest possible replay begins: behind the oldest good snapshot, or behind frame 0 if nothing was dropped
  // yet.
  [[nodiscard]] Result<std::uint64_t> find_base() const;
  // The failure that there is no such frame; what is wrong with each snapshot.
  [[nodiscard]] tl::unexpected<Failure> refuse_without_base(const std::vector<std::string>& bad_snapshots) const;
  // The place of this frame, or where it should be. `base`: the frame whose snapshot the reading began with.
  [[nodiscard]] Result<JournalEnd> place_of(std::uint64_t sequence, std::uint64_t base) const;

  // Visits the frames after this one. The visitor's failure ends it; so does `stop`, without one. A damaged
  // end is told in the answer: see `expect_sound`. Called once.
  Result<Reading> read(std::uint64_t after, Journal::Visit visit);
  // The same as a start would read: if there is a snapshot of that frame, damage before it does not matter.
  Result<Reading> read_behind_snapshot(std::uint64_t base, Journal::Visit visit);
  // A failure of reading with what to do about it, if the journal is what is wrong.
  [[nodiscard]] tl::unexpected<Failure> advised(const Failure& failure) const;
  // What a visitor answers to end the reading.
  Result<Done> stop();

  // The place of the frame that is being visited, and after a failed reading of the last one; right when reading began
  // at the beginning, with `read`. No segment: there was no frame.
  [[nodiscard]] std::optional<std::size_t> segment() const { return segment_; }
  [[nodiscard]] const std::string& path() const { return segments_[*segment_].path; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  // Behind it.
  [[nodiscard]] std::uint64_t next_offset() const { return next_offset_; }
  // Whether it was the visitor who failed the reading.
  [[nodiscard]] bool was_refused() const { return was_refused_; }

 private:
  JournalReader(const Desk& desk, std::string folder, std::vector<std::uint64_t> snapshots,
                std::vector<SegmentFile> segments, std::uint64_t bytes);
  Result<Reading> read(std::uint64_t after, const std::optional<SnapshotMark>& mark, Journal::Visit visit);
  [[nodiscard]] std::optional<SnapshotMark> mark_of(std::uint64_t base) const;
  Result<Done> see(const Frame& frame, Journal::Visit visit);
  void take_new(const std::vector<SegmentFile>& segments);
  void enter_segment_of(const Frame& frame);
  // Whether it is what its name says; another file may have been put among the segments.
  [[nodiscard]] bool is_segment(std::size_t index) const;

  const Desk* desk_;
  std::string folder_;
  std::vector<std::uint64_t> snapshots_;
  std::vector<SegmentFile> segments_;
  std::uint64_t bytes_;
  std::optional<Progress> progress_;
  std::optional<std::size_t> segment_;
  std::uint64_t offset_ = 0;
  std::uint64_t next_offset_ = kSegmentHeaderBytes;
  bool is_stopped_ = false;
  bool was_refused_ = false;
};

// A path without slashes at its end, so that its folder is the one above.
std::string without_slashes(std::string path);

// Notes a torn end or a server at work on `err`; fails on a damaged end.
Result<Done> expect_sound(const Desk& desk, const std::string& folder, const Reading& reading);

}  // namespace tenure::cli
