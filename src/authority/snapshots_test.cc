// Snapshots end to end: made from a journal's files, and what a start makes of them.
#include "authority/snapshots.h"

#include <latch>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/authority.h>
#include "authority/engine.h"
#include "authority/seat.h"
#include "authority/snapshot_maker.h"
#include "authority/testing.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "core/record_codec.h"
#include "journal/snapshot_file.h"
#include "journal/testing.h"

namespace tenure {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A journal in small segments, and an engine on it. One thread.
class SnapshotsTest : public testing::Test {
 protected:
  SnapshotsTest() { EXPECT_EQ("", start()); }

  // Why it did not.
  std::string start() {
    engine_.reset();
    journal_.reset();
    auto journal =
        FileJournal::open(files_, kFolder, entropy_,
                          {.segment_bytes = 4096, .snapshot_bytes = 3 * 4096, .threads = FileJournal::Threads::kNone});
    if (!journal) return journal.error().message;
    auto engine = Engine::start({}, {clock_, entropy_, **journal});
    if (!engine) return engine.error().message;
    journal_ = std::move(*journal);
    engine_ = std::move(*engine);
    return "";
  }

  template <class Request>
  ReplyOf<Request> get(const Request& request) {
    std::optional<Result<ReplyOf<Request>>> reply;
    engine_->ask(request, [&](Result<ReplyOf<Request>> given) { reply.emplace(std::move(given)); });
    journal_->step();
    TENURE_CHECK(reply && reply->has_value(), "{}", reply ? reply->error().message : "no answer");
    return std::move(**reply);
  }

  // Some of everything: tasks that wait, are leased and are done, work that is done and a lock.
  void live(int steps) {
    for (int i = 0; i < steps; ++i) {
      ++steps_;
      const std::string name = "n" + std::to_string(steps_ % 7);
      get(Submission{.queue = "q", .payload = "payload", .id = "T" + std::to_string(steps_)});
      if (steps_ % 2 == 0) {
        const auto leases = get(LeaseRequest{.worker = "w", .queues = {"q"}});
        if (steps_ % 4 == 0) get(Completion{leases.at(0).task_id, leases.at(0).lease_id, "result"});
      }
      const auto acquired = get(WorkRequest{.domain = name, .offset = Offset{steps_}});
      if (const auto* work = std::get_if<Acquired>(&acquired)) get(WorkSuccess{name, work->token});
      const std::string owner = "o" + std::to_string(steps_);
      LockAcquire acquire = acquire_by(owner, name);
      acquire.lease = Millis{3000};
      get(acquire);
      clock_.advance(Millis{500});
      while (engine_->run_due() <= engine_->now()) continue;
      journal_->step();
    }
  }

  std::uint64_t take_digest() {
    std::uint64_t sequence = 0;
    engine_->take_digest([&](Result<std::uint64_t> frame) { sequence = frame.value(); });
    journal_->step();
    return sequence;
  }
  // Its frame.
  std::uint64_t snapshot() {
    const std::uint64_t sequence = take_digest();
    const auto made = make_snapshot(*journal_, sequence);
    EXPECT_TRUE(made) << made.error().message;
    return sequence;
  }

  [[nodiscard]] Digest digest() const {
    return engine_->inspect([](const State& state) { return state.digest(); });
  }
  [[nodiscard]] std::vector<std::uint64_t> snapshots() const { return journal_->snapshots()->list().value(); }
  [[nodiscard]] std::uint64_t first_frame() { return find_segments(files_, kFolder)->front().first; }
  void damage(std::uint64_t sequence) { files_.flip_bit(snapshot_path(kFolder, sequence), 8 * 70); }

  FaultyFiles files_;
  ManualClock clock_{Instant{1'800'000'000'000}};
  SeededEntropy entropy_{3};
  std::unique_ptr<FileJournal> journal_;
  std::unique_ptr<Engine> engine_;
  int steps_ = 0;
};

TEST_F(SnapshotsTest, AStartBeginsWithTheNewest) {
  live(40);
  const std::uint64_t frame = snapshot();
  live(5);
  const Digest before = digest();
  ASSERT_EQ("", start());
  EXPECT_EQ(before, digest());
  EXPECT_EQ(frame, engine_->origin().snapshot);
  EXPECT_THAT(engine_->origin().passed_over, IsEmpty());
  EXPECT_LT(journal_->report().frames, 60U);
}

TEST_F(SnapshotsTest, EachIsMadeOfTheOneBefore) {
  std::vector<std::uint64_t> frames;
  for (int i = 0; i < 6; ++i) {
    live(25);
    frames.push_back(snapshot());
    const Digest before = digest();
    ASSERT_EQ("", start());
    ASSERT_EQ(before, digest());
    ASSERT_EQ(frames.back(), engine_->origin().snapshot);
    live(3);  // and the state can be gone on with
  }
  EXPECT_THAT(snapshots(), ElementsAre(frames[5], frames[4]));
}

TEST_F(SnapshotsTest, TheTwoNewestAreKeptAndTheSegmentsSince) {
  live(40);
  snapshot();
  EXPECT_EQ(1U, first_frame());
  live(40);
  const std::uint64_t second = snapshot();
  live(40);
  const std::uint64_t third = snapshot();
  EXPECT_THAT(snapshots(), ElementsAre(third, second));
  const auto segments = find_segments(files_, kFolder).value();
  EXPECT_GT(segments[0].first, 1U);
  EXPECT_LE(segments[0].first, second + 1);
  EXPECT_GT(segments[1].first, second + 1);
  const Digest before = digest();
  files_.crash(FaultyFiles::Damage::kLoseAll, 1);
  ASSERT_EQ("", start());
  EXPECT_EQ(before, digest());
}

TEST_F(SnapshotsTest, ADamagedOneIsPassedOverAndStays) {
  live(40);
  const std::uint64_t first = snapshot();
  live(40);
  const std::uint64_t second = snapshot();
  live(5);
  const Digest before = digest();
  damage(second);
  ASSERT_EQ("", start());
  EXPECT_EQ(before, digest());
  EXPECT_EQ(first, engine_->origin().snapshot);
  EXPECT_THAT(engine_->origin().passed_over, ElementsAre(HasSubstr("a block's checksum is wrong")));
  EXPECT_THAT(snapshots(), ElementsAre(second, first));

  // The next one is made of the good one.
  live(5);
  const std::uint64_t third = snapshot();
  EXPECT_THAT(snapshots(), ElementsAre(third, second, first));
  const Digest later = digest();
  ASSERT_EQ("", start());
  EXPECT_EQ(later, digest());
  EXPECT_EQ(third, engine_->origin().snapshot);
}

TEST_F(SnapshotsTest, WithoutAnyGoodOneAndWithoutTheFirstFrameNothingStarts) {
  live(40);
  const std::uint64_t first = snapshot();
  live(40);
  const std::uint64_t second = snapshot();
  ASSERT_GT(first_frame(), 1U);
  damage(first);
  damage(second);
  const auto before = files_.state();
  EXPECT_THAT(start(), HasSubstr("expected the segment with frame 1, found that the first begins with"));
  EXPECT_EQ(before, files_.state());
}

TEST_F(SnapshotsTest, WithoutAnyGoodOneAllFramesAreReplayed) {
  live(40);
  const std::uint64_t first = snapshot();
  const Digest before = digest();
  damage(first);
  ASSERT_EQ("", start());
  EXPECT_EQ(before, digest());
  EXPECT_EQ(0U, engine_->origin().snapshot);
  EXPECT_THAT(engine_->origin().passed_over, SizeIs(1));
}

TEST_F(SnapshotsTest, OneBehindTheJournalsEndProvesALoss) {
  live(60);
  snapshot();
  live(40);
  const auto segments = find_segments(files_, kFolder).value();
  for (std::size_t i = 1; i < segments.size(); ++i) ASSERT_TRUE(files_.remove(segments[i].path));
  const auto before = files_.state();
  const std::string refusal = start();
  EXPECT_THAT(refusal, HasSubstr("the journal is damaged"));
  EXPECT_THAT(refusal, HasSubstr("as there is a snapshot of frame"));
  EXPECT_EQ(before, files_.state());
}

TEST_F(SnapshotsTest, OneOfAnotherJournalIsPassedOver) {
  live(40);
  const std::uint64_t frame = snapshot();
  const std::string path = snapshot_path(kFolder, frame);
  auto writer = SnapshotWriter::create(files_, kFolder, {.journal = {1, 2}, .sequence = frame, .chain = 3}).value();
  ASSERT_TRUE(writer->complete("0123456789abcdef"));
  ASSERT_TRUE(writer->publish());
  const Digest before = digest();
  ASSERT_EQ("", start());
  EXPECT_EQ(before, digest());
  EXPECT_THAT(engine_->origin().passed_over, ElementsAre(HasSubstr("expected a snapshot of journal")));

  // Under a name that is not its own.
  ASSERT_TRUE(files_.rename(path, snapshot_path(kFolder, frame - 1)));
  ASSERT_EQ("", start());
  EXPECT_THAT(engine_->origin().passed_over, ElementsAre(HasSubstr("as its name says")));
}

TEST_F(SnapshotsTest, ThereIsNoSecondOneOfTheSameFrame) {
  live(40);
  const std::uint64_t frame = snapshot();
  const auto before = files_.state();
  EXPECT_TRUE(make_snapshot(*journal_, frame));
  EXPECT_TRUE(make_snapshot(*journal_, frame - 1));
  EXPECT_EQ(before, files_.state());
}

TEST_F(SnapshotsTest, OneThatIsGivenUpLeavesNothing) {
  live(40);
  const std::uint64_t frame = take_digest();
  const auto before = files_.state();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(make_snapshot(*journal_, frame, Effort(stop.get_token())).error().message, HasSubstr("given up"));
  EXPECT_EQ(before, files_.state());
}

// The frames that it is made of are read from the disk, and may have been damaged there since.
TEST_F(SnapshotsTest, ThereIsNoneOfADamagedJournal) {
  live(40);
  snapshot();
  live(60);
  const std::uint64_t frame = take_digest();
  const auto segments = find_segments(files_, kFolder).value();
  ASSERT_GE(segments.size(), 4U);
  const std::string& path = segments[segments.size() - 2].path;  // full, and behind the last snapshot
  files_.flip_bit(path, 8 * 1000);
  const auto before = files_.state();
  EXPECT_THAT(make_snapshot(*journal_, frame).error().message, HasSubstr("which was durable, found none"));
  EXPECT_EQ(before, files_.state());
  EXPECT_THAT(start(), HasSubstr("the journal is damaged"));
}

// The next one is made of the last one and its digest: if that lacks something and does not know it, so would the next.
TEST_F(SnapshotsTest, OneThatDoesNotAddUpIsNotShown) {
  live(40);
  const std::uint64_t frame = snapshot();
  const std::string path = snapshot_path(kFolder, frame);
  {
    const auto whole = SnapshotReader::open(files_, path).value();
    const auto writer = SnapshotWriter::create(files_, kFolder, whole->mark()).value();
    bool has_dropped = false;
    ASSERT_TRUE(whole->visit("", [&](std::string_view key, std::string_view value) -> Result<Done> {
      if (!has_dropped && key == keys::task("T40")) {
        has_dropped = true;
        return Done{};
      }
      return writer->add(key, value);
    }));
    ASSERT_TRUE(has_dropped);
    ASSERT_TRUE(writer->complete(whole->digest()));
    ASSERT_TRUE(writer->publish());
  }
  live(2);
  const std::uint64_t next = take_digest();
  const auto before = files_.state();
  EXPECT_THAT(make_snapshot(*journal_, next).error().message,
              AllOf(HasSubstr("read again"), HasSubstr("adds up to the journal's digest")));
  EXPECT_EQ(before, files_.state());
}

// An older one would do if its frames were there.
TEST_F(SnapshotsTest, ARefusalSaysWhyTheyWerePassedOver) {
  live(40);
  snapshot();
  live(40);
  const std::uint64_t older = snapshot();
  live(40);
  const std::uint64_t newer = snapshot();
  ASSERT_GT(first_frame(), 1U);
  damage(older);
  damage(newer);
  EXPECT_THAT(start(), AllOf(HasSubstr("expected the segment with frame 1"),
                             HasSubstr("A snapshot was passed over: snapshot of frame " + std::to_string(newer)),
                             HasSubstr("A snapshot was passed over: snapshot of frame " + std::to_string(older))));
}

TEST_F(SnapshotsTest, AFullDiskLeavesTheLastOneAndTheJournal) {
  live(40);
  const std::uint64_t first = snapshot();
  live(40);
  const std::uint64_t frame = take_digest();
  const auto before = files_.state();
  std::uint64_t used = 0;
  for (const auto& [path, contents] : before) used += contents.size();
  files_.set_capacity(used + 100);
  EXPECT_THAT(make_snapshot(*journal_, frame).error().message, HasSubstr("which a snapshot may take, found 0"));
  EXPECT_EQ(before, files_.state());
  EXPECT_THAT(snapshots(), ElementsAre(first));
  files_.set_capacity(used * 10);
  EXPECT_TRUE(make_snapshot(*journal_, frame));
}

TEST_F(SnapshotsTest, OneIsDueWhenTheJournalHasGrown) {
  int grown = 0;
  journal_->snapshots()->on_growth([&] { ++grown; });
  while (grown < 3) {
    ASSERT_FALSE(journal_->snapshots()->is_due().value());
    live(1);
  }
  EXPECT_TRUE(journal_->snapshots()->is_due().value());
  snapshot();
  EXPECT_FALSE(journal_->snapshots()->is_due().value());
  journal_->snapshots()->on_growth(nullptr);
  live(40);
  EXPECT_EQ(3, grown);
}

// On the machine's files, with threads.
TEST(SnapshotMakerTest, MakesThemWhenTheyAreDue) {
  const TemporaryFolder folder;
  std::atomic<int> told = 0;
  const Storage storage{.segment_bytes = 64 << 10, .snapshot_bytes = 128 << 10, .tell = [&](const std::string& line) {
                          if (line.starts_with("snapshot of frame")) ++told;
                        }};
  {
    auto authority = Authority::open(folder.path(), {}, storage);
    for (int i = 0; told < 3; ++i) {
      ASSERT_LT(i, 100'000);
      authority->tasks().submit({.queue = "q", .payload = std::string(1000, 'x')});
    }
    authority->snapshot();
    EXPECT_GE(told, 4);
  }
  EXPECT_GT(find_segments(real_files(), folder.path())->front().first, 1U);
  EXPECT_THAT(find_snapshots(real_files(), folder.path()).value(), SizeIs(2));
  std::string opened;
  auto authority = Authority::open(folder.path(), {}, {.tell = [&](const std::string& line) { opened += line; }});
  EXPECT_THAT(opened, HasSubstr("the snapshot of frame"));
  EXPECT_EQ(1U, authority->tasks().lease({.worker = "w", .queues = {"q"}}).size());
}

TEST(SnapshotMakerTest, SeveralMayAskAtOnce) {
  const TemporaryFolder folder;
  auto authority = Authority::open(folder.path());
  for (int i = 0; i < 100; ++i) authority->tasks().submit({.queue = "q", .payload = "x"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_NO_THROW(authority->snapshot()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(find_snapshots(real_files(), folder.path()).value(), SizeIs(2));
}

TEST(SnapshotMakerTest, MakesOneForThoseWhoAskWithoutWaiting) {
  const TemporaryFolder folder;
  auto seat = Seat::open(folder.path(), {}, {});
  ASSERT_EQ("OK", word(seat));
  std::latch answered(2);
  for (int i = 0; i < 2; ++i) {
    (*seat)->snapshots()->ask([&](const Result<Done>& made) {
      EXPECT_EQ("OK", word(made));
      answered.count_down();
    });
  }
  answered.wait();
  EXPECT_THAT(find_snapshots(real_files(), folder.path()).value(), Not(IsEmpty()));
}

TEST(SnapshotMakerTest, WhoHasAskedIsToldThoughItCloses) {
  const TemporaryFolder folder;
  auto seat = Seat::open(folder.path() + "/", {}, {});  // a slash at the end is no other folder
  ASSERT_EQ("OK", word(seat));
  std::atomic<int> told = 0;
  for (int i = 0; i < 8; ++i) (*seat)->snapshots()->ask([&](const Result<Done>&) { ++told; });
  EXPECT_EQ("OK", word((*seat)->close()));
  EXPECT_EQ(8, told);
  seat->reset();
  EXPECT_EQ("OK", word(Seat::open(folder.path(), {}, {})));
}

TEST(SnapshotMakerTest, InMemoryThereIsNothingToMake) { EXPECT_NO_THROW(Authority::in_memory()->snapshot()); }

}  // namespace
}  // namespace tenure
