// Files in memory that fail, fill up and lose power as asked: the same for the same seeds.
//
// What a loss of power leaves is modelled at its most hostile, see faulty_disk.h: File::sync saves a file's contents
// but not its name, sync_folder the names in that folder and nothing else. When a sync fails, what it should have saved
// stays in doubt, as on Linux: it can still be read, later syncs do not save it, and a crash may lose it.
//
// Space is counted in blocks of 4096 bytes; a resize to more makes a hole, which takes none. Paths start at the root,
// with or without a slash.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/faulty_disk.h"
#include "base/files.h"
#include "base/mutex.h"

namespace tenure {

// Thread-safe. Outlives what it opened and locked.
class FaultyFiles final : public Files {
 public:
  using Damage = FaultyDisk::Damage;
  static constexpr Damage kDamages[] = {Damage::kLoseAll, Damage::kKeepAll, Damage::kTear,
                                        Damage::kReorder, Damage::kGarbage, Damage::kZero};

  enum class Fault : std::uint8_t {
    kIoError,     // nothing is done
    kNoSpace,     // nothing is done
    kShortWrite,  // a write does a part of its work; others as with kNoSpace
    kCrash,       // the machine dies while it is done, in part or as a whole: all fails until crash() or kill()
  };
  enum class Lasting : std::uint8_t { kOnce, kForEver };

  // `seed` decides how far operations with a fault get.
  explicit FaultyFiles(std::uint64_t seed = 0);
  ~FaultyFiles() override;

  Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) override;
  Result<Done> rename(const std::string& from, const std::string& to) override;
  Result<Done> remove(const std::string& path) override;
  Result<Done> make_folder(const std::string& path) override;
  Result<Done> sync_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& folder) override;
  bool exists(const std::string& path) override;
  Result<std::uint64_t> size_of(const std::string& path) override;
  Result<std::uint64_t> free_space(const std::string& folder) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;

  // Power is lost and comes back: files are what `damage` leaves of them, handles are dead, locks are free, what
  // fail_at planned is forgotten.
  void crash(Damage damage, std::uint64_t seed);
  // The process ends, the machine goes on: as crash(), but everything stays as it was written, synced or not.
  void kill();

  // How many operations that change something (write, sync, resize, create, rename, remove, make_folder, sync_folder)
  // were asked of it; locks do not count.
  [[nodiscard]] std::uint64_t operations() const;
  // Whether a fault has hit a sync_folder: no later one saves those names.
  [[nodiscard]] bool has_failed_folder_sync() const;
  // The n-th operation, counted as operations() does, fails; with kForEver all after it, too.
  void fail_at(std::uint64_t n, Fault fault, Lasting lasting = Lasting::kOnce);
  // How many operations that only look (open what is there, read, size, list, size_of, free_space) were asked of it.
  [[nodiscard]] std::uint64_t looks() const;
  // The n-th of them, counted as looks() does, fails, once.
  void fail_look_at(std::uint64_t n);
  // Reading the file fails until heal(), crash or not.
  void fail_reads_of(const std::string& path);
  // Forgets all faults that were asked for, not the capacity.
  void heal();
  // The size of the disk. A write that needs more does what fits.
  void set_capacity(std::uint64_t bytes);

  // All as it is, unsynced changes included, but with nothing open or locked, no faults, and operations counted anew.
  // Cheap: contents are shared until they are changed.
  [[nodiscard]] std::unique_ptr<FaultyFiles> copy() const;

  // Directly, without counting, and durable at once. Files that are not there are a bug of the caller's, but put()
  // makes them, and their folders.
  void put(const std::string& path, std::string_view bytes);
  void flip_bit(const std::string& path, std::uint64_t bit);
  void cut(const std::string& path, std::uint64_t length);
  // As the process sees it.
  [[nodiscard]] std::string contents(const std::string& path) const;

  // Path ("/a/b", a folder as "/a/") -> contents: as the process sees them, and as crash(kLoseAll) would leave them.
  using State = std::map<std::string, std::string>;
  [[nodiscard]] State state() const;
  [[nodiscard]] State durable_state() const;

 private:
  class Handle;
  class Lock;
  struct World;

  explicit FaultyFiles(const World& world);

  mutable Mutex mutex_;
  std::unique_ptr<World> world_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
