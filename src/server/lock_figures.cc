#include "server/lock_figures.h"

namespace tenure::server {

DomainFigures& LockFigures::of(std::string_view domain, bool may_be_new) {
  // Whoever has just been told of is told of again soon.
  if (last_ < domains_.size() && domains_[last_].domain == domain) return domains_[last_];
  const auto known = places_.find(domain);
  if (known != places_.end()) return domains_[last_ = known->second];
  if (!may_be_new || domains_.size() >= kNamesShown || domain == kOthers) {
    if (!others_) others_.emplace().domain = kOthers;
    return *others_;
  }
  places_.emplace(domain, domains_.size());
  domains_.emplace_back().domain = domain;
  return domains_.back();
}

void LockFigures::on_held(std::string_view domain) { ++of(domain, true).active; }

void LockFigures::on_freed(std::string_view domain, Millis held, bool has_expired) {
  DomainFigures& figures = of(domain, true);
  --figures.active;
  figures.held_seconds.add(static_cast<double>(held.count()) / 1000);
  if (has_expired) ++figures.expired;
}

// What was refused may have a name that is none.
void LockFigures::on_attempt(const wire::LockAttempt& attempt) {
  DomainFigures& figures = of(attempt.domain, attempt.outcome == wire::LockAttempt::Outcome::kAcquired);
  auto& seconds = figures.attempts[static_cast<std::size_t>(attempt.outcome)];
  if (!seconds) seconds.emplace(DomainFigures::kSecondsBounds);
  seconds->add(attempt.seconds);
}

void LockFigures::begin_anew() {
  for (DomainFigures& figures : domains_) figures.active = 0;
  if (others_) others_->active = 0;
}

std::vector<DomainFigures> LockFigures::by_domain() const {
  std::vector<DomainFigures> all = domains_;
  if (others_) all.push_back(*others_);
  return all;
}

}  // namespace tenure::server
