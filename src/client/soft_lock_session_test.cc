// Soft locks that are bound to their client's session: what breaking connections do to them. The authority's time
// stands still, so that no lease ends; the client's is the machine's.
#include <future>

#include "client/lock_testing.h"
#include "client/testing.h"

namespace tenure {
namespace {

using client::bulk;
using client::kGrant;
using client::Peer;
using client::value_of;
using ::testing::HasSubstr;

const LockName kLock{.domain = "d", .identifier = "1"};

class BoundLockTest : public ::testing::Test {
 protected:
  static ClientSettings settings() {
    ClientSettings settings;
    settings.timeout = std::chrono::seconds(client::kPatienceSeconds);
    settings.backoff_initial = Millis{1};
    settings.backoff_max = Millis{5};
    return settings;
  }
  static SoftLockManagerBuilder builder(Locks& locks) {
    return SoftLockManager::builder(locks).log([](const std::string&) {});
  }
  static void await_stop(const std::stop_token& token) {
    await([&] { return token.stop_requested(); });
  }
  World world;
  client::ServedWorld server{world};
  std::unique_ptr<Client> own = server.connect(settings());
  std::unique_ptr<Client> other = server.connect(settings());
};

TEST_F(BoundLockTest, ItGoesWithItsClient) {
  {
    const auto brief = server.connect(settings());
    auto manager = builder(brief->locks()).build();
    manager.get_lock("d", "1").lock();
    EXPECT_TRUE(other->locks().is_locked(kLock));
  }
  await([&] { return !other->locks().is_locked(kLock); });
}

TEST_F(BoundLockTest, WithAGraceItDoesNot) {
  {
    const auto brief = server.connect(settings());
    auto manager = builder(brief->locks()).grace(Millis{1000}).build();
    manager.get_lock("d", "1").lock();
  }
  world.advance(Millis{999});
  server.run_due();
  EXPECT_TRUE(other->locks().is_locked(kLock));
  world.advance(Millis{2});
  server.run_due();
  // The server may have noticed the end of the last connection only by now.
  await([&] {
    world.advance(Millis{1});
    server.run_due();
    return !other->locks().is_locked(kLock);
  });
}

TEST_F(BoundLockTest, AManagerThatIsGoneReleasesNothing) {
  {
    auto manager = builder(own->locks()).build();
    manager.get_lock("d", "1").lock();
  }
  EXPECT_TRUE(other->locks().is_locked(kLock));
}

TEST_F(BoundLockTest, AHolderIsToldWhenItsConnectionsBreak) {
  auto manager = builder(own->locks()).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  server.hang_up();
  await_stop(lost);
  EXPECT_FALSE(lock.is_held_by_current_thread());
  EXPECT_THROW(lock.release(), LockExpired);
  await([&] { return !other->locks().is_locked(kLock); });
  lock.lock();
  EXPECT_FALSE(lock.lost().stop_requested());
  lock.release();
}

TEST_F(BoundLockTest, WithAGraceAHolderGoesOn) {
  auto manager = builder(own->locks()).grace(std::chrono::hours(1)).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  server.hang_up(3);
  auto second = manager.get_lock("d", "2");
  second.lock();  // over a connection that was made anew
  EXPECT_FALSE(lock.lost().stop_requested());
  lock.release();
  second.release();
}

TEST_F(BoundLockTest, AHolderIsToldByItsOwnClockWhenTheGraceIsOver) {
  auto manager = builder(own->locks()).grace(Millis{200}).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  server.hang_up(1'000'000);  // nobody is there any more
  await_stop(lost);
  server.hang_up(0);
  // Its time stands still, so the session has not ended there: the lock was given back.
  await([&] { return !other->locks().is_locked(kLock); });
  EXPECT_THROW(lock.release(), LockExpired);
}

TEST_F(BoundLockTest, UnboundAHolderGoesOn) {
  auto manager = builder(own->locks()).unbound().build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  server.hang_up();
  EXPECT_TRUE(other->locks().is_locked(kLock));
  EXPECT_FALSE(lock.lost().stop_requested());
  lock.release();
}

TEST_F(BoundLockTest, AWaiterGetsItsLockOverANewConnection) {
  auto theirs = builder(other->locks()).unbound().build();
  auto held = theirs.get_lock("d", "1");
  held.lock();
  auto manager = builder(own->locks()).build();
  auto waiting = std::async(std::launch::async, [&] {
    auto lock = manager.get_lock("d", "1");
    lock.lock();
    const bool is_held = lock.is_held_by_current_thread();
    lock.release();
    return is_held;
  });
  await([&] { return other->locks().get(kLock)->waiters == 1; });
  server.hang_up();
  await([&] { return other->locks().get(kLock)->waiters == 1; });
  held.release();
  EXPECT_TRUE(waiting.get());
}

TEST_F(BoundLockTest, ASessionOfTheUsersOwnIsWatchedOver) {
  own->join("s");
  auto manager = builder(own->locks()).session("s").build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  const std::stop_token lost = lock.lost();
  own->leave("s");
  await_stop(lost);
  EXPECT_FALSE(other->locks().is_locked(kLock));
  EXPECT_THROW(lock.release(), LockExpired);
}

// --- against a server that the test plays ---

class PlayedLockTest : public client::ClientTest {
 protected:
  // Greeted, and part of the session.
  Peer next_member() {
    Peer peer = town_.next_greeted();
    session_ = peer.answer("+OK\r\n");
    return peer;
  }
  std::string session_;
};

TEST_F(PlayedLockTest, ItIsBoundToASessionWithoutAGrace) {
  auto manager = SoftLockManager::builder(client_->locks()).build();
  auto locked = std::async(std::launch::async, [&] { return manager.get_lock("d", "1").try_lock(); });
  Peer peer = next_member();
  EXPECT_THAT(session_, ::testing::MatchesRegex("CLIENT\\|SESSION\\|[0-9a-f]{32}:0\\|GRACE\\|0"));
  EXPECT_THAT(peer.answer(kGrant), HasSubstr("|BOUND"));
  EXPECT_TRUE(locked.get());
}

TEST_F(PlayedLockTest, AGrantWhoseAnswerWasLostIsAskedForAgainWithItsId) {
  auto manager = SoftLockManager::builder(client_->locks()).grace(std::chrono::hours(1)).build();
  auto locked = std::async(std::launch::async, [&] { return manager.get_lock("d", "1").try_lock(); });
  Peer first = next_member();
  const std::string request = first.hear();
  first.hang_up();
  Peer second = next_member();
  EXPECT_EQ(request, second.answer(kGrant));
  EXPECT_TRUE(locked.get());
}

// The session has ended with the connection, and so has the grant that nobody has heard of.
TEST_F(PlayedLockTest, AGrantThatEndedBeforeItWasHeardOfIsAskedForAnew) {
  auto manager = SoftLockManager::builder(client_->locks()).build();
  auto locked = std::async(std::launch::async, [&] { return manager.get_lock("d", "1").try_lock(); });
  Peer first = next_member();
  const std::string request = first.hear();
  first.hang_up();
  Peer second = next_member();
  EXPECT_EQ(request, second.answer("-EXPIRED its session ended\r\n"));
  const std::string anew = second.answer(kGrant);
  EXPECT_NE(value_of("REQUEST", request), value_of("REQUEST", anew));
  EXPECT_TRUE(locked.get());
}

// Whether it is of the session's last life or of this one cannot be told, so it is not used.
TEST_F(PlayedLockTest, AGrantOfASessionThatMayHaveEndedIsGivenBack) {
  auto manager = SoftLockManager::builder(client_->locks()).build();
  auto locked = std::async(std::launch::async, [&] { return manager.get_lock("d", "1").try_lock(); });
  Peer first = next_member();
  first.hear();
  first.hang_up();
  Peer second = next_member();
  second.answer(kGrant);
  Peer plain = town_.next_greeted();  // what is not bound goes over the connection that all share
  EXPECT_THAT(plain.answer("*2\r\n" + bulk("RELEASED") + ":0\r\n"), HasSubstr("LOCK.RELEASE|d|1|7-token"));
  second.answer(kGrant);
  EXPECT_TRUE(locked.get());
}

}  // namespace
}  // namespace tenure
