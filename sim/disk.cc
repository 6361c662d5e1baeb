#include "disk.h"

#include "authority/engine.h"
#include "base/clock.h"
#include "core/record_codec.h"
#include "journal/file_journal.h"
#include "journal/file_names.h"
#include "journal/frame.h"
#include "journal/recovery.h"

namespace tenure::sim {
namespace {

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 50;
constexpr std::uint64_t kBlock = 4096;

Fault fault_of(FaultyFiles::Damage damage) {
  switch (damage) {
    case FaultyFiles::Damage::kLoseAll:
      return Fault::kPowerLost;
    case FaultyFiles::Damage::kKeepAll:
      return Fault::kPowerLostLate;
    case FaultyFiles::Damage::kTear:
      return Fault::kPowerLostTorn;
    case FaultyFiles::Damage::kReorder:
      return Fault::kPowerLostReordered;
    case FaultyFiles::Damage::kGarbage:
      return Fault::kPowerLostGarbage;
    case FaultyFiles::Damage::kZero:
      return Fault::kPowerLostZeroed;
  }
  return Fault::kPowerLost;
}

Fault fault_of(FaultyFiles::Fault fault) {
  switch (fault) {
    case FaultyFiles::Fault::kIoError:
      return Fault::kFileFailed;
    case FaultyFiles::Fault::kNoSpace:
      return Fault::kFileNoSpace;
    case FaultyFiles::Fault::kShortWrite:
      return Fault::kFileShortWrite;
    case FaultyFiles::Fault::kCrash:
      return Fault::kPowerLostInOperation;
  }
  return Fault::kFileFailed;
}

bool is_new_work(const Record& record) {
  return std::holds_alternative<record::TaskCreated>(record) || std::holds_alternative<record::LeaseGranted>(record) ||
         std::holds_alternative<record::WorkAcquired>(record) || std::holds_alternative<record::WorkEnqueued>(record) ||
         std::holds_alternative<record::LockGranted>(record);
}

}  // namespace

void Disk::fail_soon(FaultyFiles::Fault fault) {
  files_.fail_at(files_.operations() + 1 + dice_.roll(12), fault);
  has_fault_ = true;
  tally_.count(fault_of(fault));
}

std::uint64_t Disk::used() const {
  files_.set_capacity(kCapacity);
  const auto free = files_.free_space("/");
  return kCapacity - free.value_or(kCapacity);
}

void Disk::fill() {
  is_full_ = true;
  tally_.count(Fault::kDiskFull);
  const std::uint64_t now_used = used();
  files_.set_capacity(now_used + dice_.roll(6) * kBlock);
}

void Disk::free() {
  is_full_ = false;
  files_.set_capacity(kCapacity);
}

void Disk::mend() {
  files_.heal();
  has_fault_ = false;
}

void Disk::kill() {
  if (files_.has_failed_folder_sync()) return lose_power(FaultyFiles::Damage::kLoseAll);
  tally_.count(Fault::kServerKilled);
  files_.kill();
  has_fault_ = false;
}

void Disk::lose_power(FaultyFiles::Damage damage) {
  tally_.count(fault_of(damage));
  files_.crash(damage, dice_.roll(1'000'000));
  has_fault_ = false;
}

void Disk::probe_rot(const Settings& settings, const Checker& checker, Instant now) {
  const auto copy = files_.copy();
  copy->set_capacity(kCapacity);
  std::vector<std::string> paths;
  for (const std::string& name : copy->list(kDataFolder).value_or(std::vector<std::string>{})) {
    if (name.ends_with(kSegmentSuffix) || name.ends_with(kSnapshotSuffix)) paths.push_back(path_of(kDataFolder, name));
  }
  if (paths.empty()) return;
  const std::string& path = dice_.pick(paths);
  const std::uint64_t bits = copy->size_of(path).value_or(0) * 8;
  if (bits == 0) return;
  copy->flip_bit(path, dice_.roll(bits));

  const ManualClock clock(now);
  SeededEntropy entropy(1);
  auto journal = FileJournal::open(*copy, kDataFolder, entropy,
                                   {.segment_bytes = kSegmentBytes, .threads = FileJournal::Threads::kNone});
  require(journal.has_value(), "a journal with a flipped bit cannot be opened: {}",
          journal ? "" : journal.error().message);
  const auto engine = Engine::start(settings, {clock, entropy, **journal});
  if (!engine) return tally_.count(Fault::kRotRefused);
  const std::uint64_t found = (*journal)->durable();
  require(found >= settled_, "{}: a flipped bit lost frames: {} were durable beyond doubt, {} were found", path,
          settled_, found);
  // The frames behind the last that changed something only vouch.
  const auto behind = checker.digests().upper_bound(found);
  require(behind != checker.digests().begin(), "{}: a flipped bit lost many frames", path);
  require(std::prev(behind)->second == (*engine)->inspect([](const State& state) { return state.digest(); }),
          "{}: a start with a flipped bit made another state", path);
  tally_.count(found < checker.position() ? Fault::kRotTail : Fault::kRotHarmless);
}

void Disk::check_reserve(const FrameNote& note, std::uint64_t unwritten_bytes) {
  if (!is_full_ || files_.exists(path_of(kDataFolder, "spare.tmp"))) return;
  ByteReader in(note.payload);
  const auto record = decode(in);
  if (!record || !is_new_work(*record)) return;
  const auto free = files_.free_space(kDataFolder);
  if (!free || *free >= kSegmentBytes) return;
  const auto end =
      walk(files_, kDataFolder, {.after = note.sequence}, [](const Frame&) -> Result<Done> { return Done{}; });
  if (!end) return;
  const std::uint64_t room = end->segment.bytes - end->offset;
  require(room >= unwritten_bytes + kSegmentBytes / 2,
          "frame {}: {} begins new work with {} bytes left of the last segment, of which {} are spoken for",
          note.sequence, to_json(*record), room, unwritten_bytes);
}

}  // namespace tenure::sim
