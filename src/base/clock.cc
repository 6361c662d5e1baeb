#include "base/clock.h"

#include <ctime>

#include "base/stopwatch.h"

namespace tenure {
namespace {

std::int64_t read_ms(clockid_t which) {
  timespec time{};
  clock_gettime(which, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

std::int64_t read_monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Instant SystemClock::wall() const { return Instant{read_ms(CLOCK_REALTIME)}; }
Millis SystemClock::boot() const { return Millis{read_ms(CLOCK_BOOTTIME)}; }

Stopwatch::Stopwatch() : began_ns_(read_monotonic_ns()) {}
double Stopwatch::seconds() const { return static_cast<double>(read_monotonic_ns() - began_ns_) / 1e9; }

}  // namespace tenure
