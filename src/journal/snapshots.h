// Snapshots: what a journal's frames up to one of them add up to, so that a start need not read them all and the oldest
// may go. A snapshot is sorted pairs of key and value; the journal knows nothing of what they mean.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/functional/function_ref.h>

#include "base/result.h"

namespace tenure {

// One thread.
class Snapshot {
 public:
  using Visit = absl::FunctionRef<Result<Done>(std::string_view key, std::string_view value)>;

  Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  virtual ~Snapshot() = default;

  // The last frame that is in it.
  [[nodiscard]] virtual std::uint64_t sequence() const = 0;
  [[nodiscard]] virtual std::uint64_t pairs() const = 0;
  // 16 bytes, as they were given to SnapshotDraft::finish.
  [[nodiscard]] virtual const std::string& digest() const = 0;
  // Visits, in order, the pairs whose keys begin with the prefix.
  virtual Result<Done> visit(std::string_view prefix, Visit visit) = 0;
  // Reads all of it.
  virtual Result<Done> verify() = 0;
};

// One that is being written; nobody sees it before it is finished, and if it never is, nothing is left of it. One
// thread.
class SnapshotDraft {
 public:
  SnapshotDraft() = default;
  SnapshotDraft(const SnapshotDraft&) = delete;
  SnapshotDraft& operator=(const SnapshotDraft&) = delete;
  virtual ~SnapshotDraft() = default;

  // In ascending order of keys.
  virtual Result<Done> add(std::string_view key, std::string_view value) = 0;
  // Completes it, and gives it to be read again and proven; it is not shown yet.
  virtual Result<std::unique_ptr<Snapshot>> complete(std::string_view digest) = 0;
  // Shows it, for good.
  virtual Result<Done> publish() = 0;
};

// Those of one journal. One thread makes them; `on_growth` and `list` are for any.
class Snapshots {
 public:
  Snapshots() = default;
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;
  virtual ~Snapshots() = default;

  // The frames that there are snapshots of, newest first.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> list() const = 0;
  // Fails if its frame is not one of this journal, or if it is seen to be damaged.
  [[nodiscard]] virtual Result<std::unique_ptr<Snapshot>> open(std::uint64_t sequence) const = 0;
  // Begins one of this frame, which is durable. Fails if there may be no room for it.
  virtual Result<std::unique_ptr<SnapshotDraft>> begin(std::uint64_t sequence) = 0;
  // Removes the snapshots of frames before this one, and of the journal what only they needed.
  virtual Result<Done> drop_before(std::uint64_t sequence) = 0;

  // Whether the journal has grown so much since the newest that it is time for the next.
  [[nodiscard]] virtual Result<bool> is_due() const = 0;
  // Called, on the journal's thread, when one may have become due; it must not block. Null: nobody; when that returns,
  // no call is under way any more.
  virtual void on_growth(std::function<void()> wake) = 0;
};

}  // namespace tenure
