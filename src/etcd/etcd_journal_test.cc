#include "etcd/etcd_journal.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "etcd/testing.h"

namespace tenure::etcd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A node that writes and reads the journal.
class Writer final : public Journal::Listener {
 public:
  explicit Writer(FakeEtcd& fake, const EtcdJournal::Options& options = {.in_flight = 4})
      : etcd(fake), store(fake), journal(store, Keys("t"), entropy, options) {}
  ~Writer() override { journal.listen(nullptr); }

  void on_durable(std::uint64_t sequence) override {
    EXPECT_GT(sequence, durable);
    durable = sequence;
  }
  void on_failed(Journal::Outcome how, const std::string& reason) override {
    EXPECT_FALSE(outcome.has_value());
    outcome = how;
    why = reason;
  }

  // Leads from now on, whoever did before.
  void lead() {
    static_cast<void>(etcd.txn({.deletes = {KeyRange::one("t/leader")}}));
    static_cast<void>(etcd.txn({.puts = {{.key = "t/leader", .value = "someone"}}}));
    epoch = static_cast<std::uint64_t>(etcd.revision);
  }
  Result<Done> start(std::uint64_t after = 0) {
    replayed.clear();
    outcome.reset();
    auto started = journal.start(after, [this](const Frame& frame) -> Result<Done> {
      replayed.emplace_back(frame.payload);
      return Done{};
    });
    durable = journal.durable();
    journal.listen(this);
    return started;
  }
  void write(std::initializer_list<std::string> payloads) {
    for (const std::string& payload : payloads) journal.append(epoch, Instant{++stamp}, payload);
    journal.commit();
  }
  std::vector<std::string> read(FrameRange range = {}) {
    std::vector<std::string> payloads;
    const auto done = journal.read(range, [&](const Frame& frame) -> Result<Done> {
      payloads.emplace_back(frame.payload);
      return Done{};
    });
    if (!done) payloads = {done.error().message};
    return payloads;
  }
  void pass(Millis time) {
    etcd.clock.advance(time);
    store.run();
  }

  FakeEtcd& etcd;
  FakeStore store;
  SeededEntropy entropy{1};
  std::uint64_t epoch = 0;
  std::int64_t stamp = 0;
  std::uint64_t durable = 0;
  std::optional<Journal::Outcome> outcome;
  std::string why;
  std::vector<std::string> replayed;
  EtcdJournal journal;
};

class EtcdJournalTest : public testing::Test {
 protected:
  void SetUp() override {
    a_.lead();
    ASSERT_TRUE(a_.start());
  }
  std::vector<std::string> batches() {
    std::vector<std::string> keys;
    for (const auto& [key, pair] : etcd_.keys) {
      if (key.starts_with("t/journal/")) keys.push_back(std::to_string(*Keys::number_of(key)));
    }
    return keys;
  }

  ManualClock clock_;
  FakeEtcd etcd_{clock_};
  Writer a_{etcd_};
  Writer b_{etcd_};
};

TEST_F(EtcdJournalTest, WhatIsAppendedBecomesDurableAndIsReadByAll) {
  a_.write({"one", "two"});
  EXPECT_EQ(a_.durable, 0U);
  a_.store.run();
  EXPECT_EQ(a_.durable, 2U);
  EXPECT_THAT(b_.read(), ElementsAre("one", "two"));
  a_.write({"three"});
  a_.store.run();
  EXPECT_THAT(b_.read({.after = 2}), ElementsAre("three"));
  EXPECT_THAT(b_.read({.after = 1}), ElementsAre("two", "three"));
  EXPECT_THAT(b_.read({.after = 1, .upto = 2}), ElementsAre("two"));
  EXPECT_THAT(b_.read({.after = 3}), IsEmpty());
  EXPECT_THAT(batches(), ElementsAre("1", "3"));
}

TEST_F(EtcdJournalTest, NothingIsWrittenBeforeItIsAskedFor) {
  a_.journal.append(a_.epoch, Instant{1}, "one");
  a_.store.run();
  EXPECT_THAT(batches(), IsEmpty());
  a_.journal.commit();
  a_.store.run();
  EXPECT_EQ(a_.durable, 1U);
}

TEST_F(EtcdJournalTest, WhatComesWhileAllAreUnderWayIsOneBatch) {
  for (const char* text : {"1", "2", "3", "4", "5", "6", "7"}) a_.write({text});
  a_.store.run();
  EXPECT_THAT(batches(), ElementsAre("1", "2", "3", "4", "5"));
  EXPECT_EQ(a_.durable, 7U);
  EXPECT_THAT(b_.read(), SizeIs(7));
}

TEST_F(EtcdJournalTest, UsuallyOneIsUnderWay) {
  Writer c(etcd_, {});
  c.lead();
  ASSERT_TRUE(c.start());
  for (const char* text : {"1", "2", "3", "4", "5", "6", "7"}) c.write({text});
  c.store.run();
  EXPECT_THAT(batches(), ElementsAre("1", "2"));
  EXPECT_EQ(c.durable, 7U);
}

TEST_F(EtcdJournalTest, ABatchIsNotLargerThanAllowed) {
  const std::string half(600 << 10, 'x');
  a_.write({half, half, half});
  a_.store.run();
  EXPECT_THAT(batches(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(a_.durable, 3U);
}

TEST_F(EtcdJournalTest, TheNextWriterGoesOnBehindTheLast) {
  a_.write({"one", "two"});
  a_.store.run();
  b_.lead();
  ASSERT_TRUE(b_.start());
  EXPECT_THAT(b_.replayed, ElementsAre("one", "two"));
  b_.write({"three"});
  b_.store.run();
  EXPECT_EQ(b_.durable, 3U);
  EXPECT_THAT(a_.read(), ElementsAre("one", "two", "three"));
}

TEST_F(EtcdJournalTest, AFollowerStartsFromWhereItHasRead) {
  a_.write({"one", "two"});
  a_.store.run();
  EXPECT_THAT(b_.read(), SizeIs(2));
  a_.write({"three"});
  a_.store.run();
  b_.lead();
  ASSERT_TRUE(b_.start(2));
  EXPECT_THAT(b_.replayed, ElementsAre("three"));
  b_.write({"four"});
  b_.store.run();
  EXPECT_EQ(b_.durable, 4U);
}

// --- lost answers ---

TEST_F(EtcdJournalTest, ALostAnswerIsResolvedByWhatLiesThere) {
  a_.store.txn_fates = {Fate::kReplyLost};
  a_.write({"one"});
  a_.store.run();
  EXPECT_EQ(a_.durable, 0U);
  a_.pass(Millis{1'000});
  EXPECT_EQ(a_.durable, 1U);
  EXPECT_THAT(batches(), ElementsAre("1"));
  EXPECT_EQ(etcd_.keys.at(Keys("t").batch(1)).mod_revision, etcd_.keys.at(Keys("t").batch(1)).create_revision);
}

TEST_F(EtcdJournalTest, WhatNeverArrivedIsSentAgain) {
  a_.store.txn_fates = {Fate::kNeverArrives, Fate::kNeverArrives};
  a_.write({"one"});
  a_.store.run();
  EXPECT_THAT(batches(), IsEmpty());
  a_.pass(Millis{1'000});
  a_.pass(Millis{1'000});
  EXPECT_EQ(a_.durable, 1U);
}

TEST_F(EtcdJournalTest, WhatArrivesLateIsDoneOnce) {
  a_.store.txn_fates = {Fate::kArrivesLate};
  a_.write({"one"});
  a_.store.run();
  a_.pass(Millis{1'000});
  EXPECT_EQ(a_.durable, 1U);
  a_.write({"two"});
  a_.store.let_arrive();
  a_.store.run();
  EXPECT_EQ(a_.durable, 2U);
  EXPECT_THAT(b_.read(), ElementsAre("one", "two"));
}

TEST_F(EtcdJournalTest, ABatchVouchesForThoseBeforeIt) {
  a_.store.txn_fates = {Fate::kReplyLost, Fate::kAnswered};
  a_.write({"one"});
  a_.write({"two"});
  a_.store.run();
  EXPECT_EQ(a_.durable, 2U);
  a_.pass(Millis{1'000});
  EXPECT_FALSE(a_.outcome);
}

TEST_F(EtcdJournalTest, BatchesThatArriveInTheOtherOrderAreAllWritten) {
  a_.store.usual_fate = Fate::kHeld;
  for (const char* text : {"1", "2", "3", "4"}) a_.write({text});
  a_.store.usual_fate = Fate::kAnswered;
  a_.store.release(true);
  a_.store.run();
  EXPECT_EQ(a_.durable, 4U);
  EXPECT_FALSE(a_.outcome);
  EXPECT_THAT(b_.read(), ElementsAre("1", "2", "3", "4"));
}

TEST_F(EtcdJournalTest, ARefusalThatIsToldLateIsNotTakenForTheTruth) {
  a_.store.txn_fates = {Fate::kHeld, Fate::kToldLate};
  a_.write({"1"});
  a_.write({"2"});
  a_.store.run();
  a_.store.release();
  a_.store.run();
  EXPECT_FALSE(a_.outcome) << a_.why;
  EXPECT_EQ(a_.durable, 2U);
}

TEST_F(EtcdJournalTest, EtcdMayBeAwayForMinutes) {
  a_.store.is_away = true;
  a_.write({"one"});
  for (int i = 0; i < 300; ++i) a_.pass(Millis{1'000});
  EXPECT_EQ(a_.durable, 0U);
  EXPECT_FALSE(a_.outcome);
  a_.store.is_away = false;
  a_.pass(Millis{1'000});
  EXPECT_EQ(a_.durable, 1U);
}

// --- lost leadership ---

TEST_F(EtcdJournalTest, NothingOfAPassedEpochBecomesDurable) {
  a_.write({"one"});
  a_.store.run();
  b_.lead();
  ASSERT_TRUE(b_.start());
  a_.write({"lost"});
  a_.write({"lost, too"});
  a_.store.run();
  EXPECT_EQ(a_.outcome, Journal::Outcome::kFailed);
  EXPECT_THAT(a_.why, HasSubstr("expected to lead in epoch"));
  EXPECT_EQ(a_.durable, 1U);
  EXPECT_THAT(b_.read(), ElementsAre("one"));
}

TEST_F(EtcdJournalTest, NothingOfAPassedEpochBecomesDurableThoughNobodyLeads) {
  a_.write({"one"});
  a_.store.run();
  static_cast<void>(etcd_.txn({.deletes = {KeyRange::one("t/leader")}}));
  a_.write({"lost"});
  a_.store.run();
  EXPECT_EQ(a_.outcome, Journal::Outcome::kFailed);
  EXPECT_THAT(a_.why, HasSubstr("no leader"));
}

TEST_F(EtcdJournalTest, WhatArrivesAfterTheEpochHasPassedIsNotDone) {
  a_.write({"one"});
  a_.store.run();
  a_.store.usual_fate = Fate::kArrivesLate;
  a_.write({"late"});
  a_.store.run();
  b_.lead();
  ASSERT_TRUE(b_.start());
  b_.write({"two"});
  b_.store.run();
  a_.store.let_arrive();
  EXPECT_THAT(b_.read(), ElementsAre("one", "two"));
}

TEST_F(EtcdJournalTest, WhatWasDoneInItsEpochIsDurableThoughItHasPassed) {
  a_.write({"one"});
  a_.store.run();
  a_.store.txn_fates = {Fate::kReplyLost};
  a_.write({"two"});
  a_.store.run();
  b_.lead();
  ASSERT_TRUE(b_.start());
  a_.write({"three"});
  a_.pass(Millis{1'000});
  EXPECT_EQ(a_.durable, 2U);
  EXPECT_EQ(a_.outcome, Journal::Outcome::kFailed);
}

TEST_F(EtcdJournalTest, ItIsUnknownWhatWasDroppedMeanwhile) {
  a_.write({"one"});
  a_.store.run();
  a_.store.txn_fates = {Fate::kReplyLost};
  a_.write({"two"});
  a_.store.run();
  b_.lead();
  ASSERT_TRUE(b_.start());
  b_.write({"three"});
  b_.store.run();
  ASSERT_TRUE(b_.journal.snapshots()->drop_before(2));
  EXPECT_THAT(batches(), ElementsAre("3"));
  a_.pass(Millis{1'000});
  EXPECT_EQ(a_.outcome, Journal::Outcome::kUnknown);
}

TEST_F(EtcdJournalTest, TheNextTermKnowsNothingOfTheLast) {
  a_.write({"one"});
  a_.store.run();
  a_.store.usual_fate = Fate::kNeverArrives;
  a_.write({"lost"});
  a_.store.run();
  a_.store.usual_fate = Fate::kAnswered;
  a_.lead();
  ASSERT_TRUE(a_.start());
  EXPECT_THAT(a_.replayed, ElementsAre("one"));
  a_.pass(Millis{1'000});
  EXPECT_FALSE(a_.outcome);
  a_.write({"two"});
  a_.store.run();
  EXPECT_EQ(a_.durable, 2U);
  EXPECT_THAT(b_.read(), ElementsAre("one", "two"));
}

TEST_F(EtcdJournalTest, ItEndsWhileSomethingIsUnderWay) {
  {
    Writer gone(etcd_);
    gone.lead();
    ASSERT_TRUE(gone.start());
    gone.journal.on_news([] {});
    gone.write({"one"});
  }
  EXPECT_THAT(b_.read(), IsEmpty());
}

// --- damage ---

TEST_F(EtcdJournalTest, DamageIsRefusedWithTheKey) {
  a_.write({"one"});
  a_.store.run();
  a_.write({"two"});
  a_.store.run();
  etcd_.keys.at(Keys("t").batch(2)).value[50] ^= 1;
  EXPECT_THAT(b_.read(), ElementsAre(HasSubstr("expected frame 2 of this journal, found none")));
  b_.lead();
  const auto started = b_.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(started.error().message, HasSubstr("t/journal/00000000000000000002"));
}

TEST_F(EtcdJournalTest, AGapIsRefused) {
  for (const char* text : {"1", "2", "3"}) a_.write({text});
  a_.store.run();
  etcd_.keys.erase(Keys("t").batch(2));
  EXPECT_THAT(b_.read(), ElementsAre(HasSubstr("begins with frame 2, found that the next one begins with frame 3")));
}

TEST_F(EtcdJournalTest, ABatchOfAnotherPastIsRefused) {
  a_.write({"one"});
  a_.store.run();
  const std::string other = etcd_.keys.at(Keys("t").batch(1)).value;
  a_.write({"two"});
  a_.store.run();
  etcd_.keys.erase(Keys("t").batch(1));
  a_.lead();
  static_cast<void>(etcd_.txn({.deletes = {KeyRange::prefix("t/journal/")}}));
  ASSERT_TRUE(a_.start());
  a_.stamp = 100;
  a_.write({"another one"});
  a_.store.run();
  a_.write({"another two"});
  a_.store.run();
  etcd_.keys.at(Keys("t").batch(1)).value = other;
  EXPECT_THAT(b_.read(), ElementsAre(HasSubstr("expected frame 2 to follow one of checksum")));
}

TEST_F(EtcdJournalTest, AskingForMoreThanThereIsFails) {
  a_.write({"one"});
  a_.store.run();
  EXPECT_THAT(b_.read({.after = 7}), ElementsAre(HasSubstr("found that the journal ends with frame 1")));
}

// --- news, room, the end ---

TEST_F(EtcdJournalTest, NewsAreTold) {
  int woken = 0;
  b_.journal.on_news([&] { ++woken; });
  b_.store.run();
  EXPECT_EQ(woken, 1);
  a_.write({"one"});
  a_.store.run();
  b_.store.run();
  EXPECT_EQ(woken, 2);
  b_.store.end_watches();
  a_.write({"two"});
  a_.store.run();
  b_.pass(Millis{1'000});
  EXPECT_EQ(woken, 3);
  b_.journal.on_news(nullptr);
  a_.write({"three"});
  a_.store.run();
  b_.pass(Millis{1'000});
  EXPECT_EQ(woken, 3);
}

TEST_F(EtcdJournalTest, NewsAreToldThoughEtcdWasAway) {
  int woken = 0;
  b_.store.is_away = true;
  b_.journal.on_news([&] { ++woken; });
  for (int i = 0; i < 10; ++i) b_.pass(Millis{1'000});
  EXPECT_EQ(woken, 0);
  b_.store.is_away = false;
  b_.pass(Millis{1'000});
  EXPECT_EQ(woken, 1);
}

TEST_F(EtcdJournalTest, ThereIsNoRoomWhenEtcdIsNearlyFull) {
  a_.store.run();
  EXPECT_TRUE(a_.journal.has_room());
  etcd_.status.db_bytes = etcd_.status.db_bytes_in_use = std::uint64_t{3} << 29;
  a_.lead();
  ASSERT_TRUE(a_.start());
  a_.store.run();
  EXPECT_FALSE(a_.journal.has_room());
  // Compacted: what is allocated stays so, but most of it is free to be used again.
  etcd_.status.db_bytes_in_use = 1 << 20;
  a_.pass(Millis{5'000});
  EXPECT_TRUE(a_.journal.has_room());
}

TEST_F(EtcdJournalTest, ItIsCountedWhatWasWritten) {
  a_.write({"one", "two"});
  a_.store.run();
  const JournalFigures figures = a_.journal.figures();
  EXPECT_EQ(figures.batch_frames.count(), 1U);
  EXPECT_EQ(figures.batch_frames.sum(), 2);
  EXPECT_EQ(figures.sync_seconds.count(), 1U);
  EXPECT_EQ(figures.segment_bytes, figures.written_bytes);
  EXPECT_GT(figures.written_bytes, 0U);
}

TEST_F(EtcdJournalTest, ItIsClosedWhenAllIsDurable) {
  a_.write({"one"});
  a_.store.run();
  EXPECT_TRUE(a_.journal.close());
}

// --- snapshots ---

class EtcdSnapshotsTest : public EtcdJournalTest {
 protected:
  static Result<Done> make(Writer& writer, std::uint64_t of, const std::string& value) {
    auto draft = writer.journal.snapshots()->begin(of);
    if (!draft) return tl::unexpected(draft.error());
    auto done = (*draft)->add("a", value);
    if (done) done = (*draft)->add("b", "two");
    if (!done) return done;
    const auto complete = (*draft)->complete(std::string(16, 'd'));
    if (!complete) return tl::unexpected(complete.error());
    if (done = (*complete)->verify(); !done) return done;
    return (*draft)->publish();
  }
  std::size_t pieces() {
    return static_cast<std::size_t>(std::count_if(
        etcd_.keys.begin(), etcd_.keys.end(), [](const auto& pair) { return pair.first.starts_with("t/snapshot/"); }));
  }
  // What zstd cannot make smaller.
  static std::string noise(std::size_t bytes) {
    SeededEntropy entropy(3);
    std::string text;
    while (text.size() < bytes) text += hex16(entropy.next());
    return text;
  }
};

TEST_F(EtcdSnapshotsTest, OneIsWrittenInPiecesAndReadByAll) {
  a_.write({"one", "two"});
  a_.store.run();
  const std::string large = noise(3 << 20);
  const auto made = make(a_, 2, large);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_GT(pieces(), 2U);
  EXPECT_THAT(*b_.journal.snapshots()->list(), ElementsAre(2U));
  const auto snapshot = b_.journal.snapshots()->open(2);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  std::vector<std::string> found;
  ASSERT_TRUE((*snapshot)->visit("", [&](std::string_view key, std::string_view value) -> Result<Done> {
    found.push_back(std::string(key) + (value == large ? " large" : " small"));
    return Done{};
  }));
  EXPECT_THAT(found, ElementsAre("a large", "b small"));
}

TEST_F(EtcdSnapshotsTest, OneThatIsNotPublishedLeavesNothing) {
  a_.write({"one"});
  a_.store.run();
  {
    auto draft = a_.journal.snapshots()->begin(1);
    ASSERT_TRUE(draft);
    ASSERT_TRUE((*draft)->add("a", noise(1 << 20)));
    ASSERT_TRUE((*draft)->complete(std::string(16, 'd')));
    EXPECT_GT(pieces(), 0U);
  }
  EXPECT_EQ(pieces(), 0U);
  EXPECT_THAT(*a_.journal.snapshots()->list(), IsEmpty());
}

TEST_F(EtcdSnapshotsTest, WhatALostLeaderHasLeftIsRemoved) {
  a_.write({"one"});
  a_.store.run();
  auto draft = a_.journal.snapshots()->begin(1);
  ASSERT_TRUE(draft);
  ASSERT_TRUE((*draft)->add("a", noise(1 << 20)));
  ASSERT_TRUE((*draft)->complete(std::string(16, 'd')));
  b_.lead();
  ASSERT_TRUE(b_.start());
  b_.write({"two"});
  b_.store.run();
  EXPECT_FALSE((*draft)->publish());
  EXPECT_GT(pieces(), 0U);
  ASSERT_TRUE(make(b_, 2, "x"));
  EXPECT_EQ(pieces(), 1U);
  EXPECT_THAT(*a_.journal.snapshots()->list(), ElementsAre(2U));
}

TEST_F(EtcdSnapshotsTest, WhatIsBeforeOneIsDroppedAndCompacted) {
  for (const char* text : {"1", "2", "3", "4", "5"}) {
    a_.write({text});
    a_.store.run();
  }
  ASSERT_TRUE(make(a_, 2, "x"));
  ASSERT_TRUE(make(a_, 3, "x"));
  ASSERT_TRUE(a_.journal.snapshots()->drop_before(3));
  a_.store.run();
  EXPECT_THAT(batches(), ElementsAre("4", "5"));
  EXPECT_THAT(*a_.journal.snapshots()->list(), ElementsAre(3U));
  EXPECT_EQ(pieces(), 1U);
  EXPECT_EQ(etcd_.compacted, etcd_.revision);
  // Frame 3 itself is gone; frame 4 still knows what it followed.
  const auto opened = b_.journal.snapshots()->open(3);
  ASSERT_TRUE(opened) << opened.error().message;
  b_.lead();
  ASSERT_TRUE(b_.start(3));
  EXPECT_THAT(b_.replayed, ElementsAre("4", "5"));
  EXPECT_THAT(a_.read(), ElementsAre(HasSubstr("was dropped behind a snapshot")));
}

TEST_F(EtcdSnapshotsTest, TheLastBatchIsNeverDropped) {
  a_.write({"1"});
  a_.store.run();
  ASSERT_TRUE(make(a_, 1, "x"));
  ASSERT_TRUE(a_.journal.snapshots()->drop_before(1));
  EXPECT_THAT(batches(), ElementsAre("1"));
  a_.write({"2"});
  a_.store.run();
  EXPECT_EQ(a_.durable, 2U);
}

TEST_F(EtcdSnapshotsTest, OneOfAnotherPastIsRefused) {
  a_.write({"one"});
  a_.store.run();
  ASSERT_TRUE(make(a_, 1, "x"));
  static_cast<void>(etcd_.txn({.deletes = {KeyRange::prefix("t/journal/")}}));
  Writer c(etcd_);
  c.lead();
  // A snapshot of what is lost is a proof that it is.
  const auto started = c.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("as there is a snapshot of frame 1, found the end"));
}

TEST_F(EtcdSnapshotsTest, AJournalMayBeginBehindOne) {
  a_.write({"one"});
  a_.store.run();
  ASSERT_TRUE(make(a_, 1, "x"));
  static_cast<void>(etcd_.txn({.deletes = {KeyRange::prefix("t/journal/")}}));
  Writer c(etcd_);
  c.lead();
  ASSERT_TRUE(c.start(1));
  c.write({"two"});
  c.store.run();
  EXPECT_EQ(c.durable, 2U);
  EXPECT_TRUE(b_.journal.snapshots()->open(1));
}

TEST_F(EtcdSnapshotsTest, AnEmptyJournalMayGoOnBehindOneOfAnother) {
  Writer c(etcd_);
  c.lead();
  auto draft = c.journal.begin_behind(c.epoch, 41);
  ASSERT_TRUE(draft) << draft.error().message;
  ASSERT_TRUE((*draft)->add("a", "b"));
  ASSERT_TRUE((*draft)->complete(std::string(16, 'd')));
  ASSERT_TRUE((*draft)->publish());
  ASSERT_TRUE(c.start(41));
  c.write({"42"});
  c.store.run();
  EXPECT_EQ(c.durable, 42U);
  EXPECT_TRUE(b_.journal.snapshots()->open(41));
  EXPECT_THAT(b_.read({.after = 41}), ElementsAre("42"));
  EXPECT_FALSE(c.journal.begin_behind(c.epoch, 77));
}

TEST_F(EtcdJournalTest, AnUnfinishedCopyIsRefused) {
  static_cast<void>(etcd_.txn({.puts = {{.key = "t/unfinished"}}}));
  b_.lead();
  const auto started = b_.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("expected a finished copy"));
}

TEST_F(EtcdSnapshotsTest, OneIsDueWhenTheJournalHasGrown) {
  Writer c(etcd_, {.snapshot_bytes = 4000});
  c.lead();
  ASSERT_TRUE(c.start());
  int woken = 0;
  c.journal.snapshots()->on_growth([&] { ++woken; });
  c.write({std::string(2000, 'x')});
  c.store.run();
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(*c.journal.snapshots()->is_due());
  c.write({std::string(2000, 'x')});
  c.store.run();
  EXPECT_TRUE(*c.journal.snapshots()->is_due());
  // Whoever reads along knows as much.
  Writer d(etcd_, {.snapshot_bytes = 4000});
  EXPECT_THAT(d.read(), SizeIs(2));
  EXPECT_TRUE(*d.journal.snapshots()->is_due());
  ASSERT_TRUE(make(c, 2, "x"));
  EXPECT_FALSE(*c.journal.snapshots()->is_due());
  EXPECT_FALSE(*d.journal.snapshots()->is_due());
  c.journal.snapshots()->on_growth(nullptr);
}

TEST_F(EtcdSnapshotsTest, OnlyWhoeverLeadsMakesOne) {
  a_.write({"one"});
  a_.store.run();
  EXPECT_FALSE(b_.journal.snapshots()->begin(1));
  b_.lead();
  const auto made = make(a_, 1, "x");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("expected that this node leads"));
}

}  // namespace
}  // namespace tenure::etcd
