// What can be read of the lock book, and what time asks of it.
#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/limits.h"
#include "core/cursor.h"
#include "core/lock_book.h"

namespace tenure {

namespace {

Fingerprint print(std::string_view verb, const LockName& name) {
  return Fingerprint(verb).add(name.space).add(name.domain).add(name.identifier);
}

}  // namespace

std::uint64_t LockBook::hash_of(const LockName& name) {
  // One hash over the three: short texts are copied faster than hashed one by one.
  char key[3 * (kNameBytesMax + 1)];
  char* to = key;
  for (const std::string_view text : {name.identifier, name.domain, name.space}) {
    if (text.size() > kNameBytesMax) return 0;  // no lock has such a name
    *to++ = static_cast<char>(text.size());
    copy_short(text, to);
    to += text.size();
  }
  return hash64({key, to});
}

std::uint64_t LockBook::print_of(const LockRequest& request) {
  return print("acquire", request.lock).add(request.owner).value();
}

std::uint64_t LockBook::print_of(const LockRelease& request) {
  return print("release", request.lock).add(request.token).value();
}

const Lock* LockBook::find(const LockName& name, std::uint64_t hash) const {
  return locks_.find(static_cast<std::uint32_t>(hash), [&](const Lock& lock) {
    return equals_short(lock.identifier(), name.identifier) && equals_short(lock.domain(), name.domain) &&
           equals_short(lock.space(), name.space);
  });
}

LostLease* LockBook::find_lost(Token token) const {
  return lost_.find(static_cast<std::uint32_t>(token.secret),
                    [&](const LostLease& lost) { return lost.token == token; });
}

const Lock* LockBook::first_of(std::string_view session) const {
  const auto found = bound_.find(session);
  return found == bound_.end() ? nullptr : found->second.locks.begin()->second;
}

std::vector<std::pair<std::string, Millis>> LockBook::sessions() const {
  std::vector<std::pair<std::string, Millis>> sessions;
  for (const auto& [session, bound] : bound_) sessions.emplace_back(session, bound.grace);
  return sessions;
}

const Lock* LockBook::first_expired(Instant now) {
  return expiries_.first_due(now, [](const Lock& lock) { return lock.expires_at; });
}

LockStatus LockBook::status(const Lock& lock, Instant now) {
  return {.domain = std::string(lock.domain()),
          .identifier = std::string(lock.identifier()),
          .owner = std::string(lock.owner()),
          .fence = lock.token.fence,
          .holds = lock.holds,
          .granted_at = lock.granted_at,
          .expires_at = lock.expires_at,
          .remaining = remaining(lock.expires_at, now)};
}

Result<LockPage> LockBook::list(const LockListing& request, Instant now) const {
  LockPage page;
  auto cursor = scan_page(locks_, request.paging, [&](const Lock& lock) {
    if (lock.space() != request.space || (request.domain && lock.domain() != *request.domain)) return false;
    // One whose time is over but whose record is still to come is not shown as held.
    if (is_expired(lock.expires_at, now)) return false;
    page.locks.push_back(status(lock, now));
    return true;
  });
  if (!cursor) return tl::unexpected(cursor.error());
  page.cursor = std::move(*cursor);
  return page;
}

}  // namespace tenure
