#include <algorithm>
#include <memory>

#include "cli/journal_commands.h"
#include "cli/journal_copy.h"
#include "cli/journal_replay.h"
#include "cli/journal_text.h"
#include "journal/file_names.h"

namespace tenure::cli {
namespace {

// The first place from which on the journal is no good, and what lies behind it.
struct Damage {
  std::string why;
  std::uint64_t next = 0;                   // the first frame that is lost
  std::optional<JournalEnd> cut;            // where in a segment; none: whole segments only
  std::vector<SegmentFile> whole_segments;  // behind that, to be put aside
  std::uint64_t frames_max = 0;             // valid frames behind the place: at most this number goes with it
  std::uint64_t last = 0;                   // the highest of their numbers
  std::uint64_t bytes = 0;
};

struct Survey {
  Replay replay;
  std::optional<Damage> damage;
  std::uint64_t segment_bytes = 0;
};

// --- looking ---

// Counts the frames that are valid in themselves from an offset on.
Result<Done> count_frames(Files& files, const std::string& path, std::uint64_t offset, Damage& damage) {
  auto reader = SegmentReader::open(files, path);
  if (!reader) return Done{};  // not even a segment: its frames are not known
  (*reader)->skip_bytes(offset - kSegmentHeaderBytes);
  while (true) {
    const auto nonzero = (*reader)->find_nonzero();
    if (!nonzero) return tl::unexpected(nonzero.error());
    if (!nonzero->has_value()) return Done{};
    (*reader)->skip_bytes(**nonzero / kFrameAlign * kFrameAlign - (*reader)->offset());
    const auto frame = (*reader)->peek();
    if (!frame) return tl::unexpected(frame.error());
    if (frame->has_value()) {
      ++damage.frames_max;
      damage.last = std::max(damage.last, (*frame)->header.sequence);
    }
    (*reader)->skip_bytes(frame->has_value() ? (*frame)->bytes() : kFrameAlign);
  }
}

Result<Done> weigh(Files& files, const JournalReader& reader, std::size_t first_whole, Damage& damage) {
  for (std::size_t i = first_whole; i < reader.segments().size(); ++i) {
    damage.whole_segments.push_back(reader.segments()[i]);
    damage.bytes += files.size_of(reader.segments()[i].path).value_or(0);
    if (auto counted = count_frames(files, reader.segments()[i].path, kSegmentHeaderBytes, damage); !counted) {
      return counted;
    }
  }
  if (!damage.cut) return Done{};
  damage.bytes += damage.cut->tail_bytes;
  return count_frames(files, damage.cut->path, damage.cut->offset, damage);
}

// A frame whose bytes are right and which cannot be replayed.
JournalEnd cut_before_frame(const JournalReader& reader, std::uint64_t sequence, std::uint64_t segment_bytes) {
  JournalEnd cut;
  cut.path = reader.path();
  cut.offset = reader.offset();
  cut.next = sequence;
  cut.tail_bytes = segment_bytes - reader.offset();
  return cut;
}

std::size_t index_of(const JournalReader& reader, const std::string& path) {
  std::size_t i = 0;
  while (reader.segments()[i].path != path) ++i;
  return i;
}

// Reads and replays all; what stops it, but for a disk that cannot be read, is the damage.
Result<Done> look(const Desk& desk, JournalReader& reader, Survey& survey) {
  Replay& replay = survey.replay;
  const auto replayed = replay_journal(reader, replay);
  const JournalEnd& end = replay.reading.end;
  if (replayed && end.tail != Tail::kDamaged) {
    survey.segment_bytes = end.segment.bytes;
    return Done{};
  }
  if (!replayed && (replayed.error().code != ErrorCode::kInvalid || !reader.segment())) return replayed;
  Damage damage;
  std::size_t first_whole = 0;
  if (replayed) {
    damage.why = end.why;
    damage.cut = end;
    damage.next = end.next;
    first_whole = index_of(reader, end.path) + 1;
  } else {
    const auto bytes = desk.files.size_of(reader.path());
    if (!bytes) return tl::unexpected(bytes.error());
    damage.why = replayed.error().message;
    damage.next = replay.last + 1;
    if (reader.was_refused()) damage.cut = cut_before_frame(reader, damage.next, *bytes);
    first_whole = *reader.segment() + 1;
  }
  survey.segment_bytes = desk.files.size_of(reader.segments().front().path).value_or(kSegmentHeaderBytes);
  auto weighed = weigh(desk.files, reader, first_whole, damage);
  survey.damage = std::move(damage);
  return weighed;
}

// --- telling ---

void tell_damage(std::ostream& out, const Survey& survey, std::string_view kept, std::string_view lost) {
  const Damage& damage = *survey.damage;
  const Replay& replay = survey.replay;
  out << fmt::format("damage    {}\n", damage.why);
  out << fmt::format("{:<10}{} frames up to {}, {} records", kept, replay.frames, damage.next - 1, replay.records);
  if (replay.frames > 0) out << fmt::format(", the last stamped {}", iso_time(replay.state.last_stamp()));
  out << fmt::format("\n{:<10}everything from frame {} on: {} bytes", lost, damage.next, damage.bytes);
  if (damage.frames_max > 0) {
    out << fmt::format(", {} frames of which can be read, up to {}", damage.frames_max, damage.last);
  }
  out << fmt::format(", {} whole segments\n", damage.whole_segments.size());
}

void tell_healthy(const Desk& desk, const std::string& folder, const Survey& survey) {
  desk.out << fmt::format("{}: healthy, {} frames; nothing was changed\n", folder, survey.replay.frames);
}

// --- cutting ---

Result<std::string> put_aside(Files& files, const std::string& folder, const SegmentFile& segment) {
  std::string path = path_of(folder, numbered_name(segment.first, kLostSuffix));
  for (int i = 2; files.exists(path); ++i) {
    path = path_of(folder, numbered_name(segment.first, fmt::format("-{}{}", i, kLostSuffix)));
  }
  if (auto renamed = files.rename(segment.path, path); !renamed) return tl::unexpected(renamed.error());
  return path;
}

Result<Done> cut(const Desk& desk, const std::string& folder, const Damage& damage) {
  // From the end: whatever a crash leaves is damaged at the same place.
  for (auto segment = damage.whole_segments.rbegin(); segment != damage.whole_segments.rend(); ++segment) {
    const auto path = put_aside(desk.files, folder, *segment);
    if (!path) return tl::unexpected(path.error());
    desk.out << fmt::format("aside     {}\n", *path);
  }
  if (auto synced = desk.files.sync_folder(folder); !synced) return synced;
  if (!damage.cut) return Done{};
  const auto copy = cut_tail(desk.files, folder, *damage.cut);
  if (!copy) return tl::unexpected(copy.error());
  desk.out << fmt::format("aside     {}\n", *copy);
  return Done{};
}

Result<Done> cut_locked(const Desk& desk, const std::string& folder, std::unique_ptr<Survey>& survey) {
  const auto lock = desk.files.lock(path_of(folder, kLockName));
  if (!lock) {
    return fail_with(lock.error().code, "{}. Nothing was changed. Stop the server that uses the folder first",
                     lock.error().message);
  }
  // Again, now that nobody else can change it.
  survey = std::make_unique<Survey>();
  auto reader = JournalReader::open(desk, folder);
  if (!reader) return tl::unexpected(reader.error());
  auto done = look(desk, *reader, *survey);
  if (done) done = mark(desk.files, folder, kUnfinishedRepairName);
  if (!done || !survey->damage) return done;
  tell_damage(desk.out, *survey, "kept", "lost");
  return cut(desk, folder, *survey->damage);
}

}  // namespace

Result<Done> repair_journal(const Desk& desk, const RepairOptions& options) {
  auto reader = JournalReader::open(desk, without_slashes(options.folder));
  if (!reader) return tl::unexpected(reader.error());
  const std::string& folder = reader->folder();
  const bool is_unfinished = desk.files.exists(path_of(folder, kUnfinishedRepairName));
  auto survey = std::make_unique<Survey>();
  if (auto looked = look(desk, *reader, *survey); !looked) return looked;
  if (!survey->damage && !is_unfinished) {
    tell_healthy(desk, folder, *survey);
    return expect_sound(desk, folder, survey->replay.reading);
  }
  if (!options.accept_loss) {
    if (survey->damage) tell_damage(desk.out, *survey, "would keep", "would lose");
    return fail_with(ErrorCode::kInvalid,
                     "{}: {}. Nothing was changed. Restore a backup if there is one; to go on without what is lost: "
                     "tenure journal repair --accept-loss {}",
                     folder, survey->damage ? "the journal is damaged" : "an earlier repair did not end", folder);
  }
  if (auto done = cut_locked(desk, folder, survey); !done) return done;
  const auto fence = raise_fence_in(desk, folder, survey->segment_bytes);
  if (!fence) return tl::unexpected(fence.error());
  if (auto finished = unmark(desk.files, folder, kUnfinishedRepairName); !finished) return finished;
  desk.out << fmt::format("fence     was {}, is now {}: above all that was granted and is lost\n",
                          survey->replay.state.fence().value, fence->value);
  desk.out << fmt::format("{}: repaired; a server can start on it\n", folder);
  return Done{};
}

}  // namespace tenure::cli
