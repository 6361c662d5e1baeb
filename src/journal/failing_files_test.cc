// A file that cannot be read is never taken for one that ends: whichever look fails, and whichever change, recovery
// fails with it, or answers as it would have. And what is found behind damage, by a snapshot's mark.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/faulty_files.h"
#include "journal/file_names.h"
#include "journal/testing.h"

namespace tenure {
namespace {

using ::testing::HasSubstr;

using Deed = std::function<Result<std::string>(FaultyFiles&)>;

Result<Done> pass_by(const Frame& /*frame*/) { return Done{}; }

enum class Failing : bool { kLooks, kChanges };

// Does it once for each of its looks, or changes, with that one failing, each time on the same files. Answers how many
// there were, and how many of them it did without.
struct Swept {
  int tried = 0;
  int done_without = 0;
};
Swept sweep(const FaultyFiles& files, Failing failing, const Deed& deed) {
  const auto whole = files.copy();
  const auto expected = deed(*whole);
  EXPECT_TRUE(expected.has_value()) << expected.error().message;
  Swept swept;
  const std::uint64_t count = failing == Failing::kLooks ? whole->looks() : whole->operations();
  for (std::uint64_t n = 1; n <= count; ++n, ++swept.tried) {
    const auto copy = files.copy();
    if (failing == Failing::kLooks) {
      copy->fail_look_at(n);
    } else {
      copy->fail_at(n, FaultyFiles::Fault::kIoError);
    }
    const auto found = deed(*copy);
    if (found) {
      EXPECT_EQ(*expected, *found) << n;
      ++swept.done_without;
    } else {
      EXPECT_EQ(ErrorCode::kUnavailable, found.error().code) << n << ": " << found.error().message;
      EXPECT_THAT(found.error().message, HasSubstr("Input/output error")) << n;
    }
  }
  return swept;
}
// Where nothing can be done without.
void expect_all_needed(const FaultyFiles& files, const Deed& deed) {
  EXPECT_EQ(0, sweep(files, Failing::kLooks, deed).done_without);
  EXPECT_EQ(0, sweep(files, Failing::kChanges, deed).done_without);
}

Result<std::string> text_of(const Result<Done>& done) {
  return done ? Result<std::string>("done") : tl::unexpected(done.error());
}

// Frames so large that a segment of them is read through several windows, and one that is larger than a window.
class FailingFilesTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kLarge = 300'000;

  FailingFilesTest() {
    world.options.segment_bytes = 4 << 20;
    EXPECT_TRUE(world.start().has_value());
    for (char c = 'a'; c < 'a' + 20; ++c) world.write({std::string(c == 'e' ? 4 * kLarge : kLarge, c)});
  }

  // Where the frame begins.
  JournalEnd before(std::uint64_t sequence) {
    return walk(world.files, kFolder, {.upto = sequence - 1}, pass_by).value();
  }
  static constexpr std::uint64_t kInPayload = 1000;
  static constexpr std::uint64_t kInPrevious = 40;
  void damage(const JournalEnd& place, std::uint64_t byte = kInPayload) {
    world.files.flip_bit(place.path, (place.offset + byte) * 8);
  }
  // As a snapshot after this frame would know it.
  SnapshotMark mark_at(std::uint64_t sequence) {
    const JournalEnd end = before(sequence + 1);
    return {.journal = end.segment.journal, .sequence = sequence, .chain = end.chain};
  }
  Result<JournalEnd> walk_behind(const SnapshotMark& mark) {
    return walk(world.files, kFolder, {.after = mark.sequence}, pass_by, mark);
  }
  Swept sweep_walk(FrameRange range = {}, const std::optional<SnapshotMark>& mark = std::nullopt) {
    return sweep(world.files, Failing::kLooks, [&](FaultyFiles& files) -> Result<std::string> {
      const auto end = walk(files, kFolder, range, pass_by, mark);
      if (!end) return tl::unexpected(end.error());
      return fmt::format("{} frames, next {}, tail {} of {} bytes: {}", end->frames, end->next,
                         static_cast<int>(end->tail), end->tail_bytes, end->why);
    });
  }

  JournalWorld world{JournalWorld::kEmpty};
};

// --- looking ---

TEST_F(FailingFilesTest, OfAWholeJournal) {
  ASSERT_GT(world.segments().size(), 1U);
  const Swept swept = sweep_walk();
  EXPECT_GT(swept.tried, 10);
  EXPECT_EQ(0, swept.done_without);
}

TEST_F(FailingFilesTest, OfATornEnd) {
  damage(before(20));
  EXPECT_EQ(Tail::kTorn, world.walk_all().tail);
  EXPECT_EQ(0, sweep_walk().done_without);
}

TEST_F(FailingFilesTest, OfADamagedOne) {
  damage(before(15));
  EXPECT_EQ(Tail::kDamaged, world.walk_all().tail);
  EXPECT_EQ(0, sweep_walk().done_without);
}

TEST_F(FailingFilesTest, BehindASnapshotThatCoversTheDamage) {
  const SnapshotMark mark = mark_at(5);
  damage(before(3));
  EXPECT_EQ(15U, walk_behind(mark).value().frames);
  EXPECT_EQ(0, sweep_walk({.after = 5}, mark).done_without);
}

TEST_F(FailingFilesTest, BehindASnapshotThatCoversALongHole) {
  const SnapshotMark mark = mark_at(9);
  const JournalEnd hole = before(3);
  const std::size_t size = before(9).offset - hole.offset;
  std::string bytes = world.files.contents(hole.path);
  world.files.put(hole.path, bytes.replace(hole.offset, size, size, '\0'));
  EXPECT_EQ(11U, walk_behind(mark).value().frames);
  EXPECT_EQ(0, sweep_walk({.after = 9}, mark).done_without);
}

TEST_F(FailingFilesTest, OfAStart) {
  damage(before(20));
  world.journal.reset();
  const Swept swept = sweep(world.files, Failing::kLooks, [&](FaultyFiles& files) -> Result<std::string> {
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
  EXPECT_GT(swept.tried, 20);
  EXPECT_EQ(1, swept.done_without) << "how much room there is need not be known";
}

TEST_F(FailingFilesTest, ASegmentThatIsCutWhileItIsReadIsNotAtItsEnd) {
  const std::string path = world.segments().back();
  const auto end = walk(world.files, kFolder, {}, [&](const Frame& frame) -> Result<Done> {
    if (frame.sequence == 20) world.files.cut(path, 3 << 20);
    return Done{};
  });
  ASSERT_FALSE(end.has_value());
  EXPECT_THAT(end.error().message, HasSubstr("expected 4194304 bytes, found its end"));
  JournalEnd whole = before(3);
  whole.offset = 4 << 20;
  world.files.cut(whole.path, 1 << 20);
  EXPECT_THAT(rewrite_last_segment(world.files, kFolder, whole).error().message, HasSubstr("found its end"));
}

// --- marks ---

TEST_F(FailingFilesTest, AMarkWhoseOwnFrameIsDamagedIsFoundByTheNext) {
  const SnapshotMark mark = mark_at(5);
  const JournalEnd fifth = before(5);
  damage(before(3));
  for (const std::uint64_t byte : {std::uint64_t{0}, kInPayload}) {  // the first is one of its checksum's
    damage(fifth, byte);
    const auto end = walk_behind(mark);
    EXPECT_EQ(15U, end.value().frames) << byte;
    EXPECT_EQ(Tail::kClean, end.value().tail) << byte;
    damage(fifth, byte);  // and back
  }
}

TEST_F(FailingFilesTest, AMarkThatIsNowhereCoversNothing) {
  const SnapshotMark mark = mark_at(5);
  SnapshotMark other = mark;
  other.chain ^= 1;  // of another fifth frame
  const JournalEnd fifth = before(5);
  const JournalEnd next = before(6);
  damage(before(3));
  EXPECT_EQ(Tail::kDamaged, walk_behind(other).value().tail);
  // Neither its own frame is whole, nor does the next continue from it.
  damage(fifth);
  damage(next, kInPrevious);
  EXPECT_EQ(Tail::kDamaged, walk_behind(mark).value().tail);
  EXPECT_EQ(3U, walk_behind(mark).value().next);
}

TEST_F(FailingFilesTest, AMarkMayBeOfAFrameThatVouches) {
  ASSERT_TRUE(world.journal->vouch());
  const SnapshotMark mark = mark_at(21);
  damage(before(16));
  const auto end = walk_behind(mark);
  EXPECT_EQ(22U, end.value().next);
  EXPECT_TRUE(end.value().is_vouched);
}

// --- changing ---

TEST_F(FailingFilesTest, OfACutAndARewrite) {
  damage(before(20));
  const JournalEnd end = world.walk_all();
  expect_all_needed(world.files, [&](FaultyFiles& files) { return cut_tail(files, kFolder, end); });
  const auto rewrite = [&](FaultyFiles& files, bool as_copy) -> Result<std::string> {
    const auto done = as_copy ? rewrite_last_segment(files, kFolder, end) : rewrite_last_batch(files, end);
    return done ? Result<std::string>(files.contents(end.path)) : tl::unexpected(done.error());
  };
  expect_all_needed(world.files, [&](FaultyFiles& files) { return rewrite(files, true); });
  expect_all_needed(world.files, [&](FaultyFiles& files) { return rewrite(files, false); });
}

TEST_F(FailingFilesTest, ACopyOfNothingIsNotLeftToBeTakenForAGoodOne) {
  damage(before(20));
  const JournalEnd end = world.walk_all();
  world.files.fail_look_at(world.files.looks() + 1);
  EXPECT_FALSE(cut_tail(world.files, kFolder, end).has_value());
  EXPECT_FALSE(world.files.exists(std::string(kFolder) + "/00000000000000000020.torn"));
}

TEST_F(FailingFilesTest, OfASegmentThatBegins) {
  const SegmentHeader header{.journal = {1, 2}, .first = 99, .chain = 3, .bytes = 4096};
  const std::string blank = path_of(kFolder, kNextSegmentName);
  world.files.put(blank, std::string(4096, '\0'));
  expect_all_needed(world.files, [&](FaultyFiles& files) { return begin_segment(files, kFolder, blank, header); });
}

TEST_F(FailingFilesTest, OfSnapshots) {
  constexpr std::uint64_t kDue = 1 << 20;
  const auto with = [](const std::function<Result<std::string>(FileSnapshots&)>& does) -> Deed {
    return [does](FaultyFiles& files) {
      FileSnapshots snapshots(files, kFolder, kDue);
      return does(snapshots);
    };
  };
  const Deed ask_if_due = with([](FileSnapshots& all) -> Result<std::string> {
    const auto is_due = all.is_due();
    return is_due ? Result<std::string>(*is_due ? "due" : "not due") : tl::unexpected(is_due.error());
  });
  expect_all_needed(world.files, ask_if_due);
  for (const std::uint64_t sequence : {2U, 12U, 15U}) {
    FileSnapshots snapshots(world.files, kFolder, kDue);
    const auto draft = snapshots.begin(sequence).value();
    ASSERT_TRUE(draft->add("key", "value").has_value());
    ASSERT_TRUE(draft->complete("0123456789abcdef").has_value());
    ASSERT_TRUE(draft->publish().has_value());
  }
  expect_all_needed(world.files, with([](FileSnapshots& all) -> Result<std::string> {
                      const auto snapshot = all.open(12);
                      return snapshot ? text_of((*snapshot)->verify()) : tl::unexpected(snapshot.error());
                    }));
  expect_all_needed(world.files, ask_if_due);
  const Deed make = with([](FileSnapshots& all) -> Result<std::string> {
    const auto draft = all.begin(18);
    if (!draft) return tl::unexpected(draft.error());
    const auto complete = (*draft)->complete("0123456789abcdef");
    return complete ? text_of((*draft)->publish()) : tl::unexpected(complete.error());
  });
  world.files.put(path_of(kFolder, kSnapshotDraftName), "left by somebody");
  EXPECT_EQ(0, sweep(world.files, Failing::kChanges, make).done_without);
  EXPECT_EQ(1, sweep(world.files, Failing::kLooks, make).done_without) << "how much room there is need not be known";
  for (const std::uint64_t sequence : {5U, 15U, 20U}) {
    expect_all_needed(world.files, with([=](FileSnapshots& all) { return text_of(all.drop_before(sequence)); }));
  }
}

TEST_F(FailingFilesTest, AMarkThatCannotBeReadIsNone) {
  FileSnapshots snapshots(world.files, kFolder, 1);
  ASSERT_TRUE(snapshots.begin(12).value()->complete("0123456789abcdef").has_value());
  EXPECT_FALSE(snapshots.mark_of(12).has_value()) << "it was not published";
  const auto draft = snapshots.begin(12).value();
  ASSERT_TRUE(draft->complete("0123456789abcdef").has_value());
  ASSERT_TRUE(draft->publish().has_value());
  world.files.fail_look_at(world.files.looks() + 1);
  EXPECT_FALSE(snapshots.mark_of(12).has_value());
  EXPECT_TRUE(snapshots.mark_of(12).has_value());
}

}  // namespace
}  // namespace tenure
