#include "cli/journal_etcd.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <tenure/version.h>
#include "authority/engine.h"
#include "base/mutex.h"
#include "base/whole_file.h"
#include "cli/journal_copy.h"
#include "cli/journal_reader.h"
#include "cli/journal_replay.h"
#include "etcd/open.h"
#include "etcd/piece_files.h"
#include "journal/file_journal.h"
#include "journal/file_names.h"
#include "journal/frame.h"
#include "journal/spare_segment.h"

namespace tenure::cli {
namespace {

constexpr std::uint64_t kCopyBytes = std::uint64_t{4} << 20;  // under way at a time
constexpr std::uint64_t kSecretBytesMax = std::uint64_t{1} << 20;
constexpr Millis kPatience = std::chrono::seconds(10);
constexpr Millis kCopyTerm = std::chrono::seconds(10);
constexpr Millis kBlink{20};
// Etcd that takes nothing: told after a while, and given up.
constexpr Millis kSilenceTold = std::chrono::seconds(3);
constexpr Millis kSilenceMax = std::chrono::seconds(60);

Result<Done> see_nothing_of(const Frame& /*frame*/) { return Done{}; }

// --- etcd ---

Result<Done> read_secret(Files& files, const std::string& path, std::string& into) {
  if (path.empty()) return Done{};
  auto text = read_whole(files, path, kSecretBytesMax);
  if (!text) return fail_with(ErrorCode::kInvalid, "{}", text.error().message);
  into = std::move(*text);
  return Done{};
}

Result<etcd::Cluster> open_etcd(const Desk& desk, const etcd::Place& place, const CopyOptions& copy) {
  etcd::OpenOptions options;
  auto read = read_secret(desk.files, copy.etcd_ca, options.tls.ca);
  if (read) read = read_secret(desk.files, copy.etcd_certificate, options.tls.certificate);
  if (read) read = read_secret(desk.files, copy.etcd_key, options.tls.key);
  if (read) read = read_secret(desk.files, copy.etcd_password, options.password);
  if (!read) return tl::unexpected(read.error());
  options.password.resize(std::min(options.password.find_first_of("\r\n"), options.password.size()));
  options.election = {.address = "tenure-journal-copy",
                      .records = std::variant_size_v<Record>,
                      .version = std::string(kVersion),
                      .term = kCopyTerm};
  options.journal.may_be_unfinished = true;
  return etcd::open(place, std::move(options), desk.clock, desk.entropy);
}

// Leads while it lives. Its own thread.
class Reign final : private Election::Listener {
 public:
  explicit Reign(Election& election)
      : election_(election), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Reign() override {
    thread_.request_stop();
    thread_.join();
    election_.leave();
  }
  Reign(const Reign&) = delete;
  Reign& operator=(const Reign&) = delete;

  // The epoch.
  Result<std::uint64_t> await(const Clock& clock) {
    const Millis end = clock.boot() + kPatience;
    while (epoch_ == 0 && clock.boot() < end) std::this_thread::sleep_for(kBlink);
    if (epoch_ != 0) return epoch_.load();
    const MutexLock lock(mutex_);
    return fail_with(ErrorCode::kUnavailable, "etcd: expected to lead there within {} s, found {}",
                     kPatience.count() / 1000, leader_.empty() ? "no answer" : leader_ + " leading");
  }

 private:
  void on_elected(std::uint64_t epoch) override { epoch_ = epoch; }
  void on_deposed(const std::string& /*why*/) override { epoch_ = 0; }
  void on_leader(const std::optional<Election::Leader>& leader) override {
    const MutexLock lock(mutex_);
    leader_ = leader ? leader->address : "";
  }
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      election_.tick(*this);
      std::this_thread::sleep_for(kBlink);
    }
  }

  Election& election_;
  std::atomic<std::uint64_t> epoch_{0};
  Mutex mutex_;
  std::string leader_ TENURE_GUARDED_BY(mutex_);
  std::jthread thread_;
};

// Waits for what was appended, though not for ever.
class Arrival final : public Journal::Listener {
 public:
  Arrival(const Desk& desk, Journal& journal) : desk_(desk), journal_(journal) { journal_.listen(this); }
  ~Arrival() override { journal_.listen(nullptr); }
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  Result<Done> await(std::uint64_t sequence) {
    journal_.commit();
    const Millis began = desk_.clock.boot();
    bool is_told = false;
    const MutexLock lock(mutex_);
    while (durable_ < sequence && failed_.empty()) {
      changed_.wait_for(mutex_, kSilenceTold);
      const Millis silence = desk_.clock.boot() - std::max(began, heard_);
      if (silence >= kSilenceTold && !std::exchange(is_told, true)) {
        desk_.err << fmt::format("waiting up to {} s for etcd to take frame {}\n", kSilenceMax.count() / 1000, sequence)
                  << std::flush;
      }
      if (silence >= kSilenceMax) {
        return fail_with(ErrorCode::kUnavailable, "etcd: expected it to take frame {} within {} s, found no answer",
                         sequence, kSilenceMax.count() / 1000);
      }
    }
    if (failed_.empty()) return Done{};
    return fail_with(ErrorCode::kUnavailable, "the journal in etcd: {}", failed_);
  }

 private:
  void on_durable(std::uint64_t sequence) override {
    const MutexLock lock(mutex_);
    durable_ = sequence;
    heard_ = desk_.clock.boot();
    changed_.notify_all();
  }
  void on_failed(Journal::Outcome /*outcome*/, const std::string& why) override {
    const MutexLock lock(mutex_);
    failed_ = why;
    changed_.notify_all();
  }

  const Desk& desk_;
  Journal& journal_;
  Mutex mutex_;
  Condition changed_;
  std::uint64_t durable_ TENURE_GUARDED_BY(mutex_) = 0;
  Millis heard_ TENURE_GUARDED_BY(mutex_){0};
  std::string failed_ TENURE_GUARDED_BY(mutex_);
};

Result<Done> expect_unused(etcd::Store& store, const etcd::Place& place) {
  const auto found =
      store.range_now({.keys = etcd::Keys(place.prefix).all(), .limit = 1, .is_keys_only = true}, kPatience);
  if (!found) return etcd::failure_of(found.error());
  if (found->found.empty()) return Done{};
  return fail_with(
      ErrorCode::kInvalid,
      "{}: expected no key that begins with {}/, found {}. Nothing was changed. Stop the servers, and give "
      "another prefix, or remove those keys",
      place.text(), place.prefix, found->found.front().key);
}

Result<Done> copy_pairs(Snapshot& from, SnapshotDraft& to) {
  auto done = from.visit("", [&](std::string_view key, std::string_view value) { return to.add(key, value); });
  if (!done) return done;
  const auto complete = to.complete(from.digest());
  if (!complete) return tl::unexpected(complete.error());
  if (done = (*complete)->verify(); !done) return done;
  return to.publish();
}

// --- from a folder into etcd ---

Result<Done> copy_snapshot_to(etcd::EtcdJournal& journal, std::uint64_t epoch, const JournalReader& reader,
                              std::uint64_t base) {
  if (base == 0) return Done{};
  const auto from = SnapshotReader::open(reader.files(), snapshot_path(reader.folder(), base));
  if (!from) return tl::unexpected(from.error());
  const auto draft = journal.begin_behind(epoch, base);
  if (!draft) return tl::unexpected(draft.error());
  return copy_pairs(**from, **draft);
}

Result<Done> copy_frames_to(const Desk& desk, etcd::EtcdJournal& journal, std::uint64_t epoch, const Replay& replay,
                            const std::string& folder) {
  if (auto started = journal.start(replay.base, see_nothing_of); !started) return started;
  auto reader = JournalReader::open(desk, folder);
  if (!reader) return tl::unexpected(reader.error());
  Arrival arrival(desk, journal);
  std::uint64_t bytes = 0;
  std::uint64_t last = replay.base;
  const auto copy = [&](const Frame& frame) -> Result<Done> {
    if (frame.sequence > replay.last) return reader->stop();
    last = journal.append(epoch, frame.stamp, frame.payload);
    bytes += frame_bytes(frame.payload.size());
    if (bytes < kCopyBytes) return Done{};
    bytes = 0;
    return arrival.await(last);
  };
  const auto read = reader->read_behind_snapshot(replay.base, copy);
  if (!read) return tl::unexpected(read.error());
  if (last != std::max(replay.last, replay.base)) {
    return fail_with(ErrorCode::kUnavailable, "{}: expected its frames up to {}, found {}", folder, replay.last, last);
  }
  return last == replay.base ? Done{} : arrival.await(last);
}

Result<Fence> raise_fence_on(const Desk& desk, etcd::EtcdJournal& journal, std::uint64_t epoch) {
  auto engine = Engine::stand_by({}, {desk.clock, desk.entropy, journal});
  if (!engine) return tl::unexpected(engine.error());
  auto done = (*engine)->catch_up();
  if (done) done = (*engine)->lead(epoch);
  if (!done) return tl::unexpected(done.error());
  (*engine)->raise_fence();
  (*engine)->take_digest();
  if (done = journal.close(); !done) return tl::unexpected(done.error());
  return (*engine)->inspect([](const State& state) { return state.fence(); });
}

void print_move(const Desk& desk, const std::string& to, std::uint64_t base, std::uint64_t last, Fence fence) {
  desk.out << fmt::format("{}: frames {} to {}", to, base + 1, last);
  if (base > 0) desk.out << fmt::format(" behind a snapshot of frame {}", base);
  desk.out << fmt::format("; the fence is now {}, above all that was granted\n", fence.value);
}

Result<Done> copy_into(const Desk& desk, const CopyOptions& options, const etcd::Place& place) {
  const std::string folder = without_slashes(options.from);
  auto reader = JournalReader::open(desk, folder);
  if (!reader) return tl::unexpected(reader.error());
  Replay replay;
  if (const auto replayed = replay_journal(*reader, Part::kForStart, replay); !replayed) {
    return reader->advised(replayed.error());
  }
  if (auto sound = expect_sound(desk, folder, replay.reading); !sound) return sound;
  replay.state.reset();  // its memory is for the engine

  auto cluster = open_etcd(desk, place, options);
  if (!cluster) return tl::unexpected(cluster.error());
  if (auto unused = expect_unused(*cluster->store, place); !unused) return unused;
  Reign reign(*cluster->election);
  const auto epoch = reign.await(desk.clock);
  if (!epoch) return tl::unexpected(epoch.error());
  const etcd::Keys keys(place.prefix);
  const auto change = [&](etcd::Txn txn) {
    return etcd::change_as_leader(*cluster->store, keys, *epoch, std::move(txn), kPatience);
  };
  auto done = change({.puts = {{.key = keys.unfinished()}}});
  if (done) done = copy_snapshot_to(*cluster->journal, *epoch, *reader, replay.base);
  if (done) done = copy_frames_to(desk, *cluster->journal, *epoch, replay, folder);
  Result<Fence> fence = Fence{};
  if (done) fence = raise_fence_on(desk, *cluster->journal, *epoch);
  if (done && !fence) done = tl::unexpected(fence.error());
  if (done) done = change({.deletes = {etcd::KeyRange::one(keys.unfinished())}});
  if (!done) {
    return fail_with(done.error().code,
                     "{}. The copy in {} is not finished and not usable: remove all keys that begin with {}/, and try "
                     "again",
                     done.error().message, place.text(), place.prefix);
  }
  print_move(desk, place.text(), replay.base, replay.last, *fence);
  return Done{};
}

// --- from etcd into a folder ---

// The newest that is good; null: there is none.
Result<std::unique_ptr<Snapshot>> newest_of(const Desk& desk, Snapshots& snapshots) {
  const auto list = snapshots.list();
  if (!list) return tl::unexpected(list.error());
  for (const std::uint64_t sequence : *list) {
    auto snapshot = snapshots.open(sequence);
    const auto good = snapshot ? (*snapshot)->verify() : tl::unexpected(snapshot.error());
    if (good) return snapshot;
    desk.err << fmt::format("note: a damaged snapshot is not copied: {}\n", good.error().message);
  }
  return nullptr;
}

// A folder whose journal goes on behind a snapshot, if there is one.
Result<Done> begin_folder(const Desk& desk, Snapshot* snapshot, const std::string& folder) {
  const std::uint64_t base = snapshot == nullptr ? 0 : snapshot->sequence();
  const SnapshotMark mark{.journal = {desk.entropy.next(), desk.entropy.next()}, .sequence = base};
  if (snapshot != nullptr) {
    const auto draft = SnapshotWriter::create(desk.files, folder, mark);
    if (!draft) return tl::unexpected(draft.error());
    if (auto copied = copy_pairs(*snapshot, **draft); !copied) return copied;
  }
  const SegmentHeader header{
      .journal = mark.journal, .first = base + 1, .chain = mark.chain, .bytes = FileJournal::Options().segment_bytes};
  SpareSegment spare(desk.files, folder, header.bytes);
  const auto blank = spare.take(header.bytes);
  if (!blank) return tl::unexpected(blank.error());
  const auto segment = begin_segment(desk.files, folder, *blank, header);
  if (!segment) return tl::unexpected(segment.error());
  return Done{};
}

// Answers the last frame.
Result<std::uint64_t> copy_frames_from(const Desk& desk, const etcd::EtcdJournal& journal, std::uint64_t base,
                                       const std::string& folder) {
  const auto to = FileJournal::open(desk.files, folder, desk.entropy,
                                    {.threads = FileJournal::Threads::kNone, .may_be_unfinished = true});
  if (!to) return tl::unexpected(to.error());
  if (auto started = (*to)->start(base, see_nothing_of); !started) return tl::unexpected(started.error());
  std::uint64_t bytes = 0;
  std::uint64_t last = base;
  const auto copy = [&](const Frame& frame) -> Result<Done> {
    last = (*to)->append(0, frame.stamp, frame.payload);
    bytes += frame_bytes(frame.payload.size());
    if (bytes < kCopyBytes) return Done{};
    bytes = 0;
    (*to)->commit();
    // What it fails with is told when it is closed.
    return (*to)->step() ? Result<Done>(Done{}) : (*to)->close();
  };
  if (auto read = journal.read({.after = base}, copy); !read) return tl::unexpected(read.error());
  if (auto closed = (*to)->close(); !closed) return tl::unexpected(closed.error());
  return last;
}

Result<Done> expect_finished(etcd::Store& store, const etcd::Place& place) {
  const etcd::Keys keys(place.prefix);
  const auto id = etcd::BatchReader(store, keys, kPatience).id();
  if (!id) return tl::unexpected(id.error());
  if (!*id) return fail_with(ErrorCode::kInvalid, "{}: expected a journal, found none", place.text());
  const auto unfinished = store.range_now({.keys = etcd::KeyRange::one(keys.unfinished())}, kPatience);
  if (!unfinished) return etcd::failure_of(unfinished.error());
  if (unfinished->found.empty()) return Done{};
  return fail_with(ErrorCode::kInvalid, "{}: expected a finished copy, found that one did not end", place.text());
}

Result<Done> copy_out(const Desk& desk, const CopyOptions& options, const etcd::Place& place) {
  const std::string folder = without_slashes(options.to);
  if (auto is_new = expect_new_folder(desk.files, folder); !is_new) return is_new;
  auto cluster = open_etcd(desk, place, options);
  if (!cluster) return tl::unexpected(cluster.error());
  if (auto finished = expect_finished(*cluster->store, place); !finished) return finished;
  const auto snapshot = newest_of(desk, *cluster->journal->snapshots());
  if (!snapshot) return tl::unexpected(snapshot.error());
  const std::uint64_t base = *snapshot == nullptr ? 0 : (*snapshot)->sequence();
  auto done = make_new_folder(desk.files, folder);
  if (done) done = mark(desk.files, folder, kUnfinishedCopyName);
  if (done) done = begin_folder(desk, snapshot->get(), folder);
  Result<std::uint64_t> last = 0;
  if (done) last = copy_frames_from(desk, *cluster->journal, base, folder);
  if (done && !last) done = tl::unexpected(last.error());
  Result<Fence> fence = Fence{};
  if (done) fence = raise_fence_in(desk, folder, FileJournal::Options().segment_bytes);
  if (done && !fence) done = tl::unexpected(fence.error());
  if (done) done = unmark(desk.files, folder, kUnfinishedCopyName);
  if (!done) {
    return fail_with(done.error().code, "{}. The copy in {} is not finished and not usable: remove it, and try again",
                     done.error().message, folder);
  }
  print_move(desk, folder, base, *last, *fence);
  return Done{};
}

}  // namespace

Result<Done> copy_between(const Desk& desk, const CopyOptions& options) {
  const bool is_out = etcd::is_place(options.from);
  if (is_out == etcd::is_place(options.to)) {
    return fail_with(
        ErrorCode::kInvalid,
        "expected a folder and a place in etcd (etcd://host:port,.../prefix), found '{}' and '{}'; from one "
        "folder to another: tenure journal backup, tenure journal restore",
        options.from, options.to);
  }
  const auto place = etcd::parse_place(is_out ? options.from : options.to);
  if (!place) return tl::unexpected(place.error());
  return is_out ? copy_out(desk, options, *place) : copy_into(desk, options, *place);
}

}  // namespace tenure::cli
