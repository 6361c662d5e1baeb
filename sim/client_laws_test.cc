// The laws over what clients believe and ask can be broken, and then say so.
#include <functional>

#include <gtest/gtest.h>

#include "beliefs.h"
#include "call_law.h"

namespace tenure::sim {
namespace {

constexpr Token kToken{Fence{1}, 7};
constexpr Instant kExpiry{2000};
constexpr Instant kLater{2001};

std::string breach_by(const std::function<void()>& what) {
  try {
    what();
  } catch (const Breach& breach) {
    return breach.what();
  }
  return "";
}

record::LockGranted granted(Token token = kToken) {
  return {.space = "s", .domain = "d", .identifier = "i", .owner = "o", .token = token, .lease_expiry = kExpiry};
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
  EXPECT_EQ("", believer.breach_at(kExpiry));
  EXPECT_EQ("p believes to hold d::i by 1-0000000000000007 for 900 ms more, and its lease ended 1 ms ago",
            believer.breach_at(kLater));
  believer.clock.advance(Millis{899});
  EXPECT_NE("", believer.breach_at(kLater));
  believer.clock.advance(Millis{1});
  EXPECT_EQ("", believer.breach_at(kLater));
}

TEST(BeliefsTest, NoneIsHeldOfWhatHasExpired) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.see(record::LockExpired{"s", "d", "i", kToken});
  EXPECT_NE("", believer.breach_at(kLater));
  believer.beliefs.let_go(believer.number);
  EXPECT_EQ("", believer.breach_at(kLater));
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
  EXPECT_EQ("", believer.breach_at(kLater));
}

TEST(BeliefsTest, AnExtensionCounts) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.see(record::LockExtended{"s", "d", "i", kToken, kLater});
  EXPECT_EQ("", believer.breach_at(kLater));
}

TEST(BeliefsTest, NobodyCanKnowThatTheAuthoritysTimeWasSetAhead) {
  Believer believer;
  believer.beliefs.see(granted());
  believer.beliefs.leap();
  EXPECT_EQ("", believer.breach_at(kLater));
  believer.beliefs.prolong(believer.number, Millis{950}, believer.beliefs.basis());
  EXPECT_NE("", believer.breach_at(kLater)) << "what was asked for since is judged again";
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
  EXPECT_NE("", asker.breach(record::LockReentered{"s", "d", "i", kToken, 2, kExpiry}));
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
  EXPECT_EQ("", asker.breach(record::LockReentered{"s", "d", "i", kToken, 2, kExpiry}));
  asker.law.undo(asker.call);
  EXPECT_EQ("", asker.breach(record::LockReentered{"s", "d", "i", kToken, 2, kExpiry}));
}

TEST(CallLawTest, AnIdThatWasForgottenBindsNobody) {
  Asker asker;
  EXPECT_EQ("", asker.breach(record::TaskCreated{.task_id = "T1", .payload = ""}));
  asker.law.forget("r1");
  EXPECT_EQ("", asker.breach(record::TaskCreated{.task_id = "T2", .payload = ""}));
}

TEST(CallLawTest, WhatWasNotSentDoesNotArrive) {
  Asker asker;
  EXPECT_EQ("", breach_by([&] { asker.law.end_unsent(asker.call); }));
  asker.law.arrive("p", asker.request);
  EXPECT_NE("", breach_by([&] { asker.law.end_unsent(asker.call); }));
}

TEST(CallLawTest, WhoeverIsToldOfATaskHasMadeIt) {
  Asker asker;
  EXPECT_EQ("", asker.breach(record::TaskCreated{.task_id = "T1", .payload = ""}));
  asker.law.end_submitted(asker.call, "T1");
  EXPECT_EQ("", breach_by([&] { asker.law.finish(); }));
  asker.law.end_submitted(asker.call, "T2");
  EXPECT_NE("", breach_by([&] { asker.law.finish(); }));
}

}  // namespace
}  // namespace tenure::sim
