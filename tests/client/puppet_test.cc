// Soft locks of several processes on a server that is one, too; and what becomes of them when one of those is killed,
// or stands still.
#include "puppet.h"

#include <chrono>
#include <csignal>

#include <gtest/gtest.h>

#include <tenure/client.h>
#include <tenure/fence_guard.h>
#include "tenured.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr Millis kLastingLease = 1h;  // a lease that does not end meanwhile

class PuppetTest : public ::testing::Test {
 protected:
  // Until so many wait for the lock.
  void await_waiters(std::string_view identifier, std::uint64_t waiters) {
    const LockName lock{.domain = "d", .identifier = identifier};
    const auto is_so = [&] {
      const auto status = client_->locks().get(lock);
      return status && status->waiters == waiters;
    };
    while (!is_so()) continue;
  }
  static Millis now() {
    return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch());
  }

  Tenured server_;
  std::unique_ptr<Client> client_ = Client::connect(server_.address());
};

TEST_F(PuppetTest, TwoProcessesCompete) {
  Puppet one(server_.address(), kLastingLease);
  Puppet two(server_.address(), kLastingLease);
  EXPECT_EQ("locked", one.ask("lock shared"));
  EXPECT_EQ("refused", two.ask("try shared"));
  EXPECT_EQ("released", one.ask("release shared"));
  EXPECT_EQ("locked", two.ask("try shared"));
  EXPECT_EQ("released", two.ask("release shared"));
}

// --- a holder is killed ---

TEST_F(PuppetTest, WhoIsKilledLetsTheNextOneInAtOnce) {
  Puppet holder(server_.address(), kLastingLease);
  Puppet next(server_.address(), kLastingLease);
  EXPECT_EQ("locked", holder.ask("lock 1"));
  next.tell("lock 1");
  await_waiters("1", 1);
  holder.kill();
  EXPECT_EQ("locked", next.hear());  // its lease is an hour
}

TEST_F(PuppetTest, WithAGraceWhoIsKilledLetsTheNextOneInAfterIt) {
  constexpr Millis kGrace = 700ms;
  Puppet holder(server_.address(), kLastingLease, std::to_string(kGrace.count()));
  Puppet next(server_.address(), kLastingLease);
  EXPECT_EQ("locked", holder.ask("lock 1"));
  next.tell("lock 1");
  await_waiters("1", 1);
  const Millis killed = now();
  holder.kill();
  EXPECT_EQ("locked", next.hear());
  EXPECT_GE(now() - killed, kGrace);
}

TEST_F(PuppetTest, UnboundWhoIsKilledLetsTheNextOneInAfterItsLease) {
  constexpr Millis kLease = 1500ms;
  Puppet holder(server_.address(), kLease, "unbound");
  Puppet next(server_.address(), kLastingLease);
  const Millis asked = now();
  EXPECT_EQ("locked", holder.ask("lock 1"));
  next.tell("lock 1");
  holder.kill();
  EXPECT_EQ("locked", next.hear());
  EXPECT_GE(now() - asked, kLease);
}

// --- the server is killed ---

TEST_F(PuppetTest, HoldersAndWaitersOutliveTheServer) {
  Puppet graceful(server_.address(), kLastingLease, "60000");
  Puppet graceless(server_.address(), kLastingLease);
  Puppet for_graceful(server_.address(), kLastingLease);
  Puppet for_graceless(server_.address(), kLastingLease);
  EXPECT_EQ("locked", graceful.ask("lock 1"));
  EXPECT_EQ("locked", graceless.ask("lock 2"));
  for_graceful.tell("lock 1");
  for_graceless.tell("lock 2");
  await_waiters("1", 1);
  await_waiters("2", 1);
  server_.kill();
  EXPECT_EQ("lost", graceless.ask("lost 2"));  // told while there is no server
  server_.start();
  EXPECT_EQ("locked", for_graceless.hear());
  EXPECT_EQ("LockExpired", graceless.ask("release 2"));
  await_waiters("1", 1);
  EXPECT_EQ("no", graceful.ask("is_lost 1"));
  EXPECT_EQ("released", graceful.ask("release 1"));
  EXPECT_EQ("locked", for_graceful.hear());
}

// A grace that is over before the server is back: the holder is told by its own clock.
TEST_F(PuppetTest, AServerThatStaysAwayForLongerThanTheGraceIsALoss) {
  Puppet holder(server_.address(), kLastingLease, "500");
  EXPECT_EQ("locked", holder.ask("lock 1"));
  server_.kill();
  EXPECT_EQ("lost", holder.ask("lost 1"));
  EXPECT_EQ("LockExpired", holder.ask("release 1"));
}

// --- somebody stands still ---

TEST_F(PuppetTest, AHolderThatStoodStillPastItsLeaseKnowsAndIsRefused) {
  Puppet holder(server_.address(), 700ms);
  Puppet next(server_.address(), kLastingLease);
  FenceGuard resource;
  EXPECT_EQ("locked", holder.ask("lock 1"));
  const Fence old = holder.fence("1");
  EXPECT_TRUE(resource.admit("r", old));
  holder.signal(SIGSTOP);
  EXPECT_EQ("locked", next.ask("lock 1"));
  EXPECT_TRUE(resource.admit("r", next.fence("1")));
  holder.signal(SIGCONT);
  EXPECT_EQ("lost", holder.ask("lost 1"));
  EXPECT_EQ("LockExpired", holder.ask("release 1"));
  EXPECT_FALSE(resource.write("r", old, [] { FAIL() << "written by who has lost the lock"; }));
  EXPECT_EQ("released", next.ask("release 1"));
}

TEST_F(PuppetTest, AServerThatStandsStillDoesNotKeepAHolderFromKnowing) {
  Puppet holder(server_.address(), 700ms);
  EXPECT_EQ("locked", holder.ask("lock 1"));
  server_.signal(SIGSTOP);
  EXPECT_EQ("lost", holder.ask("lost 1"));
  EXPECT_EQ("LockExpired", holder.ask("release 1"));
  server_.signal(SIGCONT);
  EXPECT_EQ("locked", holder.ask("lock 1"));
  EXPECT_EQ("released", holder.ask("release 1"));
}

}  // namespace
}  // namespace tenure::testing
