#include <map>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
#include "cli/journal_commands.h"
#include "cli/journal_reader.h"
#include "cli/journal_text.h"
#include "core/record_codec.h"
#include "journal/snapshot_file.h"

namespace tenure::cli {
namespace {

struct Count {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};

struct Numbers {
  std::vector<std::uint64_t> used;                  // of each segment, up to the end of its last frame
  std::map<std::uint32_t, std::string_view> names;  // of the types met
  std::map<std::uint32_t, Count> records;           // by type
  Count frames;
  std::uint64_t empty_frames = 0;
  std::optional<Instant> first_stamp;
  std::uint64_t free_space = 0;
};

std::uint32_t type_of(const Record& record) {
  return std::visit([](const auto& value) { return std::remove_cvref_t<decltype(value)>::kType; }, record);
}

Result<Done> count_frame(const JournalReader& reader, const Frame& frame, Numbers& numbers) {
  numbers.used.resize(*reader.segment() + 1, kSegmentHeaderBytes);
  numbers.used.back() = reader.next_offset();
  ++numbers.frames.number;
  numbers.frames.bytes += frame_bytes(frame.payload.size());
  if (frame.payload.empty()) ++numbers.empty_frames;
  if (!numbers.first_stamp) numbers.first_stamp = frame.stamp;
  ByteReader in(frame.payload);
  while (!in.at_end()) {
    const std::size_t before = in.left();
    const auto record = decode(in);
    if (!record) {
      return fail_with(ErrorCode::kErr,
                       "{}, offset {}, sequence number {}: {}. Use the version of tenure that "
                       "wrote it",
                       reader.path(), reader.offset(), frame.sequence, record.error().message);
    }
    Count& count = numbers.records[type_of(*record)];
    ++count.number;
    count.bytes += before - in.left();
    numbers.names[type_of(*record)] = name_of(*record);
  }
  return Done{};
}

std::string_view word(const Reading& reading) {
  if (reading.is_written_to) return "being written";
  switch (reading.end.tail) {
    case Tail::kClean:
      return reading.end.is_vouched ? "clean, vouched for" : "clean";
    case Tail::kTorn:
      return "torn";
    case Tail::kDamaged:
      return "damaged";
  }
  return "";
}

std::uint64_t snapshot_bytes(const JournalReader& reader, std::size_t index) {
  return reader.files().size_of(snapshot_path(reader.folder(), reader.snapshots()[index])).value_or(0);
}

void print_text(const Desk& desk, const JournalReader& reader, const Reading& reading, const Numbers& numbers) {
  std::ostream& out = desk.out;
  out << fmt::format("journal   {}, format version {}\n", reading.end.segment.journal.text(), kFormatVersion);
  out << fmt::format("frames    {}, of {} bytes, {} without records\n", numbers.frames.number, numbers.frames.bytes,
                     numbers.empty_frames);
  if (numbers.first_stamp) {
    out << fmt::format("stamps    {} to {}\n", iso_time(*numbers.first_stamp), iso_time(reading.end.last_stamp));
  }
  out << fmt::format("tail      {}; the next frame is {}\n", word(reading), reading.end.next);
  if (!reading.end.why.empty()) out << fmt::format("          {}\n", reading.end.why);
  out << fmt::format("disk      {} bytes free\n", numbers.free_space);
  out << fmt::format("\n{:<20} {:>12} {:>14} {:>14}\n", "segment", "first", "bytes", "used");
  for (std::size_t i = 0; i < reader.segments().size(); ++i) {
    const SegmentFile& segment = reader.segments()[i];
    out << fmt::format("{:<20} {:>12} {:>14} {:>14}\n", i + 1, segment.first,
                       desk.files.size_of(segment.path).value_or(0),
                       i < numbers.used.size() ? fmt::format("{}", numbers.used[i]) : "-");
  }
  if (!reader.snapshots().empty()) out << fmt::format("\n{:<20} {:>12} {:>14}\n", "snapshot", "of frame", "bytes");
  for (std::size_t i = 0; i < reader.snapshots().size(); ++i) {
    out << fmt::format("{:<20} {:>12} {:>14}\n", i + 1, reader.snapshots()[i], snapshot_bytes(reader, i));
  }
  out << fmt::format("\n{:<20} {:>12} {:>14}\n", "record", "number", "bytes");
  for (const auto& [type, count] : numbers.records) {
    out << fmt::format("{:<20} {:>12} {:>14}\n", numbers.names.at(type), count.number, count.bytes);
  }
}

std::string json_text(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, is_utf8(text) ? text : std::string_view("not UTF-8"));
  return quoted;
}

void print_json(const Desk& desk, const JournalReader& reader, const Reading& reading, const Numbers& numbers) {
  std::ostream& out = desk.out;
  out << fmt::format(R"({{"journal":"{}","format":{},"frames":{},"frame_bytes":{},"empty_frames":{})",
                     reading.end.segment.journal.text(), kFormatVersion, numbers.frames.number, numbers.frames.bytes,
                     numbers.empty_frames);
  if (numbers.first_stamp) {
    out << fmt::format(R"(,"first_stamp":{},"last_stamp":{})", numbers.first_stamp->ms, reading.end.last_stamp.ms);
  }
  out << fmt::format(R"(,"tail":"{}","next":{},"free_bytes":{},"segments":[)", word(reading), reading.end.next,
                     numbers.free_space);
  for (std::size_t i = 0; i < reader.segments().size(); ++i) {
    const SegmentFile& segment = reader.segments()[i];
    out << fmt::format(R"({}{{"path":{},"first":{},"bytes":{},"used":{}}})", i == 0 ? "" : ",", json_text(segment.path),
                       segment.first, desk.files.size_of(segment.path).value_or(0),
                       i < numbers.used.size() ? fmt::format("{}", numbers.used[i]) : "null");
  }
  out << R"(],"snapshots":[)";
  for (std::size_t i = 0; i < reader.snapshots().size(); ++i) {
    out << fmt::format(R"({}{{"frame":{},"bytes":{}}})", i == 0 ? "" : ",", reader.snapshots()[i],
                       snapshot_bytes(reader, i));
  }
  out << R"(],"records":{)";
  std::string_view comma;
  for (const auto& [type, count] : numbers.records) {
    out << fmt::format(R"({}"{}":{{"number":{},"bytes":{}}})", comma, numbers.names.at(type), count.number,
                       count.bytes);
    comma = ",";
  }
  out << "}}\n";
}

}  // namespace

Result<Done> stat_journal(const Desk& desk, const StatOptions& options) {
  auto reader = JournalReader::open(desk, without_slashes(options.folder));
  if (!reader) return tl::unexpected(reader.error());
  Numbers numbers;
  const auto reading =
      reader->read(reader->first() - 1, [&](const Frame& frame) { return count_frame(*reader, frame, numbers); });
  if (!reading) return reader->advised(reading.error());
  const auto free_space = desk.files.free_space(reader->folder());
  if (!free_space) return tl::unexpected(free_space.error());
  numbers.free_space = *free_space;
  numbers.used.resize(std::max<std::size_t>(numbers.used.size(), 1), kSegmentHeaderBytes);
  (options.json ? print_json : print_text)(desk, *reader, *reading, numbers);
  desk.out.flush();
  return expect_sound(desk, reader->folder(), *reading);
}

}  // namespace tenure::cli
