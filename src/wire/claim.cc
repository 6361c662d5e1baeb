#include "wire/claim.h"

namespace tenure::wire {
namespace {

// A lock's name as one text; no name contains a NUL.
std::string packed(const LockName& lock) {
  std::string text;
  text.reserve(lock.domain.size() + lock.identifier.size() + lock.space.size() + 2);
  return text.append(lock.domain).append(1, '\0').append(lock.identifier).append(1, '\0').append(lock.space);
}

LockName unpacked(std::string_view text) {
  const std::size_t first = text.find('\0');
  const std::size_t second = text.find('\0', first + 1);
  return {.domain = text.substr(0, first),
          .identifier = text.substr(first + 1, second - first - 1),
          .space = text.substr(second + 1)};
}

}  // namespace

LockClaim::LockClaim(const LockName& lock, double at, bool has_request_id)
    : lock_(packed(lock)), asked_at_(at), has_request_id_(has_request_id) {}

LockAttempt LockClaim::attempt(const Result<std::optional<LockGrant>>& result, double now) const {
  if (!result) return ended(LockAttempt::Outcome::kError, now);
  return ended(*result ? LockAttempt::Outcome::kAcquired : LockAttempt::Outcome::kTimeout, now);
}

LockAttempt LockClaim::ended(LockAttempt::Outcome outcome, double now) const {
  return {.domain = unpacked(lock_).domain, .outcome = outcome, .seconds = now - asked_at_};
}

// Nobody wants to know what becomes of it.
void LockClaim::give_back(Engine& engine) const {
  if (!is_granted() || has_request_id_) return;
  LockGiveBack request;
  request.lock = unpacked(lock_);
  request.token = token_;
  request.cause = ReleaseCause::kUndelivered;
  engine.ask(request, [](const Result<std::uint32_t>&) {});
}

}  // namespace tenure::wire
