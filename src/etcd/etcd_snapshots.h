// The snapshots of a journal in etcd: the bytes of a snapshot file, in pieces.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "etcd/batch_reader.h"
#include "etcd/keys.h"
#include "etcd/store.h"
#include "journal/snapshot_file.h"
#include "journal/snapshots.h"

namespace tenure::etcd {

// Those who only read along may list and open them; only a leader makes and drops them.
class EtcdSnapshots final : public Snapshots {
 public:
  // One is due when the journal has grown by this many bytes since the newest, and by as many as the newest has.
  EtcdSnapshots(Store& store, const Keys& keys, const BatchReader& reader, Millis timeout, std::uint64_t due_bytes)
      : store_(store), keys_(keys), reader_(reader), timeout_(timeout), due_bytes_(due_bytes) {}

  [[nodiscard]] Result<std::vector<std::uint64_t>> list() const override;
  [[nodiscard]] Result<std::unique_ptr<Snapshot>> open(std::uint64_t sequence) const override;
  Result<std::unique_ptr<SnapshotDraft>> begin(std::uint64_t sequence) override;
  Result<Done> drop_before(std::uint64_t sequence) override;
  [[nodiscard]] Result<bool> is_due() const override;
  void on_growth(std::function<void()> wake) override;

  // What the snapshot of this frame says of it; nullopt: there is none.
  [[nodiscard]] Result<std::optional<SnapshotMark>> mark_of(std::uint64_t sequence) const;

  // Frames up to this one were seen to be durable; those that come again do not count.
  void grown(std::uint64_t last, std::uint64_t bytes);
  // The epoch in which this node appends.
  void lead(std::uint64_t epoch) { epoch_ = epoch; }

  struct Sizes {
    std::uint64_t batches = 0;
    std::uint64_t snapshots = 0;
  };
  // As far as this node has seen.
  [[nodiscard]] Sizes sizes() const;
  // After something was dropped.
  void on_dropped(std::function<void()> call) { on_dropped_ = std::move(call); }

 private:
  struct Published {
    std::uint64_t sequence = 0;
    std::uint64_t epoch = 0;
    std::uint64_t bytes = 0;
  };
  // Batches that were seen one after the other.
  struct Grown {
    std::uint64_t last = 0;
    std::uint64_t bytes = 0;
  };

  // Newest first.
  [[nodiscard]] Result<std::vector<Published>> published() const;
  [[nodiscard]] Result<std::unique_ptr<SnapshotReader>> open_file(const Published& which) const;
  Result<Done> drop_batches(std::uint64_t sequence);
  Result<Done> remove_leftovers(const std::vector<Published>& kept);
  [[nodiscard]] std::uint64_t bytes_behind(std::uint64_t sequence) const TENURE_REQUIRES(mutex_);

  Store& store_;
  const Keys& keys_;
  const BatchReader& reader_;
  const Millis timeout_;
  const std::uint64_t due_bytes_;
  std::atomic<std::uint64_t> epoch_{0};
  std::function<void()> on_dropped_;

  mutable Mutex mutex_;
  std::function<void()> wake_ TENURE_GUARDED_BY(mutex_);
  std::deque<Grown> grown_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t seen_ TENURE_GUARDED_BY(mutex_) = 0;
  std::uint64_t since_told_ TENURE_GUARDED_BY(mutex_) = 0;
  mutable std::uint64_t snapshot_bytes_ TENURE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenure::etcd
