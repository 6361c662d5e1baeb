#include "etcd/etcd_journal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/planted.h"
#include "etcd/batch.h"
#include "journal/frame.h"

namespace tenure::etcd {
namespace {

constexpr Millis kSendAgainFirst{50};
constexpr Millis kSendAgainMax{1'000};
constexpr Millis kLookAgain{500};
constexpr Millis kSizeAgain{5'000};
constexpr Millis kCloseSlice{50};
constexpr Millis kGather{2};                // a small part of what a batch takes
constexpr std::uint64_t kSizeAskings = 64;  // while the room fills

Millis pause_after(int sends) { return std::min(kSendAgainFirst * (1 << std::min(sends, 6)), kSendAgainMax); }

}  // namespace

struct EtcdJournal::Anchor {
  Mutex mutex;
  EtcdJournal* journal TENURE_GUARDED_BY(mutex) = nullptr;
};

template <class T>
Tell<T> EtcdJournal::tell_me(std::function<void(EtcdJournal&, const Answer<T>&)> take) const {
  return [anchor = anchor_, take = std::move(take)](const Answer<T>& answer) {
    const MutexLock lock(anchor->mutex);
    if (anchor->journal != nullptr) take(*anchor->journal, answer);
  };
}

void EtcdJournal::call_me_after(Millis delay, std::function<void(EtcdJournal&)> call) const {
  store_.after(delay, [anchor = anchor_, call = std::move(call)] {
    const MutexLock lock(anchor->mutex);
    if (anchor->journal != nullptr) call(*anchor->journal);
  });
}

EtcdJournal::EtcdJournal(Store& store, Keys keys, Entropy& entropy, Options options)
    : store_(store),
      keys_(std::move(keys)),
      entropy_(entropy),
      options_(options),
      reader_(store_, keys_, options_.timeout),
      anchor_(std::make_shared<Anchor>()),
      snapshots_(store_, keys_, reader_, options_.timeout, options_.snapshot_bytes) {
  const MutexLock lock(anchor_->mutex);
  anchor_->journal = this;
  snapshots_.on_dropped([this] {
    const MutexLock size_lock(mutex_);
    ask_size();
  });
}

EtcdJournal::~EtcdJournal() {
  const MutexLock lock(anchor_->mutex);
  anchor_->journal = nullptr;
  watch_.reset();
}

// --- at the start ---

Result<Done> EtcdJournal::start(std::uint64_t after, Visit visit) {
  std::optional<Position> from;
  {
    const MutexLock lock(mutex_);
    ++term_;
    batches_.clear();
    gathering_ = 0;
    end_.reset();
    is_end_reported_ = false;
    if (tail_ && tail_->next == after + 1) from = tail_;
  }
  const auto id = settle_id();
  if (!id) return tl::unexpected(id.error());
  auto end = reader_.walk(*id, {.after = after}, from, [&](const Frame& frame) {
    snapshots_.grown(frame.sequence, frame_bytes(frame.payload.size()));
    return visit(frame);
  });
  if (!end) return tl::unexpected(end.error());
  // Nothing is there behind a snapshot but what comes now.
  if (!end->chain) {
    const auto mark = snapshots_.mark_of(after);
    if (!mark) return tl::unexpected(mark.error());
    if (!*mark) {
      return fail_with(ErrorCode::kInvalid, "etcd: expected frame {} or a snapshot of it, found neither", after);
    }
    end->chain = (*mark)->chain;
  }
  return take_up(*id, *end);
}

// Whoever is the first gives the journal its id.
Result<JournalId> EtcdJournal::settle_id() {
  const JournalId fresh{entropy_.next(), entropy_.next()};
  Txn txn{.conditions = {Compare::missing(keys_.id())},
          .puts = {{.key = keys_.id(), .value = fresh.text()}},
          .otherwise = {{.keys = KeyRange::one(keys_.id())}, {.keys = KeyRange::one(keys_.unfinished())}}};
  if (!options_.may_be_unfinished) txn.conditions.push_back(Compare::missing(keys_.unfinished()));
  const auto answer = store_.txn_now(std::move(txn), options_.timeout);
  if (!answer) return failure_of(answer.error());
  if (answer->is_done) return fresh;
  if (!options_.may_be_unfinished && !answer->otherwise[1].found.empty()) {
    return fail_with(ErrorCode::kInvalid,
                     "etcd key {}: expected a finished copy, found that one did not end. Remove all keys that begin "
                     "with {}/ and copy again",
                     keys_.unfinished(), keys_.prefix());
  }
  const auto& found = answer->otherwise[0].found;
  TENURE_CHECK(!found.empty(), "a key that is neither missing nor there");
  return parse_id(found.front());
}

Result<std::unique_ptr<SnapshotDraft>> EtcdJournal::begin_behind(std::uint64_t epoch, std::uint64_t sequence) {
  const auto id = settle_id();
  if (!id) return tl::unexpected(id.error());
  snapshots_.lead(epoch);
  return snapshots_.begin(sequence);
}

Result<Done> EtcdJournal::take_up(const JournalId& id, const Position& end) {
  const auto snapshots = snapshots_.list();
  if (!snapshots) return tl::unexpected(snapshots.error());
  if (!snapshots->empty() && snapshots->front() >= end.next) {
    return fail_with(ErrorCode::kInvalid, "etcd: expected frame {}, as there is a snapshot of frame {}, found the end",
                     end.next, snapshots->front());
  }
  const MutexLock lock(mutex_);
  id_ = id;
  tail_ = end;
  chain_ = *end.chain;
  previous_ = end.batch == 0 ? std::string() : keys_.batch(end.batch);
  last_ = wanted_ = reported_durable_ = end.next - 1;
  durable_ = end.next - 1;
  ask_size();
  return Done{};
}

Result<Done> EtcdJournal::read(FrameRange range, Visit visit) const {
  std::optional<JournalId> id;
  std::optional<Position> from;
  {
    const MutexLock lock(mutex_);
    id = id_;
    if (tail_ && tail_->next == range.after + 1) from = tail_;
  }
  if (!id) {
    const auto found = reader_.id();
    if (!found) return tl::unexpected(found.error());
    if (!*found) return Done{};
    id = *found;
  }
  const auto end = reader_.walk(*id, range, from, [&](const Frame& frame) {
    snapshots_.grown(frame.sequence, frame_bytes(frame.payload.size()));
    return visit(frame);
  });
  if (!end) return tl::unexpected(end.error());
  const MutexLock lock(mutex_);
  id_ = id;
  if (end->chain && (!tail_ || tail_->next < end->next)) tail_ = *end;
  return Done{};
}

// --- appending ---

void EtcdJournal::listen(Listener* listener) {
  const MutexLock lock(mutex_);
  listener_ = listener;
  while (listener == nullptr && reporting_) reported_.wait(mutex_);
}

std::uint64_t EtcdJournal::append(std::uint64_t epoch, Instant stamp, std::string_view payload) {
  const MutexLock lock(mutex_);
  ++last_;
  if (end_) return last_;
  const std::size_t bytes = frame_bytes(payload.size());
  const bool fits = !batches_.empty() && !batches_.back().is_sealed && batches_.back().epoch == epoch &&
                    batches_.back().frames.size() + bytes <= options_.batch_bytes;
  if (!fits) {
    batches_.push_back({.epoch = epoch, .first = last_});
    snapshots_.lead(epoch);
  }
  put_frame(batches_.back().frames, last_, stamp, payload);
  batches_.back().last = last_;
  return last_;
}

void EtcdJournal::commit() {
  const MutexLock lock(mutex_);
  if (wanted_ == last_) return;
  wanted_ = last_;
  send_more();
}

// --- writing ---

void EtcdJournal::send_more() {
  if (wanted_ < gathering_) return;
  gathering_ = 0;
  const auto is_under_way = [](const Batch& batch) { return batch.is_under_way; };
  auto under_way = static_cast<std::size_t>(std::count_if(batches_.begin(), batches_.end(), is_under_way));
  for (Batch& batch : batches_) {
    if (under_way >= options_.in_flight || batch.first > wanted_) return;
    if (batch.is_under_way || (batch.is_too_early && &batch != &batches_.front())) continue;
    send(batch);
    ++under_way;
  }
}

void EtcdJournal::send(Batch& batch) {
  // Sent again, it is the same batch in the same place, unless by a planted bug.
  const bool is_put_behind = is_planted(PlantedBug::kBlindReappend) && batch.sends > 0;
  const std::string key = keys_.batch(is_put_behind ? batch.last + 1 : batch.first);
  if (!std::exchange(batch.is_sealed, true)) {
    chain_ = seal_batch(batch.frames, batch.first, chain_, id_->seed());
    batch.previous = std::exchange(previous_, key);
    batch.watch.emplace();
  }
  batch.is_under_way = true;
  batch.was_first = &batch == &batches_.front();
  ++batch.sends;
  Txn txn{
      .conditions = {Compare::created_at(keys_.leader(), static_cast<Revision>(batch.epoch)), Compare::missing(key)},
      .puts = {{.key = key, .value = batch.frames}},
      .otherwise = {{.keys = KeyRange::one(keys_.leader())}, {.keys = KeyRange::one(key)}}};
  if (is_planted(PlantedBug::kNoEpochCompare)) txn.conditions.erase(txn.conditions.begin());
  if (!batch.previous.empty()) {
    txn.conditions.push_back(Compare::exists(batch.previous));
    txn.otherwise.push_back({.keys = KeyRange::one(batch.previous), .is_keys_only = true});
  }
  store_.txn(std::move(txn), options_.timeout,
             tell_me<TxnAnswer>([term = term_, first = batch.first](EtcdJournal& journal, const auto& answer) {
               journal.take_answer(term, first, answer);
             }));
}

EtcdJournal::Batch* EtcdJournal::find(std::uint64_t term, std::uint64_t first) {
  if (term != term_ || end_) return nullptr;
  for (Batch& batch : batches_) {
    if (batch.first == first) return &batch;
  }
  return nullptr;
}

void EtcdJournal::take_answer(std::uint64_t term, std::uint64_t first, const Answer<TxnAnswer>& answer) {
  {
    const MutexLock lock(mutex_);
    // A later one may have vouched for it.
    Batch* const batch = find(term, first);
    if (batch == nullptr) return;
    batch->is_under_way = false;
    if (answer) {
      answer->is_done ? note_durable(*batch) : judge_refused(*batch, *answer);
    } else {
      judge_trouble(*batch, answer.error());
    }
    if (!end_) send_more();
  }
  report();
}

void EtcdJournal::judge_trouble(Batch& batch, const Trouble& trouble) {
  if (!trouble.is_refusal) return send_again_later(batch);
  // The first of all tells how it ends: then it is known what became of those before.
  batch.is_too_early = !batch.was_first;
  if (batch.is_too_early) return;
  end_term(batch.sends == 1 ? Outcome::kFailed : Outcome::kUnknown, trouble.why);
}

// The conditions did not hold; what was read tells which.
void EtcdJournal::judge_refused(Batch& batch, const TxnAnswer& answer) {
  const auto& leader = answer.otherwise[0].found;
  const auto& lying = answer.otherwise[1].found;
  // It was done, and the answer lost.
  if (!lying.empty() && lying.front().value == batch.frames) return note_durable(batch);
  // Those before it were under way when this was found.
  batch.is_too_early = !batch.was_first;
  if (batch.is_too_early) return;
  const bool leads = !leader.empty() && leader.front().create_revision == static_cast<Revision>(batch.epoch);
  const bool is_previous_there = !batch.previous.empty() && !answer.otherwise[2].found.empty();
  if (leads && lying.empty() && (is_previous_there || batch.previous.empty())) return send_again_later(batch);
  const std::string key = keys_.batch(batch.first);
  if (!leads) {
    // Batches are dropped from the oldest on: if the one before it is there, this one never was.
    end_term(lying.empty() && is_previous_there ? Outcome::kFailed : Outcome::kUnknown,
             fmt::format("expected to lead in epoch {}, found {}", batch.epoch,
                         leader.empty() ? "no leader"
                                        : fmt::format("that {} leads in epoch {}", leader.front().value,
                                                      leader.front().create_revision)));
  } else if (!lying.empty()) {
    end_term(Outcome::kUnknown, fmt::format("etcd key {}: expected nothing there, found another batch", key));
  } else {
    end_term(Outcome::kUnknown, fmt::format("etcd key {}: expected it before {}, found nothing", batch.previous, key));
  }
}

void EtcdJournal::send_again_later(Batch& batch) {
  batch.is_under_way = true;
  call_me_after(pause_after(batch.sends), [term = term_, first = batch.first](EtcdJournal& journal) {
    const MutexLock lock(journal.mutex_);
    if (Batch* const again = journal.find(term, first)) journal.send(*again);
  });
}

void EtcdJournal::note_durable(const Batch& upto) {
  const std::uint64_t last = upto.last;
  if (options_.in_flight == 1) gather(last - upto.first + 1);
  while (!batches_.empty() && batches_.front().first <= last) {
    const Batch& batch = batches_.front();
    figures_.sync_seconds.add(batch.watch->seconds());
    figures_.batch_frames.add(static_cast<double>(batch.last - batch.first + 1));
    figures_.written_bytes += batch.frames.size();
    unasked_bytes_ += batch.frames.size();
    snapshots_.grown(batch.last, batch.frames.size());
    batches_.pop_front();
  }
  durable_ = last;
  reported_.notify_all();
  if (unasked_bytes_ >= options_.room_bytes / kSizeAskings) ask_size();
}

// Those who are answered now will ask again, most of them at once. If the next batch waits a moment for them, all are
// in one; otherwise half of them are always a batch behind the others.
void EtcdJournal::gather(std::uint64_t frames) {
  if (frames == 1 && last_ == durable_ + 1) return;  // one alone
  gathering_ = last_ + frames;
  call_me_after(kGather, [expected = gathering_](EtcdJournal& journal) {
    const MutexLock lock(journal.mutex_);
    if (journal.gathering_ != expected) return;
    journal.gathering_ = 0;
    if (!journal.end_) journal.send_more();
  });
}

void EtcdJournal::end_term(Outcome outcome, std::string why) {
  end_ = End{outcome, std::move(why)};
  batches_.clear();
  reported_.notify_all();
}

// Only what is told, one at a time, reports.
void EtcdJournal::report() {
  while (true) {
    Listener* listener = nullptr;
    std::uint64_t durable = 0;
    std::optional<End> end;
    {
      const MutexLock lock(mutex_);
      if (reported_durable_ < durable_) {
        durable = reported_durable_ = durable_;
      } else if (end_ && !std::exchange(is_end_reported_, true)) {
        end = end_;
      } else {
        return;
      }
      listener = listener_;
      reporting_ = listener != nullptr;
    }
    if (listener != nullptr && end) listener->on_failed(end->outcome, end->why);
    if (listener != nullptr && !end) listener->on_durable(durable);
    const MutexLock lock(mutex_);
    reporting_ = false;
    reported_.notify_all();
  }
}

Result<Done> EtcdJournal::close() {
  commit();
  const MutexLock lock(mutex_);
  for (Millis waited{0}; !batches_.empty() && waited < options_.timeout; waited += kCloseSlice) {
    reported_.wait_for(mutex_, kCloseSlice);
  }
  if (end_) return fail_with(ErrorCode::kUnavailable, "the journal in etcd has failed: {}", end_->why);
  if (batches_.empty()) return Done{};
  return fail_with(ErrorCode::kUnavailable, "expected etcd to take what was appended, found no answer in {} ms",
                   options_.timeout.count());
}

// --- etcd's size ---

void EtcdJournal::ask_size() {
  if (std::exchange(is_asking_size_, true)) return;
  unasked_bytes_ = 0;
  store_.status(options_.timeout,
                tell_me<Status>([](EtcdJournal& journal, const auto& status) { journal.take_size(status); }));
}

// What etcd has allocated it does not give back, but uses again; its quota counts that all the same.
void EtcdJournal::take_size(const Answer<Status>& status) {
  const MutexLock lock(mutex_);
  is_asking_size_ = false;
  if (status) {
    const std::uint64_t used = status->db_bytes_in_use;
    has_room_ = status->db_bytes < options_.room_bytes || used < options_.room_bytes / 2;
    free_bytes_ = options_.room_bytes - std::min(used, options_.room_bytes);
  }
  if (has_room_) return;
  call_me_after(kSizeAgain, [](EtcdJournal& journal) {
    const MutexLock again(journal.mutex_);
    journal.ask_size();
  });
}

JournalFigures EtcdJournal::figures() const {
  const auto sizes = snapshots_.sizes();
  const MutexLock lock(mutex_);
  JournalFigures figures = figures_;
  figures.segment_bytes = sizes.batches;
  figures.snapshot_bytes = sizes.snapshots;
  figures.free_bytes = free_bytes_;
  return figures;
}

// --- news ---

void EtcdJournal::on_news(std::function<void()> wake) {
  const MutexLock lock(anchor_->mutex);
  wake_ = std::move(wake);
  watch_.reset();
  if (wake_) look_for_news();
}

// A watch from what is there now on: nothing is missed in between.
void EtcdJournal::look_for_news() {
  if (!wake_) return;
  store_.range({.keys = keys_.batches(), .limit = 1, .is_keys_only = true}, options_.timeout,
               tell_me<RangeAnswer>([](EtcdJournal& journal, const auto& answer) { journal.take_look(answer); }));
}

void EtcdJournal::take_look(const Answer<RangeAnswer>& answer) {
  if (!wake_) return;
  if (!answer) return call_me_after(kLookAgain, [](EtcdJournal& journal) { journal.look_for_news(); });
  watch_ = store_.watch(keys_.batches(), answer->revision + 1,
                        tell_me<News>([](EtcdJournal& journal, const auto& news) { journal.take_news(news); }));
  wake_();
}

void EtcdJournal::take_news(const Answer<News>& news) {
  if (!wake_) return;
  if (news) return wake_();
  watch_.reset();
  call_me_after(kLookAgain, [](EtcdJournal& journal) { journal.look_for_news(); });
}

}  // namespace tenure::etcd
