// How a repair goes, so that a crash at any moment leaves a folder that is refused, and can be repaired again:
//
//   look         what is wrong, as if segments of a wrong size had their right one; nothing is changed
//   lock, mark   UNFINISHED-REPAIR keeps servers away, also after a crash
//   right sizes  a copy of each such segment is kept
//   put aside    whole segments and snapshots behind the bad place are renamed, from the end
//   begin anew   if a snapshot holds more than the frames that are left, all of them went aside: a segment behind it
//   cut          what is behind the bad place in its segment is copied, and overwritten with zeros
//   raise        the fence, above all that was granted and is lost
//   unmark
#include <algorithm>
#include <memory>

#include "authority/snapshots.h"
#include "cli/journal_commands.h"
#include "cli/journal_copy.h"
#include "cli/journal_replay.h"
#include "cli/journal_text.h"
#include "cli/right_sized_files.h"
#include "journal/file_journal.h"
#include "journal/file_names.h"
#include "journal/snapshot_file.h"
#include "journal/spare_segment.h"

namespace tenure::cli {
namespace {

// The first place from which on the journal is no good, and what lies behind it.
struct Damage {
  std::string why;
  std::uint64_t next = 0;                     // the first frame that is lost
  std::optional<JournalEnd> cut{};            // where in a segment; none: whole segments only
  std::vector<SegmentFile> whole_segments{};  // behind that
  std::uint64_t readable = 0;                 // frames behind the place that are valid in themselves
  std::uint64_t last = 0;                     // the highest of their numbers
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> snapshots{};  // of frames that are lost, newest first
  bool is_stray = false;                   // no frame is lost: files that do not belong there lie among the segments
  std::optional<SnapshotMark> anew{};      // what is kept is in this snapshot alone
};

struct Survey {
  std::vector<WrongSize> wrong_sizes;
  Replay replay;
  std::optional<Damage> damage;
  std::uint64_t segment_bytes = 0;

  [[nodiscard]] bool is_healthy() const { return wrong_sizes.empty() && !damage; }
};

// --- looking ---

// Counts the frames that are valid in themselves from an offset on.
Result<Done> count_readable(Files& files, const std::string& path, std::uint64_t offset, Damage& damage) {
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
    if (frame->has_value() && (*frame)->header.sequence >= damage.next) {
      ++damage.readable;
      damage.last = std::max(damage.last, (*frame)->header.sequence);
    }
    (*reader)->skip_bytes(frame->has_value() ? (*frame)->bytes() : kFrameAlign);
  }
}

Result<Done> weigh(Files& files, const std::vector<SegmentFile>& segments, std::size_t first_whole, Damage& damage) {
  const auto behind = segments.begin() + static_cast<std::ptrdiff_t>(first_whole);
  const auto next = std::find_if(behind, segments.end(), [&](const auto& each) { return each.first == damage.next; });
  if (!damage.cut && !damage.anew && next != behind && next != segments.end()) {
    damage.is_stray = true;
    damage.whole_segments.assign(behind, next);
    return Done{};
  }
  for (std::size_t i = first_whole; i < segments.size(); ++i) {
    const SegmentFile& segment = segments[i];
    damage.whole_segments.push_back(segment);
    damage.bytes += files.size_of(segment.path).value_or(0);
    if (auto counted = count_readable(files, segment.path, kSegmentHeaderBytes, damage); !counted) return counted;
  }
  if (!damage.cut) return Done{};
  damage.bytes += damage.cut->tail_bytes;
  return count_readable(files, damage.cut->path, damage.cut->offset, damage);
}

// Where a frame lies whose bytes are right and which cannot be replayed.
Result<JournalEnd> place_of_refused(Files& files, const JournalReader& reader, const Replay& replay) {
  auto cut = reader.place_of(replay.last + 1, replay.base);
  if (!cut) return cut;
  const auto bytes = files.size_of(cut->path);
  if (!bytes) return tl::unexpected(bytes.error());
  cut->tail_bytes = *bytes - cut->offset;
  return cut;
}

std::size_t index_of(const JournalReader& reader, const std::string& path) {
  const auto& segments = reader.segments();
  return static_cast<std::size_t>(
      std::find_if(segments.begin(), segments.end(), [&](const SegmentFile& each) { return each.path == path; }) -
      segments.begin());
}

// How many segments, from the first on, have frames that were replayed.
std::size_t segments_kept(const JournalReader& reader, const Replay& replay) {
  if (reader.segment()) return *reader.segment() + 1;
  const auto& segments = reader.segments();
  return static_cast<std::size_t>(std::count_if(segments.begin(), segments.end(),
                                                [&](const SegmentFile& each) { return each.first <= replay.last; }));
}

// What stopped the replay.
Result<Damage> see_damage(const Desk& desk, const JournalReader& reader, const Result<Done>& replayed,
                          const Replay& replay) {
  const JournalEnd& end = replay.reading.end;
  Damage damage;
  std::size_t first_whole = 0;
  if (replayed) {
    damage = {.why = end.why, .next = end.next, .cut = end};
    first_whole = index_of(reader, end.path) + 1;
  } else {
    damage = {.why = replayed.error().message, .next = replay.last + 1};
    first_whole = segments_kept(reader, replay);
    if (reader.was_refused()) {
      auto cut = place_of_refused(desk.files, reader, replay);
      if (!cut) return tl::unexpected(cut.error());
      first_whole = index_of(reader, cut->path) + 1;
      damage.cut = std::move(*cut);
    }
  }
  if (auto weighed = weigh(desk.files, reader.segments(), first_whole, damage); !weighed) {
    return tl::unexpected(weighed.error());
  }
  return damage;
}

bool is_of_journal(Files& files, const std::vector<SegmentFile>& segments, const JournalId& journal) {
  for (const SegmentFile& segment : segments) {
    const auto reader = SegmentReader::open(files, segment.path);
    if (reader) return (*reader)->header().journal == journal;
  }
  return true;
}

// A snapshot of this frame or a later one, though no frame leads to it: it is all that can be kept then.
std::optional<SnapshotMark> find_better_snapshot(Files& files, const std::string& folder,
                                                 const std::vector<std::uint64_t>& snapshots,
                                                 const std::vector<SegmentFile>& segments, std::uint64_t next,
                                                 Replay& replay) {
  for (const std::uint64_t sequence : snapshots) {
    if (sequence < next) break;
    const auto snapshot = SnapshotReader::open(files, snapshot_path(folder, sequence));
    if (!snapshot || (*snapshot)->sequence() != sequence) continue;
    const SnapshotMark mark = (*snapshot)->mark();
    auto state = std::make_unique<State>();
    if (!is_of_journal(files, segments, mark.journal) || !load_snapshot(**snapshot, *state)) continue;
    replay = {};
    replay.state = std::move(state);
    replay.base = replay.last = sequence;
    return mark;
  }
  return std::nullopt;
}

// Whether no frame leads to the snapshot any more.
bool is_lost(const Damage& damage, std::uint64_t snapshot) {
  return damage.anew ? snapshot != damage.anew->sequence : snapshot >= damage.next;
}

// The damage, if what stopped the replay is one: not a disk that cannot be read, nor a journal without a first frame.
Result<std::optional<Damage>> find_damage(const Desk& desk, JournalReader& reader, Replay& replay) {
  const auto replayed = replay_journal(reader, Part::kForStart, replay);
  if (replayed && replay.reading.end.tail != Tail::kDamaged) return std::nullopt;
  if (!replayed && replayed.error().code != ErrorCode::kInvalid) return tl::unexpected(replayed.error());
  auto damage = see_damage(desk, reader, replayed, replay);
  if (!damage) return tl::unexpected(damage.error());
  if (damage->is_stray) return damage;
  if (const auto mark = find_better_snapshot(desk.files, reader.folder(), reader.snapshots(), reader.segments(),
                                             damage->next, replay)) {
    *damage = {.why = damage->why, .next = mark->sequence + 1, .anew = mark};
    if (auto weighed = weigh(desk.files, reader.segments(), 0, *damage); !weighed) {
      return tl::unexpected(weighed.error());
    }
  } else if (!replayed && replay.last == 0) {
    return fail_with(ErrorCode::kInvalid,
                     "{}: expected at least one good frame to keep, found none. Restore a backup. "
                     "What stopped the reading: {}",
                     reader.folder(), damage->why);
  }
  for (const std::uint64_t sequence : reader.snapshots()) {
    if (is_lost(*damage, sequence)) damage->snapshots.push_back(sequence);
  }
  return damage;
}

// All segments are gone, and there are snapshots.
std::unique_ptr<Survey> look_at_snapshots(const Desk& desk, const std::string& folder,
                                          const std::vector<std::uint64_t>& snapshots) {
  auto survey = std::make_unique<Survey>();
  const auto mark = find_better_snapshot(desk.files, folder, snapshots, {}, 0, survey->replay);
  if (!mark) return nullptr;
  survey->segment_bytes = FileJournal::Options().segment_bytes;
  survey->damage = {.why = fmt::format("{}: expected segments (*{}), found none", folder, kSegmentSuffix),
                    .next = mark->sequence + 1,
                    .anew = mark};
  for (const std::uint64_t sequence : snapshots) {
    if (is_lost(*survey->damage, sequence)) survey->damage->snapshots.push_back(sequence);
  }
  return survey;
}

Result<std::unique_ptr<Survey>> look(const Desk& desk, const std::string& folder) {
  auto survey = std::make_unique<Survey>();
  const bool is_there = desk.files.exists(folder);
  auto segments = is_there ? find_segments(desk.files, folder) : std::vector<SegmentFile>();
  if (!segments) return tl::unexpected(segments.error());
  if (is_there && segments->empty()) {
    const auto snapshots = find_snapshots(desk.files, folder);
    if (!snapshots) return tl::unexpected(snapshots.error());
    if (auto found = look_at_snapshots(desk, folder, *snapshots)) return found;
  }
  auto wrong = find_wrong_sizes(desk.files, *segments);
  if (!wrong) return tl::unexpected(wrong.error());
  survey->wrong_sizes = *wrong;
  RightSizedFiles files(desk.files, std::move(*wrong));
  const Desk sized{files, desk.clock, desk.entropy, desk.out, desk.err};
  auto reader = JournalReader::open(sized, folder);
  if (!reader) return tl::unexpected(reader.error());
  auto damage = find_damage(sized, *reader, survey->replay);
  if (!damage) return tl::unexpected(damage.error());
  survey->damage = std::move(*damage);
  survey->segment_bytes = files.size_of(reader->segments().front().path).value_or(0);
  return survey;
}

// --- telling ---

void tell(std::ostream& out, const Survey& survey, std::string_view kept, std::string_view lost) {
  for (const WrongSize& wrong : survey.wrong_sizes) {
    out << fmt::format("{:<12}{}: expected {} bytes, as its header says, found {}{}\n", "damage", wrong.segment.path,
                       wrong.expected, wrong.found,
                       wrong.found < wrong.expected ? "; whatever was behind them is gone" : "");
  }
  const Replay& replay = survey.replay;
  if (survey.damage) out << fmt::format("{:<12}{}\n", "damage", survey.damage->why);
  out << fmt::format("{:<12}", kept);
  if (replay.base > 0) out << fmt::format("the snapshot of frame {}, ", replay.base);
  out << fmt::format("{} frames up to {}, {} records", replay.frames, replay.last, replay.records);
  if (replay.frames > 0) out << fmt::format(", the last stamped {}", iso_time(replay.state->last_stamp()));
  out << '\n';
  if (!survey.damage) return;
  const Damage& damage = *survey.damage;
  if (damage.is_stray) {
    out << fmt::format("{:<12}nothing: {} files that do not belong there go aside\n", lost,
                       damage.whole_segments.size());
    return;
  }
  out << fmt::format("{:<12}everything from frame {} on: {} bytes, {} whole segments", lost, damage.next, damage.bytes,
                     damage.whole_segments.size());
  if (damage.readable > 0) {
    out << fmt::format(", in which {} frames up to {} could be read", damage.readable, damage.last);
  }
  out << '\n';
}

// --- cutting ---

std::string free_path(Files& files, const std::string& folder, std::uint64_t first, std::string_view kind = "") {
  std::string path = path_of(folder, numbered_name(first, fmt::format("{}{}", kind, kLostSuffix)));
  for (int i = 2; files.exists(path); ++i) {
    path = path_of(folder, numbered_name(first, fmt::format("-{}{}{}", i, kind, kLostSuffix)));
  }
  return path;
}

Result<Done> right_sizes(const Desk& desk, const std::string& folder, const std::vector<WrongSize>& wrong_sizes) {
  for (const WrongSize& wrong : wrong_sizes) {
    const std::string copy = free_path(desk.files, folder, wrong.segment.first);
    if (auto done = right_size(desk.files, wrong, copy); !done) return done;
    desk.out << fmt::format("{:<12}{}\n", "aside", copy);
  }
  return Done{};
}

// A segment that continues from the snapshot.
Result<Done> begin_anew(Files& files, const std::string& folder, const SnapshotMark& mark, std::uint64_t bytes) {
  const auto blank = SpareSegment(files, folder, bytes).take(bytes);
  if (!blank) return tl::unexpected(blank.error());
  const auto path =
      begin_segment(files, folder, *blank,
                    {.journal = mark.journal, .first = mark.sequence + 1, .chain = mark.chain, .bytes = bytes});
  if (!path) return tl::unexpected(path.error());
  return Done{};
}

Result<Done> cut(const Desk& desk, const std::string& folder, const Damage& damage, std::uint64_t segment_bytes) {
  for (const std::uint64_t sequence : damage.snapshots) {
    const std::string path = free_path(desk.files, folder, sequence, kSnapshotSuffix);
    if (auto renamed = desk.files.rename(snapshot_path(folder, sequence), path); !renamed) return renamed;
    desk.out << fmt::format("{:<12}{}\n", "aside", path);
  }
  // From the end: whatever a crash leaves is damaged at the same place.
  for (auto segment = damage.whole_segments.rbegin(); segment != damage.whole_segments.rend(); ++segment) {
    const std::string path = free_path(desk.files, folder, segment->first);
    if (auto renamed = desk.files.rename(segment->path, path); !renamed) return renamed;
    desk.out << fmt::format("{:<12}{}\n", "aside", path);
  }
  if (auto synced = desk.files.sync_folder(folder); !synced) return synced;
  if (damage.anew) return begin_anew(desk.files, folder, *damage.anew, segment_bytes);
  if (!damage.cut || damage.cut->tail_bytes == 0) return Done{};
  const auto copy = cut_tail(desk.files, folder, *damage.cut);
  if (!copy) return tl::unexpected(copy.error());
  desk.out << fmt::format("{:<12}{}\n", "aside", *copy);
  return Done{};
}

// Looks again, now that nobody else can change it, and cuts.
Result<std::unique_ptr<Survey>> cut_locked(const Desk& desk, const std::string& folder) {
  const auto lock = desk.files.lock(path_of(folder, kLockName));
  if (!lock) {
    return fail_with(lock.error().code, "{}. Nothing was changed. Stop the server that uses the folder first",
                     lock.error().message);
  }
  auto survey = look(desk, folder);
  if (!survey) return survey;
  if (auto marked = mark(desk.files, folder, kUnfinishedRepairName); !marked) return tl::unexpected(marked.error());
  tell(desk.out, **survey, "kept", "lost");
  auto done = right_sizes(desk, folder, (*survey)->wrong_sizes);
  if (done && (*survey)->damage) done = cut(desk, folder, *(*survey)->damage, (*survey)->segment_bytes);
  if (!done) return tl::unexpected(done.error());
  return survey;
}

Result<Done> repair(const Desk& desk, const std::string& folder) {
  const auto survey = cut_locked(desk, folder);
  if (!survey) return tl::unexpected(survey.error());
  const auto fence = raise_fence_in(desk, folder, (*survey)->segment_bytes);
  if (!fence) return tl::unexpected(fence.error());
  if (auto finished = unmark(desk.files, folder, kUnfinishedRepairName); !finished) return finished;
  desk.out << fmt::format("{:<12}was {}, is now {}: above all that was granted and is lost\n", "fence",
                          (*survey)->replay.state->fence().value, fence->value);
  desk.out << fmt::format("{}: repaired; a server can start on it\n", folder);
  return Done{};
}

}  // namespace

Result<Done> repair_journal(const Desk& desk, const RepairOptions& options) {
  const std::string folder = without_slashes(options.folder);
  const auto survey = look(desk, folder);
  if (!survey) return tl::unexpected(survey.error());
  const bool is_unfinished = desk.files.exists(path_of(folder, kUnfinishedRepairName));
  if ((*survey)->is_healthy() && !is_unfinished) {
    const Replay& replay = (*survey)->replay;
    desk.out << fmt::format("{}: healthy, {} frames{}; nothing was changed\n", folder, replay.frames,
                            replay.base == 0 ? "" : fmt::format(" after the snapshot of frame {}", replay.base));
    return expect_sound(desk, folder, (*survey)->replay.reading);
  }
  if (options.accept_loss) return repair(desk, folder);
  tell(desk.out, **survey, "would keep", "would lose");
  return fail_with(ErrorCode::kInvalid,
                   "{}: {}. Nothing was changed. Restore a backup if there is one; to go on without what is lost: "
                   "tenure journal repair --accept-loss {}",
                   folder, is_unfinished ? "an earlier repair did not end" : "the journal is damaged", folder);
}

}  // namespace tenure::cli
