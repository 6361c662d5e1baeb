// How records change the lock book. Every invariant is checked before anything is touched.
#include <array>
#include <new>

#include "base/bytes.h"
#include "base/limits.h"
#include "core/lock_book.h"

namespace tenure {
namespace {

// What the allocator and the indexes add to a lock, roughly.
constexpr std::uint64_t kLockOverhead = 48;

std::uint32_t table_hash(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }
std::uint32_t table_hash(Token token) { return static_cast<std::uint32_t>(token.secret); }

template <class R>
LockName name_of_lock(const R& record) {
  return {record.domain, record.identifier, record.space};
}

}  // namespace

// --- the entities ---

Lock* Lock::make(const record::LockGranted& record) {
  const std::array<std::string_view, kTexts> texts = {record.space,
                                                      record.domain,
                                                      record.identifier,
                                                      record.owner,
                                                      record.user.value_or(std::string_view{}),
                                                      record.session.value_or(std::string_view{})};
  std::size_t size = 0;
  for (const std::string_view text : texts) size += text.size();
  Lock* lock = new (::operator new(sizeof(Lock) + size)) Lock();
  char* const begin = reinterpret_cast<char*>(lock + 1);
  std::size_t end = 0;
  for (std::size_t i = 0; i < kTexts; ++i) {
    copy_short(texts[i], begin + end);
    end += texts[i].size();
    lock->ends_[i] = static_cast<std::uint16_t>(end);
  }
  lock->has_user = record.user.has_value();
  lock->is_bound = record.session.has_value();
  return lock;
}

void Lock::destroy(Lock* lock) {
  lock->~Lock();
  ::operator delete(lock);
}

LockBook::~LockBook() {
  locks_.visit_all([](Lock& lock) { Lock::destroy(&lock); });
  lost_.visit_all([](LostLease& lost) { delete &lost; });
}

// --- bookkeeping ---

void LockBook::insert(Lock& lock, std::uint64_t name_hash) {
  lock.name_hash = name_hash;
  locks_.insert(lock, table_hash(name_hash));
  expiries_.arm(lock, lock.expires_at, lock.token.fence.value);
  bytes_ += lock.bytes() + kLockOverhead;
}

LostLease& LockBook::insert_lost(Token token, std::uint64_t name_hash, LostCause cause) {
  auto* lost = new LostLease;
  lost->token = token;
  lost->name_hash = name_hash;
  lost->cause = cause;
  lost->text = token.text();
  lost_.insert(*lost, table_hash(token));
  return *lost;
}

void LockBook::remember_lost(const Lock& lock, LostCause cause, Instant stamp) {
  LostLease& lost = insert_lost(lock.token, lock.name_hash, cause);
  archive_.add(lost, stamp, lost.bytes());
  common_.put_in(Entity::kLostLease, lost);
}

void LockBook::bind(Lock& lock) {
  BoundLocks& bound = bound_[std::string(lock.session())];
  if (bound.count > 0) common_.take_out(Entity::kSession, bound);
  bound.session = lock.session();
  bound.grace = lock.grace;
  ++bound.count;
  bound.locks[lock.token.fence] = &lock;
  common_.put_in(Entity::kSession, bound);
}

void LockBook::unbind(const Lock& lock) {
  const auto found = bound_.find(lock.session());
  BoundLocks& bound = found->second;
  common_.take_out(Entity::kSession, bound);
  bound.locks.erase(lock.token.fence);
  if (--bound.count > 0) {
    common_.put_in(Entity::kSession, bound);
  } else {
    bound_.erase(found);
  }
}

void LockBook::watch(LockWatch* watch) {
  watch_ = watch;
  if (watch == nullptr) return;
  locks_.visit_all([&](const Lock& held) { watch->on_held(held.domain()); });
}

void LockBook::free(Lock& lock, Instant stamp, bool has_expired) {
  if (watch_ != nullptr) watch_->on_freed(lock.domain(), stamp - lock.granted_at, has_expired);
  changing(lock);
  expiries_.disarm(lock);
  locks_.remove(lock);
  bytes_ -= lock.bytes() + kLockOverhead;
  if (lock.is_bound) unbind(lock);
  Lock::destroy(&lock);
}

Broken LockBook::check_holder(const Lock* lock, Token token, Instant stamp) const {
  if (lock == nullptr) return "lock must be held";
  if (lock->token != token) return "token must be the holder's";
  if (is_expired(lock->expires_at, stamp)) return "lease must not be expired";
  return nullptr;
}

// --- records ---

Broken LockBook::apply(const record::LockGranted& record, Instant stamp) {
  for (const std::string_view text : {record.space, record.domain, record.identifier, record.owner,
                                      record.user.value_or(""), record.session.value_or("")}) {
    if (text.size() > kNameBytesMax) return "a name must have at most 255 bytes";
  }
  const std::uint64_t hash = hash_of(name_of_lock(record));
  if (find(name_of_lock(record), hash) != nullptr) return "lock must be free";
  if (record.token.fence <= common_.fence()) return "fence must be greater than every earlier one";
  if (!requests_.is_new(record.request)) return "request id must be new";

  Lock* lock = Lock::make(record);
  lock->token = record.token;
  lock->granted_at = stamp;
  lock->expires_at = record.lease_expiry;
  lock->lease_time = record.lease_time;
  lock->grace = record.grace.value_or(Millis{0});
  common_.set_fence(record.token.fence);
  insert(*lock, hash);
  if (lock->is_bound) bind(*lock);
  changed(*lock);
  requests_.remember(record.request, stamp, LockAnswer{record.token, 1});
  if (watch_ != nullptr) watch_->on_held(lock->domain());
  return nullptr;
}

Broken LockBook::apply(const record::LockReentered& record, Instant stamp) {
  Lock* lock = find_mutable(name_of_lock(record));
  if (const Broken broken = check_holder(lock, record.token, stamp)) return broken;
  if (record.holds != lock->holds + 1) return "holds must be the previous holds + 1";
  if (record.lease_expiry < lock->expires_at) return "expiry must not be earlier than the current expiry";
  if (!requests_.is_new(record.request)) return "request id must be new";
  changing(*lock);
  lock->holds = record.holds;
  lock->expires_at = record.lease_expiry;
  changed(*lock);
  requests_.remember(record.request, stamp, LockAnswer{record.token, record.holds});
  return nullptr;
}

Broken LockBook::apply(const record::LockExtended& record, Instant stamp) {
  Lock* lock = find_mutable(name_of_lock(record));
  if (const Broken broken = check_holder(lock, record.token, stamp)) return broken;
  if (record.new_lease_expiry <= lock->expires_at) return "new expiry must be later than the current expiry";
  changing(*lock);
  lock->expires_at = record.new_lease_expiry;
  changed(*lock);
  return nullptr;
}

Broken LockBook::apply(const record::LockReleased& record, Instant stamp) {
  Lock* lock = find_mutable(name_of_lock(record));
  if (const Broken broken = check_holder(lock, record.token, stamp)) return broken;
  // The end of a session ends all holds at once.
  if (record.cause != ReleaseCause::kDisconnected && record.holds != lock->holds - 1) {
    return "holds must be the previous holds - 1";
  }
  if (record.cause == ReleaseCause::kDisconnected && record.holds != 0) return "a session's end must leave no hold";
  if (!requests_.is_new(record.request)) return "request id must be new";

  if (record.holds == 0) {
    if (record.cause == ReleaseCause::kDisconnected) remember_lost(*lock, LostCause::kDisconnected, stamp);
    if (record.cause == ReleaseCause::kUndelivered) remember_lost(*lock, LostCause::kUndelivered, stamp);
    free(*lock, stamp);
  } else {
    changing(*lock);
    lock->holds = record.holds;
    changed(*lock);
  }
  requests_.remember(record.request, stamp, LockAnswer{record.token, record.holds});
  return nullptr;
}

Broken LockBook::apply(const record::LockExpired& record, Instant stamp) {
  Lock* lock = find_mutable(name_of_lock(record));
  if (lock == nullptr) return "lock must be held";
  if (lock->token != record.token) return "token must be the holder's";
  if (!is_expired(lock->expires_at, stamp)) return "lease must be expired";
  remember_lost(*lock, LostCause::kExpired, stamp);
  free(*lock, stamp, true);
  return nullptr;
}

Broken LockBook::apply(const record::LockForced& record, Instant stamp) {
  Lock* lock = find_mutable(name_of_lock(record));
  if (const Broken broken = check_holder(lock, record.token, stamp)) return broken;
  remember_lost(*lock, LostCause::kForced, stamp);
  free(*lock, stamp);
  return nullptr;
}

Broken LockBook::forget_lost(std::string_view token) {
  const auto parsed = Token::parse(token);
  LostLease* lost = parsed ? find_lost(*parsed) : nullptr;
  if (lost == nullptr) return "the lost lease must be remembered";
  if (!archive_.is_oldest(*lost)) return "what is forgotten must be the oldest";
  archive_.drop(*lost);
  common_.take_out(Entity::kLostLease, *lost);
  lost_.remove(*lost);
  delete lost;
  return nullptr;
}

}  // namespace tenure
