#include "etcd/open.h"

namespace tenure::etcd {

Result<Cluster> open(const Place& place, OpenOptions options, const Clock& clock, Entropy& entropy) {
  if (options.election.term < kTermMin) {
    return fail_with(ErrorCode::kInvalid, "expected a leadership time of at least {} ms, found {} ms", kTermMin.count(),
                     options.election.term.count());
  }
  if (options.election.address.empty()) {
    return fail_with(ErrorCode::kInvalid, "expected the address where clients reach this node, found none");
  }
  Cluster cluster;
  cluster.store = std::make_unique<GrpcStore>(GrpcStore::Options{.members = place.members,
                                                                 .is_tls = place.is_tls,
                                                                 .tls = std::move(options.tls),
                                                                 .user = place.user,
                                                                 .password = std::move(options.password)});
  const Keys keys(place.prefix);
  cluster.journal = std::make_unique<EtcdJournal>(*cluster.store, keys, entropy, options.journal);
  cluster.election = std::make_unique<EtcdElection>(*cluster.store, clock, keys, std::move(options.election));
  return cluster;
}

}  // namespace tenure::etcd
