#include "cli/journal_reader.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "journal/file_names.h"
#include "journal/file_snapshots.h"
#include "journal/snapshot_file.h"

namespace tenure::cli {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr Millis kTellEvery{1000};
// How often a bad end is looked at while a server goes on writing behind it.
constexpr int kLooksMax = 20;

// A header whose checksum is right and which still cannot be decoded is of another version: no damage, but a folder
// that this program must not touch.
Result<Done> refuse_other_versions(Files& files, const std::vector<SegmentFile>& segments) {
  for (const SegmentFile& segment : segments) {
    const auto file = files.open(segment.path, Files::Mode::kRead);
    if (!file) return tl::unexpected(file.error());
    std::string header(kSegmentHeaderBytes, '\0');
    const auto read = (*file)->read_at(0, absl::MakeSpan(header));
    if (!read) return tl::unexpected(read.error());
    if (*read < kSegmentHeaderBytes) continue;
    const std::size_t checked = kSegmentHeaderBytes - 8;
    if (ByteReader(header.substr(checked)).fixed64() != hash64(std::string_view(header).substr(0, checked))) continue;
    const auto decoded = SegmentHeader::decode(header, segment.path);
    if (!decoded) return tl::unexpected(decoded.error());
  }
  return Done{};
}

Result<Done> refuse_no_journal(Files& files, const std::string& folder, const std::vector<SegmentFile>& segments) {
  if (files.exists(path_of(folder, kUnfinishedCopyName))) {
    return fail_with(ErrorCode::kInvalid,
                     "{}: expected a finished copy, found {}: a backup or restore into it did not end. Remove the "
                     "folder and do it again",
                     folder, kUnfinishedCopyName);
  }
  if (segments.empty()) {
    return fail_with(
        ErrorCode::kInvalid,
        "{}: expected a journal, found no segment (*{}). Give the data folder of an authority, or a backup "
        "of one",
        folder, kSegmentSuffix);
  }
  return Done{};
}

}  // namespace

// --- progress ---

Progress::Progress(const Desk& desk, std::string what, std::uint64_t total_bytes)
    : desk_(desk), what_(std::move(what)), total_bytes_(total_bytes), told_at_(desk.clock.boot()) {}

void Progress::add(std::uint64_t bytes) {
  bytes_ += bytes;
  if (bytes_ - asked_at_bytes_ < kMiB) return;
  asked_at_bytes_ = bytes_;
  const Millis now = desk_.clock.boot();
  if (now - told_at_ < kTellEvery) return;
  told_at_ = now;
  desk_.err << fmt::format("{}: {} of at most {} MiB\n", what_, bytes_ / kMiB, (total_bytes_ + kMiB - 1) / kMiB)
            << std::flush;
}

// --- the reader ---

JournalReader::JournalReader(const Desk& desk, std::string folder, std::vector<std::uint64_t> snapshots,
                             std::vector<SegmentFile> segments, std::uint64_t bytes)
    : desk_(&desk),
      folder_(std::move(folder)),
      snapshots_(std::move(snapshots)),
      segments_(std::move(segments)),
      bytes_(bytes) {}

Result<JournalReader> JournalReader::open(const Desk& desk, const std::string& folder) {
  if (!desk.files.exists(folder)) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a data folder, found nothing. Is the path right?", folder);
  }
  // Before the frames are looked at: a server may make another, of frames that come later.
  auto snapshots = find_snapshots(desk.files, folder);
  if (!snapshots) return tl::unexpected(snapshots.error());
  auto segments = find_segments(desk.files, folder);
  if (!segments) return tl::unexpected(segments.error());
  auto sound = refuse_no_journal(desk.files, folder, *segments);
  if (sound) sound = refuse_other_versions(desk.files, *segments);
  if (!sound) return tl::unexpected(sound.error());
  std::uint64_t bytes = 0;
  for (const SegmentFile& segment : *segments) bytes += desk.files.size_of(segment.path).value_or(0);
  return JournalReader(desk, folder, std::move(*snapshots), std::move(*segments), bytes);
}

Result<std::uint64_t> JournalReader::find_base() const {
  if (first() == 1) return 0;
  const FileSnapshots snapshots(desk_->files, folder_, 0);
  std::vector<std::string> bad;
  for (auto sequence = snapshots_.rbegin(); sequence != snapshots_.rend(); ++sequence) {
    const auto snapshot = snapshots.open(*sequence);
    const auto good = snapshot ? (*snapshot)->verify() : tl::unexpected(snapshot.error());
    if (good) return *sequence;
    bad.push_back(good.error().message);
  }
  return refuse_without_base(bad);
}

tl::unexpected<Failure> JournalReader::refuse_without_base(const std::vector<std::string>& bad_snapshots) const {
  return fail_with(
      ErrorCode::kInvalid,
      "{}: expected the segment with frame 1 or a good snapshot, found that the first begins with {} and no "
      "snapshot that is good; frames before it are missing{}{}",
      folder_, first(), bad_snapshots.empty() ? "" : "; ", fmt::join(bad_snapshots, "; "));
}

std::optional<SnapshotMark> JournalReader::mark_of(std::uint64_t base) const {
  return FileSnapshots(desk_->files, folder_, 0).mark_of(base);
}

Result<JournalEnd> JournalReader::place_of(std::uint64_t sequence, std::uint64_t base) const {
  const auto see_nothing = [](const Frame&) -> Result<Done> { return Done{}; };
  return walk(desk_->files, folder_, {.after = sequence - 1, .upto = sequence - 1}, see_nothing, mark_of(base));
}

Result<Reading> JournalReader::read(std::uint64_t after, Journal::Visit visit) {
  return read(after, std::nullopt, visit);
}

Result<Reading> JournalReader::read_behind_snapshot(std::uint64_t base, Journal::Visit visit) {
  return read(base, mark_of(base), visit);
}

Result<Reading> JournalReader::read(std::uint64_t after, const std::optional<SnapshotMark>& mark,
                                    Journal::Visit visit) {
  progress_.emplace(*desk_, fmt::format("reading {}", folder_), bytes_);
  Reading reading;
  for (int look = 1;; ++look) {
    auto end =
        walk(desk_->files, folder_, {.after = after}, [&](const Frame& frame) { return see(frame, visit); }, mark);
    // A server may have begun others.
    if (auto segments = find_segments(desk_->files, folder_)) take_new(*segments);
    if (is_stopped_) return reading;
    if (!end) return tl::unexpected(end.error());
    const bool has_grown = look > 1 && end->frames > 0;
    reading.is_written_to = reading.is_written_to || has_grown;
    reading.end = std::move(*end);
    compare_with_snapshots(desk_->files, folder_, snapshots_, reading.end);
    // Beside a server an end may look bad while it is being written. It is bad if it is so again, and nothing was
    // added.
    if (reading.end.tail == Tail::kClean || (look > 1 && !has_grown)) return reading;
    if (look == kLooksMax) break;
    after = reading.end.next - 1;
  }
  reading.end.tail = Tail::kTorn;  // no more than unfinished: all its earlier ends were
  return reading;
}

// Those it had stay, though the server may have dropped them: whoever wants them will notice.
void JournalReader::take_new(const std::vector<SegmentFile>& segments) {
  for (const SegmentFile& segment : segments) {
    if (segment.first > segments_.back().first) segments_.push_back(segment);
  }
}

Result<Done> JournalReader::stop() {
  is_stopped_ = true;
  return fail_with(ErrorCode::kInvalid, "stopped");
}

Result<Done> JournalReader::see(const Frame& frame, Journal::Visit visit) {
  enter_segment_of(frame);
  const std::uint64_t bytes = frame_bytes(frame.payload.size());
  offset_ = next_offset_;
  next_offset_ += bytes;
  progress_->add(bytes);
  auto visited = visit(frame);
  was_refused_ = !visited;
  return visited;
}

void JournalReader::enter_segment_of(const Frame& frame) {
  std::size_t next = segment_ ? *segment_ + 1 : 0;
  for (; next < segments_.size() && segments_[next].first <= frame.sequence; ++next) {
    if (!is_segment(next)) continue;
    segment_ = next;
    next_offset_ = kSegmentHeaderBytes;
  }
}

bool JournalReader::is_segment(std::size_t index) const {
  const auto reader = SegmentReader::open(desk_->files, segments_[index].path);
  return reader && (*reader)->header().first == segments_[index].first;
}

tl::unexpected<Failure> JournalReader::advised(const Failure& failure) const {
  if (failure.code != ErrorCode::kInvalid) return tl::unexpected(failure);
  const auto segments = find_segments(desk_->files, folder_);
  if (segments && !segments->empty() && segments->front().first > first()) {
    return fail_with(
        ErrorCode::kUnavailable,
        "{}: a server has made a snapshot and removed the frames before {} while they were read. Try again", folder_,
        segments->front().first);
  }
  return fail_with(failure.code,
                   "{}. Nothing was changed. Restore a backup, or keep what can be kept: tenure journal repair "
                   "--accept-loss {} (without --accept-loss it only looks)",
                   failure.message, folder_);
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<Done> expect_sound(const Desk& desk, const std::string& folder, const Reading& reading) {
  const JournalEnd& end = reading.end;
  if (end.tail == Tail::kDamaged) return refuse_damage(folder, end);
  if (reading.is_written_to) {
    desk.err << fmt::format("note: a server is writing to {}; read up to frame {}\n", folder, end.next - 1);
  } else if (end.tail == Tail::kTorn) {
    desk.err << fmt::format(
        "note: the last batch is not whole, and nobody was told that it is durable: {}. The next start cuts it off\n",
        end.why);
  }
  return Done{};
}

}  // namespace tenure::cli
