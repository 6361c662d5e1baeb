// tenure lock --hazelcast, as scripts use it.
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "members_testing.h"

namespace tenure::testing {
namespace {

class HazelcastCommand : public HazelcastMembers {
 protected:
  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all{from_environment("TENURE"), "lock",      "--hazelcast",
                                 java().address(),           "--cluster", Members::get().cluster()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static int status_of(const std::vector<std::string>& words) { return Child(words, STDOUT_FILENO).end(); }
};

TEST_F(HazelcastCommand, RunsUnderALockThatJavaSeesAndHasNoFence) {
  ::setenv("TENURE_FENCE", "7", 1);  // NOLINT(concurrency-mt-unsafe): nobody reads it meanwhile
  Child holder(words({"orders", "command", "--", "sh", "-c", "echo fence ${TENURE_FENCE-none}; read line; exit 3"}),
               STDOUT_FILENO);
  EXPECT_EQ(holder.hear(), "fence none");
  EXPECT_EQ(java().ask("try soft-locks orders::command 0 1000"), "false");
  EXPECT_EQ(status_of(words({"orders", "command", "--wait", "0s", "--", "true"})), 75);
  EXPECT_EQ(holder.end(), 3);
  EXPECT_EQ(java().ask("locked soft-locks orders::command"), "false");
}

TEST_F(HazelcastCommand, KeepsTheLockBeyondItsLeaseAndIsStoppedWhenItIsTakenAway) {
  Child holder(words({"orders", "kept", "--lease", "4s", "--", "sh", "-c", "echo in; exec sleep 60"}), STDOUT_FILENO);
  EXPECT_EQ(holder.hear(), "in");
  EXPECT_EQ(java().ask("try soft-locks orders::kept 5000 1000"), "false");
  EXPECT_EQ(java().ask("force soft-locks orders::kept"), "done");
  EXPECT_EQ(holder.end(), 70);
  // And it was not taken again.
  EXPECT_EQ(java().ask("locked soft-locks orders::kept"), "false");
  Child waiter(words({"orders", "kept", "--wait", "60s", "--", "echo", "in"}), STDOUT_FILENO);
  EXPECT_EQ(waiter.hear(), "in");
  EXPECT_EQ(waiter.end(), 0);
  EXPECT_EQ(java().ask("locked soft-locks orders::kept"), "false");
}

TEST_F(HazelcastCommand, SaysWhatIsWrong) {
  const std::string tenure = from_environment("TENURE");
  EXPECT_EQ(
      status_of({tenure, "lock", "--hazelcast", java().address(), "--cluster", "another", "a", "b", "--", "true"}), 77);
  EXPECT_EQ(status_of({tenure, "lock", "--hazelcast", "127.0.0.1:1", "--timeout", "300ms", "a", "b", "--", "true"}),
            69);
  EXPECT_EQ(status_of({tenure, "lock", "--hazelcast", "127.0.0.1:x", "a", "b", "--", "true"}), 2);
  EXPECT_EQ(status_of({tenure, "lock", "--hazelcast", "a:1", "--server", "a:2", "a", "b", "--", "true"}), 2);
}

}  // namespace
}  // namespace tenure::testing
