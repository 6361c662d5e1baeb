// What all nodes share, by nobody's word: the frames that lie in etcd, read behind everybody's back.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/entropy.h"
#include "etcd/etcd_journal.h"
#include "etcd_store.h"
#include "journal/forwarding_journal.h"

namespace tenure::sim {

// Where the nodes' things lie in etcd.
inline const etcd::Keys& cluster_keys() {
  static const etcd::Keys keys("/tenure");
  return keys;
}

// One thread.
class Witness final : public ForwardingJournal {
 public:
  Witness(Agenda& agenda, Tally& tally, EtcdMembers& members, const MachineClock& clock);

  // Reads what is new. Throws Breach if it cannot be read.
  void look();

  // The last frame that was seen.
  [[nodiscard]] std::uint64_t durable() const override { return last_; }
  // Of those that were seen since the last time.
  [[nodiscard]] Result<Done> read(FrameRange range, Visit visit) const override;

 private:
  struct Seen {
    std::uint64_t sequence;
    Instant stamp;
    std::string payload;
  };

  EtcdMembers& members_;
  Lives lives_;  // one, and always awake
  SimStore store_;
  SeededEntropy entropy_{1};
  etcd::EtcdJournal journal_;
  etcd::Revision looked_at_ = 0;
  std::uint64_t last_ = 0;
  mutable std::deque<Seen> seen_;
};

}  // namespace tenure::sim
