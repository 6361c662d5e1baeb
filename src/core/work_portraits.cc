// The work book from and to a snapshot.
#include "core/work_book.h"

namespace tenure {
namespace {

portrait::InFlight portrait_of(const InFlight& flight) {
  return {.offset = flight.offset, .acquired_at = flight.acquired_at, .retry_count = flight.retry_count};
}

InFlight flight_of(const portrait::InFlight& from) { return {from.offset, from.acquired_at, from.retry_count}; }

portrait::Domain portrait_of(const Domain& domain) {
  portrait::Domain to{.domain = domain.name, .trimmed_below = domain.trimmed_below};
  if (domain.hold) {
    to.hold = portrait_of(static_cast<const InFlight&>(*domain.hold));
    to.hold->token = domain.hold->token;
    if (domain.hold->expires_at != kNever) to.hold->expires_at = domain.hold->expires_at;
  }
  if (domain.returned) to.returned = portrait_of(*domain.returned);
  return to;
}

}  // namespace

void WorkBook::visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const {
  domains_.visit_all([&](const Domain& domain) {
    visit(portrait_of(domain));
    for (const bool failed : {false, true}) {
      for (const auto& [first, last] : (failed ? domain.failed : domain.processed).map()) {
        visit(portrait::DoneOffsets{domain.name, failed, Offset{first}, Offset{last}});
      }
    }
    const std::uint64_t waiting = domain.has_backlog() ? domain.backlog->size() : 0;
    for (std::uint64_t i = 0; i < waiting; ++i) {
      const std::uint64_t place = domain.backlog->head_place() + i;
      visit(portrait::BacklogEntry{domain.name, place, domain.backlog->at(place)});
    }
  });
  requests_.visit_portraits([&](portrait::Request to, const WorkAnswer& answer) {
    to.next = answer.next;
    to.retry_count = answer.retry_count;
    visit(to);
  });
}

Broken WorkBook::load(const portrait::Domain& from) {
  if (find(from.domain) != nullptr) return "domain must be new";
  Domain& domain = domain_of(from.domain);
  changing(domain);
  domain.trimmed_below = from.trimmed_below;
  if (from.hold) {
    domain.hold.emplace();
    static_cast<InFlight&>(*domain.hold) = flight_of(*from.hold);
    domain.hold->token = from.hold->token.value_or(Token{});
    domain.hold->expires_at = from.hold->expires_at.value_or(kNever);
    if (from.hold->expires_at) expiries_.arm(domain, domain.hold->expires_at, domain.hold->token.fence.value);
  }
  if (from.returned) domain.returned = flight_of(*from.returned);
  changed(domain);
  return nullptr;
}

Broken WorkBook::load(const portrait::DoneOffsets& from) {
  Domain* domain = find_mutable(from.domain);
  if (domain == nullptr) return "done offsets must have a domain";
  (from.failed ? domain->failed : domain->processed).restore({from.first, from.last});
  bytes_ += kIntervalBytes;
  const Entity kind = from.failed ? Entity::kFailedOffsets : Entity::kProcessed;
  common_.put_in(kind, DoneInterval{domain->name_hash, {from.first, from.last}});
  return nullptr;
}

Broken WorkBook::load(const portrait::BacklogEntry& from) {
  Domain* domain = find_mutable(from.domain);
  if (domain == nullptr) return "a backlog must have a domain";
  if (!domain->has_backlog()) domain->backlog = std::make_unique<Backlog>();
  domain->backlog->restore(from.place, from.offset);
  bytes_ += kBacklogBytes;
  common_.put_in(Entity::kBacklogEntry, BacklogEntry{domain->name_hash, from.place, from.offset});
  return nullptr;
}

Broken WorkBook::load(const portrait::Request& from) {
  return requests_.restore(from, WorkAnswer{from.next, from.retry_count});
}

}  // namespace tenure
