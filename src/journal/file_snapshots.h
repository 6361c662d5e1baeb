// The snapshots in a journal's folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/mutex.h"
#include "journal/recovery.h"
#include "journal/snapshots.h"

namespace tenure {

class FileSnapshots final : public Snapshots {
 public:
  // One is due when the journal has grown by this many bytes since the newest, and by as many as the newest has.
  FileSnapshots(Files& files, std::string folder, std::uint64_t due_bytes)
      : files_(files), folder_(std::move(folder)), due_bytes_(due_bytes) {}

  [[nodiscard]] Result<std::vector<std::uint64_t>> list() const override;
  [[nodiscard]] Result<std::unique_ptr<Snapshot>> open(std::uint64_t sequence) const override;
  Result<std::unique_ptr<SnapshotDraft>> begin(std::uint64_t sequence) override;
  Result<Done> drop_before(std::uint64_t sequence) override;
  [[nodiscard]] Result<bool> is_due() const override;
  void on_growth(std::function<void()> wake) override;

  // What the snapshot of this frame says of it; nullopt: there is none.
  [[nodiscard]] std::optional<SnapshotMark> mark_of(std::uint64_t sequence) const;

  // The journal has begun another segment.
  void grown();

 private:
  // Where the journal stands behind this frame, perhaps known from a snapshot.
  [[nodiscard]] Result<JournalEnd> place_behind(std::uint64_t sequence, const std::optional<SnapshotMark>& mark) const;
  // The size of the newest, and of the full segments that it does not cover.
  struct Growth {
    std::uint64_t newest_bytes = 0;
    std::uint64_t since_bytes = 0;
  };
  [[nodiscard]] Result<Growth> growth() const;
  [[nodiscard]] Result<Done> expect_room() const;
  Result<Done> remove(const std::string& path);

  Files& files_;
  const std::string folder_;
  const std::uint64_t due_bytes_;

  Mutex mutex_;
  std::function<void()> wake_ TENURE_GUARDED_BY(mutex_);
};

// A snapshot of a frame that the journal does not reach proves that the journal has lost frames: makes the end a
// damaged one. `snapshots` were there before the end was found.
void compare_with_snapshots(Files& files, const std::string& folder, const std::vector<std::uint64_t>& snapshots,
                            JournalEnd& end);

}  // namespace tenure
