#include "etcd/election.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/split.h"
#include "base/text.h"

namespace tenure::etcd {
namespace {

constexpr Millis kNever{std::numeric_limits<std::int64_t>::max()};
constexpr Millis kLeavePatience{1'000};

// How long a lease is sure to last, by this node's clock: clocks differ in speed, too.
Millis sure_part(Millis ttl) { return ttl - ttl / 10; }

std::string presence_text(const EtcdElection::Options& options, std::uint64_t applied) {
  return fmt::format("{} {} {}", options.records, applied, options.version);
}

// What another version may tell besides does not matter here.
Election::Member member_of(std::string_view address, std::string_view presence) {
  Election::Member member{.address = std::string(address)};
  const auto words = split(presence, ' ');
  member.records = parse_decimal(words[0]).value_or(0);
  if (words.size() > 1) member.applied = parse_decimal(words[1]).value_or(0);
  if (words.size() > 2) member.version = words[2];
  return member;
}

}  // namespace

struct EtcdElection::Mailbox {
  using Letter = std::function<void(EtcdElection&)>;

  void post(Letter letter) {
    const MutexLock lock(mutex);
    letters.push_back(std::move(letter));
    if (wake) wake();
  }
  std::vector<Letter> take() {
    const MutexLock lock(mutex);
    return std::exchange(letters, {});
  }

  Mutex mutex;
  std::vector<Letter> letters TENURE_GUARDED_BY(mutex);
  std::function<void()> wake TENURE_GUARDED_BY(mutex);
};

template <class T>
Tell<T> EtcdElection::mail(void (EtcdElection::*take)(Answer<T>, Millis)) {
  return [mailbox = mailbox_, take, sent = clock_.boot()](Answer<T> answer) {
    mailbox->post([take, sent, answer = std::move(answer)](EtcdElection& election) { (election.*take)(answer, sent); });
  };
}

EtcdElection::EtcdElection(Store& store, const Clock& clock, Keys keys, Options options)
    : store_(store),
      clock_(clock),
      keys_(std::move(keys)),
      options_(std::move(options)),
      beat_(options_.term / 3),
      mailbox_(std::make_shared<Mailbox>()) {
  TENURE_CHECK(options_.term >= kTermMin, "a term of {} ms", options_.term.count());
}

EtcdElection::~EtcdElection() { on_due(nullptr); }

void EtcdElection::on_due(std::function<void()> wake) {
  const MutexLock lock(mailbox_->mutex);
  mailbox_->wake = std::move(wake);
}

Millis EtcdElection::tick(Listener& listener) {
  Reports reports;
  Millis due = kNever;
  {
    const MutexLock lock(mutex_);
    if (has_left_) return kNever;
    now_ = clock_.boot();
    for (const auto& letter : mailbox_->take()) letter(*this);
    judge(reports);
    ask();
    due = next_due();
  }
  for (const auto& report : reports) report(listener);
  return due;
}

// --- answers ---

// Not at once: etcd may be away for minutes.
void EtcdElection::ask_soon() {
  quiet_until_ = now_ + beat_ / 4;
  next_beat_ = std::min(next_beat_, quiet_until_);
}

void EtcdElection::take_grant(Answer<Lease> answer, Millis sent) {
  is_granting_ = false;
  if (!answer) return ask_soon();
  lease_ = answer->id;
  ttl_ = answer->ttl;
  lease_until_ = sent + sure_part(ttl_);
}

void EtcdElection::take_keep(Answer<Lease> answer, Millis sent) {
  is_keeping_ = false;
  if (!answer) return ask_soon();
  if (answer->id != lease_) return;
  if (answer->ttl <= Millis{0}) return lose_lease();
  ttl_ = answer->ttl;
  lease_until_ = sent + sure_part(ttl_);
  must_look_ = true;  // whether that is so
}

void EtcdElection::lose_lease() {
  lease_ = 0;
  lease_until_ = sure_until_ = Millis{0};
  is_announced_ = false;
  ask_soon();
}

void EtcdElection::take_look(Answer<RangeAnswer> answer, Millis sent) {
  is_looking_ = false;
  if (!answer) return ask_soon();
  // News were quicker.
  if (answer->revision < known_) return;
  std::optional<KeyValue> leader;
  members_.clear();
  bool is_present = false;
  for (const KeyValue& pair : answer->found) {
    if (pair.key == keys_.leader()) leader = pair;
    if (!pair.key.starts_with(keys_.nodes())) continue;
    members_.push_back(member_of(std::string_view(pair.key).substr(keys_.nodes().size()), pair.value));
    is_present = is_present || (members_.back().address == options_.address && pair.lease == lease_);
  }
  is_announced_ = is_announced_ && is_present;
  const bool is_same_lease = leader && lease_ != 0 && leader->lease == lease_ && look_.lease == lease_;
  if (is_same_lease) sure_until_ = std::max(sure_until_, look_.proves);
  learn_leader(std::move(leader), answer->revision);
  seen_ = std::max(seen_, sent);
  if (!watch_) watch_leader();
}

void EtcdElection::take_news(const Answer<News>& news, std::uint64_t watch) {
  if (watch != watches_) return;
  if (!news) {
    watch_.reset();
    return ask_soon();
  }
  for (const Event& event : news->events) {
    const bool is_put = event.kind == Event::Kind::kPut;
    learn_leader(is_put ? std::optional(event.pair) : std::nullopt, event.pair.mod_revision);
  }
}

// An answer that was lost does not matter: what became of it is seen.
void EtcdElection::take_campaign(Answer<TxnAnswer> answer, Millis sent) {
  is_campaigning_ = false;
  if (!answer) {
    // There is no such lease any more, whatever was said when it was kept alive.
    if (answer.error().is_refusal && campaign_lease_ == lease_) lose_lease();
    return ask_soon();
  }
  if (answer->is_done) {
    learn_leader(KeyValue{.key = keys_.leader(),
                          .value = options_.address,
                          .create_revision = answer->revision,
                          .mod_revision = answer->revision,
                          .lease = campaign_lease_},
                 answer->revision);
    seen_ = std::max(seen_, sent);
    if (campaign_lease_ == lease_) sure_until_ = std::max(sure_until_, campaign_proves_);
    return;
  }
  const auto& found = answer->otherwise.front().found;
  learn_leader(found.empty() ? std::nullopt : std::optional(found.front()), answer->revision);
}

void EtcdElection::take_presence(Answer<TxnAnswer> answer, Millis /*sent*/) {
  is_announcing_ = false;
  if (!answer && answer.error().is_refusal) lose_lease();
  if (!answer) ask_soon();
  is_announced_ = answer.has_value();
}

void EtcdElection::take_removal(Answer<TxnAnswer> answer, Millis /*sent*/) {
  is_removing_ = false;
  if (!answer) return ask_soon();
  // If it was not there any more, the next look tells what is.
  if (answer->is_done) learn_leader(std::nullopt, answer->revision);
  if (!answer->is_done) ask_soon();
}

// --- what follows ---

void EtcdElection::learn_leader(std::optional<KeyValue> leader, Revision revision) {
  if (revision < known_) return;
  known_ = revision;
  leader_ = std::move(leader);
}

bool EtcdElection::is_mine() const {
  return leader_ && lease_ != 0 && leader_->lease == lease_ && leader_->create_revision != given_up_;
}

Millis EtcdElection::certain() const { return is_mine() ? sure_until_ : Millis{0}; }

std::string EtcdElection::why_deposed() const {
  if (lease_ == 0) return "its lease in etcd has ended";
  if (!leader_) return "its key in etcd is gone";
  if (!is_mine()) return fmt::format("{} leads since revision {}", leader_->value, leader_->create_revision);
  return fmt::format("etcd has not confirmed it for {} ms", (now_ - (sure_until_ - sure_part(ttl_))).count());
}

void EtcdElection::depose(const std::string& why, Reports& reports) {
  given_up_ = std::exchange(epoch_, 0);
  certain_until_ = 0;
  reports.emplace_back([why](Listener& listener) { listener.on_deposed(why); });
}

void EtcdElection::judge(Reports& reports) {
  if (std::exchange(wants_to_resign_, false)) {
    pause_until_ = now_ + options_.term;
    if (epoch_ != 0) depose("it has resigned", reports);
  }
  const bool leads = certain() > now_;
  if (epoch_ != 0 && (!leads || leader_->create_revision != epoch_)) depose(why_deposed(), reports);

  // What was seen long ago is nothing to send clients to.
  const bool is_current = leader_ && now_ - seen_ <= 2 * options_.term && leader_->create_revision != given_up_;
  std::optional<Leader> leader;
  if (is_current) leader = Leader{static_cast<std::uint64_t>(leader_->create_revision), leader_->value};
  if (leader != told_) {
    told_ = leader;
    reports.emplace_back([leader](Listener& listener) { listener.on_leader(leader); });
  }

  if (certain() <= now_) return;
  certain_until_ = certain().count();
  if (epoch_ != 0) return;
  epoch_ = leader_->create_revision;
  const auto epoch = static_cast<std::uint64_t>(epoch_);
  reports.emplace_back([epoch](Listener& listener) { listener.on_elected(epoch); });
}

// --- questions ---

void EtcdElection::ask() {
  if (now_ >= next_beat_) beat();
  if (must_look_ && !is_looking_) look();
  if (now_ < quiet_until_) return;
  // It has heard by news alone that it leads.
  if (is_mine() && sure_until_ <= now_ && lease_until_ > now_ && !is_looking_) look();
  if (lease_ != 0 && !is_announced_ && !is_announcing_) announce();
  const bool has_lease = lease_ != 0 && lease_until_ > now_;
  if (has_lease && known_ != 0 && !leader_ && !is_campaigning_ && now_ >= pause_until_) campaign();
  if (leader_ && leader_->create_revision == given_up_ && !is_removing_) remove_leader_key();
}

void EtcdElection::beat() {
  next_beat_ = now_ + beat_;
  if (lease_ == 0 && !is_granting_) {
    is_granting_ = true;
    store_.grant(options_.term, beat_, mail(&EtcdElection::take_grant));
  }
  if (lease_ != 0 && !is_keeping_) {
    is_keeping_ = true;
    store_.keep_alive(lease_, beat_, mail(&EtcdElection::take_keep));
  }
  if (!is_looking_) look();
  is_announced_ = is_announced_ && announced_ == applied_;
}

// If the leader's key is still bound to the lease, that was not gone when it was last said to be kept alive.
void EtcdElection::look() {
  is_looking_ = true;
  must_look_ = false;
  look_ = {.lease = lease_, .proves = lease_until_};
  store_.range({.keys = keys_.cluster()}, beat_, mail(&EtcdElection::take_look));
}

void EtcdElection::watch_leader() {
  const std::uint64_t watch = ++watches_;
  watch_ = store_.watch(KeyRange::one(keys_.leader()), known_ + 1, [mailbox = mailbox_, watch](Answer<News> news) {
    mailbox->post([news = std::move(news), watch](EtcdElection& election) {
      election.mutex_.assert_held();
      election.take_news(news, watch);
    });
  });
}

void EtcdElection::campaign() {
  is_campaigning_ = true;
  campaign_lease_ = lease_;
  campaign_proves_ = lease_until_;
  store_.txn({.conditions = {Compare::missing(keys_.leader())},
              .puts = {{.key = keys_.leader(), .value = options_.address, .lease = lease_}},
              .otherwise = {{.keys = KeyRange::one(keys_.leader())}}},
             beat_, mail(&EtcdElection::take_campaign));
}

void EtcdElection::announce() {
  is_announcing_ = true;
  announced_ = applied_;
  store_.txn(
      {.puts = {{.key = keys_.node(options_.address), .value = presence_text(options_, applied_), .lease = lease_}}},
      beat_, mail(&EtcdElection::take_presence));
}

void EtcdElection::remove_leader_key() {
  is_removing_ = true;
  store_.txn(
      {.conditions = {Compare::created_at(keys_.leader(), given_up_)}, .deletes = {KeyRange::one(keys_.leader())}},
      beat_, mail(&EtcdElection::take_removal));
}

Millis EtcdElection::next_due() const {
  Millis due = next_beat_;
  if (epoch_ != 0) due = std::min(due, Millis{certain_until_.load()});
  if (pause_until_ > now_) due = std::min(due, pause_until_);
  return std::max(due, now_);
}

// --- its owner's wishes ---

void EtcdElection::resign() {
  {
    const MutexLock lock(mutex_);
    wants_to_resign_ = true;
  }
  mailbox_->post([](EtcdElection& /*election*/) {});
}

void EtcdElection::leave() {
  Txn gone{.deletes = {KeyRange::one(keys_.node(options_.address))}};
  LeaseId lease = 0;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(has_left_, true)) return;
    lease = lease_;
    watch_.reset();
    certain_until_ = 0;
    if (epoch_ != 0) {
      gone.conditions = {Compare::created_at(keys_.leader(), epoch_)};
      gone.deletes.push_back(KeyRange::one(keys_.leader()));
    }
  }
  if (lease == 0) return;
  // If that fails, the lease ends by itself.
  static_cast<void>(store_.txn_now(std::move(gone), kLeavePatience));
  store_.revoke(lease, kLeavePatience, [](const Answer<LeaseId>& /*answer*/) {});
}

std::vector<Election::Member> EtcdElection::members() const {
  const MutexLock lock(mutex_);
  return members_;
}

void EtcdElection::tell_applied(std::uint64_t sequence) {
  const MutexLock lock(mutex_);
  applied_ = sequence;
}

}  // namespace tenure::etcd
