#include "etcd_store.h"

#include <utility>

namespace tenure::sim {
namespace {

using How = etcd::Trouble::Outcome;

etcd::Trouble trouble(How outcome, const char* why) { return {.outcome = outcome, .why = why}; }

// How many revisions a member lags behind at most.
constexpr std::uint64_t kBehindMax = 4;

}  // namespace

SimStore::SimStore(Ports ports, std::uint64_t seed, For whom) : ports_(ports), whom_(whom), dice_(seed) {
  way_->is_calm = whom == For::kWitness;
}

SimStore::~SimStore() {
  for (auto& [number, tell] : std::exchange(way_->waiting, {})) tell(trouble(How::kUnknown, "the store is closed"));
  way_->is_dead = true;
}

void SimStore::die() { way_->is_dead = true; }

Millis SimStore::delay() {
  if (way_->is_calm) return Millis{1};
  if (dice_.one_in(150)) {
    ports_.tally.count(Fault::kEtcdCallLate);
    return Millis{dice_.between(1000, 6000)};
  }
  if (dice_.one_in(25)) {
    ports_.tally.count(Fault::kEtcdCallDelayed);
    return Millis{dice_.between(20, 500)};
  }
  return Millis{dice_.between(0, 3)};
}

// --- calls ---

void SimStore::fail(std::uint64_t number, How outcome, const char* why) {
  const auto found = way_->waiting.find(number);
  if (found == way_->waiting.end()) return;
  const auto tell = std::move(found->second);
  way_->waiting.erase(found);
  tell(trouble(outcome, why));
}

template <class T>
void SimStore::call(Millis timeout, etcd::Tell<T> tell, Do<T> act) {
  const std::uint64_t number = ++calls_;
  auto told = std::make_shared<etcd::Tell<T>>(std::move(tell));
  way_->waiting.emplace(number, [told](const etcd::Trouble& why) { (*told)(tl::unexpected(why)); });
  ports_.lives.plan(ports_.clock.until(timeout), [this, number] { fail(number, How::kUnknown, "it timed out"); });
  if (!is_reachable()) {
    // Noticed at once, or by silence.
    if (dice_.one_in(2)) {
      ports_.lives.plan(Millis{dice_.between(1, 20)}, [this, number] { fail(number, How::kNothing, "no connection"); });
    }
    return;
  }
  if (happens(80)) return ports_.tally.count(Fault::kEtcdRequestLost);
  ports_.agenda.after(delay(), [this, number, told, act = std::move(act), way = way_, &members = ports_.members,
                                &tally = ports_.tally] {
    if (members.is_away()) return;
    if (!way->is_dead) return arrive<T>(number, told, act);
    // Whoever asked is gone.
    static_cast<void>(act(members));
    tally.count(Fault::kEtcdCallOrphaned);
  });
}

// It is done now; its answer may be lost.
template <class T>
void SimStore::arrive(std::uint64_t number, const std::shared_ptr<etcd::Tell<T>>& tell, const Do<T>& act) {
  auto answer = act(ports_.members);
  if (!way_->waiting.contains(number)) return ports_.tally.count(Fault::kEtcdCallOrphaned);
  if (way_->is_cut) return;
  if (happens(80)) {
    ports_.tally.count(Fault::kEtcdReplyLost);
    // The connection breaks, which is noticed, or not.
    if (dice_.one_in(2)) {
      ports_.lives.plan(Millis{dice_.between(0, 30)},
                        [this, number] { fail(number, How::kUnknown, "it was cut off"); });
    }
    return;
  }
  ports_.agenda.after(delay(), [this, number, tell, way = way_, answer = std::move(answer)] {
    if (way->is_dead || way->is_cut) return;
    ports_.lives.plan(Millis{0}, [number, tell, way, answer] {
      if (take(*way, number)) (*tell)(answer);
    });
  });
}

void SimStore::txn(etcd::Txn txn, Millis timeout, etcd::Tell<etcd::TxnAnswer> tell) {
  call<etcd::TxnAnswer>(timeout, std::move(tell), [txn = std::move(txn), &tally = ports_.tally](EtcdMembers& members) {
    auto answer = members.txn(txn);
    if (answer && !answer->is_done) tally.count(Fault::kEtcdTxnRefused);
    return answer;
  });
}

void SimStore::range(etcd::Range range, Millis timeout, etcd::Tell<etcd::RangeAnswer> tell) {
  const auto behind = static_cast<etcd::Revision>(way_->is_calm ? 0 : dice_.roll(kBehindMax));
  call<etcd::RangeAnswer>(timeout, std::move(tell),
                          [range = std::move(range), behind](EtcdMembers& members) -> etcd::Answer<etcd::RangeAnswer> {
                            return members.range(range, behind);
                          });
}

void SimStore::compact(etcd::Revision revision, Millis timeout, etcd::Tell<etcd::Revision> tell) {
  call<etcd::Revision>(timeout, std::move(tell),
                       [revision](EtcdMembers& members) { return members.compact(revision); });
}

void SimStore::grant(Millis ttl, Millis timeout, etcd::Tell<etcd::Lease> tell) {
  call<etcd::Lease>(timeout, std::move(tell),
                    [ttl](EtcdMembers& members) -> etcd::Answer<etcd::Lease> { return members.grant(ttl); });
}

void SimStore::keep_alive(etcd::LeaseId lease, Millis timeout, etcd::Tell<etcd::Lease> tell) {
  call<etcd::Lease>(timeout, std::move(tell), [lease](EtcdMembers& members) -> etcd::Answer<etcd::Lease> {
    if (!members.is_keeping()) return tl::unexpected(trouble(How::kUnknown, "nobody keeps leases"));
    return members.keep_alive(lease);
  });
}

void SimStore::revoke(etcd::LeaseId lease, Millis timeout, etcd::Tell<etcd::LeaseId> tell) {
  call<etcd::LeaseId>(timeout, std::move(tell), [lease](EtcdMembers& members) { return members.revoke(lease); });
}

void SimStore::status(Millis timeout, etcd::Tell<etcd::Status> tell) {
  call<etcd::Status>(timeout, std::move(tell),
                     [](EtcdMembers& members) -> etcd::Answer<etcd::Status> { return members.status(); });
}

void SimStore::after(Millis delay, std::function<void()> call) {
  ports_.lives.plan(ports_.clock.until(delay), [way = std::weak_ptr(way_), call = std::move(call)] {
    if (const auto alive = way.lock(); alive && !alive->is_dead) call();
  });
}

// At once, since nobody else could do anything meanwhile.
template <class T>
etcd::Answer<T> SimStore::call_now(const Do<T>& act) {
  if (!is_reachable()) return tl::unexpected(trouble(How::kUnknown, "it timed out"));
  if (happens(80)) {
    ports_.tally.count(Fault::kEtcdRequestLost);
    return tl::unexpected(trouble(How::kUnknown, "it timed out"));
  }
  if (happens(80)) {
    ports_.tally.count(Fault::kEtcdReplyLost);
    // It is done before, or after the caller has been told that nobody knows.
    if (dice_.one_in(2)) {
      static_cast<void>(act(ports_.members));
    } else {
      ports_.agenda.after(delay(), [act, &members = ports_.members] {
        if (!members.is_away()) static_cast<void>(act(members));
      });
    }
    return tl::unexpected(trouble(How::kUnknown, "it timed out"));
  }
  return act(ports_.members);
}

etcd::Answer<etcd::RangeAnswer> SimStore::range_now(etcd::Range range, Millis /*timeout*/) {
  const auto behind = static_cast<etcd::Revision>(way_->is_calm ? 0 : dice_.roll(kBehindMax));
  return call_now<etcd::RangeAnswer>(
      [range = std::move(range), behind](EtcdMembers& members) -> etcd::Answer<etcd::RangeAnswer> {
        return members.range(range, behind);
      });
}

etcd::Answer<etcd::TxnAnswer> SimStore::txn_now(etcd::Txn txn, Millis /*timeout*/) {
  return call_now<etcd::TxnAnswer>([txn = std::move(txn)](EtcdMembers& members) { return members.txn(txn); });
}

// --- watches ---

// Tells what is new a while after it happened; one delivery is planned at a time.
class SimStore::SimWatch final : public etcd::Watch {
 public:
  SimWatch(SimStore& store, etcd::KeyRange keys, etcd::Revision from, etcd::TellNews tell)
      : view_(std::make_shared<View>(View{&store, store.way_, std::move(keys), from, std::move(tell)})) {
    store.ports_.members.on_change([weak = std::weak_ptr(view_)] {
      const auto view = weak.lock();
      if (view != nullptr) plan(view);
      return view != nullptr && !view->is_over;
    });
    plan(view_);
  }

  ~SimWatch() override { view_->is_over = true; }

 private:
  struct View {
    SimStore* store;
    std::shared_ptr<Way> way;
    etcd::KeyRange keys;
    etcd::Revision next;
    etcd::TellNews tell;
    bool is_planned = false;
    bool is_over = false;
  };

  static void plan(const std::shared_ptr<View>& view) {
    if (view->is_over || view->way->is_dead || std::exchange(view->is_planned, true)) return;
    view->store->ports_.lives.plan(view->store->delay(), [weak = std::weak_ptr(view)] {
      const auto planned = weak.lock();
      if (planned == nullptr || planned->is_over || planned->way->is_dead) return;
      planned->is_planned = false;
      deliver(planned);
    });
  }

  static void deliver(const std::shared_ptr<View>& view) {
    SimStore& store = *view->store;
    if (!store.is_reachable()) {
      // It ends when that is noticed, or goes on when that is over.
      if (store.dice_.one_in(30)) return end(view, trouble(How::kNothing, "the watch was cut off"));
      view->is_planned = true;
      return store.ports_.lives.plan(Millis{50}, [weak = std::weak_ptr(view)] {
        if (const auto planned = weak.lock(); planned != nullptr && !planned->is_over && !planned->way->is_dead) {
          planned->is_planned = false;
          deliver(planned);
        }
      });
    }
    if (store.happens(150)) {
      store.ports_.tally.count(Fault::kWatchCut);
      return end(view, trouble(How::kNothing, "the watch was cut off"));
    }
    auto news = store.ports_.members.news(view->keys, view->next);
    if (!news) {
      store.ports_.tally.count(Fault::kWatchCompacted);
      return end(view, news.error());
    }
    if (news->revision < view->next) return;
    view->next = news->revision + 1;
    if (!news->events.empty()) view->tell(std::move(*news));
  }

  static void end(const std::shared_ptr<View>& view, const etcd::Trouble& why) {
    view->is_over = true;
    view->tell(tl::unexpected(why));
  }

  std::shared_ptr<View> view_;
};

std::unique_ptr<etcd::Watch> SimStore::watch(etcd::KeyRange keys, etcd::Revision from, etcd::TellNews tell) {
  return std::make_unique<SimWatch>(*this, std::move(keys), from, std::move(tell));
}

void SimStore::mend() { way_->is_cut = false; }

}  // namespace tenure::sim
