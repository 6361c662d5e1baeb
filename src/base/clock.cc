#include "base/clock.h"

#include <ctime>

namespace tenure {
namespace {

std::int64_t read_ms(clockid_t which) {
  timespec time{};
  clock_gettime(which, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

Instant SystemClock::wall() const { return Instant{read_ms(CLOCK_REALTIME)}; }
Millis SystemClock::boot() const { return Millis{read_ms(CLOCK_BOOTTIME)}; }

}  // namespace tenure
