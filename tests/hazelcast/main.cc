// Runs the tests if there are a jar and a Java; otherwise says what is missing, and is skipped. With --hold ADDRESS
// CLUSTER DOMAIN IDENTIFIER it is instead a client that holds a lock until it is killed.
#include <cstdio>
#include <string_view>

#include <gtest/gtest.h>

#include <tenure/hazelcast.h>
#include <tenure/soft_lock.h>
#include "peer.h"

namespace {

constexpr int kSkipped = 77;

int hold(char** words) {
  auto manager =
      tenure::SoftLockManager::builder(tenure::hazelcast::connect({.addresses = {words[0]}, .cluster = words[1]}))
          .lease_time(std::chrono::hours(1))
          .build();
  auto lock = manager.get_lock(words[2], words[3]);
  lock.lock();
  std::puts("held");
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 6 && std::string_view(words[1]) == "--hold") return hold(words + 2);
  ::testing::InitGoogleTest(&count, words);
  if (!tenure::testing::can_start_members()) {
    std::fputs(
        "SKIPPED: NOT ONE TEST OF SOFT LOCKS ON HAZELCAST WAS RUN. They need java, javac and the jar that "
        "HAZELCAST_JAR\n"
        "names: scripts/hazelcast fetches it, where packages can be fetched.\n",
        stderr);
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
