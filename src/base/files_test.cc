// Files: what the real ones and the faulty ones in memory have in common, and what only the machine's can show.
#include "base/files.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <linux/magic.h>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/faulty_files.h"
#include "base/files_testing.h"
#include "base/temporary_folder.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using Mode = Files::Mode;

std::string text_at(File& file, std::uint64_t offset, std::size_t length) {
  std::string text(length, '?');
  text.resize(must(file.read_at(offset, absl::MakeSpan(text))));
  return text;
}

class FilesTest : public ::testing::TestWithParam<bool> {
 protected:
  FilesTest() { must(faulty_.make_folder("/data")); }

  [[nodiscard]] bool is_real() const { return GetParam(); }
  [[nodiscard]] std::string at(const std::string& name) const {
    return (is_real() ? temporary_.path() : "/data") + "/" + name;
  }
  std::unique_ptr<File> create(const std::string& name, std::string_view bytes = "") {
    auto file = must(files_.open(at(name), Mode::kCreate));
    must(file->write_at(0, bytes));
    return file;
  }
  std::string text_of(const std::string& name) { return text_at(*must(files_.open(at(name), Mode::kRead)), 0, 1000); }

 private:
  const TemporaryFolder temporary_;
  FaultyFiles faulty_;

 protected:
  Files& files_ = is_real() ? real_files() : faulty_;
};

INSTANTIATE_TEST_SUITE_P(Both, FilesTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Real" : "Faulty"; });

TEST_P(FilesTest, WhatIsWrittenIsReadBack) {
  const auto file = create("a", "hello world");
  must(file->write_at(6, "there"));
  EXPECT_EQ("hello there", text_at(*file, 0, 11));
  EXPECT_EQ("lo th", text_at(*file, 3, 5));
  EXPECT_EQ("hello there", text_of("a"));
  EXPECT_EQ(11U, must(file->size()));
  EXPECT_EQ(11U, must(files_.size_of(at("a"))));
  EXPECT_EQ(at("a"), file->path());
}

TEST_P(FilesTest, ReadingStopsAtTheEnd) {
  const auto file = create("a", "hello");
  EXPECT_EQ("lo", text_at(*file, 3, 100));
  EXPECT_EQ("", text_at(*file, 5, 100));
  EXPECT_EQ("", text_at(*file, 500, 100));
  EXPECT_EQ("", text_at(*file, 0, 0));
}

TEST_P(FilesTest, LargeContentsComeBackWhole) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += std::to_string(i);
  const auto file = create("a");
  must(file->write_at(777, bytes));
  EXPECT_EQ(bytes, text_at(*file, 777, bytes.size() + 1));
  EXPECT_EQ(std::string(777, '\0'), text_at(*file, 0, 777));
}

TEST_P(FilesTest, WritingNothingDoesNotGrowAFile) {
  const auto file = create("a", "x");
  must(file->write_at(100, ""));
  EXPECT_EQ(1U, must(file->size()));
}

TEST_P(FilesTest, WhatIsCutOffIsZerosWhenTheFileGrowsAgain) {
  const auto file = create("a", std::string(10'000, 'x'));
  must(file->resize(5'000));
  EXPECT_EQ(std::string(5'000, 'x'), text_at(*file, 0, 10'000));
  must(file->resize(9'000));
  EXPECT_EQ(std::string(5'000, 'x') + std::string(4'000, '\0'), text_at(*file, 0, 10'000));
}

// Of whole blocks and not.
TEST_P(FilesTest, ALogIsSavedPieceBehindPiece) {
  for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{50'001}}) {
    const std::string name = std::to_string(bytes);
    create(name, std::string(bytes, '\0'));
    std::string saved;
    for (const std::size_t piece : {100U, 4096U, 1U, 3995U, 8192U, 10'000U}) {
      const auto log = must(files_.open(at(name), Mode::kLog));  // as after a restart
      for (char fill = 'a'; fill < 'c'; ++fill) {
        must(log->save_at(saved.size(), std::string(piece / 2, fill)));
        saved.append(piece / 2, fill);
        must(log->save_at(saved.size(), ""));
        EXPECT_EQ(saved + std::string(bytes - saved.size(), '\0'), text_at(*log, 0, bytes + 1));
      }
    }
    EXPECT_EQ(bytes, must(files_.size_of(at(name))));
  }
}

TEST_P(FilesTest, ALogTakesMoreThanFitsIntoOneCallOfTheSystem) {
  std::string zeros(std::size_t{3} << 20, '\0');
  create("a", zeros);
  std::string bytes;
  for (int i = 0; bytes.size() < std::size_t{2'500'000}; ++i) bytes += std::to_string(i);
  const auto log = must(files_.open(at("a"), Mode::kLog));
  must(log->save_at(10, bytes));
  EXPECT_EQ(zeros.replace(10, bytes.size(), bytes), text_at(*log, 0, zeros.size() + 1));
}

// Of whole blocks and not, in one piece and in several.
TEST_P(FilesTest, ZerosAreMade) {
  for (const std::size_t bytes : {0U, 1U, 4'096U, 50'001U, 1U << 20, (1U << 20) + 4'096U, (1U << 20) + 1U}) {
    const std::string path = at(std::to_string(bytes));
    must(files_.make_zeros(path, bytes));
    EXPECT_EQ(bytes, must(files_.size_of(path)));
    EXPECT_EQ(std::string(bytes, '\0'), text_at(*must(files_.open(path, Mode::kRead)), 0, bytes + 1));
  }
}

TEST_P(FilesTest, ZerosTakeNobodysPlace) {
  create("a", "hello");
  EXPECT_EQ("create " + at("a") + ": File exists", message_of(files_.make_zeros(at("a"), 4'096)));
  EXPECT_EQ("hello", text_of("a"));
}

TEST_P(FilesTest, ASizeBeyondAllMeasureIsRefused) {
  const auto file = create("a");
  EXPECT_FALSE(file->resize(std::uint64_t{1} << 63));
  EXPECT_FALSE(file->write_at(std::uint64_t{1} << 63, "x"));
  EXPECT_EQ(0U, must(file->size()));
}

TEST_P(FilesTest, CreatingRefusesWhatExists) {
  create("a", "old");
  EXPECT_EQ("create " + at("a") + ": File exists", message_of(files_.open(at("a"), Mode::kCreate)));
  EXPECT_EQ("old", text_of("a"));
}

TEST_P(FilesTest, AMissingFileCannotBeOpened) {
  for (const Mode mode : {Mode::kRead, Mode::kReadWrite}) {
    const auto file = files_.open(at("none"), mode);
    ASSERT_FALSE(file);
    EXPECT_EQ(ErrorCode::kUnavailable, file.error().code);
    EXPECT_EQ("open " + at("none") + ": No such file or directory", file.error().message);
  }
  EXPECT_THAT(message_of(files_.open(at("none/a"), Mode::kCreate)), EndsWith(": No such file or directory"));
  create("a");
  EXPECT_THAT(message_of(files_.open(at("a/b"), Mode::kCreate)), EndsWith(": Not a directory"));
  EXPECT_FALSE(files_.exists(at("none")));
}

TEST_P(FilesTest, AFolderIsNotOpenedAsAFile) {
  must(files_.make_folder(at("folder")));
  EXPECT_EQ("open " + at("folder") + ": Is a directory", message_of(files_.open(at("folder"), Mode::kRead)));
  EXPECT_EQ("open " + at("folder") + ": Is a directory", message_of(files_.open(at("folder"), Mode::kReadWrite)));
  EXPECT_EQ("size of " + at("folder") + ": Is a directory", message_of(files_.size_of(at("folder"))));
}

TEST_P(FilesTest, AFileOpenedForReadingIsSyncedButNotChanged) {
  create("a", "old");
  const auto file = must(files_.open(at("a"), Mode::kRead));
  EXPECT_EQ("write " + at("a") + ": Bad file descriptor", message_of(file->write_at(0, "new")));
  EXPECT_THAT(message_of(file->resize(1)), ::testing::StartsWith("resize " + at("a") + ": "));
  must(file->sync());
  EXPECT_EQ("old", text_of("a"));
}

TEST_P(FilesTest, AFileOpenedForBothIsReadAndChanged) {
  create("a", "old");
  const auto file = must(files_.open(at("a"), Mode::kReadWrite));
  must(file->write_at(3, "er"));
  must(file->sync());
  EXPECT_EQ("older", text_at(*file, 0, 10));
}

TEST_P(FilesTest, ARenameReplacesAndHandlesFollow) {
  const auto file = create("a", "new");
  const auto replaced = create("b", "old");
  must(files_.rename(at("a"), at("b")));
  must(files_.sync_folder(folder_of(at("b"))));
  EXPECT_FALSE(files_.exists(at("a")));
  EXPECT_EQ("new", text_of("b"));
  must(file->write_at(3, "er"));
  EXPECT_EQ("newer", text_of("b"));
  EXPECT_EQ("old", text_at(*replaced, 0, 10));
  must(files_.rename(at("b"), at("b")));
  EXPECT_EQ("newer", text_of("b"));
}

TEST_P(FilesTest, ARenameStaysInItsFolder) {
  create("a");
  must(files_.make_folder(at("folder")));
  EXPECT_EQ("rename " + at("a") + ": Invalid cross-device link", message_of(files_.rename(at("a"), at("folder/a"))));
  EXPECT_EQ("rename " + at("x") + ": No such file or directory", message_of(files_.rename(at("x"), at("y"))));
  EXPECT_TRUE(files_.exists(at("a")));
}

TEST_P(FilesTest, AFolderIsRenamedWithWhatIsInIt) {
  must(files_.make_folder(at("from")));
  must(files_.make_folder(at("full")));
  create("from/a", "text");
  create("full/b");
  create("file");
  EXPECT_THAT(message_of(files_.rename(at("from"), at("full"))), EndsWith(": Directory not empty"));
  EXPECT_THAT(message_of(files_.rename(at("from"), at("file"))), EndsWith(": Not a directory"));
  EXPECT_THAT(message_of(files_.rename(at("file"), at("from"))), EndsWith(": Is a directory"));
  must(files_.rename(at("from"), at("to")));
  EXPECT_EQ("text", text_of("to/a"));
  EXPECT_FALSE(files_.exists(at("from")));
}

TEST_P(FilesTest, ARemovedFileLivesUntilItIsClosed) {
  const auto file = create("a", "text");
  must(files_.remove(at("a")));
  EXPECT_FALSE(files_.exists(at("a")));
  EXPECT_EQ("text", text_at(*file, 0, 10));
  EXPECT_EQ("remove " + at("a") + ": No such file or directory", message_of(files_.remove(at("a"))));
}

TEST_P(FilesTest, OnlyAnEmptyFolderIsRemoved) {
  must(files_.make_folder(at("folder")));
  create("folder/a");
  EXPECT_EQ("remove " + at("folder") + ": Directory not empty", message_of(files_.remove(at("folder"))));
  must(files_.remove(at("folder/a")));
  must(files_.remove(at("folder")));
  EXPECT_FALSE(files_.exists(at("folder")));
}

TEST_P(FilesTest, AFolderMayExistWhenItIsMade) {
  must(files_.make_folder(at("folder")));
  create("folder/a");
  must(files_.make_folder(at("folder")));
  EXPECT_THAT(must(files_.list(at("folder"))), ElementsAre("a"));
  EXPECT_EQ("make folder " + at("folder/a") + ": File exists", message_of(files_.make_folder(at("folder/a"))));
  EXPECT_THAT(message_of(files_.make_folder(at("none/folder"))), EndsWith(": No such file or directory"));
}

TEST_P(FilesTest, AListIsSorted) {
  EXPECT_THAT(must(files_.list(at(""))), IsEmpty());
  for (const char* name : {"b", "a10", "a9", "B"}) create(name);
  must(files_.make_folder(at("a")));
  create("a/inside");
  EXPECT_THAT(must(files_.list(at(""))), ElementsAre("B", "a", "a10", "a9", "b"));
  EXPECT_EQ("list " + at("none") + ": No such file or directory", message_of(files_.list(at("none"))));
  EXPECT_EQ("list " + at("b") + ": Not a directory", message_of(files_.list(at("b"))));
}

TEST_P(FilesTest, OnlyAFolderIsSyncedAsOne) {
  create("a");
  must(files_.sync_folder(at("")));
  EXPECT_EQ("sync folder " + at("a") + ": Not a directory", message_of(files_.sync_folder(at("a"))));
  EXPECT_EQ("sync folder " + at("x") + ": No such file or directory", message_of(files_.sync_folder(at("x"))));
}

TEST_P(FilesTest, ExistsIsTrueForFilesAndFolders) {
  create("a");
  EXPECT_TRUE(files_.exists(at("a")));
  EXPECT_TRUE(files_.exists(at("")));
  EXPECT_FALSE(files_.exists(at("a/b")));
  EXPECT_EQ("size of " + at("b") + ": No such file or directory", message_of(files_.size_of(at("b"))));
}

TEST_P(FilesTest, FreeSpaceIsToldOfAnyFolder) {
  EXPECT_GT(must(files_.free_space(at(""))), 0U);
  EXPECT_EQ("free space of " + at("x") + ": No such file or directory", message_of(files_.free_space(at("x"))));
}

TEST_P(FilesTest, ALockIsHeldOnceAndFreeAgainAfterwards) {
  auto held = must(files_.lock(at("lock")));
  must(files_.make_folder(at("sub")));
  const auto other = must(files_.lock(at("sub/other")));
  const auto again = files_.lock(at("lock"));
  ASSERT_FALSE(again);
  EXPECT_TRUE(is_in_use(again.error()));
  const std::string process = is_real() ? std::to_string(getpid()) : "1";
  EXPECT_EQ("lock " + at("lock") + ": in use by process " + process, again.error().message);
  held.reset();
  must(files_.lock(at("lock")));
  EXPECT_THAT(must(files_.list(at(""))), ElementsAre("lock", "sub"));
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

TEST_P(FilesTest, ALockThatCannotBeMadeIsNotInUse) {
  const auto lock = files_.lock(at("none/lock"));
  ASSERT_FALSE(lock);
  EXPECT_FALSE(is_in_use(lock.error()));
  EXPECT_EQ("lock " + at("none/lock") + ": No such file or directory", lock.error().message);
  EXPECT_EQ("lock " + at("") + ": Is a directory", message_of(files_.lock(at(""))));
}

TEST(FilesNamesTest, TheFolderOfAPath) {
  EXPECT_EQ("/a/b", folder_of("/a/b/c"));
  EXPECT_EQ("/", folder_of("/a"));
  EXPECT_EQ("a", folder_of("a/b"));
  EXPECT_EQ(".", folder_of("a"));
}

TEST(FilesNamesTest, AHolderWithoutANameIsAnotherProcess) {
  const Failure failure = in_use_failure("/lock", "").value();
  EXPECT_TRUE(is_in_use(failure));
  EXPECT_EQ("lock /lock: in use by another process", failure.message);
}

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

TEST(FilesPathTest, AnAbsolutePathStaysWhereItIs) {
  EXPECT_EQ("/a/b", absolute_path("/a/./b"));
  EXPECT_EQ((std::filesystem::current_path() / "data").string(), absolute_path("data"));
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

}  // namespace
}  // namespace tenure
