// Runs the tests if there is an etcd; otherwise says so, and is skipped.
#include <cstdio>

#include <gtest/gtest.h>

#include "members.h"

namespace {

constexpr int kSkipped = 77;

}  // namespace

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  if (!tenure::testing::can_start_etcd()) {
    std::fputs("SKIPPED: NOT ONE TEST ON ETCD WAS RUN. They need etcd and etcdctl: scripts/setup installs them.\n",
               stderr);
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
