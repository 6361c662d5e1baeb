#include "cli/journal_replay.h"

#include <algorithm>

#include "authority/snapshots.h"
#include "base/bytes.h"
#include "core/record_codec.h"
#include "journal/file_snapshots.h"

namespace tenure::cli {
namespace {

void count(Replay& replay, const Frame& frame) {
  ++replay.frames;
  replay.last = frame.sequence;
  replay.bytes += frame_bytes(frame.payload.size());
  if (frame.payload.empty()) ++replay.empty_frames;
  if (!replay.first_stamp) replay.first_stamp = frame.stamp;
  ByteReader in(frame.payload);
  while (!in.at_end()) {
    if (in.varint() == record::DigestTaken::kType) ++replay.digests;
    in.bytes();
    ++replay.records;
  }
}

// What this version cannot read is no damage: another one can.
tl::unexpected<Failure> refuse(const JournalReader& reader, const Replay& replay, const Frame& frame,
                               const Failure& failure) {
  const auto place = reader.place_of(frame.sequence, replay.base);
  if (!place) return tl::unexpected(place.error());
  ByteReader in(frame.payload);
  while (!in.at_end()) {
    const auto record = decode(in);
    if (record) continue;
    return fail_with(ErrorCode::kErr, "{}, offset {}, sequence number {}: {}. Use the version of tenure that wrote it",
                     place->path, place->offset, frame.sequence, record.error().message);
  }
  return fail_with(failure.code, "{}, offset {}: {}; its checksum is right, so these are the bytes that were written",
                   place->path, place->offset, failure.message);
}

// The state there must be the one that replay has made.
void compare_snapshot(const FileSnapshots& snapshots, std::uint64_t sequence, Replay& replay) {
  const auto snapshot = snapshots.open(sequence);
  auto compared = snapshot ? (*snapshot)->verify() : tl::unexpected(snapshot.error());
  if (compared && !is_of(**snapshot, *replay.state)) {
    compared = fail_with(ErrorCode::kInvalid, "snapshot of frame {}: its digest is not that of the journal", sequence);
  }
  if (compared) {
    ++replay.snapshots;
  } else {
    replay.bad_snapshots.push_back(compared.error().message);
  }
}

// What is wrong with it is noted.
bool is_loaded(const FileSnapshots& snapshots, std::uint64_t sequence, Replay& replay) {
  replay.state = std::make_unique<State>();
  const auto loaded = load_snapshot(snapshots, sequence, *replay.state);
  if (loaded) {
    replay.base = replay.last = sequence;
    ++replay.snapshots;
  } else {
    replay.bad_snapshots.push_back(loaded.error().message);
  }
  return loaded.has_value();
}

Result<Done> begin_replay(const FileSnapshots& snapshots, const JournalReader& reader, Part part, Replay& replay) {
  const bool is_whole = reader.first() == 1;
  if (part == Part::kAll && is_whole) return Done{};
  std::vector<std::uint64_t> candidates = reader.snapshots();
  if (part == Part::kAll) std::reverse(candidates.begin(), candidates.end());
  for (const std::uint64_t sequence : candidates) {
    if (is_loaded(snapshots, sequence, replay)) return Done{};
  }
  replay.state = std::make_unique<State>();
  if (is_whole) return Done{};
  return reader.refuse_without_base(replay.bad_snapshots);
}

}  // namespace

Result<Done> replay_journal(JournalReader& reader, Part part, Replay& replay) {
  const FileSnapshots snapshots(reader.files(), reader.folder(), 0);
  if (auto begun = begin_replay(snapshots, reader, part, replay); !begun) return begun;
  const auto see = [&](const Frame& frame) -> Result<Done> {
    if (frame.sequence <= replay.base) return Done{};
    if (auto done = replay_frame(*replay.state, frame.sequence, frame.stamp, frame.payload); !done) {
      return refuse(reader, replay, frame, done.error());
    }
    count(replay, frame);
    const auto& marks = reader.snapshots();
    if (std::binary_search(marks.rbegin(), marks.rend(), frame.sequence)) {
      compare_snapshot(snapshots, frame.sequence, replay);
    }
    return Done{};
  };
  auto reading =
      part == Part::kAll ? reader.read(reader.first() - 1, see) : reader.read_behind_snapshot(replay.base, see);
  if (!reading) return tl::unexpected(reading.error());
  replay.reading = std::move(*reading);
  return Done{};
}

}  // namespace tenure::cli
