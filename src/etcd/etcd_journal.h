// The journal in etcd: batches of frames, each made durable by one transaction.
//
// A batch is put if the leader's key still has the epoch's create revision, the batch before it is there, and none is
// in its place. So nothing of a passed epoch becomes durable, and a batch that is there vouches for all before it;
// several may be under way, in whatever order they arrive, though usually it is one, while the next one collects. When
// an answer is lost, the same transaction is sent again: if the first one was done, the second does nothing, but reads
// what lies there.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/entropy.h"
#include "base/mutex.h"
#include "base/stopwatch.h"
#include "etcd/batch_reader.h"
#include "etcd/etcd_snapshots.h"
#include "etcd/keys.h"
#include "etcd/store.h"
#include "journal/shared_journal.h"

namespace tenure::etcd {

// A frame larger than this may be more than etcd takes in one request (1.5 MiB, unless told otherwise).
inline constexpr std::uint64_t kFrameBytesMax = std::uint64_t{1400} << 10;

// Thread-safe, apart from what is said to be for one thread.
class EtcdJournal final : public SharedJournal {
 public:
  struct Options {
    std::uint64_t batch_bytes = std::uint64_t{1} << 20;  // a batch of several frames is not larger
    // Batches under way at a time. More than one make each of them smaller, and etcd often takes them in another order,
    // so that they are sent twice: 82,000 frames/s of 200 writers with 1, 33,000 with 2, 6,300 with 4.
    std::size_t in_flight = 1;
    std::uint64_t snapshot_bytes = std::uint64_t{64} << 20;  // see EtcdSnapshots
    std::uint64_t room_bytes = std::uint64_t{3} << 29;       // of etcd's 2 GiB; what is left is for finishing
    Millis timeout{5'000};                                   // of one call
    bool may_be_unfinished = false;                          // for whoever finishes a copy
  };

  EtcdJournal(Store& store, Keys keys, Entropy& entropy, Options options);
  ~EtcdJournal() override;

  Snapshots* snapshots() override { return &snapshots_; }
  Result<Done> start(std::uint64_t after, Visit visit) override;
  [[nodiscard]] Result<Done> read(FrameRange range, Visit visit) const override;
  void listen(Listener* listener) override;
  std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) override;
  [[nodiscard]] std::uint64_t durable() const override { return durable_.load(); }
  void commit() override;
  // Waits until what is under way has ended, though not for ever.
  Result<Done> close() override;
  [[nodiscard]] bool has_room() const override { return has_room_.load(); }
  [[nodiscard]] JournalFigures figures() const override;
  void on_news(std::function<void()> wake) override;

  // Begins a snapshot that an empty journal is to go on behind; then it is started.
  Result<std::unique_ptr<SnapshotDraft>> begin_behind(std::uint64_t epoch, std::uint64_t sequence);

 private:
  struct Anchor;
  // A batch that is not durable yet.
  struct Batch {
    std::uint64_t epoch = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::string frames{};
    std::string previous{};  // the key of the batch before it; empty: there is none
    bool is_sealed = false;
    bool is_under_way = false;  // sent and not answered, or waiting to be sent again
    bool was_first = false;     // of all that were not durable, when it was sent
    bool is_too_early = false;  // it was refused, perhaps for one before it: it is sent again when it is the first
    int sends = 0;
    std::optional<Stopwatch> watch{};  // since it was sent first
  };
  // What ends a term.
  struct End {
    Outcome outcome = Outcome::kUnknown;
    std::string why;
  };

  // What is told is done under the anchor's mutex: one at a time, and not after this journal's end.
  template <class T>
  Tell<T> tell_me(std::function<void(EtcdJournal&, const Answer<T>&)> take) const;
  void call_me_after(Millis delay, std::function<void(EtcdJournal&)> call) const;

  // --- at the start ---
  Result<JournalId> settle_id();
  Result<Done> take_up(const JournalId& id, const Position& end);

  // --- writing ---
  void send_more() TENURE_REQUIRES(mutex_);
  void send(Batch& batch) TENURE_REQUIRES(mutex_);
  // Nullptr: it has ended.
  Batch* find(std::uint64_t term, std::uint64_t first) TENURE_REQUIRES(mutex_);
  void take_answer(std::uint64_t term, std::uint64_t first, const Answer<TxnAnswer>& answer);
  void judge_trouble(Batch& batch, const Trouble& trouble) TENURE_REQUIRES(mutex_);
  void judge_refused(Batch& batch, const TxnAnswer& answer) TENURE_REQUIRES(mutex_);
  void send_again_later(Batch& batch) TENURE_REQUIRES(mutex_);
  void note_durable(const Batch& upto) TENURE_REQUIRES(mutex_);
  void gather(std::uint64_t frames) TENURE_REQUIRES(mutex_);
  void end_term(Outcome outcome, std::string why) TENURE_REQUIRES(mutex_);
  void report();

  // --- etcd's size ---
  void ask_size() TENURE_REQUIRES(mutex_);
  void take_size(const Answer<Status>& status);

  // --- news ---
  void look_for_news();
  void take_look(const Answer<RangeAnswer>& answer);
  void take_news(const Answer<News>& news);

  Store& store_;
  const Keys keys_;
  Entropy& entropy_;
  const Options options_;
  const BatchReader reader_;
  const std::shared_ptr<Anchor> anchor_;

  mutable Mutex mutex_;
  Condition reported_;  // a report has ended, or a batch has
  Listener* listener_ TENURE_GUARDED_BY(mutex_) = nullptr;
  bool reporting_ TENURE_GUARDED_BY(mutex_) = false;
  std::uint64_t term_ TENURE_GUARDED_BY(mutex_) = 0;  // counts starts: what was sent before the last one is nothing
  std::optional<End> end_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t reported_durable_ TENURE_GUARDED_BY(mutex_) = 0;
  bool is_end_reported_ TENURE_GUARDED_BY(mutex_) = false;
  mutable std::optional<JournalId> id_ TENURE_GUARDED_BY(mutex_);
  mutable std::optional<Position> tail_ TENURE_GUARDED_BY(mutex_);  // where somebody has read to
  std::deque<Batch> batches_ TENURE_GUARDED_BY(mutex_);             // not durable; the sealed ones first
  std::uint64_t chain_ TENURE_GUARDED_BY(mutex_) = 0;               // of the last sealed frame
  std::string previous_ TENURE_GUARDED_BY(mutex_);                  // the last sealed batch's key
  std::uint64_t last_ TENURE_GUARDED_BY(mutex_) = 0;                // appended
  std::uint64_t wanted_ TENURE_GUARDED_BY(mutex_) = 0;              // asked to be durable
  std::uint64_t gathering_ TENURE_GUARDED_BY(mutex_) = 0;  // the next batch waits for this frame; 0: it does not
  JournalFigures figures_ TENURE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> durable_{0};

  std::uint64_t unasked_bytes_ TENURE_GUARDED_BY(mutex_) = 0;  // written since etcd was asked for its size
  bool is_asking_size_ TENURE_GUARDED_BY(mutex_) = false;
  std::uint64_t free_bytes_ TENURE_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> has_room_{true};

  // Under the anchor's mutex.
  std::function<void()> wake_;
  std::unique_ptr<Watch> watch_;

  mutable EtcdSnapshots snapshots_;  // reading tells it how the journal grows
};

}  // namespace tenure::etcd
