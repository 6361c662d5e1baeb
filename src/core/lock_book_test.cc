// What the lock book answers: each rule of design page 3, section 3.
#include "core/lock_book.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LockBookTest : public testing::Test {
 protected:
  static LockAcquire request(std::string_view identifier, std::string_view owner,
                             std::optional<std::string_view> request_id = {}) {
    LockAcquire acquire{};
    acquire.lock = {"d", identifier};
    acquire.owner = owner;
    acquire.request_id = request_id;
    return acquire;
  }
  Result<std::uint32_t> release(std::string_view identifier, std::string_view token,
                                std::optional<std::string_view> request_id = {},
                                ReleaseCause cause = ReleaseCause::kByHolder) {
    LockGiveBack give_back{};
    give_back.lock = {"d", identifier};
    give_back.token = token;
    give_back.request_id = request_id;
    give_back.cause = cause;
    return ledger.ask(give_back);
  }
  Result<LockExtended> extend(std::string_view identifier, std::string_view token, std::optional<Millis> lease = {}) {
    return ledger.ask(LockExtension{.lock = {"d", identifier}, .token = token, .lease = lease});
  }
  bool force(std::string_view identifier, std::optional<Fence> fence = {}) {
    return ledger.ask(LockForce{.lock = {"d", identifier}, .fence = fence}).value();
  }

  Ledger ledger;
};

TEST_F(LockBookTest, AFreeLockIsGranted) {
  const LockGrant grant = ledger.lock("i");
  EXPECT_THAT(ledger.last(), ElementsAre("LockGranted"));
  EXPECT_EQ(Fence{1}, grant.fence);
  EXPECT_EQ(1U, grant.holds);
  EXPECT_EQ(kMinute, grant.remaining);
  EXPECT_TRUE(grant.token.starts_with("1-"));
  const Lock& lock = *ledger.locks().find({"d", "i"});
  EXPECT_EQ("owner", lock.owner());
  EXPECT_EQ(1U, ledger.locks().locks());
}

TEST_F(LockBookTest, AHeldLockIsNotGrantedToAnother) {
  ledger.lock("i", "a");
  EXPECT_EQ(std::nullopt, ledger.ask(request("i", "b")).value());
  EXPECT_THAT(ledger.last(), IsEmpty());
}

TEST_F(LockBookTest, IdentityIsSpaceDomainAndIdentifier) {
  ledger.lock("i", "a");
  LockAcquire other = request("i", "b");
  other.lock.space = "other";
  EXPECT_TRUE(ledger.ask(other).value());
  other.lock = {"other", "i"};
  EXPECT_TRUE(ledger.ask(other).value());
  EXPECT_TRUE(ledger.ask(request("j", "b")).value());
  EXPECT_EQ(4U, ledger.locks().locks());
}

// Table hashes have 32 bits, so different locks meet in them. Finds two that do.
template <class NameOf>
std::pair<std::string, std::string> two_that_meet(const NameOf& name_of) {
  std::map<std::uint32_t, std::string> seen;
  for (int i = 0;; ++i) {
    const std::string text = std::to_string(i);
    const auto hash = static_cast<std::uint32_t>(LockBook::hash_of(name_of(text)));
    const auto [found, is_new] = seen.emplace(hash, text);
    if (!is_new) return {found->second, text};
  }
}

TEST_F(LockBookTest, LocksOfOneHashAreToldApart) {
  const auto by_identifier = [](std::string_view text) { return LockName{"d", text}; };
  const auto by_domain = [](std::string_view text) { return LockName{text, "i"}; };
  const auto by_space = [](std::string_view text) { return LockName{"d", "i", text}; };
  const auto told_apart = [&](const auto& name_of) {
    const auto [one, other] = two_that_meet(name_of);
    LockAcquire acquire = request("i", "a");
    acquire.lock = name_of(one);
    EXPECT_TRUE(ledger.ask(acquire).value());
    EXPECT_EQ(nullptr, ledger.locks().find(name_of(other)));
    acquire.lock = name_of(other);
    acquire.owner = "b";
    EXPECT_TRUE(ledger.ask(acquire).value());
    EXPECT_EQ("a", ledger.locks().find(name_of(one))->owner());
    EXPECT_EQ("b", ledger.locks().find(name_of(other))->owner());
  };
  told_apart(by_identifier);
  told_apart(by_domain);
  told_apart(by_space);
}

TEST_F(LockBookTest, NoLockHasANameThatIsTooLong) {
  const std::string name(256, 'n');
  ledger.lock("i");
  EXPECT_EQ(nullptr, ledger.locks().find({name, "i"}));
  EXPECT_EQ(nullptr, ledger.locks().find({"d", name}));
  EXPECT_EQ(nullptr, ledger.locks().find({"d", "i", name}));
}

TEST_F(LockBookTest, TheOwnerReenters) {
  const LockGrant first = ledger.lock("i", "a");
  ledger.advance(Millis{30'000});
  LockAcquire again = request("i", "a");
  again.lease = Millis{1};
  const auto second = ledger.ask(again).value();
  EXPECT_THAT(ledger.last(), ElementsAre("LockReentered"));
  EXPECT_EQ(first.token, second->token);
  EXPECT_EQ(first.fence, second->fence);
  EXPECT_EQ(2U, second->holds);
  EXPECT_EQ(Millis{30'000}, second->remaining);  // never shorter than it was
  again.lease = 2 * kMinute;
  EXPECT_EQ(2 * kMinute, ledger.ask(again).value()->remaining);
  EXPECT_EQ(2U, release("i", first.token).value());
  EXPECT_EQ(1U, release("i", first.token).value());
  EXPECT_EQ(0U, release("i", first.token).value());
  EXPECT_EQ(nullptr, ledger.locks().find({"d", "i"}));
  EXPECT_EQ(0U, ledger.locks().bytes());
}

TEST_F(LockBookTest, AnotherUserIsAnotherOwner) {
  LockAcquire mine = request("i", "a");
  mine.user = "u";
  ASSERT_TRUE(ledger.ask(mine).value());
  EXPECT_EQ(std::nullopt, ledger.ask(request("i", "a")).value());
  LockAcquire theirs = mine;
  theirs.user = "v";
  EXPECT_EQ(std::nullopt, ledger.ask(theirs).value());
  EXPECT_EQ(2U, ledger.ask(mine).value()->holds);
  ledger.lock("j", "a");
  LockAcquire with_user = request("j", "a");
  with_user.user = "u";
  EXPECT_EQ(std::nullopt, ledger.ask(with_user).value());
}

TEST_F(LockBookTest, HoldsAreLimited) {
  ledger.settings.holds_max = 2;
  ledger.lock("i");
  ledger.lock("i");
  EXPECT_EQ(ErrorCode::kBackpressure, ledger.ask(request("i", "owner")).error().code);
}

TEST_F(LockBookTest, FullMemoryRefusesNewLocksButNotReentryNorRelease) {
  const LockGrant grant = ledger.lock("i");
  ledger.settings.state_bytes_max = 1;
  EXPECT_EQ(ErrorCode::kBackpressure, ledger.ask(request("j", "a")).error().code);
  EXPECT_EQ(2U, ledger.lock("i").holds);
  EXPECT_EQ(1U, release("i", grant.token).value());
}

// --- repeats ---

TEST_F(LockBookTest, ARepeatedAcquireIsTheSameGrant) {
  const auto first = ledger.ask(request("i", "a", "r")).value();
  ledger.advance(Millis{10'000});
  const auto again = ledger.ask(request("i", "a", "r")).value();
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_EQ(first->token, again->token);
  EXPECT_EQ(1U, again->holds);
  EXPECT_EQ(Millis{50'000}, again->remaining);
  const auto second = ledger.ask(request("i", "a", "r2")).value();
  EXPECT_EQ(2U, second->holds);
  EXPECT_EQ(1U, ledger.ask(request("i", "a", "r")).value()->holds);  // as recorded
  EXPECT_EQ(2U, ledger.ask(request("i", "a", "r2")).value()->holds);
}

TEST_F(LockBookTest, ARequestIdBelongsToOneRequest) {
  const auto grant = ledger.ask(request("i", "a", "r")).value();
  EXPECT_EQ(ErrorCode::kInvalid, ledger.ask(request("j", "a", "r")).error().code);
  EXPECT_EQ(ErrorCode::kInvalid, ledger.ask(request("i", "b", "r")).error().code);
  LockAcquire elsewhere = request("i", "a", "r");
  elsewhere.lock.space = "other";
  EXPECT_EQ(ErrorCode::kInvalid, ledger.ask(elsewhere).error().code);
  EXPECT_EQ(ErrorCode::kInvalid, release("i", grant->token, "r").error().code);
}

TEST_F(LockBookTest, ARefusalIsNotRemembered) {
  const LockGrant held = ledger.lock("i", "a");
  EXPECT_EQ(std::nullopt, ledger.ask(request("i", "b", "r")).value());
  ASSERT_TRUE(release("i", held.token).has_value());
  EXPECT_TRUE(ledger.ask(request("i", "b", "r")).value().has_value());
}

TEST_F(LockBookTest, ARepeatedAcquireWhoseGrantHasEndedIsAnsweredAsItsRelease) {
  const auto grant = ledger.ask(request("i", "a", "r")).value();
  ASSERT_TRUE(release("i", grant->token).has_value());
  EXPECT_EQ(ErrorCode::kNotHeld, ledger.ask(request("i", "a", "r")).error().code);
  ledger.lock("i", "b");
  EXPECT_EQ(ErrorCode::kNotHeld, ledger.ask(request("i", "a", "r")).error().code);
  ASSERT_TRUE(force("i"));
  ASSERT_TRUE(ledger.ask(request("i", "a", "r2")).value());
  ledger.advance(2 * kMinute);
  EXPECT_EQ(ErrorCode::kExpired, ledger.ask(request("i", "a", "r2")).error().code);
}

TEST_F(LockBookTest, ARepeatedReleaseIsTheSameAnswer) {
  const LockGrant grant = ledger.lock("i", "a");
  ledger.lock("i", "a");
  EXPECT_EQ(1U, release("i", grant.token, "r1").value());
  EXPECT_EQ(0U, release("i", grant.token, "r2").value());
  EXPECT_EQ(1U, release("i", grant.token, "r1").value());
  ledger.lock("i", "b");
  EXPECT_EQ(0U, release("i", grant.token, "r2").value());  // and does not free the successor
  EXPECT_EQ("b", ledger.locks().find({"d", "i"})->owner());
}

// --- how a lease ends ---

TEST_F(LockBookTest, AReleaseNeedsTheHoldersToken) {
  EXPECT_EQ(ErrorCode::kNotHeld, release("i", "junk").error().code);
  const LockGrant old = ledger.lock("i", "a");
  EXPECT_EQ(ErrorCode::kNotHeld, release("i", "1-0000000000000000").error().code);
  EXPECT_EQ(ErrorCode::kNotHeld, release("i", "").error().code);
  EXPECT_EQ(0U, release("i", old.token).value());
  EXPECT_EQ(ErrorCode::kNotHeld, release("i", old.token).error().code);
  ledger.lock("i", "b");
  EXPECT_EQ(ErrorCode::kNotHeld, release("i", old.token).error().code);
  EXPECT_EQ(ErrorCode::kNotHeld, extend("i", old.token).error().code);
}

TEST_F(LockBookTest, ALeaseLostByTimeIsRememberedAsExpired) {
  const LockGrant grant = ledger.lock("i", "a");
  EXPECT_EQ(ledger.now + kMinute, ledger.locks().next_expiry());
  ledger.advance(kMinute);
  EXPECT_EQ(Millis{0}, LockBook::status(*ledger.locks().find({"d", "i"}), ledger.now + Millis{1}).remaining);
  ledger.advance(Millis{1});
  EXPECT_THAT(ledger.last(), ElementsAre("LockExpired"));
  const LockGrant next = ledger.lock("i", "b");
  EXPECT_GT(next.fence, grant.fence);
  const auto refused = release("i", grant.token);
  EXPECT_EQ(ErrorCode::kExpired, refused.error().code);
  EXPECT_THAT(refused.error().message, HasSubstr("its lease expired"));
  EXPECT_EQ(ErrorCode::kExpired, extend("i", grant.token).error().code);
  EXPECT_EQ(ErrorCode::kNotHeld, release("j", grant.token).error().code);  // unknown at another name
}

TEST_F(LockBookTest, ALeaseLostByForceSaysSo) {
  const LockGrant grant = ledger.lock("i", "a");
  EXPECT_FALSE(force("j"));
  EXPECT_FALSE(force("i", Fence{7}));
  EXPECT_THAT(ledger.last(), IsEmpty());
  EXPECT_TRUE(force("i", grant.fence));
  EXPECT_THAT(ledger.last(), ElementsAre("LockForced"));
  EXPECT_THAT(release("i", grant.token).error().message, HasSubstr("it was released by force"));
  ledger.lock("i", "b");
  EXPECT_TRUE(force("i"));
  EXPECT_GT(ledger.lock("i", "c").fence, Fence{2});
}

TEST_F(LockBookTest, AGrantThatCouldNotBeDeliveredIsReleased) {
  const LockGrant grant = ledger.lock("i", "a");
  ledger.lock("i", "a");
  // An undelivered re-entry gives back its one hold; the lease is not lost by it.
  EXPECT_EQ(1U, release("i", grant.token, {}, ReleaseCause::kUndelivered).value());
  EXPECT_EQ(0U, release("i", grant.token, {}, ReleaseCause::kUndelivered).value());
  const auto refused = release("i", grant.token);
  EXPECT_EQ(ErrorCode::kExpired, refused.error().code);
  EXPECT_THAT(refused.error().message, HasSubstr("its grant could not be delivered"));
}

TEST_F(LockBookTest, TheEndOfASessionReleasesItsLocks) {
  LockAcquire bound = request("i", "a");
  bound.session = "s1";
  bound.grace = Millis{500};
  const auto first = ledger.ask(bound).value();
  bound.lock.identifier = "j";
  bound.grace = Millis{700};
  ASSERT_TRUE(ledger.ask(bound).value());
  bound.lock.identifier = "k";
  bound.session = "s2";
  ASSERT_TRUE(ledger.ask(bound).value());
  ledger.lock("unbound");
  ASSERT_EQ(2U, ledger.lock("i", "a").holds);  // re-entry changes neither session nor binding
  EXPECT_THAT(ledger.locks().sessions(),
              ElementsAre(std::pair(std::string("s1"), Millis{700}), std::pair(std::string("s2"), Millis{700})));
  EXPECT_EQ(nullptr, ledger.locks().first_of("s3"));
  std::vector<std::string> released;
  while (const Lock* lock = ledger.locks().first_of("s1")) {
    released.emplace_back(lock->identifier());
    ledger.write(LockBook::decide_disconnection(*lock));
    EXPECT_THAT(ledger.last(), ElementsAre("LockReleased"));
  }
  EXPECT_THAT(released, ElementsAre("i", "j"));
  EXPECT_THAT(release("i", first->token).error().message, HasSubstr("its session ended"));
  EXPECT_EQ(1U, ledger.locks().sessions().size());
  EXPECT_EQ(2U, ledger.locks().locks());
}

// "the last given counts, after a restart the one in its latest LockGranted": also when that lock is no longer held.
TEST_F(LockBookTest, ASessionKeepsTheGraceOfItsLatestGrant) {
  LockAcquire bound = request("i", "a");
  bound.session = "s1";
  bound.grace = Millis{500};
  ASSERT_TRUE(ledger.ask(bound).value());
  bound.lock.identifier = "j";
  bound.grace = Millis{700};
  const auto latest = ledger.ask(bound).value();
  ASSERT_EQ(0U, release("j", latest->token).value());
  EXPECT_THAT(ledger.locks().sessions(), ElementsAre(std::pair(std::string("s1"), Millis{700})));
}

TEST_F(LockBookTest, ALostLeaseIsForgottenInTime) {
  const LockGrant grant = ledger.lock("i", "a");
  ASSERT_TRUE(force("i"));
  ledger.advance(std::chrono::hours(1));
  EXPECT_EQ(ErrorCode::kExpired, release("i", grant.token).error().code);
  ledger.advance(Millis{1});
  EXPECT_THAT(ledger.last(), ElementsAre("Forgotten"));
  EXPECT_EQ(ErrorCode::kNotHeld, release("i", grant.token).error().code);
  ASSERT_TRUE(ledger.ask(request("i", "a", "r")).value());
  ledger.advance(2 * kMinute);
  EXPECT_EQ(2U, ledger.locks().archive().count());  // the answer, and the lease that expired
  ledger.advance(std::chrono::hours(2));
  EXPECT_EQ(0U, ledger.locks().archive().count());
}

// --- extension ---

TEST_F(LockBookTest, AnExtensionNeverShortens) {
  const LockGrant grant = ledger.lock("i", "a");
  ledger.advance(Millis{20'000});
  EXPECT_EQ(Millis{40'000}, extend("i", grant.token, Millis{1}).value().remaining);
  EXPECT_THAT(ledger.last(), IsEmpty());
  const auto extended = extend("i", grant.token).value();  // the grant's minute
  EXPECT_THAT(ledger.last(), ElementsAre("LockExtended"));
  EXPECT_EQ(kMinute, extended.remaining);
  EXPECT_EQ(grant.fence, extended.fence);
  ledger.advance(kMinute);
  EXPECT_EQ(1U, ledger.locks().locks());
  ledger.advance(Millis{1});
  EXPECT_EQ(0U, ledger.locks().locks());
  EXPECT_EQ(ErrorCode::kExpired, extend("i", grant.token).error().code);  // never resurrects
}

// --- views ---

TEST_F(LockBookTest, LocksAreListedBySpaceAndDomain) {
  for (int i = 0; i < 20; ++i) ledger.lock("i" + std::to_string(i));
  LockAcquire other = request("x", "a");
  other.lock.space = "other";
  ASSERT_TRUE(ledger.ask(other).value());
  other.lock = {"e", "x"};
  other.lease = Millis{5};
  ASSERT_TRUE(ledger.ask(other).value());
  const auto list = [&](const LockListing& listing, Instant now) {
    std::size_t found = 0;
    std::string cursor = "0";
    do {
      LockListing page_of = listing;
      page_of.paging = {.count = 3, .cursor = cursor};
      const auto page = ledger.locks().list(page_of, now).value();
      found += page.locks.size();
      cursor = page.cursor;
    } while (cursor != "0");
    return found;
  };
  EXPECT_EQ(20U, list({.domain = "d"}, ledger.now));
  EXPECT_EQ(21U, list({}, ledger.now));
  EXPECT_EQ(1U, list({.space = "other"}, ledger.now));
  EXPECT_EQ(0U, list({.domain = "none"}, ledger.now));
  EXPECT_EQ(0U, list({.domain = "e"}, ledger.now + Millis{6}));  // its time is over
  EXPECT_EQ(ErrorCode::kInvalid, ledger.locks().list({.paging = {.cursor = "x"}}, ledger.now).error().code);
}

TEST_F(LockBookTest, AStatusShowsTheHolder) {
  const LockGrant grant = ledger.lock("i", "a");
  const LockStatus status = LockBook::status(*ledger.locks().find({"d", "i"}), ledger.now + Millis{1000});
  EXPECT_EQ("d", status.domain);
  EXPECT_EQ("i", status.identifier);
  EXPECT_EQ("a", status.owner);
  EXPECT_EQ(grant.fence, status.fence);
  EXPECT_EQ(1U, status.holds);
  EXPECT_EQ(ledger.now, status.granted_at);
  EXPECT_EQ(ledger.now + kMinute, status.expires_at);
  EXPECT_EQ(Millis{59'000}, status.remaining);
}

}  // namespace
}  // namespace tenure
