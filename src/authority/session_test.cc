// Sessions: a bound lock lives as long as somebody has joined its session, and then for the grace.
#include "authority/testing.h"

namespace tenure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SessionTest, ABoundLockNeedsASessionThatWasJoined) {
  World world;
  const auto refused = world.ask(bound_acquire_by("a", "s"));
  EXPECT_EQ("INVALID", word(refused));
  EXPECT_EQ(0U, world.frame_count());
  EXPECT_EQ("OK", word(world.engine->join("s", {})));
  EXPECT_TRUE(world.get(bound_acquire_by("a", "s")).has_value());
}

TEST(SessionTest, WithoutAGraceItsLocksAreFreedWhenItIsLeft) {
  World world;
  world.engine->join("s", {});
  const LockGrant first = world.get(bound_acquire_by("a", "s")).value();
  world.get(bound_acquire_by("a", "s", "2"));
  world.get(bound_acquire_by("a", "s", "2"));  // two holds end as one
  const LockGrant unbound = world.acquire("a", "3");
  const auto before = world.frame_count();
  EXPECT_EQ("OK", word(world.engine->leave("s")));
  EXPECT_THAT(world.records(before), ElementsAre("LockReleased", "LockReleased"));
  const auto refused = world.release(first);
  EXPECT_EQ("EXPIRED", word(refused));
  EXPECT_THAT(refused.error().message, HasSubstr("its session ended"));
  EXPECT_EQ("OK", word(world.release(unbound, "3")));
}

TEST(SessionTest, TheRecordsSayThatItWasDisconnected) {
  World world;
  world.engine->join("s", {});
  world.get(bound_acquire_by("a", "s"));
  std::vector<std::string> told;
  world.engine->observe([&](const State& /*state*/, Instant /*stamp*/, std::string_view bytes) {
    ByteReader in(bytes);
    told.push_back(to_json(decode(in).value()));
  });
  world.engine->leave("s");
  ASSERT_EQ(1U, told.size());
  EXPECT_THAT(told[0], HasSubstr("LockReleased"));
  EXPECT_THAT(told[0], HasSubstr("disconnected"));
}

TEST(SessionTest, TheGrantNamesTheSessionAndItsGrace) {
  World world;
  world.engine->join("s", Millis{700});
  std::string told;
  world.engine->observe([&](const State& /*state*/, Instant /*stamp*/, std::string_view bytes) {
    ByteReader in(bytes);
    told = to_json(decode(in).value());
  });
  world.get(bound_acquire_by("a", "s"));
  EXPECT_THAT(told, HasSubstr("\"session\":\"s\""));
  EXPECT_THAT(told, HasSubstr("\"grace_ms\":700"));
}

TEST(SessionTest, LastsUntilTheLastHasLeft) {
  World world;
  world.engine->join("s", {});
  world.engine->join("s", {});
  world.get(bound_acquire_by("a", "s"));
  world.engine->leave("s");
  EXPECT_TRUE(world.is_held());
  world.engine->leave("s");
  EXPECT_FALSE(world.is_held());
}

TEST(SessionTest, LastsForItsGrace) {
  World world;
  world.engine->join("s", Millis{500});
  world.get(bound_acquire_by("a", "s"));
  world.engine->leave("s");
  world.pass(Millis{499});
  EXPECT_TRUE(world.is_held());
  world.pass(Millis{1});
  EXPECT_FALSE(world.is_held());
}

TEST(SessionTest, JoinedAgainWithinTheGraceItGoesOn) {
  World world;
  world.engine->join("s", Millis{500});
  world.get(bound_acquire_by("a", "s"));
  world.engine->leave("s");
  world.pass(Millis{499});
  world.engine->join("s", {});
  world.pass(Millis{10'000});
  EXPECT_TRUE(world.is_held());
}

TEST(SessionTest, JoinedAgainAfterTheGraceItHasEndedEvenBeforeUpkeep) {
  World world;
  world.engine->join("s", Millis{500});
  const LockGrant grant = world.get(bound_acquire_by("a", "s")).value();
  world.engine->leave("s");
  world.advance(Millis{501});
  world.engine->join("s", {});
  EXPECT_EQ("EXPIRED", word(world.release(grant)));
}

TEST(SessionTest, ItsLocksAreFreeAfterTheGraceEvenBeforeUpkeep) {
  World world;
  world.engine->join("s", Millis{500});
  const LockGrant grant = world.get(bound_acquire_by("a", "s")).value();
  world.engine->leave("s");
  world.advance(Millis{501});
  EXPECT_FALSE(world.is_held());
  EXPECT_TRUE(world.get(acquire_by("b")).has_value());
  EXPECT_THAT(why(world.release(grant)), HasSubstr("session"));
}

TEST(SessionTest, TheLastGraceGivenCounts) {
  World world;
  world.engine->join("s", Millis{500});
  world.engine->join("s", Millis{100});
  world.engine->join("s", {});
  world.get(bound_acquire_by("a", "s"));
  for (int i = 0; i < 3; ++i) world.engine->leave("s");
  EXPECT_EQ(world.now() + Millis{100}, world.engine->run_due());
}

TEST(SessionTest, AtFirstTheGraceIsNone) {
  World world;
  world.engine->join("s", {});
  world.get(bound_acquire_by("a", "s"));
  world.engine->leave("s");
  EXPECT_FALSE(world.is_held());
}

TEST(SessionTest, OnceEndedItBeginsAnewWithoutAGrace) {
  World world;
  world.engine->join("s", Millis{500});
  world.engine->leave("s");
  world.pass(Millis{500});
  world.engine->join("s", {});
  world.get(bound_acquire_by("a", "s"));
  world.engine->leave("s");
  EXPECT_FALSE(world.is_held());
}

TEST(SessionTest, AnExpiredBoundLockIsExpiredNotDisconnected) {
  World world;
  world.engine->join("s", {});
  LockAcquire acquire = bound_acquire_by("a", "s");
  acquire.lease = Millis{10};
  const LockGrant grant = world.get(acquire).value();
  world.advance(Millis{11});
  world.engine->leave("s");
  EXPECT_THAT(why(world.release(grant)), HasSubstr("expired"));
}

TEST(SessionTest, ReentryChangesNeitherSessionNorBinding) {
  World world;
  world.engine->join("s", {});
  world.engine->join("t", {});
  world.get(bound_acquire_by("a", "s"));
  EXPECT_EQ(2U, world.get(bound_acquire_by("a", "t"))->holds);
  EXPECT_EQ(3U, world.get(acquire_by("a"))->holds);
  world.engine->leave("t");
  EXPECT_TRUE(world.is_held());
  world.engine->leave("s");
  EXPECT_FALSE(world.is_held());

  world.acquire("a", "2");
  world.engine->join("s", {});
  world.get(bound_acquire_by("a", "s", "2"));
  world.engine->leave("s");
  EXPECT_TRUE(world.is_held("2"));
}

TEST(SessionTest, ItsEndServesThoseWhoWait) {
  World world;
  world.engine->join("s", {});
  world.get(bound_acquire_by("a", "s"));
  auto waiting = world.wait_for_lock("b");
  world.engine->leave("s");
  EXPECT_TRUE(waiting.reply().has_value());
}

TEST(SessionTest, ALockReleasedBeforeItsEndIsNotReleasedAgain) {
  World world;
  world.engine->join("s", {});
  world.release(world.get(bound_acquire_by("a", "s")).value());
  const auto before = world.frame_count();
  world.engine->leave("s");
  EXPECT_EQ(before, world.frame_count());
}

TEST(SessionTest, TheEndOfOneWithVeryManyLocksIsDoneInSlices) {
  World world;
  world.engine->join("s", {});
  for (int i = 0; i < 2000; ++i) {
    const std::string identifier = std::to_string(i);
    world.get(bound_acquire_by("a", "s", identifier));
  }
  const auto before = world.frame_count();
  world.engine->leave("s");
  EXPECT_LE(world.frame_count() - before, 1000U);
  EXPECT_EQ(world.now() + Millis{0}, world.engine->run_due());
  world.pass(Millis{0});
  EXPECT_EQ(before + 2000, world.frame_count());
  EXPECT_EQ("INVALID", word(world.engine->leave("s")));
}

TEST(SessionTest, LeavingWhatWasNotJoinedIsInvalid) {
  World world;
  EXPECT_EQ("INVALID", word(world.engine->leave("s")));
  world.engine->join("s", Millis{500});
  world.engine->leave("s");
  EXPECT_EQ("INVALID", word(world.engine->leave("s")));
}

TEST(SessionTest, NamesAndGracesHaveTheirLimits) {
  World world;
  EXPECT_EQ("INVALID", word(world.engine->join("", {})));
  EXPECT_EQ("INVALID", word(world.engine->join(std::string(256, 's'), {})));
  EXPECT_EQ("INVALID", word(world.engine->join("a\nb", {})));
  EXPECT_EQ("INVALID", word(world.engine->join("s", Millis{-1})));
  EXPECT_EQ("INVALID", word(world.engine->join("s", std::chrono::hours(24) + Millis{1})));
  EXPECT_EQ("INVALID", word(world.ask(bound_acquire_by("a", "s"))));
  EXPECT_EQ("OK", word(world.engine->join("s", std::chrono::hours(24))));
}

// --- deliveries that failed ---

TEST(UndeliveredTest, AGrantThatDidNotReachItsOwnerIsFreeAtOnce) {
  World world;
  const LockGrant grant = world.acquire("a");
  auto waiting = world.wait_for_lock("b");
  LockGiveBack release = release_of(grant.token);
  release.cause = ReleaseCause::kUndelivered;
  EXPECT_EQ(0U, world.get(release));
  EXPECT_TRUE(waiting.reply().has_value());
  EXPECT_THAT(why(world.release(grant)), HasSubstr("could not be delivered"));
}

TEST(UndeliveredTest, AReentryThatDidNotReachItsOwnerGivesBackItsOneHold) {
  World world;
  const LockGrant grant = world.acquire("a");
  world.acquire("a");
  LockGiveBack release = release_of(grant.token);
  release.cause = ReleaseCause::kUndelivered;
  EXPECT_EQ(1U, world.get(release));
  EXPECT_EQ(0U, world.release(grant));
}

}  // namespace
}  // namespace tenure
