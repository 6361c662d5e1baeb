// The laws over what clients believe and ask can be broken, and then say so.
#include <functional>

#include <gtest/gtest.h>

#include "beliefs.h"
#include "call_law.h"

namespace tenure::sim {
namespace {

constexpr Token kToken{Fence{1}, 7};
constexpr Instant kBelievedExpiry{2000};
constexpr Instant kAfterExpiry{2001};

std::string breach_by(const std::function<void()>& what) {
  try {
    what();
  } catch (const Breach& breach) {
    return breach.what();
  }
  return "";
}

record::LockGranted granted(Token token = kToken) {
  return {
      .space = "s", .domain = "d", .identifier = "i", .owner = "o", .token = token, .lease_expiry = kBelievedExpiry};
}

record::TaskCreated created(std::string_view id) {
  return {.task_id = id, .payload = "", .retry_policy = {.retries = 3}};
}

// Somebody who believes until 900 by its own clock.
struct Believer {
  ManualClock clock;
  Beliefs beliefs;
  Beliefs::Number number = beliefs.hold({.who = "p",
                                         .what = "d::i",
                                         .token = kToken,
                                         .clock = &clock,
                                         .deadline = Millis{900},
                                         .basis = beliefs.basis()});

  std::string breach_at(Instant now) {
    return breach_by([&] { beliefs.check(now); });
  }
};

TEST(BeliefsTest, NoneOutlivesItsLease) {
  Believer believer;
  believer.beliefs.see(granted());
  EXPECT_EQ("", believer.breach_at(kBelievedExpiry));
  EXPECT_EQ("p believes to hold d::i by 1-0000000000000007 for 900 ms more, and its lease ended 1 ms ago",
            believer.breach_at(kAfterExpiry));
  believer.clock.advance(Millis{899});
  EXPECT_NE("", believer.breach_at(kAfterExpiry));
  believer.clock.advance(Millis{1});
  EXPECT_EQ("", believer.breach_at(kAfterExpiry));
}

TEST(BeliefsTest, NoneIsHeldOfWhatHasExpired) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.see(record::LockExpired{"s", "d", "i", kToken});
  EXPECT_NE("", believer.breach_at(kAfterExpiry));
  believer.beliefs.let_go(believer.number);
  EXPECT_EQ("", believer.breach_at(kAfterExpiry));
}

TEST(BeliefsTest, NoneIsHeldOfWhatWasGivenBackForItsHolder) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.see(record::LockReleased{"s", "d", "i", kToken, 0, ReleaseCause::kUndelivered});
  EXPECT_NE("", believer.breach_at(Instant{1000}));
}

TEST(BeliefsTest, WhatIsTakenAwayByForceMayBeBelieved) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.see(record::LockForced{"s", "d", "i", kToken});
  EXPECT_EQ("", believer.breach_at(kAfterExpiry));
}

TEST(BeliefsTest, AnExtensionCounts) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.see(record::LockExtended{"s", "d", "i", kToken, kAfterExpiry});
  EXPECT_EQ("", believer.breach_at(kAfterExpiry));
}

TEST(BeliefsTest, NobodyCanKnowThatTheAuthoritysTimeWasSetAhead) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.leap();
  EXPECT_EQ("", believer.breach_at(kAfterExpiry));
  believer.beliefs.prolong(believer.number, Millis{950}, believer.beliefs.basis());
  EXPECT_NE("", believer.breach_at(kAfterExpiry)) << "what was asked for since is judged again";
}

// A program that acquires a lock.
struct Asker {
  CallLaw law;
  LockAcquire request = [] {
    LockAcquire acquire;
    acquire.lock = {"d", "i"};
    acquire.owner = "o";
    acquire.request_id = "r1";
    return acquire;
  }();
  CallLaw::Number call = law.begin("p");

  Asker() { law.ask(call, "p", request); }
  std::string breach(const Record& record) {
    return breach_by([&] { law.see(call, record); });
  }
};

TEST(CallLawTest, ACallHasOneEffect) {
  Asker asker;
  EXPECT_EQ(asker.call, asker.law.arrive("p", asker.request));
  EXPECT_EQ("", asker.breach(granted()));
  EXPECT_TRUE(asker.law.has_effect(asker.call));
  EXPECT_NE("", asker.breach(record::LockReentered{"s", "d", "i", kToken, 2, kBelievedExpiry}));
}

TEST(CallLawTest, AGrantThatHasEndedMayBeFollowedByAnother) {
  Asker asker;
  EXPECT_EQ("", asker.breach(granted()));
  asker.law.end(kToken);
  EXPECT_EQ("", asker.breach(granted(Token{Fence{2}, 8})));
  EXPECT_NE("", asker.breach(granted(Token{Fence{3}, 9})));
}

TEST(CallLawTest, WhatWasGivenBackMayBeGrantedAgain) {
  Asker asker;
  EXPECT_EQ("", asker.breach(record::LockReentered{"s", "d", "i", kToken, 2, kBelievedExpiry}));
  asker.law.undo(asker.call);
  EXPECT_EQ("", asker.breach(record::LockReentered{"s", "d", "i", kToken, 2, kBelievedExpiry}));
}

TEST(CallLawTest, AnIdThatWasForgottenBindsNobody) {
  Asker asker;
  EXPECT_EQ("", asker.breach(created("T1")));
  asker.law.forget("r1");
  EXPECT_EQ("", asker.breach(created("T2")));
}

TEST(CallLawTest, WhatWasNotSentDoesNotArrive) {
  Asker asker;
  EXPECT_EQ("", breach_by([&] { asker.law.end_unsent(asker.call); }));
  asker.law.arrive("p", asker.request);
  EXPECT_NE("", breach_by([&] { asker.law.end_unsent(asker.call); }));
}

TEST(CallLawTest, WhoeverIsToldOfATaskHasMadeIt) {
  Asker asker;
  EXPECT_EQ("", asker.breach(created("T1")));
  asker.law.end_submitted(asker.call, "T1");
  EXPECT_EQ("", breach_by([&] { asker.law.finish(); }));
  asker.law.end_submitted(asker.call, "T2");
  EXPECT_NE("", breach_by([&] { asker.law.finish(); }));
}

}  // namespace
}  // namespace tenure::sim
