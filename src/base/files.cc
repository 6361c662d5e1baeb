#include "base/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace tenure {
namespace {

constexpr std::string_view kInUse = ": in use by ";

// Calls again for as long as a signal comes in between, before anything was done. Not for syncs: they are never
// retried.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t rights = 0)
      : number_(uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, rights); })) {
    // In a program without standard streams a file would take their place, and be written to by whoever prints.
    if (!valid() || number_ > STDERR_FILENO) return;
    const int higher = ::fcntl(number_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    ::close(std::exchange(number_, higher));
    errno = error;
  }
  ~Descriptor() {
    if (valid()) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] bool valid() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

tl::unexpected<Failure> failed(std::string_view operation, std::string_view path) {
  return file_failure(operation, path, errno);
}

Result<Done> done_unless(bool wrong, std::string_view operation, std::string_view path) {
  if (wrong) return failed(operation, path);
  return Done{};
}

class RealFile : public File {
 public:
  RealFile(std::string path, Descriptor descriptor) : File(std::move(path)), descriptor_(std::move(descriptor)) {}

  Result<std::size_t> read_at(std::uint64_t offset, absl::Span<char> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const auto got = uninterrupted([&] {
        return ::pread(descriptor_.number(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      });
      if (got < 0) return failed("read", path());
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Result<Done> write_at(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto put = uninterrupted(
          [&] { return ::pwrite(descriptor_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
      if (put < 0) return failed("write", path());
      if (put == 0) return file_failure("write", path(), EIO);  // or it would be tried for ever
      offset += static_cast<std::uint64_t>(put);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return Done{};
  }

  Result<Done> sync() override { return done_unless(::fdatasync(descriptor_.number()) != 0, "sync", path()); }

  Result<std::uint64_t> size() override {
    struct stat found{};
    if (::fstat(descriptor_.number(), &found) != 0) return failed("size of", path());
    return static_cast<std::uint64_t>(found.st_size);
  }

  Result<Done> resize(std::uint64_t size) override {
    const auto cut = [&] { return ::ftruncate(descriptor_.number(), static_cast<off_t>(size)); };
    return done_unless(uninterrupted(cut) != 0, "resize", path());
  }

 private:
  const Descriptor descriptor_;
};

// Blocks of a file on their way to the disk, which reads them itself.
struct alignas(kDiskBlockBytes) Blocks {
  std::array<char, std::size_t{1} << 20> bytes;
};

// Saves past the kernel's cache, in one call of the system: that is a quarter faster than writing into the cache and
// syncing it, and costs half the processor time. The disk takes whole blocks only, so the last one, mostly not full, is
// kept and written again with what comes behind it.
class LogFile final : public RealFile {
 public:
  LogFile(std::string path, Descriptor descriptor, Descriptor direct)
      : RealFile(std::move(path), std::move(descriptor)), direct_(std::move(direct)) {}

  Result<Done> save_at(std::uint64_t offset, std::string_view bytes) override {
    if (auto gone = go_to(offset); !gone) return gone;
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, blocks_->bytes.size() - used_);
      bytes.remove_prefix(piece.size());
      if (auto saved = save_piece(piece); !saved) return saved;
    }
    return Done{};
  }

 private:
  // Has the block at hand that this offset lies in, up to it.
  Result<Done> go_to(std::uint64_t offset) {
    if (offset == begin_ + used_) return Done{};
    const std::size_t used = offset % kDiskBlockBytes;
    const auto got = read_at(offset - used, absl::MakeSpan(blocks_->bytes).first(used));
    if (!got) return tl::unexpected(got.error());
    if (*got != used) return file_failure("save", path(), EINVAL);  // behind its end
    begin_ = offset - used;
    used_ = used;
    return Done{};
  }

  Result<Done> save_piece(std::string_view piece) {
    char* const blocks = blocks_->bytes.data();
    const std::size_t used = used_ + piece.size();
    const std::size_t open = used % kDiskBlockBytes;
    const std::size_t whole = used - open;
    const std::size_t end = open == 0 ? whole : whole + kDiskBlockBytes;
    std::copy(piece.begin(), piece.end(), blocks + used_);
    std::fill(blocks + used, blocks + end, '\0');
    if (auto written = write_blocks(end); !written) return written;
    if (whole > 0) std::copy_n(blocks + whole, open, blocks);
    begin_ += whole;
    used_ = open;
    return Done{};
  }

  Result<Done> write_blocks(std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const auto put = uninterrupted([&] {
        return ::pwrite(direct_.number(), blocks_->bytes.data() + done, bytes - done,
                        static_cast<off_t>(begin_ + done));
      });
      if (put < 0) return failed("save", path());
      if (put == 0 || static_cast<std::size_t>(put) % kDiskBlockBytes != 0) return file_failure("save", path(), EIO);
      done += static_cast<std::size_t>(put);
    }
    return Done{};
  }

  const Descriptor direct_;
  const std::unique_ptr<Blocks> blocks_ = std::make_unique_for_overwrite<Blocks>();
  // The blocks begin with those of the file from here on, so many bytes of them.
  std::uint64_t begin_ = 0;
  std::size_t used_ = 0;
};

// Whether blocks can be read and written past the cache there, and such a write is as durable as a sync: others, such
// as file systems of programs (FUSE), take O_DSYNC and forget it.
bool can_pass_cache(const Descriptor& direct) {
  struct statfs found{};
  if (::fstatfs(direct.number(), &found) != 0) return false;
  if (found.f_type != EXT4_SUPER_MAGIC && found.f_type != XFS_SUPER_MAGIC) return false;
  // Some disks take only blocks that are larger.
  const auto blocks = std::make_unique_for_overwrite<Blocks>();
  return ::pread(direct.number(), blocks->bytes.data(), kDiskBlockBytes, 0) == static_cast<ssize_t>(kDiskBlockBytes);
}

// Reads past the kernel's cache: what is read once is copied once less, and turns nothing else out of the cache.
class ScanFile final : public RealFile {
 public:
  ScanFile(std::string path, Descriptor descriptor, Descriptor direct)
      : RealFile(path, std::move(descriptor)), direct_(std::move(path), std::move(direct)) {}

  Result<std::size_t> read_at(std::uint64_t offset, absl::Span<char> into) override {
    const bool is_whole = (offset | into.size() | reinterpret_cast<std::uintptr_t>(into.data())) % kDiskBlockBytes == 0;
    return is_whole ? direct_.read_at(offset, into) : RealFile::read_at(offset, into);
  }

 private:
  RealFile direct_;
};

// These make a plain file where there is no better.
std::unique_ptr<File> make_scan(const std::string& path, Descriptor descriptor, off_t bytes) {
  if (bytes % static_cast<off_t>(kDiskBlockBytes) == 0) {
    Descriptor direct(path, O_RDONLY | O_DIRECT);
    if (can_pass_cache(direct)) {
      return std::make_unique<ScanFile>(path, std::move(descriptor), std::move(direct));
    }
  }
  return std::make_unique<RealFile>(path, std::move(descriptor));
}

std::unique_ptr<File> make_log(const std::string& path, Descriptor descriptor, off_t bytes) {
  if (bytes % static_cast<off_t>(kDiskBlockBytes) == 0) {
    Descriptor direct(path, O_RDWR | O_DIRECT | O_DSYNC);
    if (can_pass_cache(direct)) {
      return std::make_unique<LogFile>(path, std::move(descriptor), std::move(direct));
    }
  }
  return std::make_unique<RealFile>(path, std::move(descriptor));
}

class RealLock final : public FileLock {
 public:
  RealLock(Descriptor file, Descriptor folder) : file_(std::move(file)), folder_(std::move(folder)) {}

 private:
  // The lock ends when they are closed.
  const Descriptor file_;
  const Descriptor folder_;
};

// What the holder of a lock has written about itself, up to the end of the line.
std::string holder_of(const Descriptor& descriptor) {
  std::array<char, 32> text{};
  const auto got = ::pread(descriptor.number(), text.data(), text.size(), 0);
  const std::string_view line(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(line.substr(0, line.find('\n')));
}

void write_holder(const Descriptor& descriptor) {
  // The lock holds without it, and a full disk must not keep an authority from starting: no failure.
  const std::string line = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor.number(), 0) != 0) return;
  [[maybe_unused]] const auto put = ::pwrite(descriptor.number(), line.data(), line.size(), 0);
}

std::optional<struct stat> look_at(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

constexpr std::size_t kZerosAtOnce = std::size_t{256} << 10;

// `zeros` are at least kZerosAtOnce.
Result<Done> write_zeros(File& file, std::uint64_t bytes, const char* zeros) {
  for (std::uint64_t at = 0; at < bytes; at += kZerosAtOnce) {
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kZerosAtOnce, bytes - at));
    if (auto written = file.write_at(at, {zeros, piece}); !written) return written;
  }
  return file.sync();
}

class RealFiles final : public Files {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) override {
    const bool create = mode == Mode::kCreate;
    const std::string_view operation = create ? "create" : "open";
    const int flags = mode == Mode::kRead || mode == Mode::kScan ? O_RDONLY
                      : create                                   ? O_RDWR | O_CREAT | O_EXCL
                                                                 : O_RDWR;
    // Without waiting: a pipe in the place of a file would have us wait for ever.
    Descriptor descriptor(path, flags | O_NONBLOCK, S_IRUSR | S_IWUSR);
    struct stat found{};
    if (!descriptor.valid() || ::fstat(descriptor.number(), &found) != 0) return failed(operation, path);
    // A folder can be opened for reading, to fail only later.
    if (S_ISDIR(found.st_mode)) return file_failure(operation, path, EISDIR);
    if (S_ISFIFO(found.st_mode)) return file_failure(operation, path, EINVAL);
    if (mode == Mode::kScan) return make_scan(path, std::move(descriptor), found.st_size);
    if (mode == Mode::kLog) return make_log(path, std::move(descriptor), found.st_size);
    return std::make_unique<RealFile>(path, std::move(descriptor));
  }

  // Past the kernel's cache, where the disk takes a block in that way: with a tenth of the processor time, and whoever
  // saves something meanwhile waits for one piece, not for all of them.
  Result<Done> make_zeros(const std::string& path, std::uint64_t bytes) override {
    const auto file = open(path, Mode::kCreate);
    if (!file) return tl::unexpected(file.error());
    const auto zeros = std::make_unique<Blocks>();
    RealFile direct(path, Descriptor(path, O_RDWR | O_DIRECT));
    const bool is_direct = bytes % kDiskBlockBytes == 0 && bytes > 0 &&
                           direct.write_at(0, {zeros->bytes.data(), kDiskBlockBytes}).has_value();
    return write_zeros(is_direct ? direct : **file, bytes, zeros->bytes.data());
  }

  Result<Done> rename(const std::string& from, const std::string& to) override {
    if (folder_of(from) != folder_of(to)) return file_failure("rename", from, EXDEV);
    return done_unless(::rename(from.c_str(), to.c_str()) != 0, "rename", from);
  }

  Result<Done> remove(const std::string& path) override {
    return done_unless(std::remove(path.c_str()) != 0, "remove", path);
  }

  Result<Done> make_folder(const std::string& path) override {
    if (::mkdir(path.c_str(), S_IRWXU) == 0) return Done{};
    if (errno != EEXIST) return failed("make folder", path);
    const auto found = look_at(path);
    if (found && S_ISDIR(found->st_mode)) return Done{};
    return file_failure("make folder", path, EEXIST);
  }

  Result<Done> sync_folder(const std::string& path) override {
    const Descriptor folder(path, O_RDONLY | O_DIRECTORY);
    return done_unless(!folder.valid() || ::fsync(folder.number()) != 0, "sync folder", path);
  }

  Result<std::vector<std::string>> list(const std::string& folder) override {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    while (!error && entry != std::filesystem::directory_iterator()) {
      names.push_back(entry->path().filename().string());
      entry.increment(error);
    }
    if (error) return file_failure("list", folder, error.value());
    std::ranges::sort(names);
    return names;
  }

  bool exists(const std::string& path) override { return look_at(path) || (errno != ENOENT && errno != ENOTDIR); }

  Result<std::uint64_t> size_of(const std::string& path) override {
    const auto found = look_at(path);
    if (!found) return failed("size of", path);
    if (S_ISDIR(found->st_mode)) return file_failure("size of", path, EISDIR);
    return static_cast<std::uint64_t>(found->st_size);
  }

  Result<std::uint64_t> free_space(const std::string& folder) override {
    struct statvfs found{};
    if (::statvfs(folder.c_str(), &found) != 0) return failed("free space of", folder);
    return std::uint64_t{found.f_bavail} * std::uint64_t{found.f_frsize};
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    Descriptor descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (!descriptor.valid()) return failed("lock", path);
    // flock belongs to this opening, not to the process: a second lock() by the same process is refused as well.
    if (uninterrupted([&] { return ::flock(descriptor.number(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno == EWOULDBLOCK) return in_use_failure(path, holder_of(descriptor));
      return failed("lock", path);
    }
    // Somebody may have removed the file of another's lock: its folder is locked, too, where folders can be.
    Descriptor folder(folder_of(path), O_RDONLY | O_DIRECTORY);
    if (folder.valid() && uninterrupted([&] { return ::flock(folder.number(), LOCK_EX | LOCK_NB); }) != 0 &&
        errno == EWOULDBLOCK) {
      return in_use_failure(path, "");
    }
    write_holder(descriptor);
    return std::make_unique<RealLock>(std::move(descriptor), std::move(folder));
  }
};

}  // namespace

Result<Done> File::save_at(std::uint64_t offset, std::string_view bytes) {
  auto done = write_at(offset, bytes);
  if (done) done = sync();
  return done;
}

Result<Done> Files::make_zeros(const std::string& path, std::uint64_t bytes) {
  const auto file = open(path, Mode::kCreate);
  if (!file) return tl::unexpected(file.error());
  return write_zeros(**file, bytes, std::string(kZerosAtOnce, '\0').data());
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  auto absolute = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  if (error) return path;
  // Without a slash at its end: the folder above it is found by the last one.
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute.string();
}

void fill_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    // The lowest that is free is the one that is given.
    if (::fcntl(descriptor, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

Files& real_files() {
  static RealFiles files;
  return files;
}

bool is_in_use(const Failure& failure) {
  return failure.code == ErrorCode::kUnavailable && failure.message.find(kInUse) != std::string::npos;
}

std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));  // at least the root
}

tl::unexpected<Failure> file_failure(std::string_view operation, std::string_view path, int error) {
  return fail_with(ErrorCode::kUnavailable, "{} {}: {}", operation, path, std::generic_category().message(error));
}

tl::unexpected<Failure> in_use_failure(std::string_view path, std::string_view holder) {
  // Between locking and writing its number the holder is nameless.
  const std::string who = holder.empty() ? "another process" : fmt::format("process {}", holder);
  return fail_with(ErrorCode::kUnavailable, "lock {}{}{}", path, kInUse, who);
}

}  // namespace tenure
