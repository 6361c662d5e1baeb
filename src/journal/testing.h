// What the journal's tests share: a file journal on faulty files, driven by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/entropy.h"
#include "base/faulty_files.h"
#include "base/hash.h"
#include "journal/file_journal.h"

namespace tenure {

inline constexpr const char* kFolder = "/data";

// Makes the checksum of a segment's header right again, after a test has changed the header.
inline void reseal_segment_header(std::string& segment) {
  std::string checksum;
  ByteWriter(checksum, 8).fixed64(hash64(std::string_view(segment).substr(0, kSegmentHeaderBytes - 8)));
  segment.replace(kSegmentHeaderBytes - 8, 8, checksum);
}

// One thread.
struct JournalWorld {
  enum Empty { kEmpty };

  explicit JournalWorld(std::uint64_t seed = 1) : entropy(seed) { TENURE_CHECK(start().has_value(), "no journal"); }
  explicit JournalWorld(Empty /*without a journal*/) : entropy(1) {}

  FaultyFiles files;
  SeededEntropy entropy;
  FileJournal::Options options{.segment_bytes = 4096, .idle = Millis{50}, .threads = FileJournal::Threads::kNone};
  std::unique_ptr<FileJournal> journal;
  std::vector<std::string> replayed;  // by the last start

  Result<Done> start() {
    journal.reset();
    replayed.clear();
    auto opened = FileJournal::open(files, kFolder, entropy, options);
    if (!opened) return tl::unexpected(opened.error());
    journal = std::move(*opened);
    return journal->start(0, [&](const Frame& frame) -> Result<Done> {
      if (!frame.payload.empty()) replayed.emplace_back(frame.payload);
      return Done{};
    });
  }

  // One batch of these payloads; false: the journal has failed.
  bool write(const std::vector<std::string>& payloads) {
    for (const std::string& payload : payloads) journal->append(0, Instant{++stamp}, payload);
    journal->commit();
    return journal->step();
  }

  [[nodiscard]] std::vector<std::string> segments() {
    std::vector<std::string> paths;
    const auto found = find_segments(files, kFolder);
    for (const SegmentFile& segment : *found) paths.push_back(segment.path);
    return paths;
  }

  JournalEnd walk_all() {
    auto end = walk(files, kFolder, {}, [](const Frame&) -> Result<Done> { return Done{}; });
    TENURE_CHECK(end.has_value(), "{}", end.error().message);
    return *end;
  }
  std::vector<std::string> walk_payloads() {
    std::vector<std::string> payloads;
    auto end = walk(files, kFolder, {}, [&](const Frame& frame) -> Result<Done> {
      payloads.emplace_back(frame.payload);
      return Done{};
    });
    TENURE_CHECK(end.has_value(), "{}", end.error().message);
    return payloads;
  }

  std::int64_t stamp = 0;
};

}  // namespace tenure
