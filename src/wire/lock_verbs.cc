// The verbs of the lock book.
#include "wire/verb_tables.h"

namespace tenure::wire {
namespace {

using enum Field;

LockName lock_of(const Values& values) {
  LockName lock;
  lock.domain = values.text(kLockDomain);
  lock.identifier = values.text(kIdentifier);
  if (values.has(kSpace)) lock.space = values.text(kSpace);
  return lock;
}

constexpr Argument kLockAcquire[] = {need(kLockDomain),       need(kIdentifier),      need(kOwner),
                                     option("LEASE", kLease), option("WAIT", kWait),  option("REQUEST", kRequestId),
                                     option("BOUND", kBound), option("SPACE", kSpace)};
Request make_lock_acquire(const Values& values) {
  AcquireLock acquire;
  LockAcquire& request = acquire.request;
  request.lock = lock_of(values);
  request.owner = values.text(kOwner);
  request.lease = values.time_or(kLease, request.lease);
  request.request_id = values.maybe_text(kRequestId);
  acquire.block = values.time_or(kWait, acquire.block);
  acquire.is_bound = values.has(kBound);
  return acquire;
}

constexpr Argument kLockRelease[] = {need(kLockDomain), need(kIdentifier), need(kToken), option("REQUEST", kRequestId),
                                     option("SPACE", kSpace)};
Request make_lock_release(const Values& values) {
  LockGiveBack request;
  request.lock = lock_of(values);
  request.token = values.text(kToken);
  request.request_id = values.maybe_text(kRequestId);
  return request;
}

constexpr Argument kLockExtend[] = {need(kLockDomain), need(kIdentifier), need(kToken), option("LEASE", kLease),
                                    option("SPACE", kSpace)};
Request make_lock_extend(const Values& values) {
  return LockExtension{.lock = lock_of(values), .token = values.text(kToken), .lease = values.maybe_time(kLease)};
}

constexpr Argument kLockForce[] = {need(kLockDomain), need(kIdentifier), option("FENCE", kFence),
                                   option("SPACE", kSpace)};
Request make_lock_force(const Values& values) {
  LockForce request{.lock = lock_of(values)};
  if (values.has(kFence)) request.fence = Fence{static_cast<std::uint64_t>(values.number(kFence))};
  return request;
}

constexpr Argument kLockGet[] = {need(kLockDomain), need(kIdentifier), option("SPACE", kSpace)};
Request make_lock_get(const Values& values) { return GetLock{lock_of(values)}; }

constexpr Argument kLockList[] = {may(kLockDomain), option("COUNT", kCount), option("CURSOR", kTableCursor),
                                  option("SPACE", kSpace)};
Request make_lock_list(const Values& values) {
  ListLocks request;
  request.domain = values.maybe_text(kLockDomain);
  if (values.has(kSpace)) request.space = values.text(kSpace);
  request.paging = paging_of(values, kTableCursor);
  return request;
}

constexpr Verb kLockVerbs[] = {
    {.name = "LOCK.ACQUIRE",
     .group = Group::kLocks,
     .permission = Permission::kLock,
     .summary = "Takes a lock, or re-enters it as its owner; waits for it if told to.",
     .reply = "array: token, fence, remaining_ms, holds; nil when not acquired (at once, or after WAIT)",
     .arguments = kLockAcquire,
     .make = make_lock_acquire,
     .route = {"POST", "/v1/locks/{domain}/{identifier}/acquire"},
     .reply_schema = reply_schema_of<AcquireLock>,
     .may_block = true},
    {.name = "LOCK.RELEASE",
     .group = Group::kLocks,
     .permission = Permission::kLock,
     .summary = "Gives back one hold of a lock.",
     .reply = "array: `RELEASED`, 0; or `HELD`, holds left",
     .arguments = kLockRelease,
     .make = make_lock_release,
     .route = {"POST", "/v1/locks/{domain}/{identifier}/release"},
     .reply_schema = reply_schema_of<LockGiveBack>},
    {.name = "LOCK.EXTEND",
     .group = Group::kLocks,
     .permission = Permission::kLock,
     .summary = "Prolongs a lock's lease; without LEASE by the grant's time. Never shortens, never resurrects.",
     .reply = "array: fence, remaining_ms",
     .arguments = kLockExtend,
     .make = make_lock_extend,
     .route = {"POST", "/v1/locks/{domain}/{identifier}/extend"},
     .reply_schema = reply_schema_of<LockExtension>},
    {.name = "LOCK.FORCE",
     .group = Group::kLocks,
     .permission = Permission::kAdmin,
     .summary = "Frees a lock whoever holds it; with FENCE only if it is held under that one.",
     .reply = "1; 0 if it was free or, with FENCE, held under another fence",
     .arguments = kLockForce,
     .make = make_lock_force,
     .route = {"POST", "/v1/locks/{domain}/{identifier}/force"},
     .reply_schema = reply_schema_of<LockForce>},
    {.name = "LOCK.GET",
     .group = Group::kLocks,
     .permission = Permission::kRead,
     .summary = "Tells who holds a lock.",
     .reply =
         "map: domain, identifier, owner, fence, holds, granted_at, expires_at, remaining_ms, waiters; nil if free",
     .arguments = kLockGet,
     .make = make_lock_get,
     .route = {"GET", "/v1/locks/{domain}/{identifier}"},
     .reply_schema = reply_schema_of<GetLock>},
    {.name = "LOCK.LIST",
     .group = Group::kLocks,
     .permission = Permission::kRead,
     .summary = "Lists the locks that are held; an option's word in first place is the option.",
     .reply = "array: next cursor, array of maps as LOCK.GET",
     .arguments = kLockList,
     .make = make_lock_list,
     .route = {"GET", "/v1/locks", "/v1/locks/{domain}"},
     .reply_schema = reply_schema_of<ListLocks>},
};

}  // namespace

absl::Span<const Verb> lock_verbs() { return kLockVerbs; }

}  // namespace tenure::wire
