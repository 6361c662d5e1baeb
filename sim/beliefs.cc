#include "beliefs.h"

namespace tenure::sim {

Beliefs::Number Beliefs::hold(Belief belief) {
  beliefs_.emplace(++numbers_, std::move(belief));
  return numbers_;
}

void Beliefs::prolong(Number number, Millis deadline, Basis basis) {
  const auto found = beliefs_.find(number);
  if (found == beliefs_.end() || deadline <= found->second.deadline) return;
  found->second.deadline = deadline;
  found->second.basis = basis;
}

void Beliefs::expire(Token token) {
  end(token);
  expired_.insert(token);
}

void Beliefs::see(const Record& record) {
  std::visit(
      [&]<class R>(const R& fact) {
        if constexpr (std::is_same_v<R, record::LeaseGranted>) {
          grant(fact.lease_id, fact.lease_expiry);
          leases_[std::string(fact.task_id)] = fact.lease_id;
        } else if constexpr (std::is_same_v<R, record::WorkAcquired>) {
          grant(fact.token, fact.lease_expiry.value_or(kNever));
        } else if constexpr (std::is_same_v<R, record::LockGranted> || std::is_same_v<R, record::LockReentered>) {
          grant(fact.token, fact.lease_expiry);
        } else if constexpr (std::is_same_v<R, record::LeaseExtended>) {
          grant(fact.lease_id, fact.new_lease_expiry);
        } else if constexpr (std::is_same_v<R, record::WorkExtended> || std::is_same_v<R, record::LockExtended>) {
          grant(fact.token, fact.new_lease_expiry);
        } else if constexpr (std::is_same_v<R, record::LeaseExpired>) {
          expire(fact.lease_id);
        } else if constexpr (std::is_same_v<R, record::WorkExpired> || std::is_same_v<R, record::LockExpired>) {
          expire(fact.token);
        } else if constexpr (std::is_same_v<R, record::TaskCompleted> || std::is_same_v<R, record::TaskFailed>) {
          end(fact.lease_id);
        } else if constexpr (std::is_same_v<R, record::TaskDead>) {
          if (const auto lease = leases_.find(fact.task_id); lease != leases_.end()) end(lease->second);
        } else if constexpr (std::is_same_v<R, record::LockReleased>) {
          // Whoever releases its last hold does not believe in it any more.
          if (fact.holds == 0) expire(fact.token);
        } else if constexpr (std::is_same_v<R, record::WorkSucceeded> || std::is_same_v<R, record::WorkGivenUp> ||
                             std::is_same_v<R, record::LockForced>) {
          end(fact.token);
        }
      },
      record);
}

void Beliefs::check(Instant now) const {
  for (const auto& [number, belief] : beliefs_) {
    if (belief.clock->boot() >= belief.deadline || belief.basis.leaps != leaps_) continue;
    const auto live = live_.find(belief.token);
    require(live == live_.end() || now <= live->second,
            "{} believes to hold {} by {} for {} ms more, and its lease ended {} ms ago", belief.who, belief.what,
            belief.token.text(), (belief.deadline - belief.clock->boot()).count(),
            live == live_.end() ? 0 : (now - live->second).count());
    require(!expired_.contains(belief.token),
            "{} believes to hold {} by {} for {} ms more, and its lease has expired or was given back", belief.who,
            belief.what, belief.token.text(), (belief.deadline - belief.clock->boot()).count());
  }
}

}  // namespace tenure::sim
