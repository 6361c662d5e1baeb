// One simulation of several nodes on an etcd, everything in it decided by one seed. As in world.h, first everything
// goes wrong that can; then it stops, and whatever was begun must come to its end.
#pragma once

#include <cstdint>

#include "agenda.h"
#include "checker.h"
#include "cluster.h"
#include "crowd.h"
#include "etcd_members.h"
#include "machine_clock.h"
#include "network.h"
#include "story.h"
#include "tally.h"
#include "world.h"

namespace tenure::sim {

// One thread.
class ClusterWorld {
 public:
  static constexpr Millis kHostile{40'000};  // while things go wrong

  ClusterWorld(std::uint64_t seed, Story::Listener listener);

  // Throws Breach.
  void run();
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void step();
  void plan_mischief();
  void make_mischief();
  void harm_node();
  void harm_clock();
  void harm_etcd();
  void come_to_rest();
  // Goes on until then, but not for ever.
  template <class Until>
  void go_on(Millis end, const Until& until);

  Dice dice_;
  const Settings settings_;
  const bool ends_leases_early_;
  Agenda agenda_;
  Tally tally_;
  Story story_;
  MachineClock clock_;  // that callers go by; nodes have their own
  Network network_;
  Checker checker_;
  EtcdMembers members_;
  Cluster cluster_;
  Crowd crowd_;
  bool is_calm_ = false;
};

Outcome run_cluster_seed(std::uint64_t seed, const Story::Listener& listener = {});

}  // namespace tenure::sim
