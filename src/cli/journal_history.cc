#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
#include "cli/journal_commands.h"
#include "cli/journal_reader.h"
#include "cli/journal_text.h"
#include "cli/task_story.h"
#include "core/portrait.h"
#include "core/record_codec.h"
#include "journal/file_snapshots.h"

namespace tenure::cli {
namespace {

// The dump's line with what the event means: {..., "story":{"attempt":1,"worker":"W1","text":"..."}}
std::string event_line(const Frame& frame, const Record& record, const TaskStory::Event& event) {
  std::string line = record_line(frame, record);
  line.back() = ',';
  line += R"("story":{)";
  if (event.attempt != 0) {
    line += fmt::format(R"("attempt":{},"worker":)", event.attempt);
    append_json_string(line, event.worker);
    line += ',';
  }
  line += R"("text":)";
  append_json_string(line, event.text);
  return line + "}}\n";
}

// What the snapshot knows of the task; answers how much that is.
Result<std::uint64_t> tell_snapshot(const Desk& desk, const JournalReader& reader, std::uint64_t base,
                                    const HistoryOptions& options, TaskStory& story) {
  const auto snapshot = FileSnapshots(desk.files, reader.folder(), 0).open(base);
  if (!snapshot) return tl::unexpected(snapshot.error());
  std::uint64_t portraits = 0;
  auto visited =
      (*snapshot)->visit(keys::task(options.task), [&](std::string_view, std::string_view value) -> Result<Done> {
        ByteReader in(value);
        const auto portrait = decode_portrait(in);
        if (!portrait) return tl::unexpected(portrait.error());
        if (portraits++ == 0 && !options.json) {
          desk.out << fmt::format("The journal begins later. What its snapshot of frame {} holds of the task:\n", base);
        }
        const auto event = story.tell(*portrait);
        desk.out << (options.json ? fmt::format(R"({{"snapshot":{},"holds":{}}})"
                                                "\n",
                                                base, to_json(*portrait))
                                  : fmt::format("  {}\n", event ? event->text : to_json(*portrait)));
        return Done{};
      });
  if (!visited) return tl::unexpected(visited.error());
  if (portraits > 0 && !options.json) desk.out << '\n';
  return portraits;
}

// Tells each event as it is met; answers how many there were.
Result<std::uint64_t> tell_events(const Desk& desk, JournalReader& reader, const HistoryOptions& options,
                                  TaskStory& story, Reading& end) {
  const auto found = reader.find_base();
  if (!found) {
    desk.err << fmt::format("note: what came before frame {} is not known: {}\n", reader.first(),
                            found.error().message);
  }
  const std::uint64_t base = found.value_or(0);
  std::uint64_t events = 0;
  if (base > 0) {
    const auto told = tell_snapshot(desk, reader, base, options, story);
    if (!told) return told;
    events = *told;
  }
  auto reading = reader.read(reader.first() - 1, [&](const Frame& frame) -> Result<Done> {
    if (frame.sequence <= base) return Done{};
    ByteReader in(frame.payload);
    while (!in.at_end()) {
      const auto record = decode(in);
      if (!record) {
        return fail_with(ErrorCode::kErr, "sequence number {}: {}. Use the version of tenure that wrote it",
                         frame.sequence, record.error().message);
      }
      const auto event = story.tell(frame.stamp, *record);
      if (!event) continue;
      ++events;
      desk.out << (options.json ? event_line(frame, *record, *event)
                                : fmt::format("{}  #{:<8} {}\n", iso_time(frame.stamp), frame.sequence, event->text));
    }
    return Done{};
  });
  if (!reading) return reader.advised(reading.error());
  end = std::move(*reading);
  return events;
}

}  // namespace

Result<Done> tell_history(const Desk& desk, const HistoryOptions& options) {
  auto reader = JournalReader::open(desk, without_slashes(options.folder));
  if (!reader) return tl::unexpected(reader.error());
  TaskStory story(options.task);
  Reading reading;
  const auto events = tell_events(desk, *reader, options, story, reading);
  if (!events) return tl::unexpected(events.error());
  if (*events > 0 && !options.json) {
    desk.out << '\n';
    for (const std::string& line : story.summary()) desk.out << line << '\n';
  }
  desk.out.flush();
  if (auto sound = expect_sound(desk, reader->folder(), reading); !sound) return sound;
  if (*events > 0) return Done{};
  return fail_with(ErrorCode::kNoTask,
                   "task {}: expected records of it, found none in frames {} to {} of {}. Is the id right? `tenure "
                   "journal dump` shows all there are",
                   shown(options.task), reader->first(), reading.end.next - 1, reader->folder());
}

}  // namespace tenure::cli
