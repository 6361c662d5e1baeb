// Which records the lock book refuses: each invariant by a record made by hand, and nothing changed by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

const std::string kLong(256, 'n');

class LockApplyTest : public testing::Test {
 protected:
  // Lock s/d/i is held under `token` until a minute from now.
  LockApplyTest() {
    record::LockGranted grant = lock_granted("i", token, expiry);
    grant.request = RequestMark{"r", 1};
    EXPECT_EQ(nullptr, ledger.offer(grant));
  }

  record::LockReleased released(std::uint32_t holds, ReleaseCause cause = ReleaseCause::kByHolder) const {
    return {"s", "d", "i", token, holds, cause};
  }

  Ledger ledger;
  const Token token = token_of(4);
  const Token other = token_of(4, 0xb2);
  const Instant expiry = ledger.now + kMinute;
};

TEST_F(LockApplyTest, OnlyAFreeLockIsGrantedAndUnderAHigherFence) {
  EXPECT_STREQ("lock must be free", ledger.offer(lock_granted("i", token_of(5), expiry)));
  EXPECT_STREQ("fence must be greater than every earlier one", ledger.offer(lock_granted("j", token_of(4), expiry)));
  record::LockGranted grant = lock_granted("j", token_of(5), expiry);
  grant.request = RequestMark{"r", 1};
  EXPECT_STREQ("request id must be new", ledger.offer(grant));
}

TEST_F(LockApplyTest, EveryNameOfALockIsLimited) {
  record::LockGranted good = lock_granted("j", token_of(5), expiry);
  good.user = "u";
  good.session = "c";
  for (const auto member : {&record::LockGranted::space, &record::LockGranted::domain, &record::LockGranted::identifier,
                            &record::LockGranted::owner}) {
    record::LockGranted bad = good;
    bad.*member = kLong;
    EXPECT_STREQ("a name must have at most 255 bytes", ledger.offer(bad));
  }
  for (const auto member : {&record::LockGranted::user, &record::LockGranted::session}) {
    record::LockGranted bad = good;
    bad.*member = kLong;
    EXPECT_STREQ("a name must have at most 255 bytes", ledger.offer(bad));
  }
  const std::string_view longest = std::string_view(kLong).substr(1);
  good.space = good.domain = good.identifier = good.owner = longest;
  good.user = good.session = longest;
  EXPECT_EQ(nullptr, ledger.offer(good));
  const Lock* lock = ledger.locks().find({longest, longest, longest});
  ASSERT_NE(nullptr, lock);
  EXPECT_EQ(longest, lock->session());
}

TEST_F(LockApplyTest, OnlyTheHolderReenters) {
  EXPECT_STREQ("lock must be held", ledger.offer(record::LockReentered{"s", "d", "j", token, 2, expiry}));
  EXPECT_STREQ("token must be the holder's", ledger.offer(record::LockReentered{"s", "d", "i", other, 2, expiry}));
  EXPECT_STREQ("holds must be the previous holds + 1",
               ledger.offer(record::LockReentered{"s", "d", "i", token, 1, expiry}));
  EXPECT_STREQ("expiry must not be earlier than the current expiry",
               ledger.offer(record::LockReentered{"s", "d", "i", token, 2, Instant{expiry.ms - 1}}));
  EXPECT_STREQ("request id must be new",
               ledger.offer(record::LockReentered{"s", "d", "i", token, 2, expiry, RequestMark{"r", 1}}));
  EXPECT_EQ(nullptr, ledger.offer(record::LockReentered{"s", "d", "i", token, 2, expiry}));
  ledger.now = expiry + Millis{1};
  EXPECT_STREQ("lease must not be expired",
               ledger.offer(record::LockReentered{"s", "d", "i", token, 3, expiry + kMinute}));
}

TEST_F(LockApplyTest, AnExtensionOnlyPutsTheExpiryOff) {
  EXPECT_STREQ("lock must be held", ledger.offer(record::LockExtended{"s", "d", "j", token, expiry}));
  EXPECT_STREQ("new expiry must be later than the current expiry",
               ledger.offer(record::LockExtended{"s", "d", "i", token, expiry}));
  EXPECT_EQ(nullptr, ledger.offer(record::LockExtended{"s", "d", "i", token, expiry + Millis{1}}));
}

TEST_F(LockApplyTest, AReleaseGivesBackOneHold) {
  EXPECT_STREQ("holds must be the previous holds - 1", ledger.offer(released(1)));
  EXPECT_STREQ("holds must be the previous holds - 1", ledger.offer(released(1, ReleaseCause::kUndelivered)));
  EXPECT_EQ(nullptr, ledger.offer(record::LockReentered{"s", "d", "i", token, 2, expiry}));
  EXPECT_STREQ("holds must be the previous holds - 1", ledger.offer(released(0)));
  EXPECT_STREQ("a session's end must leave no hold", ledger.offer(released(1, ReleaseCause::kDisconnected)));
  record::LockReleased again = released(1);
  again.request = RequestMark{"r", 1};
  EXPECT_STREQ("request id must be new", ledger.offer(again));
  EXPECT_EQ(nullptr, ledger.offer(released(0, ReleaseCause::kDisconnected)));
  EXPECT_STREQ("lock must be held", ledger.offer(released(0)));
}

TEST_F(LockApplyTest, OnlyALeaseWhoseTimeIsOverExpires) {
  EXPECT_STREQ("lock must be held", ledger.offer(record::LockExpired{"s", "d", "j", token}));
  EXPECT_STREQ("token must be the holder's", ledger.offer(record::LockExpired{"s", "d", "i", other}));
  ledger.now = expiry;
  EXPECT_STREQ("lease must be expired", ledger.offer(record::LockExpired{"s", "d", "i", token}));
  ledger.now = expiry + Millis{1};
  EXPECT_EQ(nullptr, ledger.offer(record::LockExpired{"s", "d", "i", token}));
}

TEST_F(LockApplyTest, OnlyAHeldLockIsForced) {
  EXPECT_STREQ("lock must be held", ledger.offer(record::LockForced{"s", "d", "j", token}));
  EXPECT_STREQ("token must be the holder's", ledger.offer(record::LockForced{"s", "d", "i", other}));
  EXPECT_EQ(nullptr, ledger.offer(record::LockForced{"s", "d", "i", token}));
}

TEST_F(LockApplyTest, OnlyTheOldestIsForgotten) {
  EXPECT_EQ(nullptr, ledger.offer(record::LockForced{"s", "d", "i", token}));
  EXPECT_STREQ("what is forgotten must be the oldest",
               ledger.offer(record::Forgotten{Remembered::kLostLease, token.text()}));
  EXPECT_STREQ("the lost lease must be remembered",
               ledger.offer(record::Forgotten{Remembered::kLostLease, other.text()}));
  EXPECT_EQ(nullptr, ledger.offer(record::Forgotten{Remembered::kLockRequest, "r"}));
  EXPECT_EQ(nullptr, ledger.offer(record::Forgotten{Remembered::kLostLease, token.text()}));
  EXPECT_EQ(0U, ledger.locks().bytes());
}

struct CountingWatch final : LockWatch {
  void on_held(std::string_view domain) override { held += domain; }
  void on_freed(std::string_view domain, Millis after, bool has_expired) override {
    freed += fmt::format("{} after {}{} ", domain, after.count(), has_expired ? " expired" : "");
  }
  std::string held;
  std::string freed;
};

TEST_F(LockApplyTest, WhoWatchesIsToldOfWhatIsHeldAndWhatIsFreed) {
  CountingWatch watch;
  ledger.locks().watch(&watch);
  EXPECT_EQ("d", watch.held) << "held before";
  EXPECT_EQ(nullptr, ledger.offer(lock_granted("j", token_of(5), expiry)));
  EXPECT_EQ("dd", watch.held);
  ledger.now = ledger.now + Millis{7};
  EXPECT_EQ(nullptr, ledger.offer(released(0)));
  ledger.now = expiry + Millis{1};
  EXPECT_EQ(nullptr, ledger.offer(record::LockExpired{"s", "d", "j", token_of(5)}));
  EXPECT_EQ("d after 7 d after 60001 expired ", watch.freed);
  ledger.locks().watch(nullptr);
  EXPECT_EQ(nullptr, ledger.offer(lock_granted("k", token_of(6), ledger.now + kMinute)));
  EXPECT_EQ("dd", watch.held);
}

}  // namespace
}  // namespace tenure
