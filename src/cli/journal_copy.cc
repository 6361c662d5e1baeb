#include "cli/journal_copy.h"

#include <algorithm>
#include <limits>

#include "authority/engine.h"
#include "cli/journal_commands.h"
#include "cli/journal_replay.h"
#include "cli/journal_text.h"
#include "journal/file_journal.h"
#include "journal/file_names.h"
#include "journal/file_snapshots.h"
#include "journal/snapshot_file.h"

namespace tenure::cli {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

// The copy is as long as the original; behind the first `used` bytes it is zero.
Result<Done> copy_file(Files& files, const std::string& from, const std::string& to, std::uint64_t used,
                       Progress& progress) {
  const auto source = files.open(from, Files::Mode::kRead);
  if (!source) return tl::unexpected(source.error());
  const auto size = (*source)->size();
  if (!size) return tl::unexpected(size.error());
  const auto copy = files.open(to, Files::Mode::kCreate);
  if (!copy) return tl::unexpected(copy.error());
  std::string piece;
  for (std::uint64_t at = 0; at < *size; at += kPieceBytes) {
    piece.assign(std::min(kPieceBytes, *size - at), '\0');
    if (at < used) {
      const auto read =
          (*source)->read_at(at, absl::MakeSpan(piece).subspan(0, std::min<std::size_t>(piece.size(), used - at)));
      if (!read) return tl::unexpected(read.error());
    }
    if (auto written = (*copy)->write_at(at, piece); !written) return written;
    progress.add(piece.size());
  }
  return (*copy)->sync();
}

// The last frame's checksum chains all before it: if it is the same, everything is.
Result<Done> check_copy(const Desk& desk, const JournalReader& reader, std::uint64_t base, const JournalEnd& end,
                        const std::string& to) {
  Progress progress(desk, fmt::format("checking {}", to), reader.bytes());
  const auto see = [&](const Frame& frame) -> Result<Done> {
    progress.add(frame_bytes(frame.payload.size()));
    return Done{};
  };
  const std::uint64_t after = base == 0 ? reader.first() - 1 : base;
  const auto copied = walk(desk.files, to, {.after = after}, see, FileSnapshots(desk.files, to, 0).mark_of(base));
  if (!copied) return tl::unexpected(copied.error());
  if (copied->tail == Tail::kClean && copied->next == end.next && copied->chain == end.chain) return Done{};
  return fail_with(ErrorCode::kUnavailable, "{}: expected the copy to end with frame {}, found {}{}; look at its disk",
                   to, end.next - 1, copied->next - 1, copied->why.empty() ? "" : ": " + copied->why);
}

Result<Done> sync_source(Files& files, const std::string& path) {
  const auto file = files.open(path, Files::Mode::kRead);
  if (!file) return tl::unexpected(file.error());
  return (*file)->sync();
}

void print_copy(const Desk& desk, const Replay* replay, const JournalReader& reader, const JournalEnd& end,
                std::uint64_t snapshots, const std::string& to) {
  desk.out << fmt::format("{}: journal {}, frames {} to {}, {} segments, {} bytes", to, end.segment.journal.text(),
                          reader.first(), end.next - 1, reader.segments().size(), reader.bytes());
  if (snapshots > 0) desk.out << fmt::format(", {} snapshots", snapshots);
  if (replay != nullptr) desk.out << fmt::format(", {} records", replay->records);
  desk.out << fmt::format(", last stamp {}\n", iso_time(end.last_stamp));
}

}  // namespace

Result<Done> expect_new_folder(Files& files, const std::string& folder) {
  if (!files.exists(folder)) return Done{};
  const auto names = files.list(folder);
  if (!names) return tl::unexpected(names.error());
  if (names->empty()) return Done{};
  return fail_with(ErrorCode::kInvalid,
                   "{}: expected an empty folder or none, found '{}' in it. Nothing was changed. Give another folder",
                   folder, names->front());
}

Result<Done> make_new_folder(Files& files, const std::string& folder) {
  if (files.exists(folder)) return Done{};
  auto made = files.make_folder(folder);
  if (made) made = files.sync_folder(folder_of(folder));
  return made;
}

Result<Done> mark(Files& files, const std::string& folder, std::string_view name) {
  const std::string path = path_of(folder, name);
  if (files.exists(path)) return Done{};
  const auto file = files.open(path, Files::Mode::kCreate);
  if (!file) return tl::unexpected(file.error());
  auto done = (*file)->sync();
  if (done) done = files.sync_folder(folder);
  return done;
}

Result<Done> unmark(Files& files, const std::string& folder, std::string_view name) {
  auto done = files.remove(path_of(folder, name));
  if (done) done = files.sync_folder(folder);
  return done;
}

namespace {

Result<Done> copy_segments(const Desk& desk, const JournalReader& reader, std::uint64_t base, const JournalEnd& end,
                           const std::string& to) {
  Progress progress(desk, fmt::format("copying to {}", to), reader.bytes());
  const auto& segments = reader.segments();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentFile& segment = segments[i];
    if (i + 1 < segments.size() && segments[i + 1].first <= base + 1) continue;
    // A server may have begun another segment since.
    if (segment.first > end.segment.first) break;
    const bool is_last = segment.first == end.segment.first;
    auto done = copy_file(desk.files, segment.path, path_of(to, numbered_name(segment.first, kSegmentSuffix)),
                          is_last ? end.offset : std::numeric_limits<std::uint64_t>::max(), progress);
    if (!done) return done;
  }
  return desk.files.sync_folder(to);
}

// Those that are good; replay begins with one of them, or with the first frame. Answers how many.
Result<std::uint64_t> copy_snapshots(const Desk& desk, const JournalReader& reader, std::uint64_t base,
                                     const std::string& to) {
  const FileSnapshots snapshots(desk.files, reader.folder(), 0);
  std::uint64_t copies = 0;
  for (const std::uint64_t sequence : reader.snapshots()) {
    if (sequence < base) break;
    const std::string path = snapshot_path(reader.folder(), sequence);
    auto source = snapshots.open(sequence);
    const auto good = source ? (*source)->verify() : tl::unexpected(source.error());
    const auto bytes = desk.files.size_of(path);
    if (!good) {
      desk.err << fmt::format("note: a damaged snapshot is not copied: {}\n", good.error().message);
      continue;
    }
    if (!bytes) return tl::unexpected(bytes.error());
    Progress progress(desk, fmt::format("copying {}", path), *bytes);
    const std::string copy = snapshot_path(to, sequence);
    auto done = copy_file(desk.files, path, copy, *bytes, progress);
    if (!done) return tl::unexpected(done.error());
    const auto copied = SnapshotReader::open(desk.files, copy);
    done = copied ? (*copied)->verify() : tl::unexpected(copied.error());
    if (!done) return tl::unexpected(done.error());
    ++copies;
  }
  if (copies == 0 && reader.first() != 1) {
    return fail_with(ErrorCode::kUnavailable,
                     "{}: expected a snapshot to copy, found that a server has replaced them all", reader.folder());
  }
  if (auto synced = desk.files.sync_folder(to); !synced) return tl::unexpected(synced.error());
  return copies;
}

}  // namespace

Result<std::uint64_t> copy_journal(const Desk& desk, const JournalReader& reader, std::uint64_t base,
                                   const JournalEnd& end, const std::string& to) {
  if (auto made = make_new_folder(desk.files, to); !made) return tl::unexpected(made.error());
  Result<std::uint64_t> snapshots = 0;
  auto done = mark(desk.files, to, kUnfinishedCopyName);
  if (done) done = copy_segments(desk, reader, base, end, to);
  if (done) snapshots = copy_snapshots(desk, reader, base, to);
  if (done && !snapshots) done = tl::unexpected(snapshots.error());
  if (done) done = check_copy(desk, reader, base, end, to);
  if (!done) {
    return fail_with(done.error().code, "{}. The copy in {} is not finished and not usable: remove it, and try again",
                     done.error().message, to);
  }
  return snapshots;
}

Result<Fence> raise_fence_in(const Desk& desk, const std::string& folder, std::uint64_t segment_bytes) {
  Millis told = desk.clock.boot();
  const auto tell = [&](std::uint64_t frames) {
    if (desk.clock.boot() - told < std::chrono::seconds(1)) return;
    told = desk.clock.boot();
    desk.err << fmt::format("replaying {}: {} frames so far\n", folder, frames) << std::flush;
  };
  auto journal = FileJournal::open(desk.files, folder, desk.entropy,
                                   {.segment_bytes = segment_bytes,
                                    .threads = FileJournal::Threads::kNone,
                                    .on_progress = tell,
                                    .may_be_unfinished = true});
  if (!journal) return tl::unexpected(journal.error());
  auto engine = Engine::start({}, {desk.clock, desk.entropy, **journal});
  if (!engine) return tl::unexpected(engine.error());
  (*engine)->raise_fence();
  (*engine)->take_digest();
  if (auto closed = (*journal)->close(); !closed) return tl::unexpected(closed.error());
  return (*engine)->inspect([](const State& state) { return state.fence(); });
}

namespace {

// What a backup is made of: all of the journal; or, if it is damaged before what a start needs, that.
struct Source {
  std::uint64_t base = 0;
  Reading reading;
};

Result<Source> read_source(const Desk& desk, JournalReader& reader) {
  const auto see_nothing = [](const Frame&) -> Result<Done> { return Done{}; };
  auto reading = reader.read(reader.first() - 1, see_nothing);
  const auto sound = reading ? expect_sound(desk, reader.folder(), *reading) : reader.advised(reading.error());
  if (sound) return Source{.reading = std::move(*reading)};
  const FileSnapshots snapshots(desk.files, reader.folder(), 0);
  for (const std::uint64_t base : reader.snapshots()) {
    const auto snapshot = snapshots.open(base);
    if (!snapshot || !(*snapshot)->verify()) continue;
    auto rest = reader.read_behind_snapshot(base, see_nothing);
    if (!rest || !expect_sound(desk, reader.folder(), *rest)) break;
    desk.err << fmt::format(
        "note: only what a start needs is copied, the snapshot of frame {} and what is behind it, "
        "as there is damage before it: {}\n",
        base, sound.error().message);
    return Source{base, std::move(*rest)};
  }
  return tl::unexpected(sound.error());
}

}  // namespace

Result<Done> backup_journal(const Desk& desk, const BackupOptions& options) {
  const std::string to = without_slashes(options.to);
  auto reader = JournalReader::open(desk, without_slashes(options.folder));
  if (!reader) return tl::unexpected(reader.error());
  if (auto is_new = expect_new_folder(desk.files, to); !is_new) return is_new;
  if (auto base = reader->find_base(); !base) return reader->advised(base.error());
  const auto source = read_source(desk, *reader);
  if (!source) return tl::unexpected(source.error());
  const JournalEnd& end = source->reading.end;
  // What was read is durable from here on: a backup is never ahead of what it backs up.
  auto done = sync_source(desk.files, end.path);
  if (!done) return done;
  const auto snapshots = copy_journal(desk, *reader, source->base, end, to);
  if (!snapshots) return tl::unexpected(snapshots.error());
  done = unmark(desk.files, to, kUnfinishedCopyName);
  if (done) print_copy(desk, nullptr, *reader, end, *snapshots, to);
  return done;
}

Result<Done> restore_journal(const Desk& desk, const RestoreOptions& options) {
  const std::string folder = without_slashes(options.folder);
  auto reader = JournalReader::open(desk, without_slashes(options.from));
  if (!reader) return tl::unexpected(reader.error());
  if (auto is_new = expect_new_folder(desk.files, folder); !is_new) return is_new;
  // What a start needs: the rest of a backup may be damaged.
  Replay replay;
  const auto replayed = replay_journal(*reader, Part::kForStart, replay);
  if (!replayed) return reader->advised(replayed.error());
  if (auto sound = expect_sound(desk, reader->folder(), replay.reading); !sound) return sound;
  const JournalEnd& end = replay.reading.end;
  const auto snapshots = copy_journal(desk, *reader, replay.base, end, folder);
  if (!snapshots) return tl::unexpected(snapshots.error());
  const auto fence = raise_fence_in(desk, folder, end.segment.bytes);
  if (!fence) return tl::unexpected(fence.error());
  if (auto finished = unmark(desk.files, folder, kUnfinishedCopyName); !finished) return finished;
  print_copy(desk, &replay, *reader, end, *snapshots, folder);
  desk.out << fmt::format("the fence was {} and is now {}: above all that was granted since the backup\n",
                          replay.state->fence().value, fence->value);
  return Done{};
}

}  // namespace tenure::cli
