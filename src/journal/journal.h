// The journal: the totally ordered, durable sequence of frames. It knows sequence numbers and bytes, not tasks or
// locks. A file on this machine or a replicated medium: both fit.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <absl/functional/function_ref.h>

#include <tenure/types.h>
#include "base/histogram.h"
#include "base/result.h"
#include "journal/snapshots.h"

namespace tenure {

// One decision: its records, encoded. All of it is replayed, or none.
struct Frame {
  std::uint64_t sequence = 0;  // consecutive, from 1
  Instant stamp;
  std::string_view payload;  // empty in a frame that only vouches for those before it
};

// The frames after the one, up to and with the other.
struct FrameRange {
  std::uint64_t after = 0;
  std::uint64_t upto = std::numeric_limits<std::uint64_t>::max();
};

// What a journal has done since its start, and how it stands.
struct JournalFigures {
  static constexpr double kSyncBounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                           0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
  static constexpr double kBatchBounds[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096};

  std::uint64_t segment_bytes = 0;   // on the medium
  std::uint64_t snapshot_bytes = 0;  // likewise
  std::uint64_t free_bytes = 0;      // of the medium
  std::uint64_t written_bytes = 0;
  Histogram sync_seconds{kSyncBounds};   // what it took to make one batch durable
  Histogram batch_frames{kBatchBounds};  // in one batch
};

class Journal {
 public:
  // How an append ended that did not become durable: surely not, or nobody knows.
  enum class Outcome : std::uint8_t { kFailed, kUnknown };

  // Told, on whatever thread, how far the journal has got. Never called while `append` runs.
  class Listener {
   public:
    virtual ~Listener() = default;
    // Everything up to this frame is on stable storage.
    virtual void on_durable(std::uint64_t sequence) = 0;
    // Nothing more will become durable; of what was appended and not yet reported this is the outcome.
    virtual void on_failed(Outcome outcome, const std::string& why) = 0;
  };
  using Visit = absl::FunctionRef<Result<Done>(const Frame&)>;

  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  virtual ~Journal() = default;

  // Null: this journal keeps all its frames.
  [[nodiscard]] virtual Snapshots* snapshots() { return nullptr; }

  // Reads what is there after this frame, and makes ready for appending. Once, before the first append. A visitor that
  // fails ends it with its failure, and nothing was changed.
  virtual Result<Done> start(std::uint64_t after, Visit visit) = 0;
  // Reads the durable ones of these frames; called again and again, it follows the tail.
  [[nodiscard]] virtual Result<Done> read(FrameRange range, Visit visit) const = 0;

  // Null: nobody; when that returns, no report from a thread of the journal's own is under way any more.
  virtual void listen(Listener* listener) = 0;

  // Takes a frame into memory and numbers it. Cheap: called with the authority's mutex held. On a medium that elects
  // its writer, a frame of an epoch that has passed never becomes durable; on one machine the epoch is 0.
  virtual std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) = 0;
  // How far it is known to be durable, without waiting. A journal that is durable at once needs no commit.
  [[nodiscard]] virtual std::uint64_t durable() const = 0;
  // Asks for everything appended to be made durable. Does not wait, but may report to the listener before it returns;
  // so it is called without the authority's mutex.
  virtual void commit() = 0;
  // The same for a caller that has nothing better to do than to wait: everything appended is made durable on its
  // thread, and the listener is not told. False: it would not be quick, or somebody else is at it; nothing was done.
  virtual bool commit_here() { return false; }
  // For a caller that has not appended all of it yet: what is there is begun with, if it is much, and nothing else is
  // under way.
  virtual void commit_ahead() {}
  // Makes everything durable, and ends. One thread; nothing is appended any more.
  virtual Result<Done> close() = 0;
  // False: the medium is nearly full. What is left is for finishing what was begun.
  [[nodiscard]] virtual bool has_room() const { return true; }
  // May look at the medium's folder, not at its files' contents.
  [[nodiscard]] virtual JournalFigures figures() const { return {}; }
};

}  // namespace tenure
