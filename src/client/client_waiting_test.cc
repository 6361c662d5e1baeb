// What waits, what locks, and sessions, against a server that the test plays.
#include <future>
#include <stop_token>

#include <gmock/gmock.h>

#include "client/testing.h"

namespace tenure::client {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// --- waits ---

TEST_F(ClientTest, AFreeLockNeedsNoConnectionOfItsOwn) {
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong); });
  Peer shared = town_.next_greeted();
  EXPECT_EQ("", value_of("WAIT", shared.answer(kGrant)));
  EXPECT_EQ("7-token", grant.get().value().token);
  EXPECT_THAT(town_.addresses(), ElementsAre("here:1"));
}

TEST_F(ClientTest, ALockThatIsWaitedForIsTheSameRequest) {
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong); });
  Peer shared = town_.next_greeted();
  const std::string first = shared.answer(kNil);
  Peer waiting = town_.next_greeted();
  EXPECT_EQ(value_of("REQUEST", first), value_of("REQUEST", waiting.answer(kGrant)));
  EXPECT_TRUE(grant.get().has_value());
}

TEST_F(ClientTest, AWaitThatIsStoppedBeforeItIsSentIsOver) {
  town_.refuse(1'000'000);
  std::stop_source stop;
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong, stop.get_token()); });
  stop.request_stop();
  EXPECT_EQ(std::nullopt, grant.get());
}

TEST_F(ClientTest, AStoppedWaitIsNotHeldUpByAServerThatIsSilent) {
  auto quick = settings();
  quick.timeout = 50ms;
  client_ = make(quick);
  std::stop_source stop;
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong, stop.get_token()); });
  Peer shared = town_.next_greeted();
  shared.hear();
  stop.request_stop();
  EXPECT_THROW(grant.get(), LockAcquisitionError);
}

TEST_F(ClientTest, AWaitHoldsUpNobody) {
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong); });
  Peer shared = town_.next_greeted();
  Peer waiting = next_waiting(shared);
  EXPECT_THAT(waiting.hear(), HasSubstr("|WAIT|"));
  auto status = start([&] { return client_->locks().get(lock_); });
  EXPECT_EQ("LOCK.GET|d|i", shared.answer(kNil));
  status.get();
  waiting.say(kGrant);
  EXPECT_EQ("7-token", grant.get().value().token);
  // The connection waits for the next.
  auto leases = start([&] { return client_->tasks().lease({.worker = "w", .queues = {"q"}}, kLong); });
  EXPECT_THAT(waiting.answer("*0\r\n"), StartsWith("TASK.LEASE|w|1|q|REQUEST|"));
  EXPECT_TRUE(leases.get().empty());
}

TEST_F(ClientTest, MoreWaitsThanAllowedAreRefused) {
  ClientSettings few = settings();
  few.waiting_connections_max = 1;
  const auto client = make(few);
  std::stop_source stop;
  auto waiting = start([&] { return client->locks().acquire({.lock = lock_, .owner = "o"}, kLong, stop.get_token()); });
  Peer shared = town_.next_greeted();
  Peer peer = next_waiting(shared);
  peer.hear();
  EXPECT_THROW(client->tasks().lease({.worker = "w", .queues = {"q"}}, kLong), Backpressure);
  stop.request_stop();  // which takes a second connection for a moment
  Peer other = town_.next_greeted();
  other.answer(kNil);
  EXPECT_FALSE(waiting.get().has_value());
}

TEST_F(ClientTest, AWaitThatIsBrokenGoesOnForWhatIsLeft) {
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong); });
  Peer shared = town_.next_greeted();
  Peer first = next_waiting(shared);
  const std::string request = first.hear();
  first.hang_up();
  Peer second = town_.next_greeted();
  const std::string again = second.answer(kGrant);
  EXPECT_EQ(value_of("REQUEST", request), value_of("REQUEST", again));
  EXPECT_LE(std::stoll(value_of("WAIT", again)), std::stoll(value_of("WAIT", request)));
  EXPECT_GT(std::stoll(value_of("WAIT", again)), Millis{5min}.count());
  EXPECT_TRUE(grant.get().has_value());
}

TEST_F(ClientTest, AWaitSurvivesThatAnotherNodeLeads) {
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong); });
  Peer shared = town_.next_greeted();
  Peer first = next_waiting(shared);
  const std::string request = first.answer("-UNAVAILABLE this node leads no more\r\n");
  EXPECT_EQ(value_of("REQUEST", request), value_of("REQUEST", town_.next_greeted().answer("-MOVED 0 leader:9\r\n")));
  const std::string again = town_.next_greeted().answer(kGrant);
  EXPECT_EQ(value_of("REQUEST", request), value_of("REQUEST", again));
  EXPECT_GT(std::stoll(value_of("WAIT", again)), Millis{5min}.count());
  EXPECT_TRUE(grant.get().has_value());
  EXPECT_EQ("leader:9", town_.addresses().back());
}

TEST_F(ClientTest, AWaitThatIsStoppedIsTakenBack) {
  std::stop_source stop;
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong, stop.get_token()); });
  Peer shared = town_.next_greeted();
  Peer waiting = next_waiting(shared);
  const std::string request = waiting.hear();
  stop.request_stop();
  Peer other = town_.next_greeted();
  const std::string last = other.hear();
  EXPECT_EQ(value_of("REQUEST", request), value_of("REQUEST", last));
  EXPECT_EQ("1", value_of("WAIT", last));
  waiting.say(kNil);
  other.say(kNil);
  EXPECT_EQ(std::nullopt, grant.get());
}

TEST_F(ClientTest, WhatAStoppedWaitWasGrantedIsItsAnswer) {
  std::stop_source stop;
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}, kLong, stop.get_token()); });
  Peer shared = town_.next_greeted();
  Peer waiting = next_waiting(shared);
  waiting.hear();
  stop.request_stop();
  Peer other = town_.next_greeted();
  other.answer(kGrant);
  EXPECT_EQ(Fence{7}, grant.get().value().fence);
}

TEST_F(ClientTest, AWaitForATaskThatIsStoppedHangsUp) {
  std::stop_source stop;
  auto status = start([&] { return client_->tasks().wait("t", kLong, stop.get_token()); });
  Peer waiting = town_.next_greeted();
  EXPECT_THAT(waiting.hear(), StartsWith("TASK.WAIT|t|BLOCK|"));
  stop.request_stop();
  EXPECT_EQ(std::nullopt, status.get());
  EXPECT_EQ("", waiting.hear());
}

TEST_F(ClientTest, AWaitThatWasStoppedBeforeItBeganIsOver) {
  town_.refuse(1'000'000);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(client_->tasks().lease({.worker = "w", .queues = {"q"}}, kLong, stop.get_token()).empty());
}

// --- locks ---

TEST_F(ClientTest, AGrantThatEndedBeforeItWasKnownIsAskedForAnew) {
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o"}); });
  Peer first = town_.next_greeted();
  const std::string request = first.hear();
  first.hang_up();
  Peer second = town_.next_greeted();
  EXPECT_EQ(request, second.answer("-EXPIRED disconnected\r\n"));
  const std::string anew = second.answer(kGrant);
  EXPECT_NE(value_of("REQUEST", request), value_of("REQUEST", anew));
  EXPECT_TRUE(grant.get().has_value());
}

std::string status_of(std::string_view owner, int fence) {
  return fmt::format("%9\r\n{}{}{}{}{}{}{}:{}\r\n{}:1\r\n{}:1\r\n{}:2\r\n{}:1\r\n{}:0\r\n", bulk("domain"), bulk("d"),
                     bulk("identifier"), bulk("i"), bulk("owner"), bulk(owner), bulk("fence"), fence, bulk("holds"),
                     bulk("granted_at"), bulk("expires_at"), bulk("remaining_ms"), bulk("waiters"));
}

TEST_F(ClientTest, AForceNamesTheFenceSoThatItFreesOnce) {
  auto forced = start([&] { return client_->locks().force(lock_); });
  Peer first = town_.next_greeted();
  EXPECT_EQ("LOCK.GET|d|i", first.answer(status_of("o", 7)));
  EXPECT_EQ("LOCK.FORCE|d|i|FENCE|7", first.hear());
  first.hang_up();
  EXPECT_EQ("LOCK.FORCE|d|i|FENCE|7", town_.next_greeted().answer(":0\r\n"));
  EXPECT_TRUE(forced.get());
}

TEST_F(ClientTest, AForceFollowsTheLockToItsNextHolder) {
  auto forced = start([&] { return client_->locks().force(lock_); });
  Peer peer = town_.next_greeted();
  peer.answer(status_of("o", 7));
  EXPECT_EQ("LOCK.FORCE|d|i|FENCE|7", peer.answer(":0\r\n"));
  peer.answer(status_of("o", 8));
  EXPECT_EQ("LOCK.FORCE|d|i|FENCE|8", peer.answer(":1\r\n"));
  EXPECT_TRUE(forced.get());
}

TEST_F(ClientTest, AForceWithAFenceWhoseAnswerIsLostIsUnknown) {
  auto forced =
      start([&] { return message_of<LockAcquisitionError>([&] { client_->locks().force(lock_, Fence{7}); }); });
  Peer first = town_.next_greeted();
  first.hear();
  first.hang_up();
  EXPECT_EQ("LOCK.FORCE|d|i|FENCE|7", town_.next_greeted().answer(":0\r\n"));
  EXPECT_THAT(forced.get(), HasSubstr("whose first answer was lost"));
}

// --- sessions ---

const std::string kOk = "+OK\r\n";

TEST_F(ClientTest, ASessionHasConnectionsOfItsOwnAndKeepsThem) {
  auto joined = start([&] { client_->join("s", 5s); });
  Peer shared = town_.next_greeted();
  EXPECT_EQ("CLIENT|SESSION|s|GRACE|5000", shared.answer(kOk));
  EXPECT_EQ("CLIENT|SESSION|s|GRACE|5000", shared.answer(kOk));
  joined.get();
  auto grant = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "o", .session = "s"}); });
  EXPECT_THAT(shared.answer(kGrant), HasSubstr("|BOUND"));
  EXPECT_TRUE(grant.get().has_value());
  shared.hang_up();
  Peer again = town_.next_greeted();  // by itself
  EXPECT_EQ("CLIENT|SESSION|s|GRACE|5000", again.answer(kOk));
  auto waited = start([&] { return client_->locks().acquire({.lock = lock_, .owner = "p", .session = "s"}, kLong); });
  EXPECT_THAT(again.answer(kNil), HasSubstr("|BOUND"));
  Peer waiting = town_.next_greeted();
  EXPECT_EQ("CLIENT|SESSION|s|GRACE|5000", waiting.answer(kOk));
  EXPECT_THAT(waiting.answer(kGrant), HasSubstr("|BOUND|WAIT|"));
  EXPECT_TRUE(waited.get().has_value());
  auto left = start([&] { client_->leave("s"); });
  EXPECT_EQ("RESET", again.answer("+RESET\r\n"));
  EXPECT_EQ("RESET", waiting.answer("+RESET\r\n"));
  left.get();
  EXPECT_EQ("", again.hear());
  EXPECT_THROW(client_->locks().acquire({.lock = lock_, .owner = "o", .session = "s"}), InvalidRequest);
}

TEST_F(ClientTest, ASessionThatCannotBeJoinedIsNone) {
  EXPECT_THROW(client_->join(""), InvalidRequest);
  auto joined = start([&] { client_->join("s\n"); });
  Peer peer = town_.next_greeted();
  peer.answer("-INVALID session: expected clean text\r\n");
  EXPECT_THROW(joined.get(), InvalidRequest);
  EXPECT_THROW(client_->locks().acquire({.lock = lock_, .owner = "o", .session = "s\n"}), InvalidRequest);
  client_->leave("s\n");  // nobody had joined it
}

}  // namespace
}  // namespace tenure::client
