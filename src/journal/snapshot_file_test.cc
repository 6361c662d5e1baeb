// Snapshot files: sorted pairs come back by prefix, and damage never does.
#include "journal/snapshot_file.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/entropy.h"
#include "base/faulty_files.h"
#include "base/hash.h"

namespace tenure {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFolder = "/data";
constexpr std::string_view kDigest = "0123456789abcdef";
using Pairs = std::map<std::string, std::string>;

Result<Done> finish(SnapshotWriter& writer) {
  const auto complete = writer.complete(kDigest);
  return complete ? writer.publish() : tl::unexpected(complete.error());
}

struct SnapshotWorld {
  SnapshotWorld() {
    EXPECT_TRUE(files.make_folder(kFolder).has_value());
    EXPECT_TRUE(files.sync_folder("/").has_value());
  }

  Result<std::string> write(const Pairs& pairs, std::uint64_t sequence = 123) {
    auto writer = SnapshotWriter::create(files, kFolder, {{1, 2}, sequence, 77});
    if (!writer) return tl::unexpected(writer.error());
    for (const auto& [key, value] : pairs) {
      if (auto added = (*writer)->add(key, value); !added) return tl::unexpected(added.error());
    }
    if (auto finished = finish(**writer); !finished) return tl::unexpected(finished.error());
    return snapshot_path(kFolder, sequence);
  }

  // The pairs under the prefix; a failure's text under the key "failure".
  Pairs read(const std::string& path, std::string_view prefix = "") {
    Pairs pairs;
    auto reader = SnapshotReader::open(files, path);
    if (!reader) return {{"failure", reader.error().message}};
    const auto read = (*reader)->visit(prefix, [&](std::string_view key, std::string_view value) -> Result<Done> {
      pairs.emplace(key, value);
      return Done{};
    });
    if (!read) return {{"failure", read.error().message}};
    return pairs;
  }

  FaultyFiles files;
};

Pairs many(int count) {
  Pairs pairs;
  for (int i = 0; i < count; ++i)
    pairs["key " + std::to_string(i)] = std::string(static_cast<std::size_t>(i % 500), 'v');
  return pairs;
}

TEST(SnapshotFileTest, WhatWasWrittenIsReadBack) {
  SnapshotWorld world;
  for (const int count : {0, 1, 2, 1000, 5000}) {
    const auto path = world.write(many(count));
    ASSERT_TRUE(path.has_value()) << path.error().message;
    EXPECT_EQ("/data/00000000000000000123.snapshot", *path);
    EXPECT_EQ(many(count), world.read(*path));
  }
}

TEST(SnapshotFileTest, SaysWhichStateItIs) {
  SnapshotWorld world;
  const auto path = world.write(many(10));
  const auto reader = SnapshotReader::open(world.files, *path).value();
  EXPECT_EQ((JournalId{1, 2}), reader->mark().journal);
  EXPECT_EQ(123U, reader->mark().sequence);
  EXPECT_EQ(77U, reader->mark().chain);
  EXPECT_EQ(kDigest, reader->digest());
  EXPECT_EQ(10U, reader->pairs());
}

TEST(SnapshotFileTest, FindsPairsByPrefixInAnyBlock) {
  SnapshotWorld world;
  const Pairs all = many(5000);
  const auto path = world.write(all);
  for (const std::string prefix : {"key 1", "key 4999", "key 0", "key 77", "a", "z", "key 250"}) {
    Pairs expected;
    for (const auto& pair : all) {
      if (pair.first.starts_with(prefix)) expected.insert(pair);
    }
    EXPECT_EQ(expected, world.read(*path, prefix)) << prefix;
  }
}

TEST(SnapshotFileTest, OneReaderFindsPairsInAnyOrder) {
  SnapshotWorld world;
  const Pairs all = many(3000);
  const auto reader = SnapshotReader::open(world.files, *world.write(all)).value();
  const auto find = [&](const std::string& prefix) {
    Pairs found;
    const auto read = reader->visit(prefix, [&](std::string_view key, std::string_view value) -> Result<Done> {
      found.emplace(key, value);
      return Done{};
    });
    EXPECT_TRUE(read.has_value()) << prefix;
    return found;
  };
  const auto expect_found = [&](const std::string& prefix) {
    Pairs expected;
    for (auto pair = all.lower_bound(prefix); pair != all.end() && pair->first.starts_with(prefix); ++pair) {
      expected.insert(*pair);
    }
    EXPECT_EQ(expected, find(prefix)) << prefix;
  };
  for (const auto& pair : all) expect_found(pair.first);
  for (auto pair = all.rbegin(); pair != all.rend(); ++pair) expect_found(pair->first);
  for (const char* prefix : {"key 20", "key 2", "key 2", "key 19", "key 20", "a", "key 2999", "z", "key 1"}) {
    expect_found(prefix);
  }
  EXPECT_EQ(all, find(""));
}

TEST(SnapshotFileTest, AVisitorMayStopIt) {
  SnapshotWorld world;
  const auto path = world.write(many(10));
  const auto reader = SnapshotReader::open(world.files, *path).value();
  const auto read = reader->visit(
      "", [](std::string_view, std::string_view) -> Result<Done> { return fail_with(ErrorCode::kInvalid, "enough"); });
  EXPECT_EQ("enough", read.error().message);
}

TEST(SnapshotFileTest, EveryFlippedBitIsSeen) {
  SnapshotWorld world;
  const Pairs all = many(20);
  const std::string path = *world.write(all);
  const std::uint64_t bits = world.files.contents(path).size() * 8;
  for (std::uint64_t bit = 0; bit < bits; ++bit) {
    world.files.flip_bit(path, bit);
    EXPECT_TRUE(world.read(path).contains("failure")) << "bit " << bit;
    world.files.flip_bit(path, bit);
  }
  EXPECT_EQ(all, world.read(path));
}

TEST(SnapshotFileTest, EveryCutIsSeen) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  const std::string bytes = world.files.contents(path);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    world.files.put(path, std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(world.read(path).contains("failure")) << size;
  }
  world.files.put(path, bytes + "x");
  EXPECT_TRUE(world.read(path).contains("failure"));
}

TEST(SnapshotFileTest, HasItsNameOnlyWhenItIsWholeAndDurable) {
  SnapshotWorld world;
  ASSERT_TRUE(world.write(many(100), 1));
  const std::uint64_t operations = world.files.operations();
  for (std::uint64_t n = 1;; ++n) {
    const auto files = world.files.copy();
    files->fail_at(n, FaultyFiles::Fault::kCrash);
    auto writer = SnapshotWriter::create(*files, kFolder, {{1, 2}, 2, 77});
    Result<Done> written = fail_with(ErrorCode::kUnavailable, "not written");
    if (writer) {
      for (const auto& [key, value] : many(3000)) static_cast<void>((*writer)->add(key, value));
      written = finish(**writer);
    }
    if (written) break;
    ASSERT_LT(n, operations + 1000);
    for (const auto damage : FaultyFiles::kDamages) {
      const auto after = files->copy();
      after->crash(damage, n);
      const auto found = find_snapshots(*after, kFolder);
      ASSERT_TRUE(found.has_value()) << found.error().message;
      for (const std::uint64_t frame : *found) {
        const auto reader = SnapshotReader::open(*after, snapshot_path(kFolder, frame));
        ASSERT_TRUE(reader.has_value()) << reader.error().message;
        EXPECT_TRUE((*reader)->verify());
      }
    }
  }
}

TEST(SnapshotFileTest, RefusesWhatIsNone) {
  SnapshotWorld world;
  const std::string path = "/data/00000000000000000005.snapshot";
  world.files.put(path, std::string(1000, 'x'));
  EXPECT_THAT(world.read(path)["failure"], HasSubstr("expected a snapshot of a Tenure journal"));
  world.files.put(path, "short");
  EXPECT_THAT(world.read(path)["failure"], HasSubstr("found 5 bytes"));
}

// --- files whose checksums are right, and whose numbers are not ---

constexpr std::size_t kFooterBytes = 64;  // offset, size and checksum of the index, pairs, digest, checksum, magic

std::string fixed64(std::uint64_t value) {
  std::string bytes;
  ByteWriter(bytes, 8).fixed64(value);
  return bytes;
}

// Changes the n-th number of the footer, and makes its checksum right again.
void set_in_footer(std::string& file, std::size_t n, std::uint64_t value) {
  const std::size_t footer = file.size() - kFooterBytes;
  file.replace(footer + n * 8, 8, fixed64(value));
  file.replace(file.size() - 16, 8, fixed64(hash64(std::string_view(file).substr(footer, kFooterBytes - 16))));
}
std::uint64_t in_footer(const std::string& file, std::size_t n) {
  return ByteReader(std::string_view(file).substr(file.size() - kFooterBytes + n * 8)).fixed64();
}
// Changes the n-th number of the first block in the index, and makes the checksums right again.
void set_in_index(std::string& file, std::size_t n, std::uint64_t value) {
  const std::size_t index = in_footer(file, 0);
  const std::size_t key_bytes = 1 + static_cast<unsigned char>(file[index]);
  file.replace(index + key_bytes + n * 8, 8, fixed64(value));
  set_in_footer(file, 2, hash64(std::string_view(file).substr(index, in_footer(file, 1))));
}

TEST(SnapshotFileTest, AnIndexElsewhereIsRefused) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  const std::string whole = world.files.contents(path);
  const std::uint64_t offset = in_footer(whole, 0);
  const std::uint64_t size = in_footer(whole, 1);
  const std::uint64_t half = std::uint64_t{1} << 63;
  const std::pair<std::uint64_t, std::uint64_t> places[] = {
      {8, size + offset - 8},        // within the header
      {offset + 8, size},            // beyond the footer
      {offset, size - 1},            //
      {half, half + offset + size},  // their sum overflows
      {whole.size(), offset + size - whole.size()},
  };
  for (const auto& [at, bytes] : places) {
    std::string file = whole;
    set_in_footer(file, 0, at);
    set_in_footer(file, 1, bytes);
    world.files.put(path, file);
    EXPECT_THAT(world.read(path)["failure"], HasSubstr("expected an index that ends at offset")) << at;
  }
}

TEST(SnapshotFileTest, ABlockElsewhereIsRefused) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  const std::string whole = world.files.contents(path);
  const std::uint64_t index = in_footer(whole, 0);
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  const std::pair<std::size_t, std::uint64_t> changes[] = {
      {0, index}, {0, kMax}, {1, index + 1}, {1, kMax}, {2, kMax}, {2, std::uint64_t{1} << 40},
  };
  for (const auto& [which, value] : changes) {
    std::string file = whole;
    set_in_index(file, which, value);
    world.files.put(path, file);
    EXPECT_THAT(world.read(path)["failure"], HasSubstr("the index is wrong")) << which << " " << value;
  }
}

TEST(SnapshotFileTest, ABlockOfAnotherSizeIsRefused) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  const std::string whole = world.files.contents(path);
  for (const std::uint64_t raw_bytes : {0U, 10U, 100'000U}) {
    std::string file = whole;
    set_in_index(file, 2, raw_bytes);
    world.files.put(path, file);
    EXPECT_THAT(world.read(path)["failure"], HasSubstr("cannot be unpacked")) << raw_bytes;
  }
}

TEST(SnapshotFileTest, AnIndexThatEndsAmidARowIsRefused) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  std::string file = world.files.contents(path);
  const std::size_t index = in_footer(file, 0);
  file[index] = 0x7f;  // the length of a key, more than there is
  set_in_footer(file, 2, hash64(std::string_view(file).substr(index, in_footer(file, 1))));
  world.files.put(path, file);
  EXPECT_THAT(world.read(path)["failure"], HasSubstr("the index is wrong"));
}

TEST(SnapshotFileTest, ABlockThatEndsAmidAPairIsRefused) {
  SnapshotWorld world;
  const std::string path = *world.write({{"k", "v"}});
  const std::string whole = world.files.contents(path);
  const std::string raw = "\x7f";  // the length of a key, and nothing more
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 1));
  std::string file = whole.substr(0, 56) + packed;
  const std::string index =
      "\x01k" + fixed64(56) + fixed64(packed.size()) + fixed64(raw.size()) + fixed64(hash64(packed));
  const std::size_t index_at = file.size();
  file += index + whole.substr(whole.size() - kFooterBytes);
  set_in_footer(file, 0, index_at);
  set_in_footer(file, 1, index.size());
  set_in_footer(file, 2, hash64(index));
  world.files.put(path, file);
  EXPECT_THAT(world.read(path)["failure"], HasSubstr("a block's pairs are wrong"));
  // Whether it would have been passed over or not.
  EXPECT_THAT(world.read(path, "m")["failure"], HasSubstr("a block's pairs are wrong"));
}

TEST(SnapshotFileTest, RefusesANewerFormat) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  std::string file = world.files.contents(path);
  file[8] = 2;
  file.replace(48, 8, fixed64(hash64(std::string_view(file).substr(0, 48))));
  world.files.put(path, file);
  EXPECT_THAT(world.read(path)["failure"], HasSubstr("expected format version 1, found 2"));
}

TEST(SnapshotFileTest, AFileThatIsCutWhileItIsReadIsSeen) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  const auto reader = SnapshotReader::open(world.files, path).value();
  world.files.cut(path, 60);
  EXPECT_THAT(reader->verify().error().message, HasSubstr("offset 56: expected"));
}

TEST(SnapshotFileTest, ABlockIsReadOnceForManyLooks) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  const auto reader = SnapshotReader::open(world.files, path).value();
  ASSERT_TRUE(reader->verify().has_value());
  const std::uint64_t looks = world.files.looks();
  EXPECT_TRUE(reader->verify().has_value());
  EXPECT_EQ(looks, world.files.looks());
}

TEST(SnapshotFileTest, ALargeOneIsSyncedInPieces) {
  SnapshotWorld world;
  SeededEntropy entropy(1);
  Pairs pairs;
  for (int i = 0; i < 10; ++i) {
    std::string& value = pairs["key " + std::to_string(i)];
    while (value.size() < 1 << 20) value += fixed64(entropy.next());  // nothing to be packed
  }
  const std::uint64_t before = world.files.operations();
  ASSERT_TRUE(world.write(pairs).has_value());
  // Created; header, ten blocks, index and footer; synced once amid and once at the end; renamed, and that synced.
  EXPECT_EQ(18U, world.files.operations() - before);
}

TEST(SnapshotFileTest, MorePairsThanThereAreAreMissed) {
  SnapshotWorld world;
  const std::string path = *world.write(many(20));
  std::string file = world.files.contents(path);
  set_in_footer(file, 3, 21);
  world.files.put(path, file);
  const auto reader = SnapshotReader::open(world.files, path).value();
  EXPECT_THAT(reader->verify().error().message, HasSubstr("expected 21 pairs, found 20"));
}

TEST(SnapshotFileTest, TheNewestComesFirst) {
  SnapshotWorld world;
  for (const std::uint64_t sequence : {5U, 70U, 6U}) ASSERT_TRUE(world.write(many(3), sequence));
  world.files.put("/data/notes.txt", "x");
  const auto found = find_snapshots(world.files, kFolder);
  EXPECT_EQ((std::vector<std::uint64_t>{70, 6, 5}), *found);
}

TEST(SnapshotFileDeathTest, KeysMustRise) {
  SnapshotWorld world;
  auto writer = SnapshotWriter::create(world.files, kFolder, {}).value();
  EXPECT_TRUE(writer->add("b", ""));
  EXPECT_DEATH(static_cast<void>(writer->add("a", "")), "keys out of order");
}

}  // namespace
}  // namespace tenure
