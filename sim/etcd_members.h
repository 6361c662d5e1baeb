// The members of a simulated etcd, which act as one: every call happens at one moment, all of it or nothing. Leases run
// by a clock of its own, which is the world's. It errs where etcd 3.4 is known to err: a lease that is gone may be kept
// alive, and one that is not may go early. How calls come here, late or never, is for etcd_store.h.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "agenda.h"
#include "base/dice.h"
#include "etcd/store.h"
#include "story.h"
#include "tally.h"

namespace tenure::sim {

// One thread.
class EtcdMembers {
 public:
  EtcdMembers(Agenda& agenda, Story& story, Tally& tally, std::uint64_t seed)
      : agenda_(agenda), story_(story), tally_(tally), dice_(seed) {}

  // --- calls ---
  etcd::Answer<etcd::TxnAnswer> txn(const etcd::Txn& txn);
  // `behind`: how many revisions the member that answers has not heard of yet, which only serializable reads see.
  [[nodiscard]] etcd::RangeAnswer range(const etcd::Range& range, etcd::Revision behind = 0) const;
  etcd::Answer<etcd::Revision> compact(etcd::Revision revision);
  etcd::Lease grant(Millis ttl);
  etcd::Lease keep_alive(etcd::LeaseId lease);
  etcd::Answer<etcd::LeaseId> revoke(etcd::LeaseId lease);
  [[nodiscard]] etcd::Status status() const;
  // What has happened to these keys from this revision on.
  [[nodiscard]] etcd::Answer<etcd::News> news(const etcd::KeyRange& keys, etcd::Revision from) const;

  [[nodiscard]] etcd::Revision revision() const { return revision_; }
  // Told after each change, until it says that it is not interested any more.
  void on_change(std::function<bool()> told) { listeners_.push_back(std::move(told)); }

  // --- what goes wrong ---
  // Most of them are away: nothing is answered, and no lease ends.
  void leave();
  // They elect a leader, with which all leases begin anew.
  void come_back();
  [[nodiscard]] bool is_away() const { return is_away_; }
  // For so long no lease is kept alive, though all else goes on.
  void stop_keeping(Millis time);
  [[nodiscard]] bool is_keeping() const { return agenda_.now() >= keeps_again_; }
  // One that does not know yet that it leads them no more ends a lease that has not ended.
  bool end_some_lease_early();
  // From now on it errs no more.
  void calm() {
    is_calm_ = true;
    keeps_again_ = Millis{0};
  }

 private:
  struct Change {
    etcd::Event event;
    std::optional<etcd::KeyValue> before;
  };
  struct HeldLease {
    Millis ttl{0};
    Millis ends{0};
    std::set<std::string> keys{};
  };
  using Pairs = std::map<std::string, etcd::KeyValue, std::less<>>;

  [[nodiscard]] bool holds(const etcd::Compare& condition) const;
  [[nodiscard]] std::optional<std::string> fault_in(const etcd::Txn& txn) const;
  void put(const etcd::Put& put);
  void remove(const std::string& key);
  [[nodiscard]] static etcd::RangeAnswer find(const Pairs& pairs, const etcd::Range& range);
  void end_lease(etcd::LeaseId lease);
  void plan_end(etcd::LeaseId lease);
  void tell_change();

  Agenda& agenda_;
  Story& story_;
  Tally& tally_;
  Dice dice_;
  bool is_away_ = false;
  bool is_calm_ = false;
  Millis keeps_again_{0};

  etcd::Revision revision_ = 1;
  etcd::Revision compacted_ = 0;
  Pairs pairs_;
  std::deque<Change> changes_;  // since it was compacted, in their order
  std::map<etcd::LeaseId, HeldLease> leases_;
  std::map<etcd::LeaseId, Millis> gone_;  // leases, and their ttl
  etcd::LeaseId lease_ids_ = 1000;
  std::vector<std::function<bool()>> listeners_;
};

}  // namespace tenure::sim
