#include "cli/journal_replay.h"

#include "base/bytes.h"

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

}  // namespace

Result<Done> replay_journal(JournalReader& reader, Replay& replay) {
  if (auto whole = reader.expect_whole(); !whole) return whole;
  auto reading = reader.read(0, [&](const Frame& frame) -> Result<Done> {
    if (auto done = replay_frame(replay.state, frame.sequence, frame.stamp, frame.payload); !done) {
      return fail_with(done.error().code,
                       "{}, offset {}: {}. The bytes are as they were written, so that another version of tenure, or a "
                       "bug, wrote them. {}",
                       reader.path(), reader.offset(), done.error().message, advice_on_damage(reader.folder()));
    }
    count(replay, frame);
    return Done{};
  });
  if (!reading) return tl::unexpected(reading.error());
  replay.reading = std::move(*reading);
  return Done{};
}

}  // namespace tenure::cli
