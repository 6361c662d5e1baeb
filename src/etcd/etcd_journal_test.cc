#include "etcd/etcd_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etcd/journal_testing.h"

namespace tenure::etcd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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
  EXPECT_THAT(batches(), ElementsAre("1"));
  c.pass(Millis{2});
  EXPECT_THAT(batches(), ElementsAre("1", "2"));
  EXPECT_EQ(c.durable, 7U);
}

TEST_F(EtcdJournalTest, TheNextBatchWaitsAMomentForThoseWhoWereAnswered) {
  Writer c(etcd_, {});
  c.lead();
  ASSERT_TRUE(c.start());
  c.write({"1", "2"});
  c.write({"3"});
  c.store.run();
  EXPECT_EQ(c.durable, 2U);
  c.write({"4"});
  c.store.run();
  EXPECT_EQ(c.durable, 2U);
  c.write({"5"});  // as many as were answered: there is nobody to wait for
  c.store.run();
  EXPECT_EQ(c.durable, 5U);
  EXPECT_THAT(batches(), ElementsAre("1", "3"));
}

TEST_F(EtcdJournalTest, OneAloneWaitsForNobody) {
  Writer c(etcd_, {});
  c.lead();
  ASSERT_TRUE(c.start());
  for (const char* text : {"1", "2", "3"}) {
    c.write({text});
    c.store.run();
  }
  EXPECT_EQ(c.durable, 3U);
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

TEST_F(EtcdJournalTest, AnUnfinishedCopyIsRefused) {
  static_cast<void>(etcd_.txn({.puts = {{.key = "t/unfinished"}}}));
  b_.lead();
  const auto started = b_.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("expected a finished copy"));
}

}  // namespace
}  // namespace tenure::etcd
