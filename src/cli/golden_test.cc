// Journals of every format version, in tests/golden/v<version>: each must replay for ever, to the same digest and the
// same dump. See tests/golden/README.md for what to do when the format changes.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/text.h"
#include "cli/testing.h"
#include "journal/file_names.h"
#include "journal/snapshot_file.h"

namespace tenure::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGolden = "tests/golden";

std::string contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  TENURE_CHECK(in.good(), "cannot read {}", path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

// --- writing one ---

void live_tasks(Writer& writer) {
  using namespace std::chrono_literals;
  writer.get(Submission{.queue = "mail",
                        .payload = "send the invoice",
                        .id = "T1",
                        .request_id = "submit-1",
                        .priority = 9,
                        .key = "customer-7"});
  const auto first =
      writer.get(LeaseRequest{.worker = "W1", .queues = {"mail"}, .lease = 30s, .request_id = "lease-1"}).at(0);
  writer.pass(20s);
  writer.get(TaskExtension{"T1", first.lease_id});
  writer.pass(31s);
  const TaskLease second = writer.lease("W2", "mail");
  writer.get(Completion{"T1", second.lease_id, "sent"});
  writer.get(Completion{"T1", first.lease_id, "sent too late"});
  writer.get(Completion{"T1", "no token at all"});
  writer.get(Submission{.queue = "mail", .payload = std::string("\xff\x00\xfe", 3), .id = "T2", .retries = 1});
  writer.get(FailureReport{"T2", writer.lease("W1", "mail").lease_id, "no route to host"});
  writer.pass(10min);
  writer.get(FailureReport{"T2", writer.lease("W1", "mail").lease_id, "gone", true});
  writer.get(Resubmission{"T2", "resubmit-1"});
  writer.get(Submission{.queue = "poison", .payload = "p", .id = "T3", .attempts = 1});
  writer.lease("W3", "poison");
  writer.pass(1min);
  writer.get(Submission{.queue = "later", .payload = "p", .id = "T4", .delay = 1h});
  writer.get(TaskKill{"T4", "not wanted any more"});
  writer.get(QueuePause{"mail", true});
  writer.get(QueuePause{"mail", false});
  writer.get(QueuePause{"later", true});
}

void live_work(Writer& writer) {
  using namespace std::chrono_literals;
  const auto acquire = [&](std::int64_t offset, std::optional<Millis> lease) {
    return std::get<Acquired>(writer.get(WorkRequest{"account-7", Offset{offset}, lease}));
  };
  const Acquired first = acquire(5, std::nullopt);
  writer.get(WorkRequest{"account-7", Offset{7}});
  writer.get(WorkFailure{"account-7", first.token, "busy", "fail-1"});
  writer.get(WorkSuccess{"account-7", first.token, "succeed-1"});
  const Acquired second = acquire(7, 10s);
  writer.get(WorkExtension{"account-7", second.token, 20s});
  writer.pass(21s);
  const Acquired third = acquire(7, std::nullopt);
  for (int i = 0; i < 4; ++i) writer.get(WorkFailure{"account-7", third.token, "broken"});
  writer.get(WorkTrim{"account-7", Offset{100}});
}

LockAcquire acquire_lock(std::string_view identifier, std::string_view owner) {
  LockAcquire acquire;
  acquire.lock = {.domain = "orders", .identifier = identifier};
  acquire.owner = owner;
  acquire.lease = std::chrono::seconds(10);
  return acquire;
}

void live_locks(Writer& writer) {
  using namespace std::chrono_literals;
  LockAcquire acquire = acquire_lock("1", "alice");
  acquire.request_id = "acquire-1";
  const std::string token = writer.get(acquire)->token;
  writer.get(acquire_lock("1", "alice"));
  writer.get(LockExtension{acquire.lock, token, 15s});
  LockGiveBack release;
  release.lock = acquire.lock;
  release.token = token;
  writer.get(release);
  release.request_id = "release-1";
  writer.get(release);
  writer.get(acquire_lock("2", "bob"));
  writer.pass(11s);
  const LockAcquire forced = acquire_lock("3", "carol");
  writer.get(forced);
  writer.get(LockForce{forced.lock});
  ASSERT_TRUE(writer.engine().join("session-1", 5s));
  LockAcquire bound = acquire_lock("4", "dave");
  bound.session = "session-1";
  bound.user = "dora";
  writer.get(bound);
  ASSERT_TRUE(writer.engine().leave("session-1"));
  writer.pass(6s);
}

// A little of everything, over several segments; ends in the middle of things.
void live(Writer& writer) {
  live_tasks(writer);
  live_work(writer);
  live_locks(writer);
  writer.engine().raise_fence();
  writer.engine().take_digest();
  for (int i = 0; i < 150; ++i) {
    const std::string id = "R" + std::to_string(i);
    writer.get(Submission{.queue = "rest", .payload = std::string(static_cast<std::size_t>(i), 'x'), .id = id});
    if (i % 3 == 0) writer.lease("W4", "rest");
  }
  writer.pass(std::chrono::hours(2));  // forgets what has ended
  writer.lease("W5", "rest");
  writer.get(acquire_lock("5", "erin"));
  writer.close();
}

void save(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  TENURE_CHECK(out.flush().good(), "cannot write {}", path.string());
}

std::string dump_of(const Desk& desk, std::ostringstream& out, const std::string& folder) {
  out.str("");
  const auto dumped = dump_journal(desk, {.folder = folder, .all = true});
  TENURE_CHECK(dumped.has_value(), "{}", dumped.error().message);
  return out.str();
}

std::string digest_of_journal(Files& files, const std::string& folder) {
  State state;
  const auto end = walk(files, folder, {}, [&](const Frame& frame) {
    return replay_frame(state, frame.sequence, frame.stamp, frame.payload);
  });
  TENURE_CHECK(end.has_value() && end->tail == Tail::kClean, "{}", end ? end->why : end.error().message);
  EXPECT_EQ(state.recompute_digest(), state.digest());
  return hex16(state.digest().high()) + hex16(state.digest().low());
}

// Not a test of anything: writes the journal of a new format version, into a folder that must not exist.
TEST(GoldenWriter, DISABLED_WritesANewVersion) {
  const char* to = std::getenv("TENURE_WRITE_GOLDEN");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_NE(nullptr, to) << "TENURE_WRITE_GOLDEN names no folder";
  ASSERT_FALSE(fs::exists(to)) << to << ": expected no such folder; a golden journal is never written again";
  CommandWorld world;
  {
    Writer writer(world.files, world.clock, world.entropy, kFolder, 16 << 10);
    live(writer);
  }
  fs::create_directories(fs::path(to) / "journal");
  for (const std::string& path : world.segments()) {
    save(fs::path(to) / "journal" / fs::path(path).filename(), world.files.contents(path));
  }
  save(fs::path(to) / "dump.jsonl", dump_of(world.desk, world.out, kFolder));
  save(fs::path(to) / "digest.txt", digest_of_journal(world.files, kFolder) + "\n");
}

// The golden journal in files of its own, and beside it what else of that version is given.
void put_all(FaultyFiles& files, const fs::path& from) {
  for (const auto& entry : fs::directory_iterator(from)) {
    files.put(path_of(kFolder, entry.path().filename().string()), contents_of(entry.path()));
  }
}

// The last frame that holds a digest.
std::uint64_t last_digest(Files& files) {
  std::uint64_t last = 0;
  const auto end = walk(files, kFolder, {}, [&](const Frame& frame) -> Result<Done> {
    if (ByteReader(frame.payload).varint() == record::DigestTaken::kType) last = frame.sequence;
    return Done{};
  });
  EXPECT_TRUE(end.has_value());
  return last;
}

// Not a test of anything: writes the snapshot of the newest version's journal, if there is none.
TEST(GoldenWriter, DISABLED_WritesASnapshot) {
  const fs::path golden = fs::path(kGolden) / ("v" + std::to_string(kFormatVersion));
  ASSERT_FALSE(fs::exists(golden / "snapshot")) << "a golden snapshot is never written again";
  CommandWorld world;
  put_all(world.files, golden / "journal");
  const std::uint64_t frame = last_digest(world.files);
  Writer writer = world.write(kFolder, 16 << 10);
  ASSERT_TRUE(make_snapshot(writer.journal(), frame));
  fs::create_directories(golden / "snapshot");
  const std::string path = snapshot_path(kFolder, frame);
  save(golden / "snapshot" / fs::path(path).filename(), world.files.contents(path));
}

// --- all there are ---

class GoldenTest : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static fs::path folder() { return fs::path(kGolden) / ("v" + std::to_string(GetParam())); }
  [[nodiscard]] static std::string journal() { return (folder() / "journal").string(); }
};

INSTANTIATE_TEST_SUITE_P(Versions, GoldenTest, testing::Range(1, static_cast<int>(kFormatVersion) + 1));

TEST_P(GoldenTest, ReplaysToItsDigest) {
  EXPECT_EQ(contents_of(folder() / "digest.txt"), digest_of_journal(real_files(), journal()) + "\n");
}

TEST_P(GoldenTest, IsDumpedAsEver) {
  CommandWorld world;
  const Desk desk{real_files(), world.clock, world.entropy, world.out, world.err};
  EXPECT_EQ(contents_of(folder() / "dump.jsonl"), dump_of(desk, world.out, journal()));
}

TEST_P(GoldenTest, HasEveryRecordThatThereWas) {
  std::set<std::string> names;
  const auto end = walk(real_files(), journal(), {}, [&](const Frame& frame) -> Result<Done> {
    ByteReader in(frame.payload);
    while (!in.at_end()) names.emplace(name_of(*decode(in)));
    return Done{};
  });
  ASSERT_TRUE(end.has_value()) << end.error().message;
  if (GetParam() == 1) {
    EXPECT_EQ(27U, names.size());
  }
  EXPECT_GE(names.size(), 27U);
}

// A server of today goes on where that of then has stopped.
TEST_P(GoldenTest, CanBeGoneOnWith) {
  CommandWorld world;
  put_all(world.files, journal());
  const std::string digest = digest_of_journal(world.files, kFolder);
  {
    Writer writer = world.write(kFolder, 16 << 10);
    const Digest now = writer.engine().inspect([](const State& state) { return state.digest(); });
    EXPECT_EQ(digest, hex16(now.high()) + hex16(now.low()));
    writer.lease("W6", "rest");
    writer.close();
  }
  EXPECT_EQ(0, finish(world.desk, verify_journal(world.desk, kFolder)));
}

TEST_P(GoldenTest, ItsSnapshotIsWhatReplayMakes) {
  CommandWorld world;
  put_all(world.files, journal());
  put_all(world.files, folder() / "snapshot");
  EXPECT_EQ(0, finish(world.desk, verify_journal(world.desk, kFolder))) << world.take_err();
  EXPECT_THAT(world.take_out(), testing::HasSubstr("snapshots 1 agreed"));
  Writer writer = world.write(kFolder, 16 << 10);
  EXPECT_EQ(last_digest(world.files), writer.engine().origin().snapshot);
  EXPECT_THAT(writer.engine().origin().passed_over, testing::IsEmpty());
  const Digest now = writer.engine().inspect([](const State& state) { return state.digest(); });
  EXPECT_EQ(contents_of(folder() / "digest.txt"), hex16(now.high()) + hex16(now.low()) + "\n");
}

}  // namespace
}  // namespace tenure::cli
