#include "journal/file_snapshots.h"

#include <algorithm>

#include "journal/snapshot_file.h"

namespace tenure {
namespace {

Result<Done> see_nothing(const Frame& /*frame*/) { return Done{}; }

}  // namespace

Result<std::vector<std::uint64_t>> FileSnapshots::list() const { return find_snapshots(files_, folder_); }

Result<JournalEnd> FileSnapshots::place_behind(std::uint64_t sequence, const std::optional<SnapshotMark>& mark) const {
  auto place = walk(files_, folder_, {.after = sequence, .upto = sequence}, see_nothing, mark);
  if (place && place->next != sequence + 1) {
    return fail_with(ErrorCode::kInvalid, "{}: expected frame {}, found that the journal ends with frame {}", folder_,
                     sequence, place->next - 1);
  }
  return place;
}

Result<std::unique_ptr<Snapshot>> FileSnapshots::open(std::uint64_t sequence) const {
  const std::string path = snapshot_path(folder_, sequence);
  auto reader = SnapshotReader::open(files_, path);
  if (!reader) return tl::unexpected(reader.error());
  const SnapshotMark& mark = (*reader)->mark();
  if (mark.sequence != sequence) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a snapshot of frame {}, as its name says, found one of {}",
                     path, sequence, mark.sequence);
  }
  const auto place = place_behind(sequence, mark);
  if (!place) return tl::unexpected(place.error());
  if (place->segment.journal != mark.journal || place->chain != mark.chain) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a snapshot of journal {} after its frame {}, found another",
                     path, place->segment.journal.text(), sequence);
  }
  return std::move(*reader);
}

Result<std::unique_ptr<SnapshotDraft>> FileSnapshots::begin(std::uint64_t sequence) {
  if (auto room = expect_room(); !room) return tl::unexpected(room.error());
  const auto place = place_behind(sequence, std::nullopt);
  if (!place) return tl::unexpected(place.error());
  auto writer = SnapshotWriter::create(
      files_, folder_, {.journal = place->segment.journal, .sequence = sequence, .chain = place->chain});
  if (!writer) return tl::unexpected(writer.error());
  return std::move(*writer);
}

// From the oldest on, and each for good before the next: a crash leaves no gap.
Result<Done> FileSnapshots::drop_before(std::uint64_t sequence) {
  auto snapshots = list();
  if (!snapshots) return tl::unexpected(snapshots.error());
  std::reverse(snapshots->begin(), snapshots->end());
  for (const std::uint64_t older : *snapshots) {
    if (older >= sequence) break;
    if (auto removed = remove(snapshot_path(folder_, older)); !removed) return removed;
  }
  const auto segments = find_segments(files_, folder_);
  if (!segments) return tl::unexpected(segments.error());
  for (std::size_t i = 0; i + 1 < segments->size() && (*segments)[i + 1].first <= sequence + 1; ++i) {
    if (auto removed = remove((*segments)[i].path); !removed) return removed;
  }
  return Done{};
}

Result<Done> FileSnapshots::remove(const std::string& path) {
  if (auto removed = files_.remove(path); !removed) return removed;
  return files_.sync_folder(folder_);
}

Result<FileSnapshots::Growth> FileSnapshots::growth() const {
  Growth growth;
  const auto snapshots = list();
  if (!snapshots) return tl::unexpected(snapshots.error());
  const std::uint64_t newest = snapshots->empty() ? 0 : snapshots->front();
  if (newest > 0) {
    const auto size = files_.size_of(snapshot_path(folder_, newest));
    if (!size) return tl::unexpected(size.error());
    growth.newest_bytes = *size;
  }
  const auto segments = find_segments(files_, folder_);
  if (!segments) return tl::unexpected(segments.error());
  for (std::size_t i = 0; i + 1 < segments->size(); ++i) {
    if ((*segments)[i + 1].first <= newest + 1) continue;
    const auto size = files_.size_of((*segments)[i].path);
    if (!size) return tl::unexpected(size.error());
    growth.since_bytes += *size;
  }
  return growth;
}

Result<bool> FileSnapshots::is_due() const {
  const auto grown = growth();
  if (!grown) return tl::unexpected(grown.error());
  return grown->since_bytes >= std::max(due_bytes_, grown->newest_bytes);
}

// One that filled the disk would, while it lasted, take the room that the journal needs.
Result<Done> FileSnapshots::expect_room() const {
  const auto grown = growth();
  if (!grown) return tl::unexpected(grown.error());
  const std::uint64_t needed = grown->newest_bytes + grown->since_bytes;
  const auto room = files_.free_space(folder_);
  if (!room || *room >= needed) return Done{};
  return fail_with(ErrorCode::kUnavailable, "{}: expected {} bytes free, which a snapshot may take, found {}", folder_,
                   needed, *room);
}

std::optional<SnapshotMark> FileSnapshots::mark_of(std::uint64_t sequence) const {
  const std::string path = snapshot_path(folder_, sequence);
  if (sequence == 0 || !files_.exists(path)) return std::nullopt;
  const auto reader = SnapshotReader::open(files_, path);
  if (!reader || (*reader)->mark().sequence != sequence) return std::nullopt;
  return (*reader)->mark();
}

void FileSnapshots::on_growth(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

void FileSnapshots::grown() {
  const MutexLock lock(mutex_);
  if (wake_) wake_();
}

void compare_with_snapshots(Files& files, const std::string& folder, const std::vector<std::uint64_t>& snapshots,
                            JournalEnd& end) {
  for (const std::uint64_t sequence : snapshots) {
    if (sequence < end.next || end.tail == Tail::kDamaged) continue;
    const std::string path = snapshot_path(folder, sequence);
    const auto reader = SnapshotReader::open(files, path);
    // A damaged one proves nothing, nor does one under a name that is not its own.
    if (!reader || (*reader)->mark().journal != end.segment.journal || (*reader)->mark().sequence != sequence) continue;
    end.tail = Tail::kDamaged;
    end.why = fmt::format("{}, offset {}: expected frame {}, as there is a snapshot of frame {} ({}), found the end",
                          end.path, end.offset, end.next, sequence, path);
    return;
  }
}

}  // namespace tenure
