#include "client/local_lease.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure {
namespace {

constexpr Millis kLease{60'000};

TEST(LocalLeaseTest, IsCountedFromBeforeTheRequestWasSent) {
  const Asked asked{.sent = Millis{1'000}, .answered = Millis{9'000}};
  EXPECT_EQ(Millis{1'000} + kLease - Millis{50}, local_deadline(asked, kLease, Millis{50}));
}

TEST(LocalLeaseTest, GivesAwayATwentiethAtMostASecondAndAThousandth) {
  EXPECT_EQ(Millis{51}, margin_of(Millis{1'000}));
  EXPECT_EQ(Millis{1'060}, margin_of(kLease));
  EXPECT_EQ(Millis{1'000 + 86'400}, margin_of(std::chrono::hours(24)));
}

TEST(LocalLeaseTest, GivesAwayMoreOfWhatWasExtended) {
  EXPECT_EQ(margin_of(kLease), margin_of(kLease, Millis{5}));
  EXPECT_EQ(margin_of(std::chrono::hours(24)), margin_of(kLease, std::chrono::hours(24)));
}

TEST(LocalLeaseTest, GivesAwayHalfOfAShortOneAtMost) {
  EXPECT_EQ(Millis{0}, margin_of(Millis{1}));
  EXPECT_EQ(Millis{1}, margin_of(Millis{2}));
  EXPECT_EQ(Millis{1}, margin_of(Millis{20}));
}

// Both clocks may be wrong by a two-thousandth, in opposite directions.
RC_GTEST_PROP(LocalLeaseTest, EndsBeforeTheAuthoritysLeaseThoughClocksRunApart, ()) {
  const auto lease = *rc::gen::inRange<std::int64_t>(2, 24LL * 3'600'000);
  const auto under_way = *rc::gen::inRange<std::int64_t>(0, 100'000);
  const Asked asked{.sent = Millis{0}, .answered = Millis{under_way}};
  const Millis deadline = local_deadline(asked, Millis{lease}, margin_of(Millis{lease}));
  // By the authority's clock, which gains a thousandth on the holder's, from the earliest instant of the grant.
  const double at_deadline = static_cast<double>(deadline.count()) * 1.001;
  RC_ASSERT(at_deadline <= static_cast<double>(lease));
}

TEST(LocalLeaseTest, IsCountedAnewAfterAWait) {
  EXPECT_FALSE(is_worth_counting_anew({.sent = Millis{0}, .answered = Millis{50}}, Millis{50}));
  EXPECT_TRUE(is_worth_counting_anew({.sent = Millis{0}, .answered = Millis{51}}, Millis{50}));
}

TEST(LocalLeaseTest, IsRenewedAfterAThird) {
  EXPECT_EQ(Millis{120}, first_renewal(Millis{100}, Millis{60}, Millis{300}));
  EXPECT_EQ(Millis{200}, next_renewal(Millis{100}, Millis{300}));
  EXPECT_EQ(Millis{101}, next_renewal(Millis{100}, Millis{2}));
  EXPECT_EQ(Millis{125}, renewal_after_failure(Millis{100}, Millis{300}));
}

}  // namespace
}  // namespace tenure
