// A file that cannot be read is never taken for one that ends: whichever look fails, recovery fails with it, or answers
// as it would have.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/faulty_files.h"
#include "journal/file_names.h"
#include "journal/testing.h"

namespace tenure {
namespace {

using ::testing::HasSubstr;

Result<Done> pass_by(const Frame& /*frame*/) { return Done{}; }

// Does it once for each of its looks, with that look failing, each time on the same files; does(files) fails, or
// answers a text. Answers how many there were, and how many of them it did without.
struct Swept {
  int looks = 0;
  int done_without = 0;
};
Swept sweep(const FaultyFiles& files, const std::function<Result<std::string>(FaultyFiles&)>& does) {
  const auto whole = files.copy();
  const auto expected = does(*whole);
  EXPECT_TRUE(expected.has_value()) << expected.error().message;
  Swept swept;
  for (std::uint64_t n = 1; n <= whole->looks(); ++n, ++swept.looks) {
    const auto copy = files.copy();
    copy->fail_look_at(n);
    const auto found = does(*copy);
    if (found) {
      EXPECT_EQ(*expected, *found) << "look " << n;
      ++swept.done_without;
    } else {
      EXPECT_EQ(ErrorCode::kUnavailable, found.error().code) << "look " << n << ": " << found.error().message;
      EXPECT_THAT(found.error().message, HasSubstr("Input/output error")) << "look " << n;
    }
  }
  return swept;
}

// Frames so large that a segment of them is read through several windows.
class FailingLooksTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kLarge = 300'000;

  FailingLooksTest() {
    world.options.segment_bytes = 4 << 20;
    EXPECT_TRUE(world.start().has_value());
    for (char c = 'a'; c < 'a' + 20; ++c) world.write({std::string(kLarge, c)});
  }

  // Where the frame begins.
  JournalEnd before(std::uint64_t sequence) {
    return walk(world.files, kFolder, {.upto = sequence - 1}, pass_by).value();
  }
  void damage(std::uint64_t sequence, std::uint64_t byte = 1000) {
    const JournalEnd end = before(sequence);
    world.files.flip_bit(end.path, (end.offset + byte) * 8);
  }
  // As a snapshot after this frame would know it.
  SnapshotMark mark_at(std::uint64_t sequence) {
    const JournalEnd end = before(sequence + 1);
    return {.journal = end.segment.journal, .sequence = sequence, .chain = end.chain};
  }
  static Result<std::string> told(const Result<JournalEnd>& end) {
    if (!end) return tl::unexpected(end.error());
    return fmt::format("{} frames, next {}, tail {} of {} bytes: {}", end->frames, end->next,
                       static_cast<int>(end->tail), end->tail_bytes, end->why);
  }
  Swept sweep_walk(FrameRange range = {}, const std::optional<SnapshotMark>& mark = std::nullopt) {
    return sweep(world.files, [&](FaultyFiles& files) { return told(walk(files, kFolder, range, pass_by, mark)); });
  }

  JournalWorld world{JournalWorld::kEmpty};
};

TEST_F(FailingLooksTest, OfAWholeJournal) {
  ASSERT_GT(world.segments().size(), 1U);
  const Swept swept = sweep_walk();
  EXPECT_GT(swept.looks, 10);
  EXPECT_EQ(0, swept.done_without);
}

TEST_F(FailingLooksTest, OfATornEnd) {
  damage(20);
  EXPECT_EQ(Tail::kTorn, world.walk_all().tail);
  EXPECT_EQ(0, sweep_walk().done_without);
}

TEST_F(FailingLooksTest, OfADamagedOne) {
  damage(15);
  EXPECT_EQ(Tail::kDamaged, world.walk_all().tail);
  EXPECT_EQ(0, sweep_walk().done_without);
}

TEST_F(FailingLooksTest, BehindASnapshotThatCoversTheDamage) {
  const SnapshotMark mark = mark_at(10);
  damage(3);
  const auto end = walk(world.files, kFolder, {.after = 10}, pass_by, mark);
  EXPECT_EQ(10U, end.value().frames);
  EXPECT_EQ(0, sweep_walk({.after = 10}, mark).done_without);
}

TEST_F(FailingLooksTest, OfACutAndARewrite) {
  damage(20);
  const JournalEnd end = world.walk_all();
  const auto cut = [&](FaultyFiles& files) {
    auto copy = cut_tail(files, kFolder, end);
    if (!copy) EXPECT_FALSE(files.exists(std::string(kFolder) + "/00000000000000000020.torn")) << "a copy of less";
    return copy;
  };
  EXPECT_EQ(0, sweep(world.files, cut).done_without);
  const auto rewrite = [&](FaultyFiles& files, bool as_copy) -> Result<std::string> {
    const auto done = as_copy ? rewrite_last_segment(files, kFolder, end) : rewrite_last_batch(files, end);
    return done ? Result<std::string>(files.contents(end.path)) : tl::unexpected(done.error());
  };
  EXPECT_EQ(0, sweep(world.files, [&](FaultyFiles& files) { return rewrite(files, true); }).done_without);
  EXPECT_EQ(0, sweep(world.files, [&](FaultyFiles& files) { return rewrite(files, false); }).done_without);
}

TEST_F(FailingLooksTest, OfAStart) {
  damage(20);
  world.journal.reset();
  const Swept swept = sweep(world.files, [&](FaultyFiles& files) -> Result<std::string> {
    SeededEntropy entropy(1);
    auto journal = FileJournal::open(files, kFolder, entropy, world.options);
    if (!journal) return tl::unexpected(journal.error());
    std::string seen;
    const auto started = (*journal)->start(0, [&](const Frame& frame) -> Result<Done> {
      seen += frame.payload.substr(0, 1);
      return Done{};
    });
    return started ? Result<std::string>(seen) : tl::unexpected(started.error());
  });
  // How much room there is need not be known.
  EXPECT_GT(swept.looks, 20);
  EXPECT_LE(swept.done_without, 2);
}

TEST_F(FailingLooksTest, OfSnapshots) {
  FileSnapshots snapshots(world.files, kFolder, 1 << 20);
  const auto draft = snapshots.begin(12).value();
  ASSERT_TRUE(draft->add("key", "value").has_value());
  ASSERT_TRUE(draft->complete("0123456789abcdef").has_value());
  ASSERT_TRUE(draft->publish().has_value());
  const auto of_snapshots = [&](const std::function<Result<std::string>(FileSnapshots&)>& does) {
    return sweep(world.files, [&](FaultyFiles& files) {
      FileSnapshots copy(files, kFolder, 1 << 20);
      return does(copy);
    });
  };
  const Swept opened = of_snapshots([](FileSnapshots& all) -> Result<std::string> {
    const auto snapshot = all.open(12);
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto verified = (*snapshot)->verify();
    return verified ? Result<std::string>((*snapshot)->digest()) : tl::unexpected(verified.error());
  });
  EXPECT_GT(opened.looks, 5);
  EXPECT_EQ(0, opened.done_without);
  const Swept looked_for = of_snapshots([](FileSnapshots& all) -> Result<std::string> {
    const auto is_due = all.is_due();
    return is_due ? Result<std::string>(*is_due ? "due" : "not due") : tl::unexpected(is_due.error());
  });
  EXPECT_EQ(0, looked_for.done_without);
  const Swept begun = of_snapshots([](FileSnapshots& all) -> Result<std::string> {
    const auto next = all.begin(18);
    return next ? Result<std::string>("begun") : tl::unexpected(next.error());
  });
  EXPECT_LE(begun.done_without, 1);
  const Swept dropped = of_snapshots([](FileSnapshots& all) -> Result<std::string> {
    const auto done = all.drop_before(18);
    return done ? Result<std::string>("dropped") : tl::unexpected(done.error());
  });
  EXPECT_EQ(0, dropped.done_without);
  // A mark that cannot be read is none: the start then needs the frames, or fails.
  const auto copy = world.files.copy();
  FileSnapshots unread(*copy, kFolder, 1 << 20);
  copy->fail_look_at(copy->looks() + 1);
  EXPECT_FALSE(unread.mark_of(12).has_value());
  EXPECT_TRUE(unread.mark_of(12).has_value());
}

}  // namespace
}  // namespace tenure
