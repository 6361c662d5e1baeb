#include <algorithm>
#include <limits>

#include <tenure/authority.h>
#include "authority/faces.h"
#include "authority/snapshot_maker.h"
#include "authority/ticker.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/files.h"
#include "base/limits.h"
#include "journal/file_journal.h"
#include "journal/memory_journal.h"

namespace tenure {
namespace {

// The machine that an embedded authority runs on.
struct Machine {
  SystemClock clock;
  SystemEntropy entropy;
};

std::unique_ptr<Engine> start(const Settings& settings, Engine::Ports ports) {
  auto engine = Engine::start(settings, ports);
  if (!engine) raise(engine.error());
  return std::move(*engine);
}

class EmbeddedAuthority final : public Authority {
 public:
  EmbeddedAuthority(const Settings& settings, std::unique_ptr<Machine> machine, std::unique_ptr<Journal> journal)
      : machine_(std::move(machine)),
        journal_(std::move(journal)),
        engine_(start(settings, {machine_->clock, machine_->entropy, *journal_})) {}

  ~EmbeddedAuthority() override {
    snapshots_.reset();
    ticker_.reset();
    engine_->close();
    engine_->take_digest();
    // Answers everything that was still to become durable. If the journal has failed, those it concerns know.
    static_cast<void>(journal_->close());
  }

  Tasks& tasks() override { return tasks_; }
  WorkLeases& work() override { return work_; }
  Locks& locks() override { return locks_; }

  void join(std::string_view session, std::optional<Millis> grace) override {
    if (auto joined = engine_->join(session, grace); !joined) raise(joined.error());
  }
  void leave(std::string_view session) override {
    if (auto left = engine_->leave(session); !left) raise(left.error());
  }
  [[nodiscard]] Instant now() const override { return engine_->now(); }
  void snapshot() override {
    if (!snapshots_) return;
    if (auto made = snapshots_->make(); !made) raise(made.error());
  }

  [[nodiscard]] const Engine::Origin& origin() const { return engine_->origin(); }
  // From now on there are snapshots when they are due.
  void make_snapshots(const SnapshotMaker::Tell& tell) {
    snapshots_ = std::make_unique<SnapshotMaker>(*engine_, *journal_, machine_->clock, tell);
  }

 private:
  const std::unique_ptr<Machine> machine_;
  const std::unique_ptr<Journal> journal_;
  const std::unique_ptr<Engine> engine_;
  TaskFace tasks_{*engine_};
  WorkFace work_{*engine_};
  LockFace locks_{*engine_};
  std::unique_ptr<Ticker> ticker_ = std::make_unique<Ticker>(*engine_);
  std::unique_ptr<SnapshotMaker> snapshots_;
};

std::int64_t bounded(std::uint64_t value) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(value, std::uint64_t{kMost}));
}

void tell_report(const Storage& storage, const FileJournal& journal, const Engine::Origin& origin, Millis took) {
  const FileJournal::Report& report = journal.report();
  if (report.is_new) {
    storage.tell(fmt::format("{}: a new journal", journal.folder()));
    return;
  }
  if (!report.torn.empty()) {
    storage.tell(
        fmt::format("a crash tore the journal's last batch, which nobody was told is durable: {}; {} bytes "
                    "were cut, a copy is in {}",
                    report.torn, report.torn_bytes, report.torn_copy));
  }
  for (const std::string& why : origin.passed_over) {
    storage.tell(fmt::format("a snapshot was passed over, the one before it and more of the journal used: {}", why));
  }
  const std::string base = origin.snapshot == 0 ? "" : fmt::format("the snapshot of frame {} and ", origin.snapshot);
  storage.tell(fmt::format("{}: {}{} frames replayed in {} ms", journal.folder(), base, report.frames, took.count()));
}

}  // namespace

std::unique_ptr<Authority> Authority::open(const std::string& folder, const Settings& settings,
                                           const Storage& storage) {
  Checker check;
  check.range("segment bytes", bounded(storage.segment_bytes), 4096, std::int64_t{1} << 30);
  check.range("snapshot bytes", bounded(storage.snapshot_bytes), 4096, std::numeric_limits<std::int64_t>::max());
  if (check.fault()) raise(*check.fault());
  auto machine = std::make_unique<Machine>();
  const Millis began = machine->clock.boot();
  FileJournal::Options options{.segment_bytes = storage.segment_bytes, .snapshot_bytes = storage.snapshot_bytes};
  if (storage.tell) {
    options.on_progress = [tell = storage.tell, folder](std::uint64_t frames) {
      tell(fmt::format("{}: {} frames replayed so far", folder, frames));
    };
  }
  auto journal = FileJournal::open(real_files(), absolute_path(folder), machine->entropy, options);
  if (!journal) raise(journal.error());
  const FileJournal& opened = **journal;
  const SystemClock& clock = machine->clock;
  auto authority = std::make_unique<EmbeddedAuthority>(settings, std::move(machine), std::move(*journal));
  if (storage.tell) tell_report(storage, opened, authority->origin(), clock.boot() - began);
  authority->make_snapshots(storage.tell);
  return authority;
}

std::unique_ptr<Authority> Authority::in_memory(const Settings& settings) {
  return std::make_unique<EmbeddedAuthority>(settings, std::make_unique<Machine>(),
                                             std::make_unique<MemoryJournal>(MemoryJournal::Keep::kNothing));
}

}  // namespace tenure
