// What the tests of the journal commands share: an authority's data folder on faulty files, and a desk to run commands
// at.
#pragma once

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/engine.h"
#include "authority/snapshots.h"
#include "base/check.h"
#include "base/faulty_files.h"
#include "cli/journal_commands.h"
#include "core/record_codec.h"
#include "journal/testing.h"

namespace tenure::cli {

// Writes a data folder as an authority does, one batch a request. One thread.
class Writer {
 public:
  Writer(Files& files, ManualClock& clock, Entropy& entropy, const std::string& folder, std::uint64_t segment_bytes,
         const Settings& settings = {})
      : clock_(clock) {
    journal_ = FileJournal::open(files, folder, entropy,
                                 {.segment_bytes = segment_bytes, .threads = FileJournal::Threads::kNone})
                   .value();
    auto started = Engine::start(settings, {clock, entropy, *journal_});
    TENURE_CHECK(started.has_value(), "{}", started.error().message);
    engine_ = std::move(*started);
  }

  // What the answer says; it must not be an error.
  template <class Request>
  ReplyOf<Request> get(const Request& request) {
    std::optional<Result<ReplyOf<Request>>> reply;
    engine_->ask(request, [&](Result<ReplyOf<Request>> given) { reply.emplace(std::move(given)); });
    journal_->step();
    TENURE_CHECK(reply && reply->has_value(), "{}", reply ? reply->error().message : "no answer");
    return std::move(**reply);
  }
  TaskLease lease(std::string_view worker, std::string_view queue) {
    return get(LeaseRequest{.worker = worker, .queues = {queue}}).at(0);
  }
  // Time passes, and does what it must.
  void pass(Millis by) {
    clock_.advance(by);
    while (engine_->run_due() <= engine_->now()) continue;
    journal_->step();
  }
  // Makes a snapshot; of which frame.
  std::uint64_t snapshot() {
    std::uint64_t frame = 0;
    engine_->take_digest([&](Result<std::uint64_t> taken) { frame = taken.value(); });
    journal_->step();
    const auto made = make_snapshot(*journal_, frame);
    TENURE_CHECK(made.has_value(), "{}", made.error().message);
    return frame;
  }
  // The end of a clean stop.
  void close() {
    engine_->take_digest();
    TENURE_CHECK(journal_->close().has_value(), "not closed");
  }

  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] FileJournal& journal() { return *journal_; }

 private:
  ManualClock& clock_;
  std::unique_ptr<FileJournal> journal_;
  std::unique_ptr<Engine> engine_;
};

// One thread.
struct CommandWorld {
  FaultyFiles files;
  ManualClock clock{Instant{1'800'000'000'000}};
  SeededEntropy entropy{5};
  std::ostringstream out;
  std::ostringstream err;
  Desk desk{files, clock, entropy, out, err};

  [[nodiscard]] Writer write(const std::string& folder = kFolder, std::uint64_t segment_bytes = 4096) {
    return {files, clock, entropy, folder, segment_bytes};
  }
  // The story of a task that ran twice, and others around it; `many` frames more, a segment for about forty.
  void write_story(int many = 0) {
    Writer writer = write();
    writer.get(Submission{.queue = "mail", .payload = "hello", .id = "T1"});
    const TaskLease first = writer.lease("W1", "mail");
    writer.pass(std::chrono::seconds(20));
    writer.get(TaskExtension{"T1", first.lease_id});
    writer.pass(std::chrono::seconds(31));
    const TaskLease second = writer.lease("W2", "mail");
    writer.get(Completion{"T1", second.lease_id, "done"});
    writer.get(Completion{"T1", first.lease_id});
    for (int i = 0; i < many; ++i)
      writer.get(Submission{.queue = "rest", .payload = "p", .id = "R" + std::to_string(i)});
    writer.close();
  }
  [[nodiscard]] std::vector<std::string> segments(const std::string& folder = kFolder) {
    std::vector<std::string> paths;
    const auto found = find_segments(files, folder);
    for (const SegmentFile& segment : *found) paths.push_back(segment.path);
    return paths;
  }
  // Where frame `sequence` begins; it is in the first segment.
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t sequence) {
    std::uint64_t offset = kSegmentHeaderBytes;
    const auto end = walk(files, kFolder, {}, [&](const Frame& frame) -> Result<Done> {
      if (frame.sequence < sequence) offset += frame_bytes(frame.payload.size());
      return Done{};
    });
    return offset;
  }
  // Makes a byte of a frame's payload wrong.
  void damage(std::uint64_t sequence) { files.flip_bit(segments().at(0), (offset_of(sequence) + 50) * 8); }
  // Makes the last segment end without its last whole frame.
  void tear() {
    Writer writer = write();
    const JournalEnd before = *walk(files, kFolder, {}, [](const Frame&) -> Result<Done> { return Done{}; });
    writer.get(Submission{.queue = "q", .payload = "torn", .id = "torn"});
    files.flip_bit(before.path, (before.offset + 50) * 8);
  }

  // What a command has written; the streams are empty then.
  std::string take_out() { return std::exchange(out, std::ostringstream()).str(); }
  std::string take_err() { return std::exchange(err, std::ostringstream()).str(); }
};

// The files of a folder.
inline FaultyFiles::State state_of(const FaultyFiles& files, const std::string& folder) {
  FaultyFiles::State state;
  for (const auto& [path, contents] : files.state()) {
    if (path.starts_with(folder + "/")) state[path] = contents;
  }
  return state;
}

}  // namespace tenure::cli
