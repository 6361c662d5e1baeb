// Faulty files: each fault, the end of processes and machines, full disks. What a loss of power does to the disk is in
// faulty_disk_test.cc.
#include "base/faulty_files.h"

#include <functional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files_testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Damage = FaultyFiles::Damage;
using Fault = FaultyFiles::Fault;
using Lasting = FaultyFiles::Lasting;
using Mode = Files::Mode;
using State = FaultyFiles::State;

constexpr std::uint64_t kTornSeeds = 200;

// Each operation that counts, on a folder with the files "a" and "b" in it.
struct Operation {
  std::string name;
  std::function<Result<Done>(Files&, File&)> run;
};

const std::vector<Operation> kOperations = {
    {"create /d/new",
     [](Files& files, File&) { return files.open("/d/new", Mode::kCreate).map([](auto&&) { return Done{}; }); }},
    {"write /d/a", [](Files&, File& file) { return file.write_at(0, "abcdefgh"); }},
    {"sync /d/a", [](Files&, File& file) { return file.sync(); }},
    {"resize /d/a", [](Files&, File& file) { return file.resize(1); }},
    {"rename /d/a", [](Files& files, File&) { return files.rename("/d/a", "/d/c"); }},
    {"remove /d/b", [](Files& files, File&) { return files.remove("/d/b"); }},
    {"make folder /d/f", [](Files& files, File&) { return files.make_folder("/d/f"); }},
    {"sync folder /d", [](Files& files, File&) { return files.sync_folder("/d"); }},
};

struct Stage {
  explicit Stage(std::uint64_t seed = 0) : files(seed) {
    files.put("/d/a", "12345678");
    files.put("/d/b", "");
    file = must(files.open("/d/a", Mode::kReadWrite));
  }
  Result<Done> run(const Operation& operation) { return operation.run(files, *file); }

  FaultyFiles files;
  std::unique_ptr<File> file;
};

TEST(FaultyFilesTest, EveryOperationThatChangesSomethingCounts) {
  for (const Operation& operation : kOperations) {
    Stage stage;
    must(stage.run(operation));
    EXPECT_EQ(1U, stage.files.operations()) << operation.name;
  }
  Stage stage;
  must(stage.files.list("/d"));
  must(stage.files.size_of("/d/a"));
  must(stage.files.free_space("/d"));
  must(stage.files.lock("/d/lock"));
  must(stage.file->size());
  text_of(*stage.file);
  EXPECT_TRUE(stage.files.exists("/d/a"));
  EXPECT_EQ(0U, stage.files.operations());
}

TEST(FaultyFilesTest, AFaultStrikesOnceAndChangesNothing) {
  for (const Operation& operation : kOperations) {
    for (const Fault fault : {Fault::kIoError, Fault::kNoSpace}) {
      Stage stage;
      const State before = stage.files.state();
      stage.files.fail_at(2, fault);
      must(stage.file->sync());
      const char* const why = fault == Fault::kIoError ? ": Input/output error" : ": No space left on device";
      EXPECT_EQ(operation.name + why, message_of(stage.run(operation)));
      EXPECT_EQ(before, stage.files.state());
      must(stage.run(operation));
    }
  }
}

TEST(FaultyFilesTest, AFaultForEverStrikesUntilItIsHealedOrTheProcessEnds) {
  for (const Operation& operation : kOperations) {
    for (const int end : {1, 2, 3}) {
      Stage stage;
      stage.files.fail_at(1, Fault::kIoError, Lasting::kForEver);
      for (int i = 0; i < 5; ++i) EXPECT_FALSE(stage.run(operation)) << operation.name;
      EXPECT_EQ(5U, stage.files.operations());
      stage.files.fail_at(6, Fault::kNoSpace);
      if (end == 1) stage.files.heal();
      if (end == 2) stage.files.kill();
      if (end == 3) stage.files.crash(Damage::kKeepAll, 0);
      stage.file = must(stage.files.open("/d/a", Mode::kReadWrite));
      must(stage.run(operation));
    }
  }
}

TEST(FaultyFilesTest, AShortWriteWritesAPartButNeverAll) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < kTornSeeds; ++seed) {
    Stage stage(seed);
    stage.files.fail_at(1, Fault::kShortWrite);
    EXPECT_EQ("write /d/a: No space left on device", message_of(stage.file->write_at(0, "abcd")));
    seen.insert(stage.files.contents("/d/a"));
  }
  EXPECT_THAT(seen, UnorderedElementsAre("12345678", "a2345678", "ab345678", "abc45678"));
}

TEST(FaultyFilesTest, AMachineThatDiesAnswersNothingUntilItIsBack) {
  for (const Operation& operation : kOperations) {
    Stage stage;
    const auto held = must(stage.files.lock("/d/lock"));
    stage.files.fail_at(1, Fault::kCrash);
    EXPECT_EQ(operation.name + ": the machine is down", message_of(stage.run(operation)));
    for (const Operation& other : kOperations)
      EXPECT_EQ(other.name + ": the machine is down", message_of(stage.run(other)));
    char byte = 0;
    EXPECT_EQ("read /d/a: the machine is down", message_of(stage.file->read_at(0, absl::MakeSpan(&byte, 1))));
    EXPECT_FALSE(stage.file->size());
    EXPECT_FALSE(stage.files.open("/d/a", Mode::kRead));
    EXPECT_FALSE(stage.files.list("/d"));
    EXPECT_FALSE(stage.files.size_of("/d/a"));
    EXPECT_FALSE(stage.files.free_space("/d"));
    EXPECT_FALSE(stage.files.lock("/d/other"));
    EXPECT_TRUE(stage.files.exists("/d/none"));  // nobody can tell
    EXPECT_EQ(1U, stage.files.operations());
    stage.files.crash(Damage::kLoseAll, 0);
    EXPECT_FALSE(stage.files.exists("/d/none"));
    must(stage.files.open("/d/a", Mode::kRead));
  }
}

TEST(FaultyFilesTest, WhatTheMachineDiesInHappensOrNot) {
  for (const Operation& operation : kOperations) {
    std::set<State> seen;
    for (std::uint64_t seed = 0; seed < kTornSeeds; ++seed) {
      Stage stage(seed);
      must(stage.file->write_at(4, "unsynced"));
      create(stage.files, "/d/unsynced");
      stage.files.fail_at(stage.files.operations() + 1, Fault::kCrash);
      EXPECT_FALSE(stage.run(operation));
      const bool is_sync = operation.name.starts_with("sync");
      stage.files.crash(is_sync ? Damage::kLoseAll : Damage::kKeepAll, seed);
      seen.insert(stage.files.state());
    }
    EXPECT_EQ(operation.name == "write /d/a" ? 9U : 2U, seen.size()) << operation.name;
  }
}

TEST(FaultyFilesTest, HandlesAndLocksEndWithTheProcess) {
  FaultyFiles files;
  files.put("/a", "text");
  for (const bool power_lost : {true, false}) {
    const auto file = must(files.open("/a", Mode::kReadWrite));
    const auto lock = must(files.lock("/lock"));
    EXPECT_FALSE(files.lock("/lock"));
    if (power_lost) files.crash(Damage::kKeepAll, 0);
    if (!power_lost) files.kill();
    EXPECT_EQ("write /a: opened before the crash", message_of(file->write_at(0, "x")));
    EXPECT_EQ("sync /a: opened before the crash", message_of(file->sync()));
    EXPECT_EQ("resize /a: opened before the crash", message_of(file->resize(0)));
    EXPECT_EQ("size of /a: opened before the crash", message_of(file->size()));
    EXPECT_FALSE(file->read_at(0, {}));
    const auto next = must(files.lock("/lock"));
    EXPECT_EQ("text", files.contents("/a"));
  }
  EXPECT_EQ(0U, files.operations());
}

TEST(FaultyFilesTest, ALockOfADeadProcessDoesNotFreeThatOfTheNext) {
  FaultyFiles files;
  auto dead = must(files.lock("/lock"));
  files.kill();
  const auto held = must(files.lock("/lock"));
  dead.reset();
  EXPECT_FALSE(files.lock("/lock"));
}

TEST(FaultyFilesTest, AKilledProcessLeavesItsWritesUnsynced) {
  FaultyFiles files;
  files.put("/a", "old");
  must(must(files.open("/a", Mode::kReadWrite))->write_at(0, "new"));
  files.kill();
  EXPECT_EQ("new", files.contents("/a"));
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/a", "old")));
  must(must(files.open("/a", Mode::kRead))->sync());
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/a", "new")));
}

TEST(FaultyFilesTest, AFullDiskTakesWhatFitsAndOverwritesStill) {
  FaultyFiles files;
  files.set_capacity(3 * 4096);
  const auto file = create(files, "/a", std::string(4096, 'a'));
  EXPECT_EQ(2U * 4096, must(files.free_space("/")));
  EXPECT_THAT(message_of(file->write_at(4000, std::string(9000, 'b'))), EndsWith(": No space left on device"));
  EXPECT_EQ(3U * 4096, must(file->size()));
  EXPECT_EQ(0U, must(files.free_space("/")));
  must(file->write_at(0, std::string(std::size_t{3} * 4096, 'c')));
  EXPECT_FALSE(file->write_at(std::uint64_t{3} * 4096, "d"));
  must(file->resize(5 * 4096));  // a hole
  EXPECT_FALSE(file->write_at(std::uint64_t{4} * 4096, "e"));
  must(file->resize(4096));
  EXPECT_EQ(2U * 4096, must(files.free_space("/")));
  must(files.remove("/a"));
  EXPECT_EQ(3U * 4096, must(files.free_space("/")));
  files.set_capacity(0);
  must(files.lock("/lock"));  // a full disk keeps nobody from locking
}

TEST(FaultyFilesTest, ReadsFailUntilHealed) {
  FaultyFiles files;
  for (const char* name : {"/a", "/b"}) files.put(name, "text");
  files.fail_reads_of("/a");
  files.crash(Damage::kKeepAll, 0);
  const auto file = must(files.open("/a", Mode::kRead));
  char byte = 0;
  EXPECT_EQ("read /a: Input/output error", message_of(file->read_at(0, absl::MakeSpan(&byte, 1))));
  EXPECT_EQ("text", text_of(*must(files.open("/b", Mode::kRead))));
  EXPECT_EQ("text", files.contents("/a"));
  files.heal();
  EXPECT_EQ("text", text_of(*file));
}

TEST(FaultyFilesTest, OneLookFailsAndTheNextDoesNot) {
  FaultyFiles files;
  files.put("/folder/a", "text");
  const std::uint64_t before = files.looks();
  const auto look = [&] {
    char byte = 0;
    const auto file = files.open("/folder/a", Mode::kRead);
    if (!file) return file.error().message;
    if (const auto read = (*file)->read_at(0, absl::MakeSpan(&byte, 1)); !read) return read.error().message;
    if (const auto size = (*file)->size(); !size) return size.error().message;
    if (const auto names = files.list("/folder"); !names) return names.error().message;
    if (const auto size = files.size_of("/folder/a"); !size) return size.error().message;
    if (const auto space = files.free_space("/folder"); !space) return space.error().message;
    return std::string("none");
  };
  EXPECT_EQ("none", look());
  EXPECT_EQ(before + 6, files.looks());
  const char* const looks[] = {"open /folder/a", "read /folder/a",    "size of /folder/a",
                               "list /folder",   "size of /folder/a", "free space of /folder"};
  for (std::uint64_t n = 0; n < 6; ++n) {
    files.fail_look_at(files.looks() + n + 1);
    EXPECT_EQ(std::string(looks[n]) + ": Input/output error", look());
    EXPECT_EQ("none", look());
  }
  files.fail_look_at(files.looks() + 1);
  files.heal();
  EXPECT_EQ("none", look());
}

TEST(FaultyFilesTest, ACopyGoesItsOwnWay) {
  FaultyFiles files;
  const auto file = create(files, "/a", sectors('a', 20));
  const auto lock = must(files.lock("/lock"));
  files.fail_at(files.operations() + 1, Fault::kIoError, Lasting::kForEver);
  const auto copy = files.copy();
  EXPECT_EQ(0U, copy->operations());
  must(copy->lock("/lock"));
  must(must(copy->open("/a", Mode::kReadWrite))->write_at(0, "copied"));
  EXPECT_EQ(sectors('a', 20), files.contents("/a"));
  EXPECT_EQ("copied" + sectors('a', 20).substr(6), copy->contents("/a"));
  EXPECT_FALSE(file->write_at(0, "x"));
  copy->crash(Damage::kLoseAll, 0);
  EXPECT_THAT(copy->state(), IsEmpty());
  EXPECT_EQ(sectors('a', 20), text_of(*file));
}

TEST(FaultyFilesTest, DirectAccessIsDurableAtOnce) {
  FaultyFiles files;
  files.put("/d/e/a", "ab");
  files.flip_bit("/d/e/a", 9);
  EXPECT_EQ("a`", files.contents("/d/e/a"));
  files.flip_bit("/d/e/a", 0);
  EXPECT_EQ("``", files.contents("/d/e/a"));
  files.put("/d/b", "long text");
  files.put("/d/b", "text");
  files.cut("/d/e/a", 1);
  EXPECT_EQ(State({{"/d/", ""}, {"/d/b", "text"}, {"/d/e/", ""}, {"/d/e/a", "`"}}), files.durable_state());
  EXPECT_EQ(files.state(), files.durable_state());
  EXPECT_EQ(0U, files.operations());
}

TEST(FaultyFilesTest, PutSettlesAFileThatWasBeingChanged) {
  FaultyFiles files;
  files.put("/a", "old");
  must(must(files.open("/a", Mode::kReadWrite))->write_at(0, "unsynced"));
  must(files.rename("/a", "/b"));
  files.put("/b", "put");
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/b", "put")));
}

TEST(FaultyFilesTest, ASeedRepeatsHowFarFaultsGet) {
  const auto end_of = [](std::uint64_t seed) {
    Stage stage(seed);
    for (std::uint64_t n = 1; n <= 8; ++n) stage.files.fail_at(n, n == 8 ? Fault::kCrash : Fault::kShortWrite);
    for (int i = 0; i < 8; ++i) EXPECT_FALSE(stage.file->write_at(0, std::string(20, static_cast<char>('a' + i))));
    return stage.files.state();
  };
  std::set<State> ends;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(end_of(seed), end_of(seed));
    ends.insert(end_of(seed));
  }
  EXPECT_GT(ends.size(), 10U);
}

TEST(FaultyFilesTest, ManyThreadsShareThem) {
  FaultyFiles files;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&files, path = "/" + std::to_string(i)] {
      const auto file = create(files, path);
      for (std::uint64_t k = 0; k < 200; ++k) must(file->write_at(k, path.substr(1)));
      must(file->sync());
      must(files.sync_folder("/"));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(4U * 204, files.operations());
  for (const char digit : {'0', '1', '2', '3'}) {
    EXPECT_EQ(std::string(200, digit), files.durable_state().at(std::string("/") + digit));
  }
}

}  // namespace
}  // namespace tenure
