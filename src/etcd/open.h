// Opens a journal in etcd, and the election of who writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/result.h"
#include "etcd/election.h"
#include "etcd/etcd_journal.h"
#include "etcd/grpc_store.h"
#include "etcd/place.h"

namespace tenure::etcd {

struct OpenOptions {
  GrpcStore::Tls tls{};
  std::string password{};
  EtcdElection::Options election{};
  EtcdJournal::Options journal{};
};

// In the order in which they are built; destroyed in the other.
struct Cluster {
  std::unique_ptr<Store> store;
  std::unique_ptr<EtcdJournal> journal;
  std::unique_ptr<EtcdElection> election;
};

// Connects when something is first asked, so that this does not fail if etcd is away; as INVALID if the options are
// wrong. Clock and entropy outlive it; the entropy is used by `start` alone.
Result<Cluster> open(const Place& place, OpenOptions options, const Clock& clock, Entropy& entropy);

}  // namespace tenure::etcd
