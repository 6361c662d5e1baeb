#include "etcd/etcd_snapshots.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/split.h"
#include "base/text.h"
#include "etcd/piece_files.h"

namespace tenure::etcd {
namespace {

constexpr std::uint64_t kGrownBytes = 64 << 10;
constexpr std::int64_t kDropSlice = 1000;

// A draft that owns what it is written to.
class PieceDraft final : public SnapshotDraft {
 public:
  PieceDraft(Store& store, const Keys& keys, const PieceFiles::Which& which, Millis timeout)
      : files_(store, keys, which, timeout) {}

  Result<Done> begin(const SnapshotMark& mark) {
    auto writer = SnapshotWriter::create(files_, "etcd", mark);
    if (!writer) return tl::unexpected(writer.error());
    writer_ = std::move(*writer);
    return Done{};
  }
  Result<Done> add(std::string_view key, std::string_view value) override { return writer_->add(key, value); }
  Result<std::unique_ptr<Snapshot>> complete(std::string_view digest) override { return writer_->complete(digest); }
  Result<Done> publish() override { return writer_->publish(); }

 private:
  PieceFiles files_;
  std::unique_ptr<SnapshotWriter> writer_;
};

}  // namespace

// --- reading ---

Result<std::vector<EtcdSnapshots::Published>> EtcdSnapshots::published() const {
  const auto answer = store_.range_now({.keys = keys_.snapshots(), .is_descending = true}, timeout_);
  if (!answer) return failure_of(answer.error());
  std::vector<Published> all;
  std::uint64_t bytes = 0;
  for (const KeyValue& pair : answer->found) {
    const auto sequence = Keys::number_of(pair.key);
    const auto words = split(pair.value, ' ');
    const auto epoch = parse_decimal(words[0]);
    const std::uint64_t size = words.size() > 1 ? parse_decimal(words[1]).value_or(0) : 0;
    if (!sequence || !epoch || size == 0) {
      return fail_with(ErrorCode::kInvalid, "etcd key {}: expected a snapshot's epoch and size, found '{}'", pair.key,
                       pair.value);
    }
    all.push_back({*sequence, *epoch, size});
    bytes += size;
  }
  const MutexLock lock(mutex_);
  snapshot_bytes_ = bytes;
  return all;
}

Result<std::vector<std::uint64_t>> EtcdSnapshots::list() const {
  const auto all = published();
  if (!all) return tl::unexpected(all.error());
  std::vector<std::uint64_t> sequences;
  for (const Published& one : *all) sequences.push_back(one.sequence);
  return sequences;
}

Result<std::unique_ptr<SnapshotReader>> EtcdSnapshots::open_file(const Published& which) const {
  PieceFiles files(store_, keys_, {which.sequence, which.epoch, which.bytes}, timeout_);
  auto reader = SnapshotReader::open(files, keys_.snapshot(which.sequence));
  if (reader && (*reader)->mark().sequence != which.sequence) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a snapshot of frame {}, found one of {}",
                     keys_.snapshot(which.sequence), which.sequence, (*reader)->mark().sequence);
  }
  return reader;
}

Result<std::optional<SnapshotMark>> EtcdSnapshots::mark_of(std::uint64_t sequence) const {
  const auto all = published();
  if (!all) return tl::unexpected(all.error());
  for (const Published& one : *all) {
    if (one.sequence != sequence) continue;
    const auto reader = open_file(one);
    if (!reader) return tl::unexpected(reader.error());
    return (*reader)->mark();
  }
  return std::nullopt;
}

Result<std::unique_ptr<Snapshot>> EtcdSnapshots::open(std::uint64_t sequence) const {
  const auto all = published();
  if (!all) return tl::unexpected(all.error());
  const auto which = std::find_if(all->begin(), all->end(), [&](const auto& one) { return one.sequence == sequence; });
  if (which == all->end()) {
    return fail_with(ErrorCode::kUnavailable, "{}: expected a snapshot, found none", keys_.snapshot(sequence));
  }
  auto reader = open_file(*which);
  if (!reader) return tl::unexpected(reader.error());
  const auto id = reader_.id();
  if (!id) return tl::unexpected(id.error());
  const SnapshotMark& mark = (*reader)->mark();
  const auto chain = reader_.chain_at(mark.journal, sequence);
  if (!chain) return tl::unexpected(chain.error());
  if (*id != mark.journal || chain->value_or(mark.chain) != mark.chain) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a snapshot of this journal after its frame {}, found another",
                     keys_.snapshot(sequence), sequence);
  }
  return std::move(*reader);
}

// --- making ---

Result<std::unique_ptr<SnapshotDraft>> EtcdSnapshots::begin(std::uint64_t sequence) {
  const std::uint64_t epoch = epoch_.load();
  const auto id = reader_.id();
  if (!id) return tl::unexpected(id.error());
  if (!*id || epoch == 0) return fail_with(ErrorCode::kUnavailable, "etcd: expected a journal that this node writes");
  auto chain = reader_.chain_at(**id, sequence);
  if (!chain) return tl::unexpected(chain.error());
  if (!*chain) {
    // A journal may begin behind its first snapshot.
    const auto any = reader_.batch_of(std::numeric_limits<std::uint64_t>::max());
    if (!any) return tl::unexpected(any.error());
    if (!*any) chain = 0;
  }
  if (!*chain) {
    return fail_with(ErrorCode::kInvalid, "etcd: expected frame {}, which a snapshot is made of, found none", sequence);
  }
  const auto kept = published();
  if (!kept) return tl::unexpected(kept.error());
  if (auto removed = remove_leftovers(*kept); !removed) return tl::unexpected(removed.error());
  auto draft =
      std::make_unique<PieceDraft>(store_, keys_, PieceFiles::Which{.sequence = sequence, .epoch = epoch}, timeout_);
  const auto begun = draft->begin({.journal = **id, .sequence = sequence, .chain = **chain});
  if (!begun) return tl::unexpected(begun.error());
  return draft;
}

// What a draft has left behind whose maker has gone.
Result<Done> EtcdSnapshots::remove_leftovers(const std::vector<Published>& kept) {
  std::string begin = keys_.pieces().begin;
  for (auto one = kept.rbegin(); one != kept.rend(); ++one) {
    const KeyRange pieces = KeyRange::prefix(keys_.pieces_of(one->sequence, one->epoch));
    if (auto removed = remove_as_leader(store_, keys_, epoch_, {begin, pieces.begin}, timeout_); !removed)
      return removed;
    begin = pieces.end;
  }
  return remove_as_leader(store_, keys_, epoch_, {begin, keys_.pieces().end}, timeout_);
}

// From the oldest on: a leader that is lost leaves no gap.
Result<Done> EtcdSnapshots::drop_before(std::uint64_t sequence) {
  auto all = published();
  if (!all) return tl::unexpected(all.error());
  std::reverse(all->begin(), all->end());
  for (const Published& one : *all) {
    if (one.sequence >= sequence) break;
    auto dropped = change_as_leader(store_, keys_, epoch_,
                                    {.deletes = {KeyRange::one(keys_.snapshot(one.sequence)),
                                                 KeyRange::prefix(keys_.pieces_of(one.sequence, one.epoch))}},
                                    timeout_);
    if (!dropped) return dropped;
  }
  if (auto dropped = drop_batches(sequence); !dropped) return dropped;
  const auto now = store_.range_now({.keys = KeyRange::one(keys_.leader()), .is_keys_only = true}, timeout_);
  if (!now) return failure_of(now.error());
  store_.compact(now->revision, timeout_, [](const Answer<Revision>& /*answer*/) {});
  if (on_dropped_) on_dropped_();
  return Done{};
}

// The batch with the next frame stays, and so there is always one that the next is put behind.
Result<Done> EtcdSnapshots::drop_batches(std::uint64_t sequence) {
  const auto kept = reader_.batch_of(sequence + 1);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return Done{};
  const KeyRange older{keys_.batches().begin, keys_.batch(**kept)};
  while (true) {
    const auto slice = store_.range_now({.keys = older, .limit = kDropSlice, .is_keys_only = true}, timeout_);
    if (!slice) return failure_of(slice.error());
    if (slice->found.empty()) break;
    auto dropped =
        change_as_leader(store_, keys_, epoch_, {.deletes = {{older.begin, slice->found.back().key + '\0'}}}, timeout_);
    if (!dropped) return dropped;
  }
  const MutexLock lock(mutex_);
  while (!grown_.empty() && grown_.front().last < **kept) grown_.pop_front();
  return Done{};
}

// --- growth ---

std::uint64_t EtcdSnapshots::bytes_behind(std::uint64_t sequence) const {
  std::uint64_t bytes = 0;
  for (auto batch = grown_.rbegin(); batch != grown_.rend() && batch->last > sequence; ++batch) bytes += batch->bytes;
  return bytes;
}

Result<bool> EtcdSnapshots::is_due() const {
  const auto all = published();
  if (!all) return tl::unexpected(all.error());
  const Published newest = all->empty() ? Published{} : all->front();
  const MutexLock lock(mutex_);
  return bytes_behind(newest.sequence) >= std::max(due_bytes_, newest.bytes);
}

void EtcdSnapshots::on_growth(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

void EtcdSnapshots::grown(std::uint64_t last, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (last <= seen_) return;
  seen_ = last;
  if (grown_.empty() || grown_.back().bytes >= kGrownBytes) grown_.push_back({});
  grown_.back().last = last;
  grown_.back().bytes += bytes;
  since_told_ += bytes;
  if (since_told_ < due_bytes_ / 4) return;
  since_told_ = 0;
  if (wake_) wake_();
}

EtcdSnapshots::Sizes EtcdSnapshots::sizes() const {
  const MutexLock lock(mutex_);
  return {.batches = bytes_behind(0), .snapshots = snapshot_bytes_};
}

}  // namespace tenure::etcd
