#include "client/session_watch.h"

#include <gtest/gtest.h>

namespace tenure::client {
namespace {

// Lines are only told apart: nothing is dialled.
class Nowhere final : public Line::Exchange {
 public:
  Result<std::unique_ptr<Stream>> dial() override { return fail_with(ErrorCode::kUnavailable, "nowhere"); }
  [[nodiscard]] std::string address() const override { return "nowhere"; }
  void move_to(const std::string& /*address*/) override {}
  void move_on() override {}
  [[nodiscard]] Millis connect_timeout() const override { return Millis{0}; }
  Millis backoff(int /*failures*/) override { return Millis{0}; }
};

class SessionWatchTest : public ::testing::Test {
 protected:
  Nowhere nowhere_;
  Line one_{nowhere_, "", 0};
  Line two_{nowhere_, "", 0};
  SessionWatch graceless_{Millis{0}};
  SessionWatch graceful_{Millis{10'000}};
  // What is left of it when clocks run apart and calls take time.
  static constexpr Millis kUsable{10'000 - 500 - 10};
};

TEST_F(SessionWatchTest, NothingEndsThatHasNotBegun) {
  EXPECT_FALSE(graceless_.may_have_ended(Millis{100}));
  EXPECT_EQ(SessionWatch::kNever, graceless_.may_end_at());
}

TEST_F(SessionWatchTest, WithoutAGraceItEndsWithItsConnectionOnce) {
  graceless_.greeted(one_, Millis{1}, Millis{2});
  EXPECT_FALSE(graceless_.may_have_ended(Millis{100'000}));
  graceless_.broken(one_);
  EXPECT_TRUE(graceless_.may_have_ended(Millis{100'000}));
  EXPECT_FALSE(graceless_.may_have_ended(Millis{100'001}));
  graceless_.greeted(one_, Millis{100'002}, Millis{100'003});
  EXPECT_FALSE(graceless_.may_have_ended(Millis{100'004}));
}

TEST_F(SessionWatchTest, WithoutAGraceASecondConnectionKeepsItOnceBothWereThereTogether) {
  graceless_.greeted(one_, Millis{1}, Millis{2});
  graceless_.greeted(two_, Millis{3}, Millis{5});
  graceless_.answered(one_, Millis{5});  // asked when the second had joined
  graceless_.broken(one_);
  EXPECT_FALSE(graceless_.may_have_ended(Millis{6}));
  graceless_.broken(two_);
  EXPECT_TRUE(graceless_.may_have_ended(Millis{7}));
}

// The server was restarted: the first connection is made anew before the end of the second is noticed.
TEST_F(SessionWatchTest, AConnectionOfTheNextLifeDoesNotHideTheEndOfTheLast) {
  graceless_.greeted(one_, Millis{1}, Millis{2});
  graceless_.greeted(two_, Millis{1}, Millis{2});
  graceless_.answered(one_, Millis{3});
  graceless_.broken(one_);
  graceless_.greeted(one_, Millis{5}, Millis{6});
  EXPECT_FALSE(graceless_.may_have_ended(Millis{7}));
  graceless_.answered(one_, Millis{7});  // proves nothing of the last life
  graceless_.broken(two_);
  EXPECT_TRUE(graceless_.may_have_ended(Millis{8}));
  EXPECT_FALSE(graceless_.may_have_ended(Millis{9}));  // the next one goes on
  graceless_.broken(one_);
  EXPECT_TRUE(graceless_.may_have_ended(Millis{10}));
}

TEST_F(SessionWatchTest, AGraceIsCountedFromTheLastThatWasHeard) {
  graceful_.greeted(one_, Millis{1}, Millis{2});
  graceful_.answered(one_, Millis{1000});
  graceful_.broken(one_);
  EXPECT_EQ(Millis{1000} + kUsable, graceful_.may_end_at());
  EXPECT_FALSE(graceful_.may_have_ended(Millis{999} + kUsable));
  EXPECT_TRUE(graceful_.may_have_ended(Millis{1000} + kUsable));
}

TEST_F(SessionWatchTest, WhoJoinsAgainWithinTheGraceGoesOn) {
  graceful_.greeted(one_, Millis{1}, Millis{2});
  graceful_.broken(one_);
  graceful_.greeted(one_, Millis{5000}, Millis{5001});
  EXPECT_EQ(SessionWatch::kNever, graceful_.may_end_at());
  graceful_.broken(one_);
  EXPECT_EQ(Millis{5000} + kUsable, graceful_.may_end_at());
}

// The request to join was sent in time; when it was heard is not known.
TEST_F(SessionWatchTest, WhoJoinsAgainTooLateHasLostIt) {
  graceful_.greeted(one_, Millis{1}, Millis{2});
  graceful_.broken(one_);
  graceful_.greeted(one_, Millis{5000}, Millis{1} + kUsable);
  EXPECT_TRUE(graceful_.may_have_ended(Millis{1} + kUsable));
  EXPECT_FALSE(graceful_.may_have_ended(Millis{2} + kUsable));
}

TEST_F(SessionWatchTest, AShorterGraceCountsAtOnce) {
  graceful_.greeted(one_, Millis{1}, Millis{2});
  graceful_.set_grace(Millis{0});
  graceful_.broken(one_);
  EXPECT_TRUE(graceful_.may_have_ended(Millis{3}));
}

TEST_F(SessionWatchTest, AsksAtAThirdOfTheGraceWithinReason) {
  EXPECT_EQ(Millis{3000}, graceless_.question_interval());
  EXPECT_EQ(Millis{3000}, graceful_.question_interval());
  EXPECT_EQ(Millis{300}, SessionWatch(Millis{900}).question_interval());
  EXPECT_EQ(Millis{100}, SessionWatch(Millis{1}).question_interval());
}

}  // namespace
}  // namespace tenure::client
