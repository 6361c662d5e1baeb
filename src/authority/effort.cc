#include "authority/effort.h"

#include <chrono>
#include <thread>

namespace tenure {
namespace {

constexpr std::chrono::milliseconds kSpell{1};

}  // namespace

Result<Done> Effort::go_on() {
  if (is_given_up()) return fail_with(ErrorCode::kUnavailable, "given up before it was complete");
  if (pace_ == Pace::kGentle && ++steps_ % kStepsALook == 0) rest_if_due();
  return Done{};
}

void Effort::rest_if_due() {
  if (worked_.seconds() < std::chrono::duration<double>(kSpell).count()) return;
  std::this_thread::sleep_for(kSpell);
  worked_ = Stopwatch();
}

}  // namespace tenure
