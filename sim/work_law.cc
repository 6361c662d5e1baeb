#include "work_law.h"

#include <algorithm>

namespace tenure::sim {
namespace {

template <class R>
std::string name_of_lock(const R& record) {
  return fmt::format("{}::{}", record.domain, record.identifier);
}

}  // namespace

// --- work leases ---

bool WorkLaw::Facts::is_in_line(Offset offset) const { return std::ranges::find(backlog, offset) != backlog.end(); }

WorkLaw::Facts& WorkLaw::held(std::string_view domain, Token token, Instant stamp) {
  const auto found = domains_.find(domain);
  require(found != domains_.end() && found->second.hold && found->second.hold->token == token,
          "domain {}: a record in the name of {}, which does not hold it", domain, token.text());
  require(stamp <= found->second.hold->expires_at, "domain {}: lease {} was used at {}, and had ended at {}", domain,
          token.text(), stamp.ms, found->second.hold->expires_at.ms);
  return found->second;
}

void WorkLaw::see(const record::WorkAcquired& record, Instant stamp) {
  Facts& domain = domains_[std::string(record.domain)];
  require(!domain.hold, "domain {}: acquired while offset {} is in flight", record.domain,
          domain.hold ? domain.hold->offset.value : 0);
  require(!domain.is_done(record.offset), "domain {}: offset {} acquired, and it is done", record.domain,
          record.offset.value);
  if (!domain.backlog.empty()) {
    require(domain.backlog.front() == record.offset, "domain {}: offset {} acquired before {}, the head of its backlog",
            record.domain, record.offset.value, domain.backlog.front().value);
    domain.backlog.pop_front();
  }
  require(record.lease_expiry.value_or(kNever) >= stamp, "domain {}: leased until before now", record.domain);
  domain.hold = Hold{record.offset, record.token, record.lease_expiry.value_or(kNever), record.retry_count};
}

void WorkLaw::see(const record::WorkEnqueued& record, Instant /*stamp*/) {
  Facts& domain = domains_[std::string(record.domain)];
  require(domain.hold && domain.hold->offset != record.offset && !domain.is_in_line(record.offset) &&
              !domain.is_done(record.offset),
          "domain {}: offset {} enqueued, and it is in flight, in line or done", record.domain, record.offset.value);
  domain.backlog.push_back(record.offset);
}

void WorkLaw::finish(Facts& domain, std::string_view name, Offset offset) {
  require(domain.hold->offset == offset, "domain {}: offset {} finished, {} is in flight", name, offset.value,
          domain.hold->offset.value);
  require(domain.done.insert(offset).second, "domain {}: offset {} finished twice", name, offset.value);
  domain.hold.reset();
}

void WorkLaw::see(const record::WorkSucceeded& record, Instant stamp) {
  Facts& domain = held(record.domain, record.token, stamp);
  domain.succeeded.insert(record.token);
  finish(domain, record.domain, record.offset);
}

void WorkLaw::see(const record::WorkRetried& record, Instant stamp) {
  Hold& hold = *held(record.domain, record.token, stamp).hold;
  require(record.retry_count == hold.retries + 1, "domain {}: retry {} after {}", record.domain, record.retry_count,
          hold.retries);
  hold.retries = record.retry_count;
}

void WorkLaw::see(const record::WorkGivenUp& record, Instant stamp) {
  finish(held(record.domain, record.token, stamp), record.domain, record.offset);
}

void WorkLaw::see(const record::WorkExtended& record, Instant stamp) {
  Hold& hold = *held(record.domain, record.token, stamp).hold;
  require(record.new_lease_expiry > hold.expires_at, "domain {}: a lease was shortened", record.domain);
  hold.expires_at = record.new_lease_expiry;
}

void WorkLaw::see(const record::WorkExpired& record, Instant stamp) {
  const auto found = domains_.find(record.domain);
  require(found != domains_.end() && found->second.hold && found->second.hold->token == record.token,
          "domain {}: lease {} expired, and does not hold it", record.domain, record.token.text());
  Facts& domain = found->second;
  require(stamp > domain.hold->expires_at, "domain {}: expired at {}, held until {}", record.domain, stamp.ms,
          domain.hold->expires_at.ms);
  domain.backlog.push_front(domain.hold->offset);
  domain.hold.reset();
}

void WorkLaw::see(const record::WorkTrimmed& record, Instant /*stamp*/) {
  Facts& domain = domains_[std::string(record.domain)];
  require(!domain.hold || domain.hold->offset >= record.below, "domain {}: trimmed past what is in flight",
          record.domain);
  require(std::ranges::none_of(domain.backlog, [&](Offset offset) { return offset < record.below; }),
          "domain {}: trimmed past its backlog", record.domain);
  domain.trimmed_below = std::max(domain.trimmed_below, record.below);
}

void WorkLaw::judge(const WorkRequest& request, const AcquireResult& reply) const {
  const auto* const acquired = std::get_if<Acquired>(&reply);
  if (acquired == nullptr) return;
  const auto found = domains_.find(request.domain);
  require(found != domains_.end() && found->second.hold && found->second.hold->offset == request.offset &&
              found->second.hold->token == Token::parse(acquired->token),
          "domain {}: told that {} holds offset {}, and it does not", request.domain, acquired->token,
          request.offset.value);
}

void WorkLaw::judge(const WorkSuccess& request) const {
  const auto found = domains_.find(request.domain);
  const auto token = Token::parse(request.token);
  require(found != domains_.end() && token && found->second.succeeded.contains(*token),
          "domain {}: the success of {} was accepted, and it did not hold it", request.domain, request.token);
}

std::optional<std::string> WorkLaw::find_open() const {
  for (const auto& [name, domain] : domains_) {
    if (domain.hold || !domain.backlog.empty()) return "domain " + name;
  }
  return std::nullopt;
}

// --- locks ---

LockLaw::Locks::iterator LockLaw::held(const std::string& name, Token token) {
  const auto found = locks_.find(name);
  require(found != locks_.end() && found->second.token == token,
          "lock {}: a record in the name of {}, which does not hold it", name, token.text());
  return found;
}

LockLaw::Locks::iterator LockLaw::held(const std::string& name, Token token, Instant stamp) {
  const auto found = held(name, token);
  require(stamp <= found->second.expires_at, "lock {}: lease {} was used at {}, and had ended at {}", name,
          token.text(), stamp.ms, found->second.expires_at.ms);
  return found;
}

void LockLaw::see(const record::LockGranted& record, Instant stamp) {
  const auto [made, is_new] = locks_.try_emplace(name_of_lock(record));
  require(is_new, "lock {}: granted while {} holds it", made->first, made->second.token.text());
  require(record.lease_expiry >= stamp, "lock {}: leased until before now", made->first);
  made->second = {.token = record.token, .expires_at = record.lease_expiry};
  if (record.session) made->second.session = *record.session;
}

void LockLaw::see(const record::LockReentered& record, Instant stamp) {
  Facts& lock = held(name_of_lock(record), record.token, stamp)->second;
  require(record.holds == lock.holds + 1, "lock {}: {} holds after {}", name_of_lock(record), record.holds, lock.holds);
  require(record.lease_expiry >= lock.expires_at, "lock {}: a lease was shortened", name_of_lock(record));
  lock.holds = record.holds;
  lock.expires_at = record.lease_expiry;
}

void LockLaw::see(const record::LockExtended& record, Instant stamp) {
  Facts& lock = held(name_of_lock(record), record.token, stamp)->second;
  require(record.new_lease_expiry > lock.expires_at, "lock {}: a lease was shortened", name_of_lock(record));
  lock.expires_at = record.new_lease_expiry;
}

void LockLaw::see(const record::LockReleased& record, Instant stamp) {
  const auto lock = held(name_of_lock(record), record.token, stamp);
  require(record.holds + 1 == lock->second.holds || record.cause == ReleaseCause::kDisconnected,
          "lock {}: {} holds left of {}", lock->first, record.holds, lock->second.holds);
  lock->second.holds = record.holds;
  if (record.cause != ReleaseCause::kDisconnected) released_.insert(record.token);
  if (record.holds == 0) locks_.erase(lock);
}

void LockLaw::see(const record::LockExpired& record, Instant stamp) {
  const auto lock = held(name_of_lock(record), record.token);
  require(stamp > lock->second.expires_at, "lock {}: expired at {}, held until {}", lock->first, stamp.ms,
          lock->second.expires_at.ms);
  locks_.erase(lock);
}

void LockLaw::see(const record::LockForced& record, Instant stamp) {
  locks_.erase(held(name_of_lock(record), record.token, stamp));
}

void LockLaw::judge(const LockAcquire& request, const LockGrant& grant) const {
  const auto found = locks_.find(name_of_lock(request.lock));
  require(found != locks_.end() && found->second.token == Token::parse(grant.token),
          "lock {}: told that {} holds it, and it does not", name_of_lock(request.lock), grant.token);
}

void LockLaw::judge(const LockGiveBack& request) const {
  const auto token = Token::parse(request.token);
  require(token && released_.contains(*token), "lock {}: a release by {} was accepted, and it did not hold it",
          name_of_lock(request.lock), request.token);
}

std::optional<std::string> LockLaw::session_of(const record::LockReleased& record) const {
  const auto found = locks_.find(name_of_lock(record));
  return found == locks_.end() ? std::nullopt : found->second.session;
}

std::optional<std::string> LockLaw::find_open() const {
  if (locks_.empty()) return std::nullopt;
  return "lock " + locks_.begin()->first;
}

}  // namespace tenure::sim
