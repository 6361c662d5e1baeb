// How records change the work book. Every invariant is checked before anything is touched.
#include "base/hash.h"
#include "core/work_book.h"

namespace tenure {

// --- the backlog ---

std::optional<std::uint64_t> Backlog::place_of(Offset offset) const {
  const auto found = places_.find(offset.value);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t Backlog::push_tail(Offset offset) {
  const std::uint64_t place = head_place_ + offsets_.size();
  offsets_.push_back(offset);
  places_[offset.value] = place;
  return place;
}

void Backlog::restore(std::uint64_t place, Offset offset) {
  if (offsets_.empty()) head_place_ = place;
  push_tail(offset);
}

std::uint64_t Backlog::push_head(Offset offset) {
  offsets_.push_front(offset);
  places_[offset.value] = --head_place_;
  return head_place_;
}

std::uint64_t Backlog::pop_head() {
  places_.erase(offsets_.front().value);
  offsets_.pop_front();
  return head_place_++;
}

// --- bookkeeping ---

WorkBook::~WorkBook() {
  domains_.visit_all([](Domain& domain) { delete &domain; });
}

Domain& WorkBook::domain_of(std::string_view name) {
  if (Domain* found = find_mutable(name)) return *found;
  auto* domain = new Domain;
  domain->name = name;
  domain->name_hash = hash64(name);
  domains_.insert(*domain, static_cast<std::uint32_t>(domain->name_hash));
  bytes_ += kDomainBytes + name.size();
  changed(*domain);
  return *domain;
}

void WorkBook::enter_backlog(Domain& domain, Offset offset, bool at_head) {
  if (!domain.has_backlog()) domain.backlog = std::make_unique<Backlog>();
  const std::uint64_t place = at_head ? domain.backlog->push_head(offset) : domain.backlog->push_tail(offset);
  common_.put_in(Entity::kBacklogEntry, BacklogEntry{domain.name_hash, place, offset});
  bytes_ += kBacklogBytes;
}

void WorkBook::leave_backlog(Domain& domain) {
  const Offset offset = domain.backlog->head();
  const std::uint64_t place = domain.backlog->pop_head();
  common_.take_out(Entity::kBacklogEntry, BacklogEntry{domain.name_hash, place, offset});
  if (domain.backlog->empty()) domain.backlog.reset();
  bytes_ -= kBacklogBytes;
}

// The offset in flight is done: it goes into one of the ledgers, and the domain is idle.
void WorkBook::finish(Domain& domain, IntervalSet& into, Entity kind) {
  bytes_ -= into.intervals() * kIntervalBytes;
  into.add(
      domain.hold->offset, [&](Interval gone) { common_.take_out(kind, DoneInterval{domain.name_hash, gone}); },
      [&](Interval come) { common_.put_in(kind, DoneInterval{domain.name_hash, come}); });
  bytes_ += into.intervals() * kIntervalBytes;
  changing(domain);
  domain.hold.reset();
  expiries_.disarm(domain);
  changed(domain);
}

void WorkBook::trim_intervals(Domain& domain, Offset below) {
  const auto kind = Entity::kProcessed;
  bytes_ -= domain.processed.intervals() * kIntervalBytes;
  domain.processed.trim(
      below, [&](Interval gone) { common_.take_out(kind, DoneInterval{domain.name_hash, gone}); },
      [&](Interval come) { common_.put_in(kind, DoneInterval{domain.name_hash, come}); });
  bytes_ += domain.processed.intervals() * kIntervalBytes;
}

Broken WorkBook::check_hold(const Domain* domain, Token token, Instant stamp) {
  if (domain == nullptr || !domain->hold) return "domain must have a lease";
  if (domain->hold->token != token) return "token must match the current lease";
  if (is_expired(domain->hold->expires_at, stamp)) return "lease must not be expired";
  return nullptr;
}

// --- records ---

Broken WorkBook::apply(const record::WorkAcquired& record, Instant /*stamp*/) {
  const Domain* found = find(record.domain);
  if (record.token.fence <= common_.fence()) return "fence must be greater than every earlier one";
  if (found != nullptr) {
    if (found->hold) return "domain must be idle";
    if (found->is_done(record.offset)) return "offset must not be done";
    if (found->has_backlog() && found->backlog->head() != record.offset) return "offset must be the backlog's head";
  }

  Domain& domain = domain_of(record.domain);
  common_.set_fence(record.token.fence);
  if (domain.has_backlog()) leave_backlog(domain);
  changing(domain);
  domain.returned.reset();
  domain.hold.emplace();
  domain.hold->offset = record.offset;
  domain.hold->acquired_at = record.acquired_at;
  domain.hold->retry_count = record.retry_count;
  domain.hold->token = record.token;
  domain.hold->expires_at = record.lease_expiry.value_or(kNever);
  changed(domain);
  if (record.lease_expiry) expiries_.arm(domain, *record.lease_expiry, record.token.fence.value);
  return nullptr;
}

Broken WorkBook::apply(const record::WorkEnqueued& record, Instant /*stamp*/) {
  Domain* domain = find_mutable(record.domain);
  if (domain == nullptr || !domain->hold) return "domain must have a lease";
  if (domain->hold->offset == record.offset) return "offset must not be in flight";
  if (domain->is_done(record.offset)) return "offset must not be done";
  if (domain->has_backlog() && domain->backlog->place_of(record.offset)) return "offset must not be waiting";
  enter_backlog(*domain, record.offset, false);
  return nullptr;
}

Broken WorkBook::apply(const record::WorkSucceeded& record, Instant stamp) {
  Domain* domain = find_mutable(record.domain);
  if (const Broken broken = check_hold(domain, record.token, stamp)) return broken;
  if (domain->hold->offset != record.offset) return "offset must be the one in flight";
  if (!requests_.is_new(record.request)) return "request id must be new";
  finish(*domain, domain->processed, Entity::kProcessed);
  requests_.remember(record.request, stamp, WorkAnswer{domain->hint(), {}});
  return nullptr;
}

Broken WorkBook::apply(const record::WorkRetried& record, Instant stamp) {
  Domain* domain = find_mutable(record.domain);
  if (const Broken broken = check_hold(domain, record.token, stamp)) return broken;
  if (domain->hold->offset != record.offset) return "offset must be the one in flight";
  if (record.retry_count != domain->hold->retry_count + 1) return "retry_count must be the previous one + 1";
  if (!requests_.is_new(record.request)) return "request id must be new";
  changing(*domain);
  domain->hold->retry_count = record.retry_count;
  changed(*domain);
  requests_.remember(record.request, stamp, WorkAnswer{{}, record.retry_count});
  return nullptr;
}

Broken WorkBook::apply(const record::WorkGivenUp& record, Instant stamp) {
  Domain* domain = find_mutable(record.domain);
  if (const Broken broken = check_hold(domain, record.token, stamp)) return broken;
  if (domain->hold->offset != record.offset) return "offset must be the one in flight";
  if (!requests_.is_new(record.request)) return "request id must be new";
  finish(*domain, domain->failed, Entity::kFailedOffsets);
  requests_.remember(record.request, stamp, WorkAnswer{domain->hint(), {}});
  return nullptr;
}

Broken WorkBook::apply(const record::WorkExtended& record, Instant stamp) {
  Domain* domain = find_mutable(record.domain);
  if (const Broken broken = check_hold(domain, record.token, stamp)) return broken;
  if (record.new_lease_expiry <= domain->hold->expires_at) return "new expiry must be later than the current expiry";
  changing(*domain);
  domain->hold->expires_at = record.new_lease_expiry;
  changed(*domain);
  return nullptr;
}

Broken WorkBook::apply(const record::WorkExpired& record, Instant stamp) {
  Domain* domain = find_mutable(record.domain);
  if (domain == nullptr || !domain->hold) return "domain must have a lease";
  if (domain->hold->token != record.token) return "token must match the current lease";
  if (domain->hold->offset != record.offset) return "offset must be the one in flight";
  if (!is_expired(domain->hold->expires_at, stamp)) return "lease must be expired";
  changing(*domain);
  domain->returned = *domain->hold;
  domain->hold.reset();
  changed(*domain);
  expiries_.disarm(*domain);
  enter_backlog(*domain, record.offset, true);
  return nullptr;
}

Broken WorkBook::apply(const record::WorkTrimmed& record, Instant /*stamp*/) {
  const Domain* found = find(record.domain);
  if (found != nullptr) {
    if (record.below <= found->trimmed_below) return "the mark must rise";
    if (found->hold && found->hold->offset < record.below) return "the mark must not pass the offset in flight";
    if (found->has_backlog() && found->backlog->lowest() < record.below) return "the mark must not pass the backlog";
  }
  Domain& domain = domain_of(record.domain);
  trim_intervals(domain, record.below);
  changing(domain);
  domain.trimmed_below = record.below;
  changed(domain);
  return nullptr;
}

}  // namespace tenure
