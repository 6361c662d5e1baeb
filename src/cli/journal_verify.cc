#include <fmt/format.h>

#include "base/text.h"
#include "cli/journal_commands.h"
#include "cli/journal_replay.h"
#include "cli/journal_text.h"

namespace tenure::cli {
namespace {

void print_replay(const Desk& desk, const JournalReader& reader, const Replay& replay, Millis took) {
  const auto line = [&](std::string_view name, const std::string& value) {
    desk.out << fmt::format("{:<10}{}\n", name, value);
  };
  const Digest digest = replay.state->digest();
  line("journal", replay.reading.end.segment.journal.text());
  line("segments", fmt::format("{}", reader.segments().size()));
  line("frames", fmt::format("{}, {} of them without records", replay.frames, replay.empty_frames));
  line("records", fmt::format("{}", replay.records));
  line("bytes", fmt::format("{} in frames, {} in segments", replay.bytes, reader.bytes()));
  if (replay.first_stamp) {
    line("stamps", fmt::format("{} to {}", iso_time(*replay.first_stamp), iso_time(replay.reading.end.last_stamp)));
  }
  if (replay.snapshots > 0) {
    line("snapshots",
         fmt::format("{} agreed{}", replay.snapshots,
                     replay.base == 0 ? "" : fmt::format("; frames up to {} are in them alone", replay.base)));
  }
  line("fence", fmt::format("{}", replay.state->fence().value));
  line("digest",
       fmt::format("{}{}; {} in the journal agreed", hex16(digest.high()), hex16(digest.low()), replay.digests));
  line("state", fmt::format("{} bytes of memory", replay.state->bytes()));
  line("time", seconds_text(took));
}

// A damage that lies before what a start needs is one all the same, but no reason to cut anything.
tl::unexpected<Failure> with_what_a_start_needs(const Desk& desk, const JournalReader& damaged,
                                                const Failure& failure) {
  auto reader = JournalReader::open(desk, damaged.folder());
  Replay replay;
  if (!reader || !replay_journal(*reader, Part::kForStart, replay)) return tl::unexpected(failure);
  if (replay.base == 0 || replay.reading.end.tail == Tail::kDamaged) return tl::unexpected(failure);
  return fail_with(failure.code,
                   "{}. A start needs nothing of that: it begins with the snapshot of frame {}, and what "
                   "is behind it is sound",
                   failure.message, replay.base);
}

}  // namespace

Result<Done> verify_journal(const Desk& desk, const std::string& folder) {
  const Millis began = desk.clock.boot();
  auto reader = JournalReader::open(desk, without_slashes(folder));
  if (!reader) return tl::unexpected(reader.error());
  Replay replay;
  const auto replayed = replay_journal(*reader, Part::kAll, replay);
  if (!replayed) return with_what_a_start_needs(desk, *reader, reader->advised(replayed.error()).value());
  print_replay(desk, *reader, replay, desk.clock.boot() - began);
  desk.out.flush();
  const auto sound = expect_sound(desk, reader->folder(), replay.reading);
  if (!sound) return with_what_a_start_needs(desk, *reader, sound.error());
  if (replay.bad_snapshots.empty()) return Done{};
  return fail_with(ErrorCode::kInvalid,
                   "the journal is sound, a snapshot is not: {}. A start passes it over, and uses more of the journal; "
                   "remove the file",
                   replay.bad_snapshots.front());
}

}  // namespace tenure::cli
