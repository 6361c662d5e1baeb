#include "wire/claim.h"

#include "base/bytes.h"

namespace tenure::wire {

void LockClaim::ask(const LockName& lock, double at, bool has_request_id) {
  domain_bytes_ = lock.domain.size();
  identifier_bytes_ = lock.identifier.size();
  texts_.resize(domain_bytes_ + identifier_bytes_ + lock.space.size());
  char* const texts = texts_.data();
  copy_short(lock.domain, texts);
  copy_short(lock.identifier, texts + domain_bytes_);
  copy_short(lock.space, texts + domain_bytes_ + identifier_bytes_);
  token_.clear();
  asked_at_ = at;
  has_request_id_ = has_request_id;
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
