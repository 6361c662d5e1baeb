// The journal in a folder of this machine: segments of frames, written in batches, each batch made durable at once.
//
// While one batch is saved the next one collects. Any failed write or sync ends the journal for good: after it nobody
// knows what the disk holds, so nothing is tried again. The next start finds out.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/entropy.h"
#include "base/files.h"
#include "base/mutex.h"
#include "journal/file_snapshots.h"
#include "journal/journal.h"
#include "journal/recovery.h"
#include "journal/spare_segment.h"

namespace tenure {

// Thread-safe, apart from what is said to be for one thread.
class FileJournal final : public Journal {
 public:
  // Without threads of its own it writes only when told so by `step` and `vouch`: for tests and simulation.
  enum class Threads : bool { kNone, kOwn };

  struct Options {
    std::uint64_t segment_bytes = std::uint64_t{64} << 20;
    std::uint64_t snapshot_bytes = std::uint64_t{256} << 20;  // see FileSnapshots
    Millis idle{50};                                          // after it an empty batch vouches for the last one
    Threads threads = Threads::kOwn;
    std::function<void(std::uint64_t frames)> on_progress{};  // now and then, while the start reads many
    bool may_be_unfinished = false;  // for whoever finishes a copy or a repair; see file_names.h
  };

  // What the start found and did.
  struct Report {
    bool is_new = false;
    std::uint64_t frames = 0;
    std::string torn;       // what was expected where a torn tail was cut, and what found; empty: nothing was cut
    std::string torn_copy;  // where it was copied to
    std::uint64_t torn_bytes = 0;
  };

  // Locks the folder; it is made if it is missing. Nothing else is changed before `start`.
  static Result<std::unique_ptr<FileJournal>> open(Files& files, std::string folder, Entropy& entropy, Options options);
  // As if killed: what was not durable is lost. See close.
  ~FileJournal() override;

  Snapshots* snapshots() override { return &snapshots_; }
  Result<Done> start(std::uint64_t after, Visit visit) override;
  Result<Done> read(FrameRange range, Visit visit) const override;
  void listen(Listener* listener) override;
  std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) override;
  [[nodiscard]] std::uint64_t durable() const override { return durable_.load(); }
  void commit() override;
  bool commit_here() override;
  void commit_ahead() override;
  // Vouches for what it made durable, too.
  Result<Done> close() override;
  [[nodiscard]] bool has_room() const override;
  [[nodiscard]] JournalFigures figures() const override;

  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  // --- without threads of its own ---
  // Writes what was appended. False: there was nothing, or the journal has failed.
  bool step();
  // Writes an empty batch, if the last one still needs it.
  bool vouch();

 private:
  FileJournal(Files& files, std::string folder, std::unique_ptr<FileLock> lock, Entropy& entropy, Options options);

  // --- at the start ---
  Result<Done> sync_all(const std::vector<std::string>& names);
  Result<Done> begin_anew();
  Result<Done> take_up(std::uint64_t after, Visit visit);
  Result<Done> remove_temporaries();

  // --- writing: the journal's thread, or whoever calls step or commit_here ---
  void run();
  bool may_write_here() TENURE_REQUIRES(mutex_);
  void take_appended() TENURE_REQUIRES(mutex_);
  void stop_threads();
  bool write_taken();
  Result<Done> write_batches(std::string& frames);
  Result<Done> write_batch(std::string_view frames, std::uint64_t last);
  Result<Done> roll(std::uint64_t first, std::uint64_t frame_size);
  // Tells the listener, if there is one; tell(Listener&).
  void report(absl::FunctionRef<void(Listener&)> tell);

  Files& files_;
  const std::string folder_;
  const std::unique_ptr<FileLock> lock_;
  Entropy& entropy_;
  const Options options_;
  Report report_;

  mutable Mutex mutex_;
  Condition wake_;      // of the writing thread
  Condition reported_;  // a report has ended
  Listener* listener_ TENURE_GUARDED_BY(mutex_) = nullptr;
  bool reporting_ TENURE_GUARDED_BY(mutex_) = false;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::optional<Failure> failure_ TENURE_GUARDED_BY(mutex_);
  std::string appended_ TENURE_GUARDED_BY(mutex_);      // frames not yet taken to be written
  std::uint64_t last_ TENURE_GUARDED_BY(mutex_) = 0;    // appended
  std::uint64_t wanted_ TENURE_GUARDED_BY(mutex_) = 0;  // asked to be durable
  Instant last_stamp_ TENURE_GUARDED_BY(mutex_);
  bool is_writing_ TENURE_GUARDED_BY(mutex_) = false;      // somebody is
  bool needs_vouching_ TENURE_GUARDED_BY(mutex_) = false;  // what was written last
  bool is_quick_ TENURE_GUARDED_BY(mutex_) = false;        // writing was, the last time
  JournalFigures figures_ TENURE_GUARDED_BY(mutex_);       // but for what the folder tells
  std::atomic<std::uint64_t> durable_{0};
  std::atomic<std::uint64_t> room_{0};       // left in the segment
  std::atomic<std::uint64_t> unwritten_{0};  // bytes of frames that will take some of it

  // Of whoever is writing.
  JournalEnd end_;
  std::unique_ptr<File> segment_;
  std::string taken_;
  bool is_for_caller_ = false;  // who is not told

  FileSnapshots snapshots_;
  SpareSegment spare_;
  std::thread thread_;
};

}  // namespace tenure
