#include "base/faulty_files.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include <absl/functional/function_ref.h>

#include "base/check.h"
#include "base/entropy.h"

namespace tenure {
namespace {

using Id = FaultyDisk::Id;
using Kind = FaultyDisk::Kind;
using Place = FaultyDisk::Place;

// FaultyFiles is one process, whatever the machine calls it.
constexpr std::string_view kProcess = "1";

}  // namespace

// Everything there is, as a value: the disk, and the process that may fail. One thread.
struct FaultyFiles::World {
  struct Planned {
    Fault fault;
    Lasting lasting;
  };

  FaultyDisk disk;
  std::set<Id> unreadable;
  SeededEntropy random;

  std::uint64_t epoch = 0;  // counts processes: the handles of earlier ones are dead
  bool is_down = false;
  bool failed_folder_sync = false;
  std::set<Id> locked;

  std::uint64_t operations = 0;
  std::map<std::uint64_t, Planned> planned;
  std::optional<Fault> broken;  // for ever
  std::uint64_t looks = 0;
  std::uint64_t failing_look = 0;  // 0: none

  explicit World(std::uint64_t seed) : random(seed) {}

  // Why nothing can be asked: the machine is down, or it is asked by a process that is gone.
  [[nodiscard]] std::optional<tl::unexpected<Failure>> refusal(std::string_view operation, std::string_view path,
                                                               std::uint64_t asking) const {
    if (is_down) return fail_with(ErrorCode::kUnavailable, "{} {}: the machine is down", operation, path);
    if (asking != epoch) return fail_with(ErrorCode::kUnavailable, "{} {}: opened before the crash", operation, path);
    return std::nullopt;
  }

  // One operation that counts. `whole` does it and returns an errno or 0; `spoiled` does what a fault leaves of it.
  Result<Done> perform(std::string_view operation, const std::string& path, absl::FunctionRef<int()> whole,
                       absl::FunctionRef<void(Fault)> spoiled) {
    if (auto refused = refusal(operation, path, epoch)) return *refused;
    const std::optional<Fault> fault = next_fault();
    if (!fault) {
      const int error = whole();
      if (error != 0) return file_failure(operation, path, error);
      return Done{};
    }
    spoiled(*fault);
    failed_folder_sync = failed_folder_sync || operation == "sync folder";
    is_down = fault == Fault::kCrash;
    if (is_down) return *refusal(operation, path, epoch);
    return file_failure(operation, path, fault == Fault::kIoError ? EIO : ENOSPC);
  }

  // The same for what happens as a whole or not at all.
  Result<Done> perform(std::string_view operation, const std::string& path, absl::FunctionRef<int()> whole) {
    return perform(operation, path, whole, [&](Fault fault) {
      if (fault == Fault::kCrash && below(2) == 0) whole();
    });
  }

  // `id` is a file or a folder, or the errno of having looked for it.
  Result<Done> sync(std::string_view operation, const std::string& path, const tl::expected<Id, int>& id) {
    const auto whole = [&] {
      if (id) disk.sync(*id);
      return id ? 0 : id.error();
    };
    return perform(operation, path, whole, [&](Fault fault) {
      if (fault == Fault::kCrash && below(2) == 0) whole();
      if (fault != Fault::kCrash && id) disk.sync_failed(*id);
    });
  }

  std::optional<Fault> next_fault() {
    const auto found = planned.find(++operations);
    if (found == planned.end()) return broken;
    if (found->second.lasting == Lasting::kForEver) broken = found->second.fault;
    return found->second.fault;
  }

  // Why it cannot be looked at: as with refusal, or as was asked for.
  std::optional<tl::unexpected<Failure>> refusal_to_look(std::string_view operation, std::string_view path,
                                                         std::uint64_t asking) {
    if (auto refused = refusal(operation, path, asking)) return refused;
    if (++looks == failing_look) return file_failure(operation, path, EIO);
    return std::nullopt;
  }

  int rename(std::string_view from_path, std::string_view to_path) {
    const auto from = disk.find(from_path);
    const auto to = disk.find(to_path);
    if (!from || !to) return from ? to.error() : from.error();
    if (!from->node) return ENOENT;
    if (from->name.empty() || to->name.empty()) return EBUSY;  // the root
    if (from->folder != to->folder) return EXDEV;
    if (to->node && disk.is_folder(*to->node) != disk.is_folder(*from->node)) {
      return disk.is_folder(*to->node) ? EISDIR : ENOTDIR;
    }
    if (to->node && to->node != from->node && !disk.names(*to->node).empty()) return ENOTEMPTY;
    disk.rename(*from, *to);
    return 0;
  }

  int remove(std::string_view path) {
    const auto place = disk.find(path);
    if (!place) return place.error();
    if (!place->node) return ENOENT;
    if (place->name.empty()) return EBUSY;
    if (!disk.names(*place->node).empty()) return ENOTEMPTY;
    disk.remove(*place);
    return 0;
  }

  int make_folder(std::string_view path) {
    const auto place = disk.find(path);
    if (!place) return place.error();
    if (place->node) return disk.is_folder(*place->node) ? 0 : EEXIST;
    disk.create(*place, Kind::kFolder);
    return 0;
  }

  // Of a file that the caller knows to be there.
  [[nodiscard]] Id file_at(std::string_view path) const {
    const auto found = disk.find(path, Kind::kFile);
    TENURE_CHECK(found, "no file {}", path);
    return *found;
  }

  void forget_faults() {
    planned.clear();
    broken.reset();
    failing_look = 0;
    unreadable.clear();
  }

  void end_process() {
    ++epoch;
    is_down = false;
    locked.clear();
    planned.clear();
    broken.reset();
    failing_look = 0;
  }

  std::uint64_t below(std::uint64_t limit) { return random.next() % limit; }
};

class FaultyFiles::Handle final : public File {
 public:
  Handle(FaultyFiles& files, std::string path, Id id, bool writable, std::uint64_t epoch)
      : File(std::move(path)), files_(files), id_(id), writable_(writable), epoch_(epoch) {}

  Result<std::size_t> read_at(std::uint64_t offset, absl::Span<char> into) override {
    const MutexLock lock(files_.mutex_);
    World& world = *files_.world_;
    if (auto refused = world.refusal_to_look("read", path(), epoch_)) return *refused;
    if (world.unreadable.contains(id_)) return file_failure("read", path(), EIO);
    const std::string bytes = world.disk.read(id_, offset, into.size());
    std::ranges::copy(bytes, into.begin());
    return bytes.size();
  }

  Result<Done> write_at(std::uint64_t offset, std::string_view bytes) override {
    const MutexLock lock(files_.mutex_);
    World& world = *files_.world_;
    if (auto refused = refusal_to_change(world, "write")) return *refused;
    const auto whole = [&] { return world.disk.write(id_, offset, bytes); };
    return world.perform("write", path(), whole, [&](Fault fault) {
      // A short write is shorter than all of it, one in a crash may be complete.
      const std::uint64_t limit = fault == Fault::kShortWrite ? bytes.size()
                                  : fault == Fault::kCrash    ? bytes.size() + 1
                                                              : 0;
      if (limit > 0) world.disk.write(id_, offset, bytes.substr(0, world.below(limit)));
    });
  }

  Result<Done> sync() override {
    const MutexLock lock(files_.mutex_);
    World& world = *files_.world_;
    if (auto refused = world.refusal("sync", path(), epoch_)) return *refused;
    return world.sync("sync", path(), id_);
  }

  Result<std::uint64_t> size() override {
    const MutexLock lock(files_.mutex_);
    World& world = *files_.world_;
    if (auto refused = world.refusal_to_look("size of", path(), epoch_)) return *refused;
    return world.disk.size(id_);
  }

  Result<Done> resize(std::uint64_t size) override {
    const MutexLock lock(files_.mutex_);
    World& world = *files_.world_;
    if (auto refused = refusal_to_change(world, "resize")) return *refused;
    return world.perform("resize", path(), [&] { return world.disk.resize(id_, size); });
  }

 private:
  [[nodiscard]] std::optional<tl::unexpected<Failure>> refusal_to_change(const World& world,
                                                                         std::string_view operation) const {
    if (auto refused = world.refusal(operation, path(), epoch_)) return refused;
    if (!writable_) return file_failure(operation, path(), EBADF);
    return std::nullopt;
  }

  FaultyFiles& files_;
  const Id id_;
  const bool writable_;
  const std::uint64_t epoch_;
};

class FaultyFiles::Lock final : public FileLock {
 public:
  Lock(FaultyFiles& files, Id id, std::uint64_t epoch) : files_(files), id_(id), epoch_(epoch) {}
  ~Lock() override {
    const MutexLock lock(files_.mutex_);
    if (files_.world_->epoch == epoch_) files_.world_->locked.erase(id_);
  }

 private:
  FaultyFiles& files_;
  const Id id_;
  const std::uint64_t epoch_;
};

FaultyFiles::FaultyFiles(std::uint64_t seed) : world_(std::make_unique<World>(seed)) {}
FaultyFiles::FaultyFiles(const World& world) : world_(std::make_unique<World>(world)) {}
FaultyFiles::~FaultyFiles() = default;

Result<std::unique_ptr<File>> FaultyFiles::open(const std::string& path, Mode mode) {
  const MutexLock lock(mutex_);
  World& world = *world_;
  const bool is_new = mode == Mode::kCreate;
  if (is_new) {
    const auto created = world.perform("create", path, [&] {
      const auto place = world.disk.find(path);
      if (!place) return place.error();
      if (place->node) return EEXIST;
      world.disk.create(*place, Kind::kFile);
      return 0;
    });
    if (!created) return tl::unexpected(created.error());
  }
  if (auto refused =
          is_new ? world.refusal("open", path, world.epoch) : world.refusal_to_look("open", path, world.epoch)) {
    return *refused;
  }
  const auto id = world.disk.find(path, Kind::kFile);
  if (!id) return file_failure("open", path, id.error());
  return std::make_unique<Handle>(*this, path, *id, mode != Mode::kRead, world.epoch);
}

Result<Done> FaultyFiles::rename(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  World& world = *world_;
  return world.perform("rename", from, [&] { return world.rename(from, to); });
}

Result<Done> FaultyFiles::remove(const std::string& path) {
  const MutexLock lock(mutex_);
  World& world = *world_;
  return world.perform("remove", path, [&] { return world.remove(path); });
}

Result<Done> FaultyFiles::make_folder(const std::string& path) {
  const MutexLock lock(mutex_);
  World& world = *world_;
  return world.perform("make folder", path, [&] { return world.make_folder(path); });
}

Result<Done> FaultyFiles::sync_folder(const std::string& path) {
  const MutexLock lock(mutex_);
  return world_->sync("sync folder", path, world_->disk.find(path, Kind::kFolder));
}

Result<std::vector<std::string>> FaultyFiles::list(const std::string& folder) {
  const MutexLock lock(mutex_);
  if (auto refused = world_->refusal_to_look("list", folder, world_->epoch)) return *refused;
  const auto id = world_->disk.find(folder, Kind::kFolder);
  if (!id) return file_failure("list", folder, id.error());
  std::vector<std::string> names;
  for (const auto& [name, node] : world_->disk.names(*id)) names.push_back(name);
  return names;
}

bool FaultyFiles::exists(const std::string& path) {
  const MutexLock lock(mutex_);
  if (world_->is_down) return true;
  const auto place = world_->disk.find(path);
  return place && place->node;
}

Result<std::uint64_t> FaultyFiles::size_of(const std::string& path) {
  const MutexLock lock(mutex_);
  if (auto refused = world_->refusal_to_look("size of", path, world_->epoch)) return *refused;
  const auto id = world_->disk.find(path, Kind::kFile);
  if (!id) return file_failure("size of", path, id.error());
  return world_->disk.size(*id);
}

Result<std::uint64_t> FaultyFiles::free_space(const std::string& folder) {
  const MutexLock lock(mutex_);
  if (auto refused = world_->refusal_to_look("free space of", folder, world_->epoch)) return *refused;
  const auto place = world_->disk.find(folder);
  if (!place || !place->node) return file_failure("free space of", folder, place ? ENOENT : place.error());
  return world_->disk.free();
}

Result<std::unique_ptr<FileLock>> FaultyFiles::lock(const std::string& path) {
  const MutexLock guard(mutex_);
  World& world = *world_;
  if (auto refused = world.refusal("lock", path, world.epoch)) return *refused;
  const auto place = world.disk.find(path);
  if (!place) return file_failure("lock", path, place.error());
  const Id id = place->node ? *place->node : world.disk.create(*place, Kind::kFile);
  if (world.disk.is_folder(id)) return file_failure("lock", path, EISDIR);
  if (!world.locked.insert(id).second) return in_use_failure(path, kProcess);
  world.disk.write(id, 0, kProcess);  // as with real files it holds without, if the disk is full
  return std::make_unique<Lock>(*this, id, world.epoch);
}

void FaultyFiles::crash(Damage damage, std::uint64_t seed) {
  const MutexLock lock(mutex_);
  world_->disk.crash(damage, seed);
  world_->end_process();
}

void FaultyFiles::kill() {
  const MutexLock lock(mutex_);
  world_->end_process();
}

bool FaultyFiles::has_failed_folder_sync() const {
  const MutexLock lock(mutex_);
  return world_->failed_folder_sync;
}

std::uint64_t FaultyFiles::operations() const {
  const MutexLock lock(mutex_);
  return world_->operations;
}

void FaultyFiles::fail_at(std::uint64_t n, Fault fault, Lasting lasting) {
  const MutexLock lock(mutex_);
  TENURE_CHECK(n > world_->operations, "operation {} is over, the next is {}", n, world_->operations + 1);
  world_->planned[n] = {.fault = fault, .lasting = lasting};
}

std::uint64_t FaultyFiles::looks() const {
  const MutexLock lock(mutex_);
  return world_->looks;
}

void FaultyFiles::fail_look_at(std::uint64_t n) {
  const MutexLock lock(mutex_);
  TENURE_CHECK(n > world_->looks, "look {} is over, the next is {}", n, world_->looks + 1);
  world_->failing_look = n;
}

void FaultyFiles::fail_reads_of(const std::string& path) {
  const MutexLock lock(mutex_);
  world_->unreadable.insert(world_->file_at(path));
}

void FaultyFiles::heal() {
  const MutexLock lock(mutex_);
  world_->forget_faults();
}

void FaultyFiles::set_capacity(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  world_->disk.set_capacity(bytes);
}

std::unique_ptr<FaultyFiles> FaultyFiles::copy() const {
  const MutexLock lock(mutex_);
  World world = *world_;
  world.forget_faults();
  world.locked.clear();
  world.operations = world.looks = 0;
  return std::unique_ptr<FaultyFiles>(new FaultyFiles(world));
}

void FaultyFiles::put(const std::string& path, std::string_view bytes) {
  const MutexLock lock(mutex_);
  FaultyDisk& disk = world_->disk;
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    disk.put(disk.find(path.substr(0, at)).value(), Kind::kFolder);
  }
  const Id id = disk.put(disk.find(path).value(), Kind::kFile);
  disk.put_size(id, 0);
  disk.put_bytes(id, 0, bytes);
}

void FaultyFiles::flip_bit(const std::string& path, std::uint64_t bit) {
  const MutexLock lock(mutex_);
  const Id id = world_->file_at(path);
  std::string byte = world_->disk.read(id, bit / 8, 1);
  TENURE_CHECK(byte.size() == 1, "{} has no bit {}", path, bit);
  byte[0] = static_cast<char>(static_cast<unsigned char>(byte[0]) ^ (1U << bit % 8));
  world_->disk.put_bytes(id, bit / 8, byte);
}

void FaultyFiles::cut(const std::string& path, std::uint64_t length) {
  const MutexLock lock(mutex_);
  world_->disk.put_size(world_->file_at(path), length);
}

std::string FaultyFiles::contents(const std::string& path) const {
  const MutexLock lock(mutex_);
  const Id id = world_->file_at(path);
  return world_->disk.read(id, 0, world_->disk.size(id));
}

FaultyFiles::State FaultyFiles::state() const {
  const MutexLock lock(mutex_);
  return world_->disk.state();
}

FaultyFiles::State FaultyFiles::durable_state() const {
  const MutexLock lock(mutex_);
  FaultyDisk after = world_->disk;
  after.crash(Damage::kLoseAll, 0);
  return after.state();
}

}  // namespace tenure
