#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/journal_commands.h"
#include "cli/journal_reader.h"
#include "cli/journal_text.h"
#include "core/record_codec.h"

namespace tenure::cli {
namespace {

Result<Done> dump_frame(std::ostream& out, const Frame& frame, bool all) {
  if (frame.payload.empty() && all) out << frame_fields(frame) << ",\"record\":null}\n";
  ByteReader in(frame.payload);
  while (!in.at_end()) {
    const auto record = decode(in);
    if (!record) {
      return fail_with(ErrorCode::kErr, "sequence number {}: {}. Use the version of tenure that wrote it",
                       frame.sequence, record.error().message);
    }
    out << record_line(frame, *record) << '\n';
  }
  if (!out) return fail_with(ErrorCode::kUnavailable, "standard output takes no more; is its disk full?");
  return Done{};
}

}  // namespace

Result<Done> dump_journal(const Desk& desk, const DumpOptions& options) {
  if (options.from > options.to) {
    return fail_with(ErrorCode::kInvalid, "--from {} --to {}: expected the first not to be behind the last",
                     options.from, options.to);
  }
  auto reader = JournalReader::open(desk, without_slashes(options.folder));
  if (!reader) return tl::unexpected(reader.error());
  const std::uint64_t from = std::max({options.from, reader->first(), std::uint64_t{1}});
  bool is_over = false;
  const auto reading = reader->read(from - 1, [&](const Frame& frame) -> Result<Done> {
    is_over = frame.sequence > options.to;
    if (is_over) return reader->stop();
    return dump_frame(desk.out, frame, options.all);
  });
  if (!reading) return reader->advised(reading.error());
  if (is_over) return Done{};
  desk.out.flush();
  return expect_sound(desk, reader->folder(), *reading);
}

}  // namespace tenure::cli
