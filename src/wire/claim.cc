#include "wire/claim.h"

namespace tenure::wire {

LockClaim::LockClaim(const LockName& lock, double at, bool has_request_id)
    : domain_bytes_(lock.domain.size()),
      identifier_bytes_(lock.identifier.size()),
      asked_at_(at),
      has_request_id_(has_request_id) {
  texts_.reserve(lock.domain.size() + lock.identifier.size() + lock.space.size());
  texts_.append(lock.domain).append(lock.identifier).append(lock.space);
}

LockName LockClaim::lock() const {
  const std::string_view texts = texts_;
  return {.domain = texts.substr(0, domain_bytes_),
          .identifier = texts.substr(domain_bytes_, identifier_bytes_),
          .space = texts.substr(domain_bytes_ + identifier_bytes_)};
}

LockAttempt LockClaim::attempt(const Result<std::optional<LockGrant>>& result, double now) const {
  if (!result) return ended(LockAttempt::Outcome::kError, now);
  return ended(*result ? LockAttempt::Outcome::kAcquired : LockAttempt::Outcome::kTimeout, now);
}

LockAttempt LockClaim::ended(LockAttempt::Outcome outcome, double now) const {
  return {.domain = lock().domain, .outcome = outcome, .seconds = now - asked_at_};
}

// Nobody wants to know what becomes of it.
void LockClaim::give_back(Engine& engine) const {
  if (!is_granted() || has_request_id_) return;
  LockGiveBack request;
  request.lock = lock();
  request.token = token_;
  request.cause = ReleaseCause::kUndelivered;
  engine.ask(request, [](const Result<std::uint32_t>&) {});
}

}  // namespace tenure::wire
