#include "etcd_members.h"

#include <algorithm>

namespace tenure::sim {
namespace {

constexpr std::size_t kOperationsMax = 128;
constexpr std::size_t kRequestBytesMax = 1'572'864;
constexpr Millis kSecond{1000};

etcd::Trouble refused(std::string why, etcd::Revision compacted = 0) {
  return {
      .outcome = etcd::Trouble::Outcome::kNothing, .why = std::move(why), .compacted = compacted, .is_refusal = true};
}

}  // namespace

// --- keys ---

bool EtcdMembers::holds(const etcd::Compare& condition) const {
  const auto found = pairs_.find(condition.key);
  etcd::Revision revision = 0;
  if (found != pairs_.end()) {
    revision =
        condition.of == etcd::Compare::Of::kCreateRevision ? found->second.create_revision : found->second.mod_revision;
  }
  return condition.is == etcd::Compare::Is::kEqual ? revision == condition.revision : revision > condition.revision;
}

std::optional<std::string> EtcdMembers::fault_in(const etcd::Txn& txn) const {
  if (std::max({txn.conditions.size(), txn.puts.size() + txn.deletes.size(), txn.otherwise.size()}) > kOperationsMax) {
    return "too many operations in txn request";
  }
  std::size_t bytes = 0;
  std::set<std::string_view> keys;
  for (const etcd::Put& put : txn.puts) {
    bytes += put.key.size() + put.value.size();
    if (!keys.insert(put.key).second) return "duplicate key given in txn request";
    for (const etcd::KeyRange& deleted : txn.deletes) {
      if (deleted.holds(put.key)) return "duplicate key given in txn request";
    }
    if (put.lease != 0 && !leases_.contains(put.lease)) return "requested lease not found";
  }
  if (bytes > kRequestBytesMax) return "request is too large";
  return std::nullopt;
}

etcd::Answer<etcd::TxnAnswer> EtcdMembers::txn(const etcd::Txn& txn) {
  etcd::TxnAnswer answer;
  answer.is_done = std::ranges::all_of(txn.conditions, [this](const auto& condition) { return holds(condition); });
  if (answer.is_done) {
    if (auto fault = fault_in(txn)) return tl::unexpected(refused(std::move(*fault)));
    const etcd::Revision before = revision_;
    const std::size_t changes = changes_.size();
    ++revision_;  // one for all of it
    for (const etcd::KeyRange& keys : txn.deletes) {
      for (const etcd::KeyValue& pair : find(pairs_, {.keys = keys, .is_keys_only = true}).found) remove(pair.key);
    }
    for (const etcd::Put& each : txn.puts) put(each);
    if (changes_.size() == changes) revision_ = before;
  } else {
    for (const etcd::Range& read : txn.otherwise) answer.otherwise.push_back(range(read));
  }
  answer.revision = revision_;
  if (answer.is_done && !(txn.puts.empty() && txn.deletes.empty())) tell_change();
  return answer;
}

void EtcdMembers::put(const etcd::Put& put) {
  const auto found = pairs_.find(put.key);
  Change change;
  if (found != pairs_.end()) {
    change.before = found->second;
    if (const auto lease = leases_.find(found->second.lease); lease != leases_.end()) lease->second.keys.erase(put.key);
  }
  etcd::KeyValue pair{.key = put.key,
                      .value = put.value,
                      .create_revision = change.before ? change.before->create_revision : revision_,
                      .mod_revision = revision_,
                      .lease = put.lease};
  if (put.lease != 0) leases_.find(put.lease)->second.keys.insert(put.key);
  change.event = {.kind = etcd::Event::Kind::kPut, .pair = pair};
  pairs_[put.key] = std::move(pair);
  changes_.push_back(std::move(change));
}

void EtcdMembers::remove(const std::string& key) {
  const auto found = pairs_.find(key);
  if (const auto lease = leases_.find(found->second.lease); lease != leases_.end()) lease->second.keys.erase(key);
  changes_.push_back(
      {.event = {.kind = etcd::Event::Kind::kDelete, .pair = {.key = key, .value = {}, .mod_revision = revision_}},
       .before = std::move(found->second)});
  pairs_.erase(found);
}

etcd::RangeAnswer EtcdMembers::find(const Pairs& pairs, const etcd::Range& range) {
  etcd::RangeAnswer answer;
  const auto first = pairs.lower_bound(range.keys.begin);
  const auto last = range.keys.end.empty() ? pairs.upper_bound(range.keys.begin) : pairs.lower_bound(range.keys.end);
  const auto limit = static_cast<std::size_t>(range.limit);
  const auto take = [&](auto pair, auto end) {
    for (; pair != end; ++pair) {
      answer.has_more = limit > 0 && answer.found.size() == limit;
      if (answer.has_more) return;
      answer.found.push_back(pair->second);
      if (range.is_keys_only) answer.found.back().value.clear();
    }
  };
  if (range.is_descending) {
    take(std::make_reverse_iterator(last), std::make_reverse_iterator(first));
  } else {
    take(first, last);
  }
  return answer;
}

etcd::RangeAnswer EtcdMembers::range(const etcd::Range& range, etcd::Revision behind) const {
  const etcd::Revision at = range.is_serializable ? std::max(revision_ - behind, compacted_ + 1) : revision_;
  if (at >= revision_) {
    etcd::RangeAnswer answer = find(pairs_, range);
    answer.revision = revision_;
    return answer;
  }
  Pairs then = pairs_;
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    const etcd::KeyValue& changed = change->event.pair;
    if (changed.mod_revision <= at) break;
    change->before ? void(then[changed.key] = *change->before) : void(then.erase(changed.key));
  }
  etcd::RangeAnswer answer = find(then, range);
  answer.revision = at;
  return answer;
}

etcd::Answer<etcd::Revision> EtcdMembers::compact(etcd::Revision revision) {
  if (revision <= compacted_) {
    return tl::unexpected(refused("required revision has been compacted", compacted_));
  }
  if (revision > revision_) return tl::unexpected(refused("required revision is a future revision"));
  compacted_ = revision;
  while (!changes_.empty() && changes_.front().event.pair.mod_revision < revision) changes_.pop_front();
  return revision;
}

etcd::Status EtcdMembers::status() const {
  etcd::Status status{.version = "3.4.23", .has_leader = true};
  for (const auto& [key, pair] : pairs_) status.db_bytes_in_use += key.size() + pair.value.size();
  status.db_bytes = status.db_bytes_in_use;
  for (const Change& change : changes_) {
    if (change.before) status.db_bytes += change.before->key.size() + change.before->value.size();
  }
  return status;
}

// --- watches ---

etcd::Answer<etcd::News> EtcdMembers::news(const etcd::KeyRange& keys, etcd::Revision from) const {
  if (from < compacted_) {
    return tl::unexpected(refused("required revision has been compacted", compacted_));
  }
  etcd::News news{.events = {}, .revision = revision_};
  const auto first =
      std::ranges::lower_bound(changes_, from, {}, [](const Change& change) { return change.event.pair.mod_revision; });
  for (auto change = first; change != changes_.end(); ++change) {
    if (keys.holds(change->event.pair.key)) news.events.push_back(change->event);
  }
  return news;
}

void EtcdMembers::tell_change() {
  std::erase_if(listeners_, [](const auto& told) { return !told(); });
}

// --- leases ---

etcd::Lease EtcdMembers::grant(Millis ttl) {
  const Millis whole = (ttl + kSecond - Millis{1}) / kSecond * kSecond;
  const etcd::LeaseId id = ++lease_ids_;
  leases_[id] = {.ttl = whole, .ends = agenda_.now() + whole};
  plan_end(id);
  return {.id = id, .ttl = whole};
}

etcd::Lease EtcdMembers::keep_alive(etcd::LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found != leases_.end()) {
    found->second.ends = agenda_.now() + found->second.ttl;
    return {.id = lease, .ttl = found->second.ttl};
  }
  const auto gone = gone_.find(lease);
  if (gone != gone_.end() && !is_calm_ && dice_.one_in(2)) {
    tally_.count(Fault::kGoneLeaseKept);
    return {.id = lease, .ttl = gone->second};
  }
  return {.id = lease, .ttl = Millis{0}};
}

etcd::Answer<etcd::LeaseId> EtcdMembers::revoke(etcd::LeaseId lease) {
  if (!leases_.contains(lease)) return tl::unexpected(refused("requested lease not found"));
  end_lease(lease);
  return lease;
}

void EtcdMembers::end_lease(etcd::LeaseId lease) {
  const auto found = leases_.find(lease);
  const HeldLease held = std::move(found->second);
  leases_.erase(found);
  gone_[lease] = held.ttl;
  if (held.keys.empty()) return;
  ++revision_;
  for (const std::string& key : held.keys) {
    story_.tell("etcd forgets {} with its lease", key);
    remove(key);
  }
  tell_change();
}

// Looked at now and then: a lease ends late, if at all.
void EtcdMembers::plan_end(etcd::LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return;
  const Millis late{dice_.between(0, 500)};
  agenda_.at(found->second.ends + late, [this, lease] {
    const auto held = leases_.find(lease);
    if (held == leases_.end()) return;
    if (is_away_ || held->second.ends > agenda_.now()) {
      if (is_away_) held->second.ends = agenda_.now() + held->second.ttl;
      return plan_end(lease);
    }
    end_lease(lease);
  });
}

void EtcdMembers::leave() {
  if (is_away_) return;
  is_away_ = true;
  tally_.count(Fault::kEtcdAway);
  story_.tell("etcd is away");
}

void EtcdMembers::come_back() {
  if (!is_away_) return;
  is_away_ = false;
  story_.tell("etcd is back");
  for (auto& [id, lease] : leases_) lease.ends = agenda_.now() + lease.ttl;
  tell_change();
}

void EtcdMembers::stop_keeping(Millis time) {
  tally_.count(Fault::kKeepingStopped);
  story_.tell("etcd keeps no lease alive for {} ms", time.count());
  keeps_again_ = agenda_.now() + time;
}

bool EtcdMembers::end_some_lease_early() {
  if (is_away_ || leases_.empty()) return false;
  auto some = leases_.begin();
  std::advance(some, static_cast<std::ptrdiff_t>(dice_.roll(leases_.size())));
  if (some->second.keys.empty()) return false;
  tally_.count(Fault::kLeaseRevokedEarly);
  story_.tell("etcd ends lease {} early", some->first);
  end_lease(some->first);
  return true;
}

}  // namespace tenure::sim
