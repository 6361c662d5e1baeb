#include "cli/journal_replay.h"

#include "base/bytes.h"
#include "core/record_codec.h"

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
Result<Done> expect_readable(const JournalReader& reader, const Frame& frame) {
  ByteReader in(frame.payload);
  while (!in.at_end()) {
    const auto record = decode(in);
    if (record) continue;
    return fail_with(ErrorCode::kErr, "{}, offset {}, sequence number {}: {}. Use the version of tenure that wrote it",
                     reader.path(), reader.offset(), frame.sequence, record.error().message);
  }
  return Done{};
}

}  // namespace

Result<Done> replay_journal(JournalReader& reader, Replay& replay) {
  if (auto whole = reader.expect_whole(); !whole) return whole;
  auto reading = reader.read(0, [&](const Frame& frame) -> Result<Done> {
    if (auto done = replay_frame(replay.state, frame.sequence, frame.stamp, frame.payload); !done) {
      if (auto readable = expect_readable(reader, frame); !readable) return readable;
      return fail_with(done.error().code,
                       "{}, offset {}: {}; its checksum is right, so these are the bytes that were written",
                       reader.path(), reader.offset(), done.error().message);
    }
    count(replay, frame);
    return Done{};
  });
  if (!reading) return tl::unexpected(reading.error());
  replay.reading = std::move(*reading);
  return Done{};
}

}  // namespace tenure::cli
