// Which records the work book refuses: each invariant by a record made by hand, and nothing changed by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

class WorkApplyTest : public testing::Test {
 protected:
  // Domain d: 1 is processed, 2 has failed, 3 is in flight under `token` until a minute from now, 5 and 4 wait.
  // Domain idle: 6 is processed, nothing in flight.
  WorkApplyTest() {
    record::WorkAcquired leased = acquired("d", 3, token);
    leased.lease_expiry = expiry;
    for (const Record& record :
         Records{acquired("d", 1, token_of(1)), record::WorkSucceeded{"d", token_of(1), Offset{1}},
                 acquired("d", 2, token_of(2)), record::WorkGivenUp{"d", token_of(2), Offset{2}},
                 acquired("idle", 6, token_of(3)),
                 record::WorkSucceeded{"idle", token_of(3), Offset{6}, RequestMark{"r", 1}}, leased,
                 record::WorkEnqueued{"d", Offset{5}}, record::WorkEnqueued{"d", Offset{4}}}) {
      EXPECT_EQ(nullptr, ledger.offer(record));
    }
  }

  Ledger ledger;
  const Token token = token_of(4);
  const Token other = token_of(4, 0xb2);
  const Instant expiry = ledger.now + kMinute;
};

TEST_F(WorkApplyTest, AnOffsetIsAcquiredUnderAHigherFence) {
  EXPECT_STREQ("fence must be greater than every earlier one", ledger.offer(acquired("new", 1, token_of(4))));
  EXPECT_EQ(nullptr, ledger.offer(acquired("new", 1, token_of(5))));
}

TEST_F(WorkApplyTest, AnOffsetIsAcquiredInAnIdleDomainInOrderAndOnce) {
  EXPECT_STREQ("domain must be idle", ledger.offer(acquired("d", 7, token_of(5))));
  EXPECT_STREQ("offset must not be done", ledger.offer(acquired("idle", 6, token_of(5))));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkSucceeded{"d", token, Offset{3}}));
  EXPECT_STREQ("offset must not be done", ledger.offer(acquired("d", 1, token_of(5))));
  EXPECT_STREQ("offset must not be done", ledger.offer(acquired("d", 2, token_of(5))));
  EXPECT_STREQ("offset must be the backlog's head", ledger.offer(acquired("d", 4, token_of(5))));
  EXPECT_EQ(nullptr, ledger.offer(acquired("d", 5, token_of(5))));
}

TEST_F(WorkApplyTest, AnOffsetBelowTheMarkIsDone) {
  EXPECT_EQ(nullptr, ledger.offer(record::WorkTrimmed{"idle", Offset{9}}));
  EXPECT_STREQ("offset must not be done", ledger.offer(acquired("idle", 8, token_of(5))));
  EXPECT_EQ(nullptr, ledger.offer(acquired("idle", 9, token_of(5))));
}

TEST_F(WorkApplyTest, AnOffsetWaitsOnceBehindAnother) {
  EXPECT_STREQ("domain must have a lease", ledger.offer(record::WorkEnqueued{"new", Offset{1}}));
  EXPECT_STREQ("domain must have a lease", ledger.offer(record::WorkEnqueued{"idle", Offset{7}}));
  EXPECT_STREQ("offset must not be in flight", ledger.offer(record::WorkEnqueued{"d", Offset{3}}));
  EXPECT_STREQ("offset must not be done", ledger.offer(record::WorkEnqueued{"d", Offset{1}}));
  EXPECT_STREQ("offset must not be done", ledger.offer(record::WorkEnqueued{"d", Offset{2}}));
  EXPECT_STREQ("offset must not be waiting", ledger.offer(record::WorkEnqueued{"d", Offset{4}}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkEnqueued{"d", Offset{7}}));
}

TEST_F(WorkApplyTest, OnlyTheLeaseSucceedsAndOnlyForItsOffset) {
  EXPECT_STREQ("domain must have a lease", ledger.offer(record::WorkSucceeded{"new", token, Offset{3}}));
  EXPECT_STREQ("domain must have a lease", ledger.offer(record::WorkSucceeded{"idle", token, Offset{3}}));
  EXPECT_STREQ("token must match the current lease", ledger.offer(record::WorkSucceeded{"d", other, Offset{3}}));
  EXPECT_STREQ("offset must be the one in flight", ledger.offer(record::WorkSucceeded{"d", token, Offset{4}}));
  EXPECT_STREQ("request id must be new",
               ledger.offer(record::WorkSucceeded{"d", token, Offset{3}, RequestMark{"r", 1}}));
  ledger.now = expiry + Millis{1};
  EXPECT_STREQ("lease must not be expired", ledger.offer(record::WorkSucceeded{"d", token, Offset{3}}));
}

TEST_F(WorkApplyTest, ARetryCountsOneUp) {
  EXPECT_STREQ("token must match the current lease", ledger.offer(record::WorkRetried{"d", other, Offset{3}, 1}));
  EXPECT_STREQ("offset must be the one in flight", ledger.offer(record::WorkRetried{"d", token, Offset{4}, 1}));
  EXPECT_STREQ("retry_count must be the previous one + 1", ledger.offer(record::WorkRetried{"d", token, Offset{3}, 0}));
  EXPECT_STREQ("retry_count must be the previous one + 1", ledger.offer(record::WorkRetried{"d", token, Offset{3}, 2}));
  EXPECT_STREQ("request id must be new",
               ledger.offer(record::WorkRetried{"d", token, Offset{3}, 1, {}, RequestMark{"r", 1}}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkRetried{"d", token, Offset{3}, 1, "why", RequestMark{"r2", 1}}));
}

TEST_F(WorkApplyTest, OnlyTheLeaseIsGivenUpAndOnlyForItsOffset) {
  EXPECT_STREQ("token must match the current lease", ledger.offer(record::WorkGivenUp{"d", other, Offset{3}}));
  EXPECT_STREQ("offset must be the one in flight", ledger.offer(record::WorkGivenUp{"d", token, Offset{4}}));
  EXPECT_STREQ("request id must be new",
               ledger.offer(record::WorkGivenUp{"d", token, Offset{3}, {}, RequestMark{"r", 1}}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkGivenUp{"d", token, Offset{3}, "why", RequestMark{"r2", 1}}));
}

TEST_F(WorkApplyTest, AnExtensionOnlyPutsTheExpiryOff) {
  EXPECT_STREQ("token must match the current lease", ledger.offer(record::WorkExtended{"d", other, expiry + kMinute}));
  EXPECT_STREQ("new expiry must be later than the current expiry",
               ledger.offer(record::WorkExtended{"d", token, expiry}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkExtended{"d", token, expiry + kMinute}));
}

TEST_F(WorkApplyTest, OnlyALeaseWhoseTimeIsOverExpires) {
  EXPECT_STREQ("domain must have a lease", ledger.offer(record::WorkExpired{"new", token, Offset{3}}));
  EXPECT_STREQ("domain must have a lease", ledger.offer(record::WorkExpired{"idle", token, Offset{3}}));
  EXPECT_STREQ("token must match the current lease", ledger.offer(record::WorkExpired{"d", other, Offset{3}}));
  EXPECT_STREQ("offset must be the one in flight", ledger.offer(record::WorkExpired{"d", token, Offset{4}}));
  ledger.now = expiry;
  EXPECT_STREQ("lease must be expired", ledger.offer(record::WorkExpired{"d", token, Offset{3}}));
  ledger.now = expiry + Millis{1};
  EXPECT_EQ(nullptr, ledger.offer(record::WorkExpired{"d", token, Offset{3}}));
}

TEST_F(WorkApplyTest, TheMarkRisesAndPassesNothingThatIsOpen) {
  EXPECT_STREQ("the mark must rise", ledger.offer(record::WorkTrimmed{"d", Offset{0}}));
  EXPECT_STREQ("the mark must not pass the offset in flight", ledger.offer(record::WorkTrimmed{"d", Offset{4}}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkTrimmed{"d", Offset{3}}));
  EXPECT_STREQ("the mark must rise", ledger.offer(record::WorkTrimmed{"d", Offset{3}}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkSucceeded{"d", token, Offset{3}}));
  EXPECT_STREQ("the mark must not pass the backlog", ledger.offer(record::WorkTrimmed{"d", Offset{5}}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkTrimmed{"d", Offset{4}}));
  EXPECT_EQ(nullptr, ledger.offer(record::WorkTrimmed{"new", Offset{0}}));
}

}  // namespace
}  // namespace tenure
