// Files: what the real ones and the faulty ones in memory have in common.
#include "base/files.h"

#include <filesystem>
#include <memory>
#include <string>
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

// Files of whole blocks and not; pieces at whole blocks and not, into whole blocks of memory and not, beyond the end.
TEST_P(FilesTest, AScanReadsWhatIsThere) {
  constexpr std::size_t kBlocks = 4;
  const auto memory = std::make_unique_for_overwrite<DiskBlock[]>(kBlocks + 1);
  for (const std::size_t bytes : {3 * kDiskBlockBytes, 3 * kDiskBlockBytes + 7, std::size_t{0}, std::size_t{1}}) {
    std::string text;
    for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i);
    text.resize(bytes);
    const std::string name = std::to_string(bytes);
    create(name, text);
    const auto scan = must(files_.open(at(name), Mode::kScan));
    for (const std::size_t offset :
         {std::size_t{0}, std::size_t{1}, kDiskBlockBytes, 2 * kDiskBlockBytes + 1, 4 * kDiskBlockBytes}) {
      for (const std::size_t size : {kDiskBlockBytes, kBlocks * kDiskBlockBytes, std::size_t{100}}) {
        for (const std::size_t shift : {std::size_t{0}, std::size_t{8}}) {
          const absl::Span<char> into(memory[0].bytes + shift, size);
          const std::size_t got = must(scan->read_at(offset, into));
          EXPECT_EQ(text.substr(std::min(offset, bytes), size), std::string(into.data(), got));
        }
      }
    }
  }
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

TEST(FilesPathTest, AnAbsolutePathStaysWhereItIs) {
  EXPECT_EQ("/a/b", absolute_path("/a/./b"));
  EXPECT_EQ((std::filesystem::current_path() / "data").string(), absolute_path("data"));
}

}  // namespace
}  // namespace tenure
