// The only way to files. files.cc is the one file that opens them; faulty_files.h has the same in memory, with faults.
//
// Nothing outlives a loss of power before it is synced: contents and size by File::sync (or save_at), a name (created,
// renamed, removed) by sync_folder of the folder it is in. A sync that failed is final: what it should have saved may
// be lost even if a later one succeeds, so whoever sees it fail stops.
//
// Failures are kUnavailable and read "<operation> <path>: <reason>".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/types/span.h>

#include "base/result.h"

namespace tenure {

// An open file; closed when it ends. Thread-safe, as far as its users do not write where others read.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Reads until `into` is full or the file ends, and tells how much that was.
  [[nodiscard]] virtual Result<std::size_t> read_at(std::uint64_t offset, absl::Span<char> into) = 0;
  // Writes all of it. After a failure any part of it may have been written.
  [[nodiscard]] virtual Result<Done> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Makes contents and size durable, also what another process has written; not the file's name. Works on files opened
  // for reading, too.
  [[nodiscard]] virtual Result<Done> sync() = 0;
  // Writes all of it and makes it durable, in one step where the file was opened for that. One thread at a time, and
  // nobody else writes.
  [[nodiscard]] virtual Result<Done> save_at(std::uint64_t offset, std::string_view bytes);
  [[nodiscard]] virtual Result<std::uint64_t> size() = 0;
  // Cuts, or appends zeros that have no space on the disk yet.
  [[nodiscard]] virtual Result<Done> resize(std::uint64_t size) = 0;

  // As it was opened, whatever it has been renamed to.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Holds a lock file until it ends.
class FileLock {
 public:
  FileLock() = default;
  virtual ~FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
};

// What a disk reads and writes at a time; a memory page is not less.
inline constexpr std::size_t kDiskBlockBytes = 4096;
struct alignas(kDiskBlockBytes) DiskBlock {
  char bytes[kDiskBlockBytes];
};

// Thread-safe.
class Files {
 public:
  enum class Mode : std::uint8_t {
    kRead,
    kScan,  // as kRead, for whoever reads large pieces once: past the kernel's cache those that lie at whole blocks,
            // and go to whole blocks of memory
    kReadWrite,
    kLog,     // as kReadWrite, for whoever saves piece behind piece in a file of zeros: zeros follow whatever is saved
    kCreate,  // for reading and writing, by its owner only; fails if the path exists
  };

  Files() = default;
  virtual ~Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  // A file, not a folder.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) = 0;
  // A new file of so many zeros, durable but for its name, that have their space on the disk: saving over them
  // allocates nothing. For its owner only; fails if the path exists. After a failure a part of it may be there.
  [[nodiscard]] virtual Result<Done> make_zeros(const std::string& path, std::uint64_t bytes);
  // Within one folder, so that one sync_folder settles it. Replaces a file of that name.
  [[nodiscard]] virtual Result<Done> rename(const std::string& from, const std::string& to) = 0;
  // A file, or a folder that is empty.
  [[nodiscard]] virtual Result<Done> remove(const std::string& path) = 0;
  // For its owner only, in a folder that exists. Succeeds if the folder exists.
  [[nodiscard]] virtual Result<Done> make_folder(const std::string& path) = 0;
  // Makes the names in the folder durable.
  [[nodiscard]] virtual Result<Done> sync_folder(const std::string& path) = 0;
  // The names in the folder, sorted.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  // False only if surely nothing is there. What cannot be looked at counts as there: opening it tells why.
  [[nodiscard]] virtual bool exists(const std::string& path) = 0;
  // Of a file.
  [[nodiscard]] virtual Result<std::uint64_t> size_of(const std::string& path) = 0;
  // Bytes that this user may still write to the disk of the folder.
  [[nodiscard]] virtual Result<std::uint64_t> free_space(const std::string& folder) = 0;
  // Locks the file, made if it is missing and never removed, and its folder against every other lock() of them, this
  // process included.
  // Does not wait: if it is locked, fails as is_in_use, naming the process.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
};

// The machine's files.
Files& real_files();

// Of a process that was started without standard input, output or error: they lead nowhere from now on, and cannot be
// written. Otherwise the next file that is opened would be taken for one of them, and messages written into it. To be
// called before that.
void fill_standard_descriptors();

// The same place, wherever the process will have gone to.
std::string absolute_path(const std::string& path);

// Whether this is lock()'s answer that another holds the lock.
bool is_in_use(const Failure& failure);

// The folder a path lies in: what sync_folder takes once the path was created, renamed or removed.
std::string folder_of(std::string_view path);

// How every failure of a file operation reads; `error` is an errno.
tl::unexpected<Failure> file_failure(std::string_view operation, std::string_view path, int error);
// That of lock(); `holder` is what the lock file says.
tl::unexpected<Failure> in_use_failure(std::string_view path, std::string_view holder);

}  // namespace tenure
