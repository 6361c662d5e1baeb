// What tests on the members share.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include <tenure/hazelcast.h>
#include <tenure/soft_lock.h>
#include "peer.h"

namespace tenure::testing {

using namespace std::chrono_literals;

class HazelcastMembers : public ::testing::Test {
 protected:
  static hazelcast::Settings settings() {
    return {.addresses = Members::get().addresses(), .cluster = Members::get().cluster()};
  }
  // The seed's defaults, but for the lease.
  static SoftLockManager manager(Millis lease = 10min, const hazelcast::Settings& with = settings()) {
    return SoftLockManager::builder(hazelcast::connect(with)).lease_time(lease).log([](const std::string&) {}).build();
  }
  static Peer& java() { return Members::get().one(); }
};

}  // namespace tenure::testing
