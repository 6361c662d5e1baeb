// What a loss of power leaves of faulty files: what each kind of damage may do, and what none may.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/faulty_files.h"
#include "base/files_testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Damage = FaultyFiles::Damage;
using Fault = FaultyFiles::Fault;
using Mode = Files::Mode;
using State = FaultyFiles::State;

constexpr std::uint64_t kSeeds = 200;

State crashed(const FaultyFiles& files, Damage damage, std::uint64_t seed) {
  const auto copy = files.copy();
  copy->crash(damage, seed);
  return copy->state();
}

// Everything that this damage makes of it, over many seeds.
std::set<State> outcomes(const FaultyFiles& files, Damage damage) {
  std::set<State> found;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) found.insert(crashed(files, damage, seed));
  return found;
}

std::set<std::string> texts(const FaultyFiles& files, Damage damage, const std::string& path) {
  std::set<std::string> found;
  for (const State& state : outcomes(files, damage)) found.insert(state.at(path));
  return found;
}

TEST(FaultyDiskTest, WhatIsNotSyncedMayBeLostAndWhatIsStays) {
  FaultyFiles files;
  files.put("/a", "saved");
  const auto file = must(files.open("/a", Mode::kReadWrite));
  must(file->write_at(0, "S"));
  must(file->sync());
  must(file->write_at(1, "AVED AND MORE"));
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/a", "Saved")));
  EXPECT_THAT(files.state(), ElementsAre(Pair("/a", "SAVED AND MORE")));
  EXPECT_EQ(files.durable_state(), crashed(files, Damage::kLoseAll, 1));
  EXPECT_EQ(files.state(), crashed(files, Damage::kKeepAll, 1));
}

TEST(FaultyDiskTest, AResizeIsSyncedLikeAWrite) {
  FaultyFiles files;
  files.put("/a", "long text");
  const auto file = must(files.open("/a", Mode::kReadWrite));
  must(file->resize(4));
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/a", "long text")));
  must(file->sync());
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/a", "long")));
}

TEST(FaultyDiskTest, ASyncedFileIsLostWithItsName) {
  FaultyFiles files;
  must(create(files, "/a", "text")->sync());
  EXPECT_THAT(files.durable_state(), IsEmpty());
  must(files.sync_folder("/"));
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/a", "text")));
}

TEST(FaultyDiskTest, ASyncedNameDoesNotSaveTheContents) {
  FaultyFiles files;
  create(files, "/a", "text");
  must(files.sync_folder("/"));
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/a", "")));
}

TEST(FaultyDiskTest, AFolderThatIsLostTakesItsFilesWithIt) {
  FaultyFiles files;
  must(files.make_folder("/data"));
  must(create(files, "/data/a", "text")->sync());
  must(files.sync_folder("/data"));
  EXPECT_THAT(files.durable_state(), IsEmpty());
  must(files.sync_folder("/"));
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/data/", ""), Pair("/data/a", "text")));
}

TEST(FaultyDiskTest, ATornSequenceArrivesUpToAnyByte) {
  FaultyFiles files;
  files.put("/a", "");
  const auto file = must(files.open("/a", Mode::kReadWrite));
  const std::string bytes = sectors('a', 6);
  for (std::size_t at = 0; at < bytes.size(); at += 1024) must(file->write_at(at, bytes.substr(at, 1024)));
  std::set<std::size_t> sizes;
  for (const std::string& text : texts(files, Damage::kTear, "/a")) {
    EXPECT_EQ(bytes.substr(0, text.size()), text);
    sizes.insert(text.size());
  }
  EXPECT_TRUE(sizes.contains(0));
  EXPECT_TRUE(sizes.contains(512));  // in the middle of a write, at a sector's end
  EXPECT_TRUE(sizes.contains(2048));
  EXPECT_TRUE(sizes.contains(bytes.size()));
  EXPECT_GT(std::ranges::count_if(sizes, [](std::size_t size) { return size % kSector != 0; }), 20);
}

TEST(FaultyDiskTest, ATornSequenceKeepsTheOrderAcrossFiles) {
  FaultyFiles files;
  for (const char* name : {"/a", "/b"}) files.put(name, "");
  const auto first = must(files.open("/a", Mode::kReadWrite));
  const auto second = must(files.open("/b", Mode::kReadWrite));
  must(second->write_at(0, "1"));
  must(first->write_at(0, "2"));
  must(second->write_at(1, "3"));
  std::set<std::string> seen;
  for (const State& state : outcomes(files, Damage::kTear)) seen.insert(state.at("/b") + "," + state.at("/a"));
  EXPECT_THAT(seen, ElementsAre(",", "1,", "1,2", "13,2"));
}

TEST(FaultyDiskTest, ReorderedSectorsArriveOneByOneAndWhole) {
  FaultyFiles files;
  const std::string before = sectors('a', 4);
  files.put("/a", before);
  const auto file = must(files.open("/a", Mode::kReadWrite));
  const std::string bytes = sectors('A', 2);
  must(file->write_at(256, bytes));  // in three sectors, the outer ones in part
  std::set<std::string> expected;
  for (unsigned arrived = 0; arrived < 8; ++arrived) {
    std::string text = before;
    if ((arrived & 1) != 0) text.replace(256, 256, bytes, 0, 256);
    if ((arrived & 2) != 0) text.replace(512, 512, bytes, 256, 512);
    if ((arrived & 4) != 0) text.replace(1024, 256, bytes, 768, 256);
    expected.insert(text);
  }
  EXPECT_EQ(expected, texts(files, Damage::kReorder, "/a"));
}

TEST(FaultyDiskTest, ReorderedGrowthLeavesHoles) {
  FaultyFiles files;
  files.put("/a", "");
  const auto file = must(files.open("/a", Mode::kReadWrite));
  must(file->write_at(0, sectors('A', 2)));
  const std::string last = std::string(kSector, '\0') + std::string(kSector, 'B');
  EXPECT_THAT(texts(files, Damage::kReorder, "/a"), UnorderedElementsAre("", sectors('A', 1), last, sectors('A', 2)));
}

TEST(FaultyDiskTest, GarbageLiesOnlyWhereWasWritten) {
  FaultyFiles files;
  files.put("/a", sectors('a', 4));
  const auto file = must(files.open("/a", Mode::kReadWrite));
  must(file->write_at(600, std::string(500, 'X')));  // within two sectors
  std::set<std::string> first;
  for (const std::string& text : texts(files, Damage::kGarbage, "/a")) {
    ASSERT_EQ(4 * kSector, text.size());
    EXPECT_EQ(sectors('a', 4).substr(0, 600), text.substr(0, 600));
    EXPECT_EQ(sectors('a', 4).substr(1100), text.substr(1100));
    first.insert(text.substr(600, 424));
  }
  for (const char kind : {'X', 'b', '\0'}) EXPECT_TRUE(first.contains(std::string(424, kind))) << kind;
  EXPECT_GT(first.size(), 20U);  // the others are noise
}

TEST(FaultyDiskTest, ZeroedFilesHaveTheirSizeButNotTheirBytes) {
  FaultyFiles files;
  files.put("/old", "old");
  const auto old = must(files.open("/old", Mode::kReadWrite));
  must(old->write_at(0, "newer"));
  create(files, "/new", "text");
  must(files.rename("/new", "/renamed"));
  const State expected{{"/old", std::string("old\0\0", 5)}, {"/renamed", std::string(4, '\0')}};
  EXPECT_THAT(outcomes(files, Damage::kZero), ElementsAre(expected));
}

TEST(FaultyDiskTest, NoDamageTouchesWhatWasSynced) {
  FaultyFiles files;
  const auto file = create(files, "/a", sectors('a', 8));
  must(file->sync());
  must(files.sync_folder("/"));
  must(file->write_at(3 * kSector + 10, "unsynced"));
  std::string expected = sectors('a', 8);
  for (const Damage damage : FaultyFiles::kDamages) {
    for (std::string text : texts(files, damage, "/a")) EXPECT_EQ(expected, text.replace(1546, 8, 8, 'd'));
  }
}

TEST(FaultyDiskTest, ARenamedFileIsUnderOneOfItsNames) {
  FaultyFiles files;
  files.put("/old", "text");
  must(files.rename("/old", "/new"));
  const State before{{"/old", "text"}};
  const State after{{"/new", "text"}};
  EXPECT_THAT(outcomes(files, Damage::kLoseAll), ElementsAre(before));
  EXPECT_THAT(outcomes(files, Damage::kKeepAll), ElementsAre(after));
  for (const Damage damage : {Damage::kTear, Damage::kReorder, Damage::kGarbage}) {
    EXPECT_THAT(outcomes(files, damage), UnorderedElementsAre(before, after));
  }
  must(files.sync_folder("/"));
  for (const Damage damage : FaultyFiles::kDamages) EXPECT_THAT(outcomes(files, damage), ElementsAre(after));
}

TEST(FaultyDiskTest, ARenameOverAFileLeavesTheOldOrTheNew) {
  FaultyFiles files;
  files.put("/new", "new");
  files.put("/a", "old");
  must(files.rename("/new", "/a"));
  EXPECT_THAT(outcomes(files, Damage::kReorder),
              UnorderedElementsAre(State{{"/a", "old"}, {"/new", "new"}}, State{{"/a", "new"}}));
}

TEST(FaultyDiskTest, NamesArriveIndependentlyOfEachOther) {
  FaultyFiles files;
  for (const char* name : {"/a", "/b"}) files.put(name, "");
  for (const char* name : {"/a", "/b"}) must(files.remove(name));
  create(files, "/c");
  EXPECT_EQ(8U, outcomes(files, Damage::kReorder).size());
  EXPECT_EQ(4U, outcomes(files, Damage::kTear).size());
}

TEST(FaultyDiskTest, ChangesOfOneNameKeepTheirOrder) {
  FaultyFiles files;
  files.put("/log", "first");
  must(files.rename("/log", "/log.old"));
  create(files, "/log");
  EXPECT_THAT(outcomes(files, Damage::kReorder),
              UnorderedElementsAre(State{{"/log", "first"}}, State{{"/log.old", "first"}},
                                   State{{"/log", ""}, {"/log.old", "first"}}));
}

TEST(FaultyDiskTest, AFileThatWasCreatedAndRenamedIsLostOrUnderOneName) {
  FaultyFiles files;
  must(create(files, "/a.tmp", "text")->sync());
  must(files.rename("/a.tmp", "/a"));
  EXPECT_THAT(outcomes(files, Damage::kReorder),
              UnorderedElementsAre(State{}, State{{"/a.tmp", "text"}}, State{{"/a", "text"}}));
}

TEST(FaultyDiskTest, NoLaterSyncSavesWhatAFailedOneDidNot) {
  FaultyFiles files;
  files.put("/a", "....");
  const auto file = must(files.open("/a", Mode::kReadWrite));
  must(file->write_at(0, "AA"));
  files.fail_at(files.operations() + 1, Fault::kIoError);
  EXPECT_EQ("sync /a: Input/output error", message_of(file->sync()));
  must(file->write_at(1, "BB"));
  must(file->sync());
  EXPECT_EQ("ABB.", text_of(*file));
  EXPECT_EQ(State({{"/a", ".BB."}}), files.durable_state());
  EXPECT_THAT(outcomes(files, Damage::kKeepAll), ElementsAre(State{{"/a", "ABB."}}));
  for (const Damage damage : {Damage::kTear, Damage::kReorder}) {
    EXPECT_THAT(texts(files, damage, "/a"), UnorderedElementsAre(".BB.", "ABB."));
  }
  files.kill();  // the next process sees it as well, and cannot save it either
  const auto again = must(files.open("/a", Mode::kReadWrite));
  EXPECT_EQ("ABB.", text_of(*again));
  must(again->sync());
  EXPECT_EQ(State({{"/a", ".BB."}}), files.durable_state());
}

TEST(FaultyDiskTest, NoLaterSyncSavesNamesThatAFailedOneDidNot) {
  FaultyFiles files;
  create(files, "/a");
  files.fail_at(files.operations() + 1, Fault::kIoError);
  EXPECT_EQ("sync folder /: Input/output error", message_of(files.sync_folder("/")));
  create(files, "/b");
  must(files.sync_folder("/"));
  EXPECT_THAT(files.durable_state(), ElementsAre(Pair("/b", "")));
  EXPECT_EQ(2U, outcomes(files, Damage::kReorder).size());
}

TEST(FaultyDiskTest, ASeedRepeatsADamage) {
  FaultyFiles files;
  files.put("/a", sectors('a', 8));
  const auto file = must(files.open("/a", Mode::kReadWrite));
  must(file->write_at(100, sectors('A', 4)));
  must(files.rename("/a", "/b"));
  create(files, "/c", sectors('c', 3));
  for (const Damage damage : {Damage::kTear, Damage::kReorder, Damage::kGarbage}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      EXPECT_EQ(crashed(files, damage, seed), crashed(files, damage, seed));
    }
    EXPECT_GT(outcomes(files, damage).size(), kSeeds / 10);
  }
}

// The rules at their simplest: everything twice, as it is seen and as it was when last synced.
class Model {
 public:
  struct Body {
    std::string seen;
    std::string saved;
  };

  std::map<std::string, std::size_t> seen;
  std::map<std::string, std::size_t> saved;
  std::vector<Body> bodies;

  [[nodiscard]] State state(bool as_saved) const {
    State out{{"/d/", ""}};
    for (const auto& [name, body] : as_saved ? saved : seen) {
      out[name] = as_saved ? bodies[body].saved : bodies[body].seen;
    }
    return out;
  }
};

void change_file(Files& files, Model& model, const std::string& path, std::uint32_t choice) {
  const auto file = must(files.open(path, Mode::kReadWrite));
  Model::Body& body = model.bodies[model.seen.at(path)];
  const std::size_t at = choice / 16 % 6'000;
  if (choice % 4 == 0) {
    must(file->sync());
    body.saved = body.seen;
  } else if (choice % 4 == 1) {
    must(file->resize(at));
    body.seen.resize(at);
  } else {
    const std::string bytes(choice / 16 % 700 + 1, static_cast<char>('a' + choice % 26));
    must(file->write_at(at, bytes));
    body.seen.resize(std::max(body.seen.size(), at + bytes.size()));
    body.seen.replace(at, bytes.size(), bytes);
  }
}

// One operation, the same on both; what `choice` means does not matter, only that all operations come up.
void operate(Files& files, Model& model, std::uint32_t choice) {
  const std::string path = "/d/" + std::to_string(choice % 3);
  const std::string to = "/d/" + std::to_string(choice / 3 % 3);
  const std::uint32_t rest = choice / 9;
  if (rest % 8 == 0) {
    must(files.sync_folder("/d"));
    model.saved = model.seen;
  } else if (!model.seen.contains(path)) {
    must(files.open(path, Mode::kCreate));
    model.seen[path] = model.bodies.size();
    model.bodies.emplace_back();
  } else if (rest % 8 == 1) {
    must(files.remove(path));
    model.seen.erase(path);
  } else if (rest % 8 == 2 && path != to) {
    must(files.rename(path, to));
    model.seen[to] = model.seen.at(path);
    model.seen.erase(path);
  } else {
    change_file(files, model, path, rest / 8);
  }
}

RC_GTEST_PROP(FaultyDiskTest, LosesExactlyWhatWasNotSyncedOrKeepsExactlyWhatWasSeen, (std::uint64_t seed)) {
  const auto choices = *rc::gen::container<std::vector<std::uint32_t>>(
      rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint32_t>()));
  FaultyFiles files;
  Model model;
  must(files.make_folder("/d"));
  must(files.sync_folder("/"));
  for (const std::uint32_t choice : choices) {
    operate(files, model, choice);
    RC_ASSERT(files.state() == model.state(false));
    RC_ASSERT(files.durable_state() == model.state(true));
  }
  RC_ASSERT(crashed(files, Damage::kKeepAll, seed) == model.state(false));
  files.crash(Damage::kLoseAll, seed);
  RC_ASSERT(files.state() == model.state(true));
}

// A file is under at most one name, and under one at least if it was and nothing removed or replaced it.
RC_GTEST_PROP(FaultyDiskTest, RenamesNeverLoseOrDoubleAFile,
              (const std::vector<std::uint8_t>& moves, std::uint64_t seed)) {
  FaultyFiles files;
  for (const char* name : {"0", "1", "2"}) files.put(name, name);
  for (const std::uint8_t move : moves) {
    const std::string from = std::to_string(move % 6);
    const std::string to = std::to_string(move / 6 % 6);
    if (files.exists(from) && !files.exists(to)) must(files.rename(from, to));
    if (move > 240) must(files.sync_folder("/"));
  }
  for (const Damage damage : FaultyFiles::kDamages) {
    std::multiset<std::string> found;
    for (const auto& [path, text] : crashed(files, damage, seed)) found.insert(text);
    RC_ASSERT(found == std::multiset<std::string>({"0", "1", "2"}));
  }
}

}  // namespace
}  // namespace tenure
