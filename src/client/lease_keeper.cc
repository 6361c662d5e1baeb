#include "client/lease_keeper.h"

#include <algorithm>
#include <utility>

#include <tenure/errors.h>

namespace tenure {

std::uint64_t LeaseKeeper::keep(Millis sent, Millis remaining, Millis lease, Renew renew, std::stop_source lost) {
  const Millis deadline = local_deadline({sent, now()}, remaining, margin_of(lease, remaining));
  const MutexLock lock(mutex_);
  const std::uint64_t number = ++numbers_;
  kept_.emplace(number, Kept{.deadline = deadline,
                             .lease = lease,
                             .renew = std::move(renew),
                             .lost = std::move(lost),
                             .watching = watch(deadline, number),
                             .renewing = renew_at(first_renewal(sent, remaining, lease), number)});
  return number;
}

bool LeaseKeeper::let_go(std::uint64_t number) {
  const MutexLock lock(mutex_);
  const auto found = kept_.find(number);
  if (found == kept_.end()) return false;
  const bool in_time = !found->second.lost.stop_requested() && now() < found->second.deadline;
  deadlines_.cancel(found->second.watching);
  renewals_.cancel(found->second.renewing);
  kept_.erase(found);
  return in_time;
}

bool LeaseKeeper::is_lost(std::uint64_t number) {
  const MutexLock lock(mutex_);
  const auto found = kept_.find(number);
  return found == kept_.end() || found->second.lost.stop_requested() || now() >= found->second.deadline;
}

Alarms::Id LeaseKeeper::watch(Millis deadline, std::uint64_t number) {
  return deadlines_.set(deadline, [this, number] { look_at(number); });
}

void LeaseKeeper::look_at(std::uint64_t number) {
  {
    const MutexLock lock(mutex_);
    const auto found = kept_.find(number);
    if (found == kept_.end()) return;
    if (now() < found->second.deadline) {
      found->second.watching = watch(found->second.deadline, number);
      return;
    }
  }
  lose(number);
}

void LeaseKeeper::lose(std::uint64_t number) {
  std::stop_source lost(std::nostopstate);
  {
    const MutexLock lock(mutex_);
    const auto found = kept_.find(number);
    if (found == kept_.end()) return;
    lost = found->second.lost;
  }
  // What the holder has tied to its token runs now, and may call anything.
  lost.request_stop();
}

Alarms::Id LeaseKeeper::renew_at(Millis due, std::uint64_t number) {
  return renewals_.set(due, [this, number] { renew(number); });
}

void LeaseKeeper::renew(std::uint64_t number) {
  Renew renew;
  Millis lease{0};
  {
    const MutexLock lock(mutex_);
    const auto found = kept_.find(number);
    if (found == kept_.end() || found->second.lost.stop_requested()) return;
    renew = found->second.renew;
    lease = found->second.lease;
  }
  const Millis sent = now();
  Millis next = next_renewal(sent, lease);
  try {
    const Renewed renewed = renew();
    if (!renewed.remaining) {
      lose(number);
      return;
    }
    {
      const MutexLock lock(mutex_);
      const auto found = kept_.find(number);
      if (found == kept_.end()) return;
      Millis& deadline = found->second.deadline;
      deadline =
          std::max(deadline, local_deadline({sent, now()}, *renewed.remaining, margin_of(lease, *renewed.remaining)));
    }
    if (renewed.is_last) return;
  } catch (const Error&) {
    // For as long as the deadline allows.
    next = renewal_after_failure(now(), lease);
  }
  const MutexLock lock(mutex_);
  const auto found = kept_.find(number);
  if (found != kept_.end()) found->second.renewing = renew_at(next, number);
}

void LeaseKeeper::settle() {
  renewals_.settle();
  deadlines_.settle();
}

}  // namespace tenure
