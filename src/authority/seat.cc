#include "authority/seat.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "journal/file_journal.h"
#include "journal/memory_journal.h"

namespace tenure {
namespace {

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

Seat::Seat(std::unique_ptr<Machine> machine, std::unique_ptr<Journal> journal)
    : machine_(std::move(machine)), journal_(std::move(journal)) {}

Seat::~Seat() {
  // If the journal has failed, those it concerns know.
  if (!is_closed_ && engine_) static_cast<void>(close());
}

Result<std::unique_ptr<Seat>> Seat::open(const std::string& folder, const Settings& settings, const Storage& storage) {
  Checker check;
  check.range("segment bytes", bounded(storage.segment_bytes), 4096, std::int64_t{1} << 30);
  check.range("snapshot bytes", bounded(storage.snapshot_bytes), 4096, std::numeric_limits<std::int64_t>::max());
  if (check.fault()) return tl::unexpected(*check.fault());
  auto machine = std::make_unique<Machine>();
  const Millis began = machine->clock.boot();
  FileJournal::Options options{.segment_bytes = storage.segment_bytes, .snapshot_bytes = storage.snapshot_bytes};
  if (storage.tell) {
    options.on_progress = [tell = storage.tell, folder](std::uint64_t frames) {
      tell(fmt::format("{}: {} frames replayed so far", folder, frames));
    };
  }
  auto journal = FileJournal::open(real_files(), absolute_path(folder), machine->entropy, options);
  if (!journal) return tl::unexpected(journal.error());
  const FileJournal& opened = **journal;
  std::unique_ptr<Seat> seat(new Seat(std::move(machine), std::move(*journal)));
  if (auto started = seat->start(settings); !started) return tl::unexpected(started.error());
  seat->replay_time_ = seat->clock().boot() - began;
  if (storage.tell) tell_report(storage, opened, seat->engine().origin(), seat->replay_time_);
  // Behind the report: it may tell something at once.
  seat->snapshots_ = std::make_unique<SnapshotMaker>(seat->engine(), seat->journal(), seat->clock(), storage.tell);
  return seat;
}

Result<std::unique_ptr<Seat>> Seat::in_memory(const Settings& settings) {
  std::unique_ptr<Seat> seat(
      new Seat(std::make_unique<Machine>(), std::make_unique<MemoryJournal>(MemoryJournal::Keep::kNothing)));
  if (auto started = seat->start(settings); !started) return tl::unexpected(started.error());
  return seat;
}

Result<std::unique_ptr<Seat>> Seat::among_several(std::unique_ptr<SharedJournal> journal, const Settings& settings,
                                                  std::function<bool()> is_certain, SnapshotMaker::Tell tell) {
  std::unique_ptr<Seat> seat(new Seat(std::make_unique<Machine>(), std::move(journal)));
  auto engine = Engine::stand_by(settings, {.clock = seat->machine_->clock,
                                            .entropy = seat->machine_->entropy,
                                            .journal = *seat->journal_,
                                            .is_certain = std::move(is_certain)});
  if (!engine) return tl::unexpected(engine.error());
  seat->engine_ = std::move(*engine);
  if (seat->journal_->snapshots() != nullptr) {
    seat->snapshots_ = std::make_unique<SnapshotMaker>(seat->engine(), seat->journal(), seat->clock(), std::move(tell));
  }
  return seat;
}

Result<Done> Seat::start(const Settings& settings) {
  auto engine = Engine::start(settings, {machine_->clock, machine_->entropy, *journal_});
  if (!engine) return tl::unexpected(engine.error());
  engine_ = std::move(*engine);
  return Done{};
}

Result<Done> Seat::close() {
  is_closed_ = true;
  snapshots_.reset();
  engine_->close();
  engine_->take_digest();
  return journal_->close();
}

}  // namespace tenure
