// Portraits: what a snapshot keeps, what it refuses to load, and how the next one is made. That a state comes back from
// its portraits is proven by the Ledger, after the records of every test.
#include "core/portrait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/next_snapshot.h"
#include "core/record_codec.h"
#include "core/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Token kToken{Fence{7}, 0xab};

portrait::Task waiting(std::string_view id) {
  portrait::Task task;
  task.task_id = id;
  task.number = 1;
  task.queue = "q";
  task.window = kMinute;
  return task;
}

portrait::Task leased(std::string_view id) {
  portrait::Task task = waiting(id);
  task.state = TaskState::kLeased;
  task.story.emplace();
  return task;
}

portrait::Attempt attempt_of(std::string_view id) {
  portrait::Attempt attempt;
  attempt.task_id = id;
  attempt.attempt = 1;
  attempt.token = kToken;
  attempt.worker = "w";
  return attempt;
}

TEST(PortraitTest, OwnersComeBeforeTheirParts) {
  const portrait::DoneOffsets low{"d", false, Offset{1}, Offset{2}};
  const portrait::DoneOffsets high{"d", false, Offset{300}, Offset{300}};
  const portrait::DoneOffsets failed{"d", true, Offset{0}, Offset{0}};
  const portrait::BacklogEntry entry{"d", 1, Offset{9}};
  const std::string domain = key_of(portrait::Domain{.domain = "d"});
  EXPECT_LT(domain, key_of(failed));
  EXPECT_LT(key_of(failed), key_of(low));
  EXPECT_LT(key_of(low), key_of(high));
  EXPECT_LT(key_of(high), key_of(entry));
  EXPECT_LT(key_of(waiting("t")), key_of(attempt_of("t")));
  EXPECT_LT(key_of(attempt_of("t")), key_of(waiting("t1")));
  EXPECT_EQ(domain, keys::owner_of(key_of(entry)));
  EXPECT_EQ(key_of(waiting("t")), keys::owner_of(key_of(attempt_of("t"))));
  const std::string lock = keys::lock("s", "d", "i");
  EXPECT_EQ(lock, keys::owner_of(lock));
}

TEST(PortraitTest, IsShownAsJson) {
  EXPECT_EQ(R"({"portrait":"Session","session":"s","grace_ms":500,"locks":2})",
            to_json(portrait::Session{"s", Millis{500}, 2}));
  EXPECT_THAT(to_json(attempt_of("t")), HasSubstr(R"("outcome":"LEASED")"));
  EXPECT_THAT(to_json(portrait::LostLease{.token = kToken, .cause = LostCause::kForced}),
              HasSubstr(R"("cause":"it was released by force")"));
}

TEST(PortraitTest, AnUnknownOneIsRefused) {
  ByteReader in(std::string_view("\x63\x00", 2));
  EXPECT_EQ("unknown portrait type 99: a newer version has written it, upgrade this one",
            decode_portrait(in).error().message);
}

// What is wrong with the last of them; null: nothing.
Broken load_all(const std::vector<Portrait>& portraits) {
  State state;
  Broken broken = nullptr;
  for (const Portrait& portrait : portraits) {
    EXPECT_EQ(nullptr, broken);
    broken = state.load(portrait);
  }
  return broken;
}

TEST(PortraitTest, WhatContradictsItselfIsRefused) {
  EXPECT_EQ(nullptr, load_all({waiting("t")}));
  EXPECT_STREQ("task_id must not already exist", load_all({waiting("t"), waiting("t")}));
  portrait::Task ended = waiting("t");
  ended.state = TaskState::kDead;
  EXPECT_STREQ("a task is kept when it has ended", load_all({ended}));
  ended.story.emplace();
  EXPECT_STREQ("a task is kept when it has ended", load_all({ended}));
  ended.story->kept.emplace();
  EXPECT_EQ(nullptr, load_all({ended}));
  ended.state = TaskState::kWaiting;
  EXPECT_STREQ("a task is kept when it has ended", load_all({ended}));
  portrait::Task torn = leased("t");
  torn.story.reset();
  EXPECT_STREQ("a lease must have its times", load_all({torn}));
}

TEST(PortraitTest, PartsNeedTheirOwners) {
  EXPECT_EQ(nullptr, load_all({leased("t"), attempt_of("t")}));
  EXPECT_STREQ("an attempt must have a task that has begun", load_all({attempt_of("t")}));
  EXPECT_STREQ("an attempt must have a task that has begun", load_all({waiting("t"), attempt_of("t")}));
  portrait::Task begun = leased("t");
  begun.state = TaskState::kWaiting;
  EXPECT_STREQ("task must be LEASED", load_all({begun, attempt_of("t")}));
  EXPECT_STREQ("done offsets must have a domain", load_all({portrait::DoneOffsets{.domain = "d"}}));
  EXPECT_STREQ("a backlog must have a domain", load_all({portrait::BacklogEntry{.domain = "d"}}));
}

TEST(PortraitTest, NothingIsLoadedTwice) {
  const portrait::Domain domain{.domain = "d"};
  EXPECT_STREQ("domain must be new", load_all({domain, domain}));
  portrait::Lock lock;
  lock.domain = "d";
  EXPECT_STREQ("lock must be free", load_all({lock, lock}));
  const portrait::LostLease lost{.token = kToken};
  EXPECT_STREQ("a lost lease must be new", load_all({lost, lost}));
  const portrait::Session session{"s", Millis{0}, 1};
  EXPECT_STREQ("a session must be new", load_all({session, session}));
  EXPECT_STREQ("queue must not be paused", load_all({portrait::PausedQueue{"q"}, portrait::PausedQueue{"q"}}));
  for (const Remembered face : {Remembered::kTaskRequest, Remembered::kWorkRequest, Remembered::kLockRequest}) {
    const portrait::Request request{.face = face, .id = "r"};
    EXPECT_STREQ("request id must be new", load_all({request, request}));
  }
  EXPECT_STREQ("a request must have a face", load_all({portrait::Request{.face = Remembered::kTask, .id = "r"}}));
}

TEST(PortraitTest, APairMustLieUnderItsKey) {
  State state;
  std::string value;
  encode(portrait::PausedQueue{"q"}, value);
  EXPECT_THAT(load_pair(state, keys::queue("other"), value).error().message, HasSubstr("under its own key"));
  EXPECT_TRUE(load_pair(state, keys::queue("q"), value).has_value());
  EXPECT_THAT(load_pair(state, keys::queue("q"), value).error().message,
              HasSubstr("breaks the invariant: queue must not be paused"));
  EXPECT_THAT(load_pair(state, keys::queue("q"), "\x04").error().message, HasSubstr("the bytes end"));
}

// --- the order of a key's tasks ---

TEST(PortraitTest, TheEarliestTaskOfAKeyLeadsItWhateverItsName) {
  Ledger ledger;
  for (const char* id : {"z", "m", "a"}) {
    ledger.ask(Submission{.queue = "q", .payload = "p", .id = id, .key = "k"});
  }
  const auto state = load(portraits_of(ledger.state()));
  const auto first = ledger.lease();
  EXPECT_EQ("z", first->task_id);
  const Queue* queue = state->tasks().find_queue("q");
  ASSERT_EQ(1U, queue->ready.size());
  EXPECT_EQ("z", queue->ready.begin()->second->id());
  // The same, with its head leased.
  const auto again = load(portraits_of(ledger.state()));
  EXPECT_TRUE(again->tasks().find_queue("q")->ready.empty());
  EXPECT_EQ(2U, again->tasks().find_queue("q")->parked.size());
}

TEST(PortraitTest, ALeasedHeadIsFoundByAnEarlierNameToo) {
  Ledger ledger;
  for (const char* id : {"a", "z"}) ledger.ask(Submission{.queue = "q", .payload = "p", .id = id, .key = "k"});
  const auto head = ledger.lease();
  ledger.ask(Completion{.task_id = "a", .lease_id = head->lease_id});
  ASSERT_EQ("z", ledger.lease()->task_id);
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "b", .key = "k"});
  const auto state = load(portraits_of(ledger.state()));
  EXPECT_EQ(1U, state->tasks().find_queue("q")->parked.size());
  EXPECT_EQ("b", state->tasks().find_queue("q")->parked.begin()->second->id());
}

// No journal leads to this, but a snapshot might claim it.
TEST(PortraitTest, ALeaseKeepsItsPlaceWhenAnEarlierTaskTakesTheLead) {
  portrait::Task lease = leased("a");
  lease.number = 5;
  lease.key = "k";
  portrait::Task earlier = waiting("b");
  earlier.key = "k";
  State state;
  for (const Portrait& portrait : std::vector<Portrait>{lease, earlier, attempt_of("a")}) {
    ASSERT_EQ(nullptr, state.load(portrait));
  }
  const Queue* queue = state.tasks().find_queue("q");
  ASSERT_EQ(1U, queue->ready.size());
  EXPECT_EQ("b", queue->ready.begin()->second->id());
  EXPECT_EQ(1U, state.tasks().leases_of("w"));
}

// --- the next snapshot ---

NextSnapshot::Fetch nothing() {
  return [](std::string_view, const NextSnapshot::VisitPair&) -> Result<Done> { return Done{}; };
}

std::string bytes_of(const Record& record) {
  std::string bytes;
  encode(record, bytes);
  return bytes;
}

TEST(NextSnapshotTest, WithoutAnyFrameItHasTheCountersAlone) {
  NextSnapshot next(nothing());
  ASSERT_TRUE(next.replay(1, Instant{1}, ""));
  EXPECT_THAT(next.pairs(), ElementsAre(testing::Pair("c", testing::_)));
  EXPECT_TRUE(next.replaces("c"));
  EXPECT_FALSE(next.replaces(keys::task("t")));
}

TEST(NextSnapshotTest, WithAllOfTheLastOneItReplacesAll) {
  NextSnapshot next(nothing());
  ASSERT_TRUE(next.take_all());
  ASSERT_TRUE(next.replay(1, Instant{1}, bytes_of(created("t"))));
  EXPECT_THAT(next.pairs(), testing::Contains(testing::Pair(keys::task("t"), testing::_)));
  EXPECT_TRUE(next.replaces(keys::task("another")));
  EXPECT_THAT(next.replay(2, Instant{1}, "\x7f").error().message, StartsWith("sequence number 2: "));
}

TEST(NextSnapshotTest, AllOfTheLastOneMustBeReadable) {
  const auto unreadable = [](std::string_view, const NextSnapshot::VisitPair&) -> Result<Done> {
    return fail_with(ErrorCode::kUnavailable, "unreadable");
  };
  EXPECT_EQ("unreadable", NextSnapshot(unreadable).take_all().error().message);
}

TEST(NextSnapshotTest, ItsDigestIsWhatTheFramesSaidLast) {
  NextSnapshot next(nothing());
  const Digest first(1, 2);
  const Digest last(3, 4);
  ASSERT_TRUE(next.replay(1, Instant{1}, bytes_of(record::DigestTaken{first})));
  ASSERT_TRUE(next.replay(2, Instant{1}, bytes_of(record::DigestTaken{last})));
  ASSERT_TRUE(next.replay(3, Instant{1}, bytes_of(created("t"))));
  EXPECT_EQ(last, next.digest());
}

TEST(NextSnapshotTest, FailsAsItsFramesDo) {
  NextSnapshot next(nothing());
  EXPECT_THAT(next.foresee(9, "\x7f").error().message, StartsWith("sequence number 9: "));
  EXPECT_THAT(next.replay(9, Instant{1}, "\x7f").error().message, StartsWith("sequence number 9: "));
  EXPECT_THAT(next.replay(9, Instant{1}, bytes_of(record::TaskDead{"none", "r"})).error().message,
              HasSubstr("task must exist"));
  EXPECT_THAT(next.replay(9, Instant{1}, bytes_of(record::LeaseExtended{kToken, Instant{5}})).error().message,
              HasSubstr("lease must exist"));
  EXPECT_THAT(next.replay(9, Instant{1}, bytes_of(record::Forgotten{Remembered::kLostLease, "none"})).error().message,
              HasSubstr("the lost lease must be remembered"));
}

TEST(NextSnapshotTest, FailsIfTheLastOneCannotBeRead) {
  const auto fails_for = [](const std::string& prefix) {
    return [prefix](std::string_view asked, const NextSnapshot::VisitPair&) -> Result<Done> {
      if (asked == prefix) return fail_with(ErrorCode::kUnavailable, "unreadable");
      return Done{};
    };
  };
  const auto replay = [&](const std::string& prefix, const Record& record) {
    NextSnapshot next(fails_for(prefix));
    EXPECT_TRUE(next.foresee(1, bytes_of(record)));
    const auto replayed = next.replay(1, Instant{1}, bytes_of(record));
    return replayed ? "none" : replayed.error().message;
  };
  record::TaskCreated task = created("t");
  task.request = RequestMark{"r", 1};
  EXPECT_EQ("none", replay("nothing of it", task));
  EXPECT_EQ("unreadable", replay(keys::counters(), task));
  EXPECT_EQ("unreadable", replay(keys::task("t"), task));
  EXPECT_EQ("unreadable", replay(keys::request(Remembered::kTaskRequest, "r"), task));
  record::LockGranted lock = lock_granted("i", token_of(1), Instant{9});
  lock.session = "session";
  EXPECT_EQ("unreadable", replay(keys::lock("s", "d", "i"), lock));
  EXPECT_EQ("unreadable", replay(keys::session("session"), lock));
}

// A lock's session is in no record that ends the lock.
TEST(NextSnapshotTest, FetchesTheSessionOfALockThatWasThere) {
  record::LockGranted lock = lock_granted("i", token_of(1), Instant{9});
  lock.session = "session";
  State last;
  ASSERT_EQ(nullptr, last.apply(Instant{1}, lock));
  const record::LockReleased released{.space = "s", .domain = "d", .identifier = "i", .token = token_of(1)};
  for (const bool is_readable : {true, false}) {
    const auto fetch = [&](std::string_view prefix, const NextSnapshot::VisitPair& visit) -> Result<Done> {
      if (prefix == keys::session("session") && !is_readable) return fail_with(ErrorCode::kUnavailable, "unreadable");
      Result<Done> visited = Done{};
      last.visit_portraits([&](const Portrait& portrait) {
        std::string value;
        encode(portrait, value);
        if (visited && key_of(portrait).starts_with(prefix)) visited = visit(key_of(portrait), value);
      });
      return visited;
    };
    NextSnapshot next(fetch);
    ASSERT_TRUE(next.foresee(2, bytes_of(released)));
    const auto replayed = next.replay(2, Instant{2}, bytes_of(released));
    EXPECT_EQ(is_readable, replayed.has_value());
    EXPECT_EQ(is_readable, next.replaces(keys::session("session")) && replayed);
  }
}

}  // namespace
}  // namespace tenure
