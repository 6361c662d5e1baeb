// A node's way to the simulated etcd: calls are late, lost, or done and their answers lost; what nobody waits for any
// more may still be done; watches lag, end, and find that what they ask for is compacted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agenda.h"
#include "base/dice.h"
#include "etcd/store.h"
#include "etcd_members.h"
#include "lives.h"
#include "machine_clock.h"
#include "tally.h"

namespace tenure::sim {

// One thread. Of one life of a node: whatever it tells is told in that life, and not while the node stands still.
class SimStore final : public etcd::Store {
 public:
  // The world around it, which outlives it.
  struct Ports {
    Agenda& agenda;
    Tally& tally;
    EtcdMembers& members;
    const MachineClock& clock;  // the node's
    Lives& lives;               // the node's
  };

  // For a witness nothing goes wrong, whatever does for others.
  enum class For : bool { kNode, kWitness };
  SimStore(Ports ports, std::uint64_t seed, For whom = For::kNode);
  ~SimStore() override;

  void txn(etcd::Txn txn, Millis timeout, etcd::Tell<etcd::TxnAnswer> tell) override;
  void range(etcd::Range range, Millis timeout, etcd::Tell<etcd::RangeAnswer> tell) override;
  void compact(etcd::Revision revision, Millis timeout, etcd::Tell<etcd::Revision> tell) override;
  void grant(Millis ttl, Millis timeout, etcd::Tell<etcd::Lease> tell) override;
  void keep_alive(etcd::LeaseId lease, Millis timeout, etcd::Tell<etcd::Lease> tell) override;
  void revoke(etcd::LeaseId lease, Millis timeout, etcd::Tell<etcd::LeaseId> tell) override;
  std::unique_ptr<etcd::Watch> watch(etcd::KeyRange keys, etcd::Revision from, etcd::TellNews tell) override;
  void status(Millis timeout, etcd::Tell<etcd::Status> tell) override;
  void after(Millis delay, std::function<void()> call) override;
  etcd::Answer<etcd::RangeAnswer> range_now(etcd::Range range, Millis timeout) override;
  etcd::Answer<etcd::TxnAnswer> txn_now(etcd::Txn txn, Millis timeout) override;

  // --- what goes wrong ---
  // Nothing comes through either way, until it is mended.
  void cut() { way_->is_cut = true; }
  void mend();
  [[nodiscard]] bool is_cut() const { return way_->is_cut; }
  // The node's process ends: not another word of it is sent, and it is told nothing any more.
  void die();
  void calm() { way_->is_calm = true; }

 private:
  // What outlives the store, with calls that are under way.
  struct Way {
    bool is_cut = false;
    bool is_calm = false;
    bool is_dead = false;
    std::map<std::uint64_t, std::function<void(const etcd::Trouble&)>> waiting{};  // calls, by number
  };
  class SimWatch;

  template <class T>
  using Do = std::function<etcd::Answer<T>(EtcdMembers&)>;
  // Sends a call, and tells what came of it.
  template <class T>
  void call(Millis timeout, etcd::Tell<T> tell, Do<T> act);
  template <class T>
  void arrive(std::uint64_t number, const std::shared_ptr<etcd::Tell<T>>& tell, const Do<T>& act);
  template <class T>
  etcd::Answer<T> call_now(const Do<T>& act);
  void fail(std::uint64_t number, etcd::Trouble::Outcome outcome, const char* why);
  // Takes the right to tell; false: it was told.
  static bool take(Way& way, std::uint64_t number) { return way.waiting.erase(number) > 0; }
  [[nodiscard]] Millis delay();
  bool happens(std::uint64_t one_in) { return !way_->is_calm && dice_.one_in(one_in); }
  [[nodiscard]] bool is_reachable() const {
    return whom_ == For::kWitness || (!way_->is_dead && !way_->is_cut && !ports_.members.is_away());
  }

  Ports ports_;
  const For whom_;
  Dice dice_;
  std::shared_ptr<Way> way_ = std::make_shared<Way>();
  std::uint64_t calls_ = 0;
};

}  // namespace tenure::sim
