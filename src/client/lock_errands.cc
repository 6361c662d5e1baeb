#include "client/lock_errands.h"

#include "base/planted.h"

namespace tenure::client {

bool is_to_ask_anew(const Result<std::optional<LockGrant>>& answer, bool is_own_id, bool is_repeated) {
  if (answer || !is_own_id) return false;
  const ErrorCode code = answer.error().code;
  if (is_planted(PlantedBug::kFreshIdAfterLostAnswer) && code == ErrorCode::kUnavailable) return true;
  return is_repeated && (code == ErrorCode::kExpired || code == ErrorCode::kNotHeld);
}

std::optional<LockForce> ForceErrand::next() const {
  if (is_planted(PlantedBug::kForceWithoutFence) && !given_) return LockForce{lock_, std::nullopt};
  return fence_ ? std::optional(LockForce{lock_, fence_}) : std::nullopt;
}

void ForceErrand::take_holder(const std::optional<LockStatus>& holder) {
  if (holder) {
    fence_ = holder->fence;
  } else {
    result_ = false;
  }
}

void ForceErrand::take_answer(bool is_freed, bool is_repeated) {
  if (is_freed) {
    result_ = true;
  } else if (!given_ && is_repeated) {
    result_ = true;  // whom it was asked for does not hold it any more
  } else if (!given_) {
    fence_.reset();  // it went to another holder in between
  } else if (!is_repeated) {
    result_ = false;
  } else {
    result_ = fail_with(ErrorCode::kUnavailable,
                        "the lock is not held under fence {}: it was freed by this call, whose first answer was lost, "
                        "or before it",
                        given_->value);
  }
}

}  // namespace tenure::client
