// A snapshot file: what replay would make of a journal up to one frame, as sorted pairs of key and value in checked,
// compressed blocks with an index. It knows bytes, not tasks or locks. docs/journal-format.md has the grammar.
//
//   header | block ... | index | footer
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "journal/segment.h"
#include "journal/snapshots.h"

namespace tenure {

// Which state it is: that of this journal after this frame.
struct SnapshotMark {
  JournalId journal;
  std::uint64_t sequence = 0;
  std::uint64_t chain = 0;  // the frame's checksum: what the next frame continues from
};

// Writes pairs in ascending order of their keys. One thread.
class SnapshotWriter final : public SnapshotDraft {
 public:
  // Writes under a temporary name until `publish`.
  static Result<std::unique_ptr<SnapshotWriter>> create(Files& files, const std::string& folder,
                                                        const SnapshotMark& mark);
  ~SnapshotWriter() override;

  Result<Done> add(std::string_view key, std::string_view value) override;
  Result<std::unique_ptr<Snapshot>> complete(std::string_view digest) override;
  Result<Done> publish() override;

 private:
  SnapshotWriter(Files& files, std::string folder, const SnapshotMark& mark, std::unique_ptr<File> file);
  Result<Done> write(std::string_view bytes);
  Result<Done> end_block();

  Files& files_;
  const std::string folder_;
  const SnapshotMark mark_;
  std::unique_ptr<File> file_;
  std::uint64_t offset_ = 0;
  std::uint64_t synced_ = 0;
  std::uint64_t pairs_ = 0;
  std::string block_;      // pairs of the block that is being filled
  std::string first_key_;  // of that block
  std::string last_key_;
  std::string index_;
  std::string packed_;
  bool is_complete_ = false;
  bool is_published_ = false;
};

// Reads a snapshot. One thread.
class SnapshotReader final : public Snapshot {
 public:
  // Reads header, footer and index. A failure says what is wrong with the file.
  static Result<std::unique_ptr<SnapshotReader>> open(Files& files, const std::string& path);

  [[nodiscard]] const SnapshotMark& mark() const { return mark_; }
  [[nodiscard]] std::uint64_t sequence() const override { return mark_.sequence; }
  [[nodiscard]] const std::string& digest() const override { return digest_; }
  [[nodiscard]] std::uint64_t pairs() const override { return pairs_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& path() const { return file_->path(); }

  Result<Done> visit(std::string_view prefix, Visit visit) override;
  Result<Done> verify() override;

 private:
  struct Block {
    std::string first_key;
    std::uint64_t offset;
    std::uint64_t packed_bytes;
    std::uint64_t raw_bytes;
    std::uint64_t checksum;
  };

  explicit SnapshotReader(std::unique_ptr<File> file) : file_(std::move(file)) {}
  Result<Done> read_index();
  Result<std::string> read(std::uint64_t offset, std::uint64_t bytes);
  // The block that is looked into next; one that is unpacked already stays.
  Result<Done> unpack(std::size_t which);
  // Its pairs from the first whose key is not before this one, or from where they are wrong.
  std::string_view seek(std::string_view key);

  std::unique_ptr<File> file_;
  SnapshotMark mark_;
  std::string digest_;
  std::uint64_t pairs_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<Block> blocks_;
  std::string raw_;  // the pairs of the block that is unpacked
  std::optional<std::size_t> unpacked_;
  std::string sought_;      // the last key that was sought in it
  std::size_t passed_ = 0;  // bytes of it, pairs before that key
};

std::string snapshot_path(const std::string& folder, std::uint64_t sequence);
// The frames that a folder has snapshots of, by their names, newest first.
Result<std::vector<std::uint64_t>> find_snapshots(Files& files, const std::string& folder);

}  // namespace tenure
