// An etcd in memory, for tests: one that all share, and a way to it for each node, on which calls may be lost or late.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "etcd/store.h"

namespace tenure::etcd {

// One thread.
struct FakeEtcd {
  explicit FakeEtcd(ManualClock& manual) : clock(manual) {}

  struct FakeLease {
    Millis ttl{0};
    Millis until{0};
  };

  RangeAnswer range(const Range& asked) const {
    RangeAnswer answer{.revision = revision};
    for (const auto& [key, pair] : keys) {
      if (asked.keys.holds(key)) answer.found.push_back(pair);
    }
    if (asked.is_descending) std::reverse(answer.found.begin(), answer.found.end());
    const auto limit = static_cast<std::size_t>(asked.limit);
    answer.has_more = limit > 0 && answer.found.size() > limit;
    if (answer.has_more) answer.found.resize(limit);
    for (KeyValue& pair : answer.found) {
      if (asked.is_keys_only) pair.value.clear();
    }
    return answer;
  }

  bool holds(const Compare& condition) const {
    const auto pair = keys.find(condition.key);
    Revision found = 0;
    if (pair != keys.end()) {
      found = condition.of == Compare::Of::kModRevision ? pair->second.mod_revision : pair->second.create_revision;
    }
    return condition.is == Compare::Is::kEqual ? found == condition.revision : found > condition.revision;
  }

  Answer<TxnAnswer> txn(const Txn& asked) {
    TxnAnswer answer;
    answer.is_done = std::all_of(asked.conditions.begin(), asked.conditions.end(),
                                 [this](const Compare& condition) { return holds(condition); });
    if (!answer.is_done) {
      for (const Range& read : asked.otherwise) answer.otherwise.push_back(range(read));
      answer.revision = revision;
      return answer;
    }
    for (const Put& put : asked.puts) {
      if (put.lease != 0 && leases.count(put.lease) == 0) {
        return tl::unexpected(
            Trouble{.outcome = Trouble::Outcome::kNothing, .why = "requested lease not found", .is_refusal = true});
      }
    }
    if (!asked.puts.empty() || !asked.deletes.empty()) ++revision;
    for (const KeyRange& gone : asked.deletes) erase(gone);
    for (const Put& put : asked.puts) {
      KeyValue& pair = keys[put.key];
      pair = {.key = put.key,
              .value = put.value,
              .create_revision = pair.create_revision == 0 ? revision : pair.create_revision,
              .mod_revision = revision,
              .lease = put.lease};
      history.push_back({Event::Kind::kPut, pair});
    }
    answer.revision = revision;
    return answer;
  }

  void erase(const KeyRange& gone) {
    for (auto pair = keys.begin(); pair != keys.end();) {
      const bool goes = gone.holds(pair->first);
      if (goes) history.push_back({Event::Kind::kDelete, {.key = pair->first, .mod_revision = revision}});
      pair = goes ? keys.erase(pair) : std::next(pair);
    }
  }

  void end_lease(LeaseId lease) {
    leases.erase(lease);
    ++revision;
    for (auto pair = keys.begin(); pair != keys.end();) {
      const bool goes = pair->second.lease == lease;
      if (goes) history.push_back({Event::Kind::kDelete, {.key = pair->first, .mod_revision = revision}});
      pair = goes ? keys.erase(pair) : std::next(pair);
    }
  }

  void expire() {
    std::vector<LeaseId> over;
    for (const auto& [lease, state] : leases) {
      if (state.until <= clock.boot()) over.push_back(lease);
    }
    for (const LeaseId lease : over) end_lease(lease);
  }

  ManualClock& clock;
  std::map<std::string, KeyValue> keys;
  std::map<LeaseId, FakeLease> leases;
  Revision revision = 1;
  Revision compacted = 0;
  LeaseId last_lease = 0;
  std::vector<Event> history;
  Status status{.version = "fake", .has_leader = true};
  bool keeps_any_lease_alive = false;  // as etcd 3.4.23 was seen to do
};

// What becomes of a call.
enum class Fate : std::uint8_t {
  kAnswered,
  kReplyLost,     // it is done, and told as unknown
  kNeverArrives,  // it is not done, and told as unknown
  kArrivesLate,   // told as unknown, and done when `let_arrive` is called
  kHeld,          // nothing is told, nor done, before `release` is called
  kToldLate,      // done, and told when `release` is called
};

// One thread. Nothing happens but when it is told so by `run`.
class FakeStore final : public Store {
 public:
  explicit FakeStore(FakeEtcd& etcd) : etcd_(etcd) {}

  void txn(Txn asked, Millis /*timeout*/, Tell<TxnAnswer> tell) override {
    ++txns;
    add<TxnAnswer>([this, asked = std::move(asked)] { return etcd_.txn(asked); }, std::move(tell), next_txn_fate());
  }
  void range(Range asked, Millis /*timeout*/, Tell<RangeAnswer> tell) override {
    add<RangeAnswer>([this, asked = std::move(asked)]() -> Answer<RangeAnswer> { return etcd_.range(asked); },
                     std::move(tell));
  }
  void compact(Revision revision, Millis /*timeout*/, Tell<Revision> tell) override {
    add<Revision>(
        [this, revision]() -> Answer<Revision> { return etcd_.compacted = std::max(etcd_.compacted, revision); },
        std::move(tell));
  }
  void grant(Millis ttl, Millis /*timeout*/, Tell<Lease> tell) override {
    add<Lease>(
        [this, ttl]() -> Answer<Lease> {
          etcd_.leases[++etcd_.last_lease] = {ttl, etcd_.clock.boot() + ttl};
          return Lease{etcd_.last_lease, ttl};
        },
        std::move(tell));
  }
  void keep_alive(LeaseId lease, Millis /*timeout*/, Tell<Lease> tell) override {
    add<Lease>(
        [this, lease]() -> Answer<Lease> {
          const auto found = etcd_.leases.find(lease);
          if (found == etcd_.leases.end()) {
            return Lease{lease, etcd_.keeps_any_lease_alive ? Millis{5'000} : Millis{0}};
          }
          found->second.until = etcd_.clock.boot() + found->second.ttl;
          return Lease{lease, found->second.ttl};
        },
        std::move(tell));
  }
  void revoke(LeaseId lease, Millis /*timeout*/, Tell<LeaseId> tell) override {
    add<LeaseId>(
        [this, lease]() -> Answer<LeaseId> {
          etcd_.end_lease(lease);
          return lease;
        },
        std::move(tell));
  }
  void status(Millis /*timeout*/, Tell<Status> tell) override {
    add<Status>([this]() -> Answer<Status> { return etcd_.status; }, std::move(tell));
  }
  void after(Millis delay, std::function<void()> call) override {
    pauses_.emplace_back(etcd_.clock.boot() + delay, std::move(call));
  }
  Answer<RangeAnswer> range_now(Range asked, Millis /*timeout*/) override {
    if (is_away) return lost<RangeAnswer>();
    return etcd_.range(asked);
  }
  Answer<TxnAnswer> txn_now(Txn asked, Millis /*timeout*/) override {
    if (is_away) return lost<TxnAnswer>();
    return etcd_.txn(asked);
  }

  std::unique_ptr<Watch> watch(KeyRange keys, Revision from, TellNews tell) override {
    auto watching = std::make_shared<Watching>(Watching{std::move(keys), from, std::move(tell)});
    watches_.push_back(watching);
    return std::make_unique<Handle>(std::move(watching));
  }

  // Does what was asked, until there is nothing to do; time stands still.
  void run() {
    while (step()) {
    }
  }
  bool step() {
    if (!calls_.empty()) {
      const auto call = std::move(calls_.front());
      calls_.pop_front();
      call();
      return true;
    }
    for (auto pause = pauses_.begin(); pause != pauses_.end(); ++pause) {
      if (pause->first > etcd_.clock.boot()) continue;
      const auto call = std::move(pause->second);
      pauses_.erase(pause);
      call();
      return true;
    }
    return tell_news();
  }
  void let_arrive() {
    for (const auto& call : std::exchange(late_, {})) call();
  }
  // In the other order than they were asked, if wanted.
  void release(bool is_reversed = false) {
    if (is_reversed) std::reverse(held_.begin(), held_.end());
    for (auto& call : std::exchange(held_, {})) calls_.push_back(std::move(call));
  }
  // Watches end, as if the connection were lost.
  void end_watches() {
    for (const auto& watching : std::exchange(watches_, {})) {
      if (watching->is_alive) watching->tell(tl::unexpected(Trouble{.why = "the watch was ended"}));
    }
  }

  bool is_away = false;               // every call is lost
  bool is_watchful = true;            // false: watches tell nothing
  std::deque<Fate> txn_fates;         // of those to come
  Fate usual_fate = Fate::kAnswered;  // of the transactions behind them
  int txns = 0;

 private:
  struct Watching {
    KeyRange keys;
    Revision next;
    TellNews tell;
    bool is_alive = true;
  };
  class Handle final : public Watch {
   public:
    explicit Handle(std::shared_ptr<Watching> watching) : watching_(std::move(watching)) {}
    ~Handle() override { watching_->is_alive = false; }

   private:
    const std::shared_ptr<Watching> watching_;
  };

  template <class T>
  static Answer<T> lost() {
    return tl::unexpected(Trouble{.outcome = Trouble::Outcome::kUnknown, .why = "the answer was lost"});
  }

  Fate next_txn_fate() {
    if (txn_fates.empty()) return usual_fate;
    const Fate fate = txn_fates.front();
    txn_fates.pop_front();
    return fate;
  }

  template <class T>
  void add(std::function<Answer<T>()> apply, Tell<T> tell, Fate fate = Fate::kAnswered) {
    const auto call = [this, apply = std::move(apply), tell = std::move(tell), fate] {
      if (fate == Fate::kArrivesLate) late_.push_back([apply] { static_cast<void>(apply()); });
      if (is_away || fate == Fate::kNeverArrives || fate == Fate::kArrivesLate) return tell(lost<T>());
      auto answer = apply();
      if (fate == Fate::kToldLate) return held_.push_back([tell, answer] { tell(answer); });
      tell(fate == Fate::kReplyLost ? lost<T>() : std::move(answer));
    };
    fate == Fate::kHeld ? held_.push_back(call) : calls_.push_back(call);
  }

  bool tell_news() {
    if (is_away || !is_watchful) return false;
    watches_.erase(
        std::remove_if(watches_.begin(), watches_.end(), [](const auto& watching) { return !watching->is_alive; }),
        watches_.end());
    for (const auto& watching : watches_) {
      News news{.revision = etcd_.revision};
      for (const Event& event : etcd_.history) {
        if (event.pair.mod_revision >= watching->next && watching->keys.holds(event.pair.key)) {
          news.events.push_back(event);
        }
      }
      watching->next = etcd_.revision + 1;
      if (news.events.empty()) continue;
      const auto told = watching;
      told->tell(std::move(news));
      return true;
    }
    return false;
  }

  FakeEtcd& etcd_;
  std::deque<std::function<void()>> calls_;
  std::vector<std::function<void()>> held_;
  std::vector<std::function<void()>> late_;
  std::vector<std::pair<Millis, std::function<void()>>> pauses_;
  std::vector<std::shared_ptr<Watching>> watches_;
};

}  // namespace tenure::etcd
