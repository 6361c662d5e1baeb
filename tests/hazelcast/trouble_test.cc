// What goes wrong: a client, a member, the cluster. The last file of the list, since it leaves one member behind.
#include <future>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "members_testing.h"

namespace tenure::testing {
namespace {

class HazelcastTrouble : public HazelcastMembers {};

TEST_F(HazelcastTrouble, ALockOfAClientThatIsKilledIsFreedLongBeforeItsLeaseEnds) {
  Members& members = Members::get();
  Child holder({"/proc/self/exe", "--hold", members.one().address(), members.cluster(), "orders", "5"}, STDOUT_FILENO);
  ASSERT_EQ(holder.hear(), "held");
  const auto manager = HazelcastMembers::manager();
  auto lock = manager.get_lock("orders", "5");
  EXPECT_FALSE(lock.try_lock());
  holder.kill();
  EXPECT_TRUE(lock.try_lock_for(60s));
  lock.release();
}

TEST_F(HazelcastTrouble, AMemberIsKilledWhileLocksAreHeldAndWaitedFor) {
  Members& members = Members::get();
  const auto manager = HazelcastMembers::manager();
  const auto other = HazelcastMembers::manager();
  std::vector<SoftLock> locks;
  for (int i = 0; i < 20; ++i) locks.push_back(manager.get_lock("held", std::to_string(i)));
  for (auto& lock : locks) lock.lock();
  std::vector<std::future<void>> waiters;
  for (int i = 0; i < 20; ++i) {
    waiters.push_back(std::async(std::launch::async, [&, i] {
      auto same = other.get_lock("held", std::to_string(i));
      same.lock();
      same.release();
    }));
  }
  members.two().kill();
  // Held as before, by both members' locks: each had its backup.
  EXPECT_FALSE(std::async(std::launch::async, [&] { return other.get_lock("held", "7").try_lock(); }).get());
  for (auto& lock : locks) lock.release();
  for (auto& waiter : waiters) waiter.get();
  // And it goes on with the one that is left, and with the next that comes.
  auto lock = manager.get_lock("held", "again");
  lock.lock();
  members.two().start();
  members.await_safe();
  lock.release();
  for (auto& each : locks) {
    each.lock();
    each.release();
  }
}

// The last one: it leaves one member behind.
TEST_F(HazelcastTrouble, TheClusterGoesAwayAndComesBack) {
  hazelcast::Settings impatient = settings();
  impatient.timeout = 1500ms;
  const auto manager = HazelcastMembers::manager(10min, impatient);
  auto held = manager.get_lock("orders", "6");
  held.lock();
  Members::get().kill();
  auto lock = manager.get_lock("orders", "7");
  EXPECT_THROW(lock.lock(), LockAcquisitionError);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_THROW((void)lock.is_locked(), LockAcquisitionError);
  EXPECT_THROW(hazelcast::connect(impatient), Unavailable);
  // One member of it is enough.
  Members::get().one().start();
  while (!lock.try_lock()) std::this_thread::sleep_for(10ms);
  lock.release();
  // Its lock went with the cluster that was.
  EXPECT_THROW(held.release(), LockExpired);
}

}  // namespace
}  // namespace tenure::testing
