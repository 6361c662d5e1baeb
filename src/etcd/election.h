// The election of a leader among nodes that share an etcd: the leader is whose lease the leader's key is bound to, and
// that key's create revision is the epoch.
//
// Each beat, three to a term, a node keeps its lease alive and then reads who is there. A leader is certain that it
// leads until a term, less a margin, after it asked for its lease to be kept alive, once it has seen that its key was
// there after that was answered: etcd 3.4.23 was seen to keep leases alive that it had revoked.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "etcd/keys.h"
#include "etcd/store.h"
#include "journal/shared_journal.h"

namespace tenure::etcd {

inline constexpr Millis kTermMin{2'000};

// Thread-safe.
class EtcdElection final : public Election {
 public:
  struct Options {
    std::string address;        // where clients reach this node
    std::uint64_t records = 0;  // how many types of records it knows
    std::string version{};
    Millis term{5'000};  // at least kTermMin
  };

  EtcdElection(Store& store, const Clock& clock, Keys keys, Options options);
  ~EtcdElection() override;

  Millis tick(Listener& listener) override;
  void on_due(std::function<void()> wake) override;
  [[nodiscard]] Millis certain_until() const override { return Millis{certain_until_.load()}; }
  void resign() override;
  void leave() override;
  [[nodiscard]] std::vector<Member> members() const override;
  void tell_applied(std::uint64_t sequence) override;

 private:
  struct Mailbox;
  // What the listener is told when the tick has ended.
  using Reports = std::vector<std::function<void(Listener&)>>;
  // What is told of an answer is done by the next tick.
  template <class T>
  Tell<T> mail(void (EtcdElection::*take)(Answer<T>, Millis));

  // --- answers; `sent` is when the question was ---
  void take_grant(Answer<Lease> answer, Millis sent) TENURE_REQUIRES(mutex_);
  void take_keep(Answer<Lease> answer, Millis sent) TENURE_REQUIRES(mutex_);
  void take_look(Answer<RangeAnswer> answer, Millis sent) TENURE_REQUIRES(mutex_);
  void take_campaign(Answer<TxnAnswer> answer, Millis sent) TENURE_REQUIRES(mutex_);
  void take_presence(Answer<TxnAnswer> answer, Millis sent) TENURE_REQUIRES(mutex_);
  void take_removal(Answer<TxnAnswer> answer, Millis sent) TENURE_REQUIRES(mutex_);
  void take_news(const Answer<News>& news, std::uint64_t watch) TENURE_REQUIRES(mutex_);

  // --- what follows ---
  void learn_leader(std::optional<KeyValue> leader, Revision revision) TENURE_REQUIRES(mutex_);
  void judge(Reports& reports) TENURE_REQUIRES(mutex_);
  void depose(const std::string& why, Reports& reports) TENURE_REQUIRES(mutex_);
  [[nodiscard]] std::string why_deposed() const TENURE_REQUIRES(mutex_);
  [[nodiscard]] Millis certain() const TENURE_REQUIRES(mutex_);
  void ask_soon() TENURE_REQUIRES(mutex_);
  void lose_lease() TENURE_REQUIRES(mutex_);
  [[nodiscard]] bool is_mine() const TENURE_REQUIRES(mutex_);

  // --- questions ---
  void ask() TENURE_REQUIRES(mutex_);
  void beat() TENURE_REQUIRES(mutex_);
  void look() TENURE_REQUIRES(mutex_);
  void watch_leader() TENURE_REQUIRES(mutex_);
  void campaign() TENURE_REQUIRES(mutex_);
  void announce() TENURE_REQUIRES(mutex_);
  void remove_leader_key() TENURE_REQUIRES(mutex_);
  [[nodiscard]] Millis next_due() const TENURE_REQUIRES(mutex_);

  Store& store_;
  const Clock& clock_;
  const Keys keys_;
  const Options options_;
  const Millis beat_;  // a third of the term

  const std::shared_ptr<Mailbox> mailbox_;
  std::atomic<std::int64_t> certain_until_{0};

  mutable Mutex mutex_;
  Millis now_ TENURE_GUARDED_BY(mutex_){0};  // of this tick
  bool has_left_ TENURE_GUARDED_BY(mutex_) = false;

  // The lease.
  LeaseId lease_ TENURE_GUARDED_BY(mutex_) = 0;
  Millis lease_until_ TENURE_GUARDED_BY(mutex_){0};  // by etcd's word it lasts till then
  Millis ttl_ TENURE_GUARDED_BY(mutex_){0};
  bool is_granting_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_keeping_ TENURE_GUARDED_BY(mutex_) = false;
  Millis next_beat_ TENURE_GUARDED_BY(mutex_){0};
  Millis quiet_until_ TENURE_GUARDED_BY(mutex_){0};  // after trouble

  // Who leads, as of a revision.
  std::optional<KeyValue> leader_ TENURE_GUARDED_BY(mutex_);
  Revision known_ TENURE_GUARDED_BY(mutex_) = 0;  // 0: nothing yet
  Millis seen_ TENURE_GUARDED_BY(mutex_){0};      // when the question was sent whose answer showed it
  bool is_looking_ TENURE_GUARDED_BY(mutex_) = false;
  bool must_look_ TENURE_GUARDED_BY(mutex_) = false;
  // What the look under way proves, if it finds the leader's key bound to this lease: that it lasts till then.
  struct Look {
    LeaseId lease = 0;
    Millis proves{0};
  };
  Look look_ TENURE_GUARDED_BY(mutex_);
  Millis campaign_proves_ TENURE_GUARDED_BY(mutex_){0};  // likewise, if it is done
  Millis sure_until_ TENURE_GUARDED_BY(mutex_){0};       // proven
  std::unique_ptr<Watch> watch_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t watches_ TENURE_GUARDED_BY(mutex_) = 0;  // begun so far: news of an older one do not count

  // What this node does about it.
  bool is_campaigning_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_removing_ TENURE_GUARDED_BY(mutex_) = false;
  bool wants_to_resign_ TENURE_GUARDED_BY(mutex_) = false;
  Millis pause_until_ TENURE_GUARDED_BY(mutex_){0};  // it does not campaign before
  LeaseId campaign_lease_ TENURE_GUARDED_BY(mutex_) = 0;
  Revision given_up_ TENURE_GUARDED_BY(mutex_) = 0;  // the epoch that it leads no more, whoever believes it
  Revision epoch_ TENURE_GUARDED_BY(mutex_) = 0;     // that it was told to lead in; 0: it does not lead
  std::optional<Leader> told_ TENURE_GUARDED_BY(mutex_);

  // Who takes part.
  std::vector<Member> members_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t applied_ TENURE_GUARDED_BY(mutex_) = 0;
  bool is_announcing_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_announced_ TENURE_GUARDED_BY(mutex_) = false;    // as far as was seen
  std::uint64_t announced_ TENURE_GUARDED_BY(mutex_) = 0;  // of what was applied
};

}  // namespace tenure::etcd
