#include "client/session_watch.h"

#include <algorithm>

#include "client/lease_keeper.h"

namespace tenure::client {

Millis SessionWatch::question_interval() const {
  constexpr Millis kShortest{100};
  constexpr Millis kLongest{3000};
  return grace_ == Millis{0} ? kLongest : std::clamp(grace_ / 3, kShortest, kLongest);
}

void SessionWatch::greeted(const Line& line, Millis sent, Millis now) {
  const bool is_first = !is_alive_;
  const bool is_in_time = is_first || now < proven_ + grace_ - margin_of(grace_);
  members_[&line] = {.sent = sent, .joined = now, .is_of_this_life = is_in_time};
  is_alive_ = true;
  if (is_first) proven_ = sent;
  if (is_in_time) proven_ = std::max(proven_, sent);
}

void SessionWatch::answered(const Line& line, Millis sent) {
  const auto found = members_.find(&line);
  if (found == members_.end() || !found->second.is_of_this_life) return;
  proven_ = std::max(proven_, sent);
  // Those who had joined by then were in it together with this one.
  for (auto& [other, member] : members_) {
    if (member.joined <= sent) member.is_of_this_life = true;
  }
}

void SessionWatch::broken(const Line& line) { members_.erase(&line); }

Millis SessionWatch::may_end_at() const {
  if (!is_alive_) return kNever;
  const bool is_held =
      std::any_of(members_.begin(), members_.end(), [](const auto& entry) { return entry.second.is_of_this_life; });
  return is_held ? kNever : proven_ + grace_ - margin_of(grace_);
}

bool SessionWatch::may_have_ended(Millis now) {
  if (now < may_end_at()) return false;
  is_alive_ = !members_.empty();
  for (auto& [line, member] : members_) {
    member.is_of_this_life = true;
    proven_ = std::max(proven_, member.sent);
  }
  return true;
}

}  // namespace tenure::client
