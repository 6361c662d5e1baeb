// The lock book from and to a snapshot.
#include "core/lock_book.h"

namespace tenure {
namespace {

portrait::Lock portrait_of(const Lock& lock) {
  portrait::Lock to{.space = lock.space(),
                    .domain = lock.domain(),
                    .identifier = lock.identifier(),
                    .owner = lock.owner(),
                    .grace = lock.grace,
                    .token = lock.token,
                    .granted_at = lock.granted_at,
                    .expires_at = lock.expires_at,
                    .lease_time = lock.lease_time,
                    .holds = lock.holds};
  if (lock.has_user) to.user = lock.user();
  if (lock.is_bound) to.session = lock.session();
  return to;
}

}  // namespace

void LockBook::visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const {
  locks_.visit_all([&](const Lock& lock) { visit(portrait_of(lock)); });
  lost_.visit_all([&](const LostLease& lost) {
    visit(portrait::LostLease{lost.token, lost.name_hash, lost.cause, {lost.kept_since, lost.kept_order}});
  });
  for (const auto& [session, bound] : bound_) visit(portrait::Session{session, bound.grace, bound.count});
  requests_.visit_portraits([&](portrait::Request to, const LockAnswer& answer) {
    to.token = answer.token;
    to.holds = answer.holds;
    visit(to);
  });
}

Broken LockBook::load(const portrait::Lock& from) {
  const LockName name{from.domain, from.identifier, from.space};
  if (find(name) != nullptr) return "lock must be free";
  record::LockGranted granted;
  granted.space = from.space;
  granted.domain = from.domain;
  granted.identifier = from.identifier;
  granted.owner = from.owner;
  granted.user = from.user;
  granted.session = from.session;
  Lock* lock = Lock::make(granted);
  lock->token = from.token;
  lock->granted_at = from.granted_at;
  lock->expires_at = from.expires_at;
  lock->lease_time = from.lease_time;
  lock->grace = from.grace;
  lock->holds = from.holds;
  insert(*lock, hash_of(name));
  // Its session, which says how many it has, comes by itself.
  if (lock->is_bound) bound_[std::string(lock->session())].locks[lock->token.fence] = lock;
  changed(*lock);
  return nullptr;
}

Broken LockBook::load(const portrait::LostLease& from) {
  if (find_lost(from.token) != nullptr) return "a lost lease must be new";
  LostLease& lost = insert_lost(from.token, from.name_hash, from.cause);
  archive_.restore(lost, from.kept, lost.bytes());
  common_.put_in(Entity::kLostLease, lost);
  return nullptr;
}

Broken LockBook::load(const portrait::Session& from) {
  BoundLocks& bound = bound_[std::string(from.session)];
  if (bound.count > 0) return "a session must be new";
  bound.session = from.session;
  bound.grace = from.grace;
  bound.count = from.locks;
  common_.put_in(Entity::kSession, bound);
  return nullptr;
}

Broken LockBook::load(const portrait::Request& from) {
  return requests_.restore(from, LockAnswer{from.token.value_or(Token{}), from.holds.value_or(0)});
}

}  // namespace tenure
