#include "journal/file_journal.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/planted.h"
#include "base/stopwatch.h"
#include "journal/file_names.h"

namespace tenure {
namespace {

constexpr std::uint64_t kProgressFrames = 1 << 16;
// Waking the journal's thread and being woken by it costs a tenth of this.
constexpr double kQuickSeconds = 0.0005;

bool has_segment(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return number_in(name, kSegmentSuffix).has_value(); });
}

// A folder that was copied or cut but whose fence was not raised must not grant anything.
Result<Done> refuse_unfinished(const std::vector<std::string>& names, const std::string& folder) {
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (has(kUnfinishedCopyName)) {
    return fail_with(ErrorCode::kInvalid,
                     "{}: expected a finished copy, found {}: a backup or restore into this folder did not end. Remove "
                     "the folder and do it again",
                     folder, kUnfinishedCopyName);
  }
  if (has(kUnfinishedRepairName)) {
    return fail_with(ErrorCode::kInvalid,
                     "{}: expected a finished repair, found {}: a repair of this folder did not end. Finish it: tenure "
                     "journal repair --accept-loss {}",
                     folder, kUnfinishedRepairName, folder);
  }
  return Done{};
}

}  // namespace

FileJournal::FileJournal(Files& files, std::string folder, std::unique_ptr<FileLock> lock, Entropy& entropy,
                         Options options)
    : files_(files),
      folder_(std::move(folder)),
      lock_(std::move(lock)),
      entropy_(entropy),
      options_(std::move(options)),
      snapshots_(files_, folder_, options_.snapshot_bytes),
      spare_(files_, folder_, options_.segment_bytes) {}

Result<std::unique_ptr<FileJournal>> FileJournal::open(Files& files, std::string folder, Entropy& entropy,
                                                       Options options) {
  if (!files.exists(folder)) {
    if (auto made = files.make_folder(folder); !made) return tl::unexpected(made.error());
  }
  const auto names = files.list(folder);
  if (!names) return tl::unexpected(names.error());
  if (!options.may_be_unfinished) {
    if (auto refused = refuse_unfinished(*names, folder); !refused) return tl::unexpected(refused.error());
  }
  // A folder of something else is not even locked.
  if (!has_segment(*names)) {
    for (const std::string& name : *names) {
      if (name == kLockName || name.ends_with(kTemporarySuffix)) continue;
      return fail_with(ErrorCode::kInvalid,
                       "{}: expected a journal or an empty folder, found no segment (*{}), but '{}'", folder,
                       kSegmentSuffix, name);
    }
    // A start that made the folder may have been killed before this.
    if (auto synced = files.sync_folder(folder_of(folder)); !synced) return tl::unexpected(synced.error());
  }
  auto lock = files.lock(path_of(folder, kLockName));
  if (!lock) return tl::unexpected(lock.error());
  return std::unique_ptr<FileJournal>(
      new FileJournal(files, std::move(folder), std::move(*lock), entropy, std::move(options)));
}

FileJournal::~FileJournal() { stop_threads(); }

void FileJournal::stop_threads() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  spare_.stop_thread();
}

// --- at the start ---

Result<Done> FileJournal::start(std::uint64_t after, Visit visit) {
  const auto names = files_.list(folder_);
  if (!names) return tl::unexpected(names.error());
  const bool is_there = has_segment(*names);
  auto done = is_there ? sync_all(*names) : begin_anew();
  if (done && is_there) done = take_up(after, visit);
  if (!done) return done;

  auto segment = files_.open(end_.path, Files::Mode::kLog);
  if (!segment) return tl::unexpected(segment.error());
  segment_ = std::move(*segment);
  {
    const MutexLock lock(mutex_);
    last_ = wanted_ = end_.next - 1;
    last_stamp_ = end_.last_stamp;
    needs_vouching_ = !end_.is_vouched;
  }
  durable_ = end_.next - 1;
  room_ = end_.segment.bytes - end_.offset;
  if (options_.threads == Threads::kOwn) {
    thread_ = std::thread([this] { run(); });
    spare_.start_thread();
  } else {
    spare_.prepare();
  }
  return Done{};
}

// Nothing is answered from bytes that only the page cache has.
Result<Done> FileJournal::sync_all(const std::vector<std::string>& names) {
  if (auto synced = files_.sync_folder(folder_); !synced) return synced;
  for (const std::string& name : names) {
    if (!number_in(name, kSegmentSuffix)) continue;
    const auto file = files_.open(path_of(folder_, name), Files::Mode::kRead);
    if (!file) return tl::unexpected(file.error());
    if (auto synced = (*file)->sync(); !synced) return synced;
  }
  return Done{};
}

Result<Done> FileJournal::begin_anew() {
  report_.is_new = true;
  end_.segment.journal = {entropy_.next(), entropy_.next()};
  return roll(1, 0);
}

Result<Done> FileJournal::take_up(std::uint64_t after, Visit visit) {
  std::uint64_t frames = 0;
  bool is_refused = false;  // by the visitor
  const auto see = [&](const Frame& frame) {
    if (++frames % kProgressFrames == 0 && options_.on_progress) options_.on_progress(frames);
    auto visited = visit(frame);
    is_refused = !visited;
    return visited;
  };
  auto end = walk(files_, folder_, {.after = after}, see, snapshots_.mark_of(after));
  if (!end) return is_refused ? tl::unexpected(end.error()) : refuse_damage(folder_, end.error());
  const auto snapshots = snapshots_.list();
  if (!snapshots) return tl::unexpected(snapshots.error());
  compare_with_snapshots(files_, folder_, *snapshots, *end);
  if (end->tail == Tail::kDamaged) return refuse_damage(folder_, *end);
  if (auto removed = remove_temporaries(); !removed) return removed;
  if (end->tail == Tail::kTorn) {
    auto copy = cut_tail(files_, folder_, *end);
    if (!copy) return tl::unexpected(copy.error());
    report_.torn = end->why;
    report_.torn_copy = *copy;
    report_.torn_bytes = end->tail_bytes;
  }
  // On a full disk what was begun can still be finished, so there must be a start without a copy.
  const auto room = files_.free_space(folder_);
  const bool is_full = room && *room < end->segment.bytes;
  auto rewritten = is_full ? rewrite_last_batch(files_, *end) : rewrite_last_segment(files_, folder_, *end);
  if (!rewritten) return rewritten;
  report_.frames = end->frames;
  end_ = std::move(*end);
  return Done{};
}

// They are no use to anybody, and a full disk may need their room.
Result<Done> FileJournal::remove_temporaries() {
  for (const std::string_view name : {kSpareName, kNextSegmentName, kRewrittenName, kSnapshotDraftName}) {
    const std::string path = path_of(folder_, name);
    if (!files_.exists(path)) continue;
    if (auto removed = files_.remove(path); !removed) return removed;
  }
  return Done{};
}

Result<Done> FileJournal::read(FrameRange range, Visit visit) const {
  // What is written and not yet synced is nobody's business.
  range.upto = std::min(range.upto, durable_.load());
  if (range.after >= range.upto) return Done{};
  const auto end = walk(files_, folder_, range, visit, snapshots_.mark_of(range.after), Files::Mode::kScan);
  if (!end) return tl::unexpected(end.error());
  // All of them are durable: one that is not there any more is lost.
  if (end->next <= range.upto) {
    return fail_with(ErrorCode::kUnavailable, "{}: expected frame {}, which was durable, found none{}{}", folder_,
                     end->next, end->why.empty() ? "" : ": ", end->why);
  }
  return Done{};
}

// --- appending ---

void FileJournal::listen(Listener* listener) {
  const MutexLock lock(mutex_);
  listener_ = listener;
  while (listener == nullptr && reporting_) reported_.wait(mutex_);
}

std::uint64_t FileJournal::append(std::uint64_t /*epoch*/, Instant stamp, std::string_view payload) {
  const MutexLock lock(mutex_);
  TENURE_CHECK(payload.size() <= kPayloadBytesMax, "a frame of {} bytes", payload.size());
  put_frame(appended_, last_ + 1, stamp, payload);
  unwritten_ += frame_bytes(payload.size());
  last_stamp_ = stamp;
  return ++last_;
}

void FileJournal::commit() {
  {
    const MutexLock lock(mutex_);
    if (wanted_ == last_) return;
    wanted_ = last_;
  }
  // Without the mutex: the writer would wake to find it taken, and sleep again.
  wake_.notify_one();
}

// Neither a new segment nor a disk that was slow of late is waited for on somebody else's thread.
bool FileJournal::may_write_here() {
  if (options_.threads == Threads::kNone || stopping_ || failure_ || is_writing_ || !is_quick_) return false;
  return !appended_.empty() && end_.offset + appended_.size() <= end_.segment.bytes;
}

bool FileJournal::commit_here() {
  {
    const MutexLock lock(mutex_);
    if (!may_write_here()) return false;
    wanted_ = last_;
    take_appended();
    // The journal's thread looks whether it is time to vouch.
    if (!std::exchange(needs_vouching_, true)) wake_.notify_one();
  }
  is_for_caller_ = true;
  return write_taken();
}

void FileJournal::commit_ahead() {
  // Less than this is written in no time, and one sync for it and the rest is better than two.
  constexpr std::uint64_t kMuch = 48 << 10;
  if (unwritten_.load() < kMuch) return;
  {
    const MutexLock lock(mutex_);
    if (is_writing_ || wanted_ > durable_) return;
    wanted_ = last_;
  }
  wake_.notify_one();
}

// --- writing ---

void FileJournal::run() {
  while (true) {
    bool is_idle = false;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && !failure_ && (is_writing_ || (!is_idle && wanted_ <= durable_))) {
        if (is_writing_ || !needs_vouching_) {
          wake_.wait(mutex_);
        } else {
          const std::uint64_t before = last_;
          wake_.wait_for(mutex_, options_.idle);
          is_idle = last_ == before;
        }
      }
      if (stopping_ || failure_) return;
    }
    is_idle ? vouch() : step();
  }
}

void FileJournal::take_appended() {
  taken_.clear();
  taken_.swap(appended_);
  is_writing_ = true;
}

bool FileJournal::step() {
  {
    const MutexLock lock(mutex_);
    if (failure_ || is_writing_ || appended_.empty()) return false;
    take_appended();
    needs_vouching_ = true;
  }
  return write_taken();
}

bool FileJournal::vouch() {
  {
    const MutexLock lock(mutex_);
    // What was appended meanwhile will vouch for it.
    if (!needs_vouching_ || failure_ || is_writing_ || !appended_.empty()) return false;
    put_frame(appended_, ++last_, last_stamp_, {});
    unwritten_ += frame_bytes(0);
    take_appended();
    needs_vouching_ = false;
  }
  return write_taken();
}

bool FileJournal::write_taken() {
  const auto written = write_batches(taken_);
  is_for_caller_ = false;
  {
    const MutexLock lock(mutex_);
    is_writing_ = false;
    if (!written) failure_ = written.error();
    if (failure_ || wanted_ > durable_) wake_.notify_one();
  }
  if (!written) {
    report([&](Listener& listener) { listener.on_failed(Outcome::kUnknown, written.error().message); });
    return false;
  }
  if (options_.threads == Threads::kNone) spare_.prepare();
  return true;
}

// What fits into the segment is one batch; what does not is another, in the next.
Result<Done> FileJournal::write_batches(std::string& frames) {
  const std::uint64_t seed = end_.segment.journal.seed();
  std::size_t begin = 0;
  std::size_t at = 0;
  std::uint64_t batch = end_.next;
  while (at < frames.size()) {
    const std::string_view rest = std::string_view(frames).substr(at);
    const FrameHeader header = peek_frame(rest);
    const std::size_t size = frame_bytes(header.length);
    if (end_.offset + (at - begin) + size > end_.segment.bytes) {
      if (at > begin) {
        auto written = write_batch(std::string_view(frames).substr(begin, at - begin), header.sequence - 1);
        if (!written) return written;
      }
      if (auto rolled = roll(header.sequence, size); !rolled) return rolled;
      begin = at;
      batch = header.sequence;
    }
    end_.chain = seal_frame(absl::MakeSpan(frames).subspan(at, size), batch, end_.chain, seed);
    end_.next = header.sequence + 1;
    at += size;
  }
  return write_batch(std::string_view(frames).substr(begin), end_.next - 1);
}

Result<Done> FileJournal::write_batch(std::string_view frames, std::uint64_t last) {
  const Stopwatch watch;
  if (auto saved = segment_->save_at(end_.offset, frames); !saved) return saved;
  const double seconds = watch.seconds();
  {
    const MutexLock lock(mutex_);
    is_quick_ = seconds < kQuickSeconds;
    figures_.sync_seconds.add(seconds);
    figures_.batch_frames.add(static_cast<double>(last - durable_));
    figures_.written_bytes += frames.size();
  }
  end_.offset += frames.size();
  room_ = end_.segment.bytes - end_.offset;
  unwritten_ -= frames.size();
  durable_ = last;
  if (!is_for_caller_) report([&](Listener& listener) { listener.on_durable(last); });
  return Done{};
}

void FileJournal::report(absl::FunctionRef<void(Listener&)> tell) {
  Listener* listener = nullptr;
  {
    const MutexLock lock(mutex_);
    listener = listener_;
    reporting_ = listener != nullptr;
  }
  if (listener == nullptr) return;
  tell(*listener);
  const MutexLock lock(mutex_);
  reporting_ = false;
  reported_.notify_all();
}

Result<Done> FileJournal::close() {
  stop_threads();
  step();
  vouch();
  const MutexLock lock(mutex_);
  if (failure_) return fail_with(failure_->code, "{}: the journal has failed: {}", folder_, failure_->message);
  return Done{};
}

// --- segments ---

// When no further segment can be had, a half of the last one is kept for finishing what was begun.
bool FileJournal::has_room() const {
  if (is_planted(PlantedBug::kReserveIgnored)) return true;
  return !spare_.has_failed() || room_.load() >= unwritten_.load() + options_.segment_bytes / 2;
}

// What the folder cannot tell counts as nothing: who watches sees that something is wrong from the rest.
JournalFigures FileJournal::figures() const {
  JournalFigures figures;
  {
    const MutexLock lock(mutex_);
    figures = figures_;
  }
  figures.free_bytes = files_.free_space(folder_).value_or(0);
  for (const std::string& name : files_.list(folder_).value_or(std::vector<std::string>())) {
    const bool is_segment = number_in(name, kSegmentSuffix).has_value();
    if (!is_segment && !number_in(name, kSnapshotSuffix)) continue;
    (is_segment ? figures.segment_bytes : figures.snapshot_bytes) += files_.size_of(path_of(folder_, name)).value_or(0);
  }
  return figures;
}

// The next segment has its header, and its name, before anything is written into it.
Result<Done> FileJournal::roll(std::uint64_t first, std::uint64_t frame_size) {
  SegmentHeader header = end_.segment;
  header.first = first;
  header.chain = end_.chain;
  header.bytes = std::max(options_.segment_bytes, kSegmentHeaderBytes + frame_size);
  auto blank = spare_.take(header.bytes);
  if (!blank) return tl::unexpected(blank.error());
  auto path = begin_segment(files_, folder_, *blank, header);
  if (!path) return tl::unexpected(path.error());
  auto file = files_.open(*path, Files::Mode::kLog);
  if (!file) return tl::unexpected(file.error());
  segment_ = std::move(*file);
  end_.path = std::move(*path);
  end_.segment = header;
  end_.offset = kSegmentHeaderBytes;
  room_ = header.bytes - end_.offset;
  snapshots_.grown();
  return Done{};
}

}  // namespace tenure
