// Those who work through a log, and those who take locks.
#include "callers.h"

namespace tenure::sim {
namespace {

constexpr std::uint64_t kDomains = 5;
constexpr std::uint64_t kLocks = 3;
constexpr std::size_t kClaimsKept = 10;

void remember(std::vector<Claim>& claims, const Claim& claim) {
  claims.push_back(claim);
  if (claims.size() > kClaimsKept) claims.erase(claims.begin());
}

}  // namespace

// --- orchestrators ---

void Orchestrator::act() {
  if (dice_.one_in(7)) return misbehave();
  if (dice_.one_in(8)) return look();
  if (holds_.empty() || dice_.one_in(3)) return acquire();
  if (dice_.one_in(8)) return stall(Millis{dice_.between(300, 2000)});
  if (dice_.one_in(5)) {
    const Claim& claim = dice_.pick(holds_);
    return ask(WorkExtension{.domain = keep(claim.name), .token = keep(claim.token), .lease = some_lease()});
  }
  const Claim claim = take(holds_);
  remember(done_, claim);
  report(claim);
}

void Orchestrator::acquire() {
  const std::string domain = some("d", kDomains);
  const auto head = heads_.find(domain);
  std::int64_t& next = next_[domain];
  const bool in_turn = head != heads_.end() && !dice_.one_in(3);
  const Offset offset = in_turn ? head->second : Offset{dice_.one_in(6) ? next + 2 : ++next};
  WorkRequest request{.domain = keep(domain), .offset = offset};
  if (!dice_.one_in(3)) request.lease = some_lease();
  ask(request, [this, domain, offset](const Result<AcquireResult>& reply) {
    if (!reply) {
      // Another one's turn: now it knows.
      if (reply.error().expected) heads_[domain] = *reply.error().expected;
      return;
    }
    if (const auto* const acquired = std::get_if<Acquired>(&*reply)) {
      holds_.push_back({domain, acquired->token});
      heads_[domain] = offset;
    } else if (!std::holds_alternative<Enqueued>(*reply)) {
      heads_.erase(domain);
    }
  });
}

void Orchestrator::report(const Claim& claim) {
  const auto go_to = [this, domain = claim.name](std::optional<Offset> next) {
    next ? void(heads_[domain] = *next) : void(heads_.erase(domain));
  };
  std::optional<std::string_view> request_id;
  if (dice_.one_in(2)) request_id = keep("work-" + claim.token);
  if (dice_.one_in(3)) {
    return ask(
        WorkFailure{.domain = keep(claim.name), .token = keep(claim.token), .reason = "no", .request_id = request_id},
        [this, claim, go_to](const Result<FailResult>& reply) {
          if (!reply) return;
          if (const auto* const given_up = std::get_if<GivenUp>(&*reply)) return go_to(given_up->next);
          holds_.push_back(claim);  // to be tried again
        });
  }
  ask(WorkSuccess{.domain = keep(claim.name), .token = keep(claim.token), .request_id = request_id},
      [go_to](const Result<SucceedResult>& reply) {
        if (reply) go_to(reply->next);
      });
}

void Orchestrator::misbehave() {
  if (!done_.empty() && dice_.one_in(3)) {
    ports_.tally.count(Fault::kRepeatedClaim);
    return report(dice_.pick(done_));
  }
  if (!holds_.empty() && dice_.one_in(2)) {
    Claim claim = dice_.pick(holds_);
    claim.token = wrong_token(claim);
    return report(claim);
  }
  const std::string domain = some("d", kDomains);
  if (dice_.one_in(3)) {
    return ask(WorkTrim{keep(domain), Offset{std::max<std::int64_t>(0, next_[domain] + dice_.between(-6, 1))}});
  }
  ports_.tally.count(Fault::kWrongOrder);
  ask(WorkRequest{
      .domain = keep(domain), .offset = Offset{dice_.between(-1, next_[domain] + 3)}, .lease = Millis{500}});
}

void Orchestrator::look() {
  const std::string_view domain = keep(some("d", kDomains + 1));
  switch (dice_.roll(5)) {
    case 0:
      return ask(InspectDomain{domain});
    case 1:
      return ask(ListBacklog{domain, {}});
    case 2:
      return ask(ListFailedOffsets{domain, {}});
    case 3:
      return ask(ListDone{domain, {}});
    default:
      return ask(ListDomains{});
  }
}

// --- lock users ---

void LockUser::act() {
  if (!has_session_ && dice_.one_in(2)) {
    has_session_ = true;
    JoinSession request{.session = keep("s-" + name_)};
    if (dice_.one_in(2)) request.grace = Millis{dice_.between(0, 600)};
    return ask(request);
  }
  if (dice_.one_in(8)) return misbehave();
  if (dice_.one_in(12)) return look();
  if (holds_.empty() || dice_.one_in(4)) return acquire();
  if (dice_.one_in(8)) return stall(Millis{dice_.between(300, 2000)});
  if (dice_.one_in(5)) {
    const Claim& claim = dice_.pick(holds_);
    LockExtension request{.lock = {"locks", keep(claim.name)}, .token = keep(claim.token)};
    if (dice_.one_in(2)) request.lease = some_lease();
    return ask(request);
  }
  const Claim claim = take(holds_);
  remember(released_, claim);
  release(claim);
}

void LockUser::acquire() {
  const std::string lock = some("l", kLocks);
  LockAcquire request;
  request.lock = {"locks", keep(lock)};
  request.owner = keep(name_);
  request.lease = dice_.one_in(60) ? Millis{0} : some_lease();
  if (dice_.one_in(2)) request.request_id = keep(new_request_id());
  if (dice_.one_in(2)) request.session = keep("s-" + name_);
  ask(
      request,
      [this, lock](const Result<std::optional<LockGrant>>& reply) {
        if (reply && *reply) holds_.push_back({lock, (*reply)->token});
        if (!reply && reply.error().code == ErrorCode::kInvalid) has_session_ = false;
      },
      Millis{dice_.one_in(3) ? 0 : dice_.between(50, 1500)});
}

void LockUser::release(const Claim& claim) {
  LockGiveBack request;
  request.lock = {"locks", keep(claim.name)};
  request.token = keep(claim.token);
  if (dice_.one_in(2)) request.request_id = keep("release-" + new_request_id());
  ask(request);
}

void LockUser::misbehave() {
  if (!released_.empty() && dice_.one_in(2)) {
    ports_.tally.count(Fault::kRepeatedClaim);
    return release(dice_.pick(released_));
  }
  if (!holds_.empty() && dice_.one_in(2)) {
    Claim claim = dice_.pick(holds_);
    claim.token = wrong_token(claim);
    return release(claim);
  }
  ask(LockForce{.lock = {"locks", keep(some("l", kLocks))}});
}

void LockUser::look() {
  if (dice_.one_in(3)) return ask(ListLocks{});
  ask(GetLock{{"locks", keep(some("l", kLocks + 1))}});
}

}  // namespace tenure::sim
