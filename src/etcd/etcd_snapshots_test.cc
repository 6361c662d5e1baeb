#include "etcd/etcd_snapshots.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "etcd/journal_testing.h"

namespace tenure::etcd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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
