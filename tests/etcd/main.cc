// Runs the tests if there is an etcd; otherwise says so, and is skipped.
#include <cstdio>

#include <grpc/grpc.h>
#include <gtest/gtest.h>
#include <openssl/crypto.h>

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
  // What gRPC's threads still hold would be taken for leaks: so they are waited for, and since they say that they are
  // done a little earlier than they are, OpenSSL does not end before them.
  ::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  ::grpc_init();
  const int status = RUN_ALL_TESTS();
  ::grpc_shutdown_blocking();
  return status;
}
