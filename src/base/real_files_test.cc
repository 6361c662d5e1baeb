// Files: what only the machine's own can show.
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <linux/magic.h>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/files_testing.h"
#include "base/temporary_folder.h"

namespace tenure {
namespace {

using ::testing::EndsWith;
using ::testing::IsEmpty;
using Mode = Files::Mode;

class RealFilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return temporary_.path() + "/" + name; }

  Files& files_ = real_files();

 private:
  const TemporaryFolder temporary_;
};

mode_t rights_of(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(0, stat(path.c_str(), &found));
  return found.st_mode & 0777U;
}

TEST_F(RealFilesTest, AreForTheirOwnerOnly) {
  must(files_.open(at("file"), Mode::kCreate));
  must(files_.make_folder(at("folder")));
  must(files_.lock(at("lock")));
  EXPECT_EQ(0600U, rights_of(at("file")));
  EXPECT_EQ(0700U, rights_of(at("folder")));
  EXPECT_EQ(0600U, rights_of(at("lock")));
}

// The descriptors under which this process has the file open.
std::vector<int> descriptors_of(const std::string& path) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) == path) found.push_back(std::stoi(entry.path().filename()));
  }
  return found;
}

TEST_F(RealFilesTest, AreNotInheritedByProgramsAndClosedInTheEnd) {
  {
    const auto file = must(files_.open(at("file"), Mode::kCreate));
    const auto lock = must(files_.lock(at("lock")));
    for (const char* name : {"file", "lock"}) {
      const auto descriptors = descriptors_of(at(name));
      ASSERT_EQ(1U, descriptors.size()) << name;
      EXPECT_EQ(FD_CLOEXEC, fcntl(descriptors[0], F_GETFD) & FD_CLOEXEC) << name;
    }
  }
  EXPECT_THAT(descriptors_of(at("file")), IsEmpty());
  EXPECT_THAT(descriptors_of(at("lock")), IsEmpty());
}

TEST_F(RealFilesTest, APipeIsNoFile) {
  ASSERT_EQ(0, ::mkfifo(at("pipe").c_str(), S_IRUSR | S_IWUSR));
  EXPECT_THAT(message_of(files_.open(at("pipe"), Mode::kRead)), testing::EndsWith("pipe: Invalid argument"));
}

// Else whatever is printed would end up in it.
TEST_F(RealFilesTest, AFileNeverTakesThePlaceOfAStandardStream) {
  const int input = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  {
    const auto file = must(files_.open(at("file"), Mode::kCreate));
    must(file->write_at(0, "x"));
    EXPECT_EQ(-1, ::fcntl(STDIN_FILENO, F_GETFD));
  }
  ::dup2(input, STDIN_FILENO);
  ::close(input);
}

TEST_F(RealFilesTest, AFullDiskIsNamed) {
  const auto full = must(files_.open("/dev/full", Mode::kReadWrite));
  EXPECT_EQ("write /dev/full: No space left on device", message_of(full->write_at(0, "x")));
}

// Limits the size of files for its lifetime, so that a write first comes out short and then fails.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_before_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, signal_before_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_before_)(int);
};

TEST_F(RealFilesTest, AShortWriteIsContinuedUntilItFails) {
  const auto file = must(files_.open(at("a"), Mode::kCreate));
  const std::string bytes(10'000, 'x');
  {
    const FileSizeLimit limit(6'000);
    EXPECT_EQ("write " + at("a") + ": File too large", message_of(file->write_at(0, bytes)));
  }
  EXPECT_EQ(6'000U, must(file->size()));  // so the first write was short, and a second one was tried
  must(file->write_at(0, bytes));
  EXPECT_EQ(bytes, text_at(*file, 0, bytes.size()));
}

bool is_on_ext4_or_xfs(const std::string& path) {
  struct statfs disk{};
  EXPECT_EQ(0, ::statfs(path.c_str(), &disk));
  return disk.f_type == EXT4_SUPER_MAGIC || disk.f_type == XFS_SUPER_MAGIC;
}

std::ptrdiff_t pages_in_memory(const std::string& path, std::size_t bytes) {
  std::vector<unsigned char> pages(bytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  const int file = ::open(path.c_str(), O_RDONLY);
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  EXPECT_NE(MAP_FAILED, mapped);
  EXPECT_EQ(0, ::mincore(mapped, bytes, pages.data()));
  ::munmap(mapped, bytes);
  ::close(file);
  return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; });
}

// Nothing else would show that nobody syncs any more.
TEST_F(RealFilesTest, ALogIsSyncedByEachWrite) {
  must(must(files_.open(at("a"), Mode::kCreate))->write_at(0, std::string(4'096, '\0')));
  if (!is_on_ext4_or_xfs(at("a"))) GTEST_SKIP() << "neither ext4 nor XFS";
  const auto log = must(files_.open(at("a"), Mode::kLog));
  EXPECT_THAT(descriptors_of(at("a")), testing::Contains(testing::Truly([](int descriptor) {
                const int flags = ::fcntl(descriptor, F_GETFL);
                return (flags & O_DSYNC) == O_DSYNC && (flags & O_DIRECT) != 0;
              })));
}

TEST_F(RealFilesTest, WhatIsScannedStaysOutOfTheCache) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  must(files_.make_zeros(at("a"), kBytes));
  if (!is_on_ext4_or_xfs(at("a"))) GTEST_SKIP() << "neither ext4 nor XFS";
  const auto memory = std::make_unique_for_overwrite<DiskBlock[]>(kBytes / kDiskBlockBytes);
  const absl::Span<char> into(memory[0].bytes, kBytes);
  ASSERT_EQ(kBytes, must(must(files_.open(at("a"), Mode::kScan))->read_at(0, into)));
  EXPECT_EQ(0, pages_in_memory(at("a"), kBytes));
  ASSERT_EQ(kBytes, must(must(files_.open(at("a"), Mode::kRead))->read_at(0, into)));
  EXPECT_GT(pages_in_memory(at("a"), kBytes), 0);
}

TEST_F(RealFilesTest, WhatIsNotSavedWholeHasFailed) {
  must(must(files_.open(at("a"), Mode::kCreate))->write_at(0, std::string(8'192, '\0')));
  const auto log = must(files_.open(at("a"), Mode::kLog));
  {
    const FileSizeLimit limit(4'096);
    EXPECT_THAT(message_of(log->save_at(0, std::string(8'000, 'x'))), EndsWith(at("a") + ": File too large"));
  }
  must(log->save_at(0, std::string(8'000, 'y')));
  EXPECT_EQ(std::string(8'000, 'y') + std::string(192, '\0'), text_at(*log, 0, 10'000));
}

TEST_F(RealFilesTest, ZerosLieOnTheDiskAndNotInMemory) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  must(files_.make_zeros(at("a"), kBytes));
  EXPECT_EQ(0600U, rights_of(at("a")));
  struct stat found{};
  ASSERT_EQ(0, ::stat(at("a").c_str(), &found));
  EXPECT_GE(found.st_blocks * 512, static_cast<blkcnt_t>(kBytes));
  if (!is_on_ext4_or_xfs(at("a"))) GTEST_SKIP() << "neither ext4 nor XFS";
  EXPECT_EQ(0, pages_in_memory(at("a"), kBytes));
  EXPECT_EQ(kBytes, text_at(*must(files_.open(at("a"), Mode::kRead)), 0, kBytes).size());
  EXPECT_NE(0, pages_in_memory(at("a"), kBytes));
}

TEST_F(RealFilesTest, ZerosForWhichThereIsNoRoomAreNotMade) {
  const FileSizeLimit limit(8'192);
  EXPECT_EQ("write " + at("a") + ": File too large", message_of(files_.make_zeros(at("a"), 1U << 20)));
}

TEST_F(RealFilesTest, WhatCannotBeLookedAtCountsAsThere) {
  EXPECT_TRUE(files_.exists(at(std::string(300, 'n'))));  // a name that is too long
}

TEST_F(RealFilesTest, FreeSpaceIsThatOfTheDisk) {
  // Others write to it meanwhile, so this is about the unit.
  const auto expected = static_cast<double>(std::filesystem::space(at("")).available);
  const auto found = static_cast<double>(must(files_.free_space(at(""))));
  EXPECT_GT(found, expected * 0.5);
  EXPECT_LT(found, expected * 2);
}

// Runs it in a child process and returns what it returned.
int in_child(const std::function<int()>& run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  EXPECT_EQ(child, waitpid(child, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(RealFilesTest, AnotherProcessIsToldWhoHoldsTheLock) {
  const std::string expected = "lock " + at("lock") + ": in use by process " + std::to_string(getpid());
  auto held = std::optional(must(files_.lock(at("lock"))));
  const auto sees_holder = [&] { return message_of(files_.lock(at("lock"))) == expected ? 7 : 1; };
  EXPECT_EQ(7, in_child(sees_holder));
  held.reset();
  EXPECT_EQ(1, in_child(sees_holder));
}

TEST_F(RealFilesTest, TheLockOfAProcessThatDiedIsFree) {
  EXPECT_EQ(7, in_child([&] {
              const auto held = files_.lock(at("lock"));
              _exit(held ? 7 : 1);  // without giving it back
              return 0;
            }));
  must(files_.lock(at("lock")));
}

// A backup on read-only media: nothing here may ask for more than reading.
TEST_F(RealFilesTest, WhatIsReadOnlyIsRead) {
  must(files_.make_folder(at("backup")));
  std::ofstream(at("backup/a")) << "text";
  chmod(at("backup/a").c_str(), 0400);
  chmod(at("backup").c_str(), 0500);
  // Root may write anyway, so the reading is left to somebody else.
  EXPECT_EQ(7, in_child([&] {
              if (getuid() == 0 &&
                  (chown(at("backup/a").c_str(), 65534, 65534) != 0 || chown(at("backup").c_str(), 65534, 65534) != 0 ||
                   chmod(at("").c_str(), 0711) != 0 || setuid(65534) != 0)) {
                return 2;
              }
              if (files_.open(at("backup/a"), Mode::kReadWrite) || files_.open(at("backup/b"), Mode::kCreate)) return 3;
              const auto file = files_.open(at("backup/a"), Mode::kRead);
              if (!file || text_at(**file, 0, 10) != "text" || !(*file)->sync()) return 4;
              const auto names = files_.list(at("backup"));
              if (!names || names->size() != 1 || !files_.sync_folder(at("backup"))) return 5;
              return 7;
            }));
  chmod(at("backup").c_str(), 0700);
}

// Somebody may remove what looks like a leftover.
TEST(RealLockTest, ALockIsHeldThoughItsFileIsRemoved) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/LOCK";
  auto held = real_files().lock(path);
  ASSERT_TRUE(held);
  ASSERT_TRUE(real_files().remove(path));
  const auto again = real_files().lock(path);
  ASSERT_FALSE(again);
  EXPECT_TRUE(is_in_use(again.error())) << again.error().message;
  held->reset();
  EXPECT_TRUE(real_files().lock(path));
}

}  // namespace
}  // namespace tenure
