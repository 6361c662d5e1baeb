// What the lock book answers, and the records that make it so. Nothing here changes the book.
#include <algorithm>

#include "base/limits.h"
#include "core/lock_book.h"

namespace tenure {
namespace {

std::optional<std::string_view> user_of(const Lock& lock) {
  return lock.has_user ? std::optional(lock.user()) : std::nullopt;
}

LockGrant grant_of(Token token, Instant expires_at, std::uint32_t holds, Instant now) {
  return {.token = token.text(), .fence = token.fence, .remaining = remaining(expires_at, now), .holds = holds};
}

}  // namespace

tl::unexpected<Failure> LockBook::refuse(const LockName& name, std::optional<Token> token) const {
  const LostLease* lost = token ? find_lost(*token) : nullptr;
  if (lost != nullptr && lost->name_hash == hash_of(name)) {
    return fail_with(ErrorCode::kExpired, "lock '{}{}{}': expected a lease that lasts, found that {}", name.domain,
                     kLockDelimiter, name.identifier, to_string(lost->cause));
  }
  return fail_with(ErrorCode::kNotHeld,
                   "lock '{}{}{}': expected the token of its holder, found one released or unknown", name.domain,
                   kLockDelimiter, name.identifier);
}

Verdict<std::optional<LockGrant>> LockBook::decide(const LockAcquire& request, const Moment& moment) const {
  const std::uint64_t print = request.request_id ? print_of(request) : 0;
  const Lock* lock = find(request.lock);
  const auto known = requests_.recall(request.request_id, print);
  if (!known) return {tl::unexpected(known.error())};
  if (*known != nullptr) {
    const LockAnswer& answer = (*known)->answer;
    if (lock == nullptr || lock->token != answer.token) return {refuse(request.lock, answer.token)};
    return {grant_of(answer.token, lock->expires_at, answer.holds, moment.now)};
  }

  const Instant expiry = moment.now + request.lease;
  const auto mark = mark_of(request.request_id, print);
  if (lock != nullptr) {
    if (lock->owner() != request.owner || user_of(*lock) != request.user) {
      return {std::optional<LockGrant>(), {}, lock->token.fence};
    }
    if (lock->holds >= moment.settings.holds_max) {
      return {fail_with(ErrorCode::kBackpressure, "lock '{}{}{}': expected fewer than {} holds, found {}",
                        request.lock.domain, kLockDelimiter, request.lock.identifier, moment.settings.holds_max,
                        lock->holds)};
    }
    const Instant expires_at = std::max(lock->expires_at, expiry);
    const std::uint32_t holds = lock->holds + 1;
    return {grant_of(lock->token, expires_at, holds, moment.now),
            {record::LockReentered{request.lock.space, request.lock.domain, request.lock.identifier, lock->token, holds,
                                   expires_at, mark}}};
  }

  if (is_full(moment)) return {refuse_new_work(moment)};
  const Token token{common_.next_fence(), moment.entropy.next()};
  record::LockGranted record{.space = request.lock.space,
                             .domain = request.lock.domain,
                             .identifier = request.lock.identifier,
                             .owner = request.owner,
                             .token = token,
                             .lease_time = request.lease,
                             .lease_expiry = expiry,
                             .user = request.user,
                             .session = request.session,
                             .request = mark};
  if (request.session) record.grace = request.grace;
  return {grant_of(token, expiry, 1, moment.now), {record}};
}

Verdict<std::uint32_t> LockBook::decide(const LockGiveBack& request, const Moment& /*moment*/) const {
  const std::uint64_t print = request.request_id ? print_of(request) : 0;
  const auto known = requests_.recall(request.request_id, print);
  if (!known) return {tl::unexpected(known.error())};
  if (*known != nullptr) return {(*known)->answer.holds};

  const auto token = Token::parse(request.token);
  const Lock* lock = find(request.lock);
  if (lock == nullptr || lock->token != token) return {refuse(request.lock, token)};
  const std::uint32_t holds = lock->holds - 1;
  return {holds,
          {record::LockReleased{request.lock.space, request.lock.domain, request.lock.identifier, *token, holds,
                                request.cause, mark_of(request.request_id, print)}}};
}

Verdict<LockExtended> LockBook::decide(const LockExtension& request, const Moment& moment) const {
  const auto token = Token::parse(request.token);
  const Lock* lock = find(request.lock);
  if (lock == nullptr || lock->token != token) return {refuse(request.lock, token)};
  const Instant wanted = moment.now + request.lease.value_or(lock->lease_time);
  const Instant expires_at = std::max(wanted, lock->expires_at);
  Verdict<LockExtended> verdict{LockExtended{token->fence, remaining(expires_at, moment.now)}};
  if (wanted > lock->expires_at) {
    verdict.records.emplace_back(
        record::LockExtended{request.lock.space, request.lock.domain, request.lock.identifier, *token, wanted});
  }
  return verdict;
}

Verdict<bool> LockBook::decide(const LockForce& request, const Moment& /*moment*/) const {
  const Lock* lock = find(request.lock);
  if (lock == nullptr || (request.fence && *request.fence != lock->token.fence)) return {false};
  return {true, {record::LockForced{request.lock.space, request.lock.domain, request.lock.identifier, lock->token}}};
}

Records LockBook::decide_expiry(const Lock& lock) {
  return {record::LockExpired{lock.space(), lock.domain(), lock.identifier(), lock.token}};
}

Records LockBook::decide_disconnection(const Lock& lock) {
  return {
      record::LockReleased{lock.space(), lock.domain(), lock.identifier(), lock.token, 0, ReleaseCause::kDisconnected}};
}

std::string_view LockBook::name_of(const Keepsake& kept) {
  if (kept.kind == Remembered::kLostLease) return static_cast<const LostLease&>(kept).text;
  return static_cast<const RequestMemory<LockAnswer>&>(kept).id;
}

Records LockBook::decide_forgetting(const Settings& settings, Instant now) const {
  Records records;
  archive_.visit_overdue(settings, now, [&](const Keepsake& oldest) {
    records.emplace_back(record::Forgotten{oldest.kind, name_of(oldest)});
  });
  return records;
}

}  // namespace tenure
