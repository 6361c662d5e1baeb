// What the benchmarks share: time, memory, and the one form in which results are printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::bench {

// Seconds on a clock that only runs forward.
double seconds();
// Seconds of processor time this thread has used: what a call costs when nobody else takes the processor.
double thread_seconds();
// Bytes of this process that are in memory.
std::uint64_t resident_bytes();

// Prints one row: name, value, unit, floor and goal ("-" where there is none). `make bench` makes a table of them.
void row(std::string_view name, double value, std::string_view unit, std::string_view floor = "-",
         std::string_view goal = "-");

// Calls once(i) for i = 0, 1, ... until about this many seconds have passed, after a short warm-up; calls a second.
template <class Once>
double rate(double for_seconds, const Once& once) {
  std::uint64_t i = 0;
  for (const double until = seconds() + for_seconds / 10; seconds() < until;) once(i++);
  const std::uint64_t first = i;
  const double begin = seconds();
  double end = begin;
  while (end - begin < for_seconds) {
    for (int k = 0; k < 256; ++k) once(i++);
    end = seconds();
  }
  return static_cast<double>(i - first) / (end - begin);
}

}  // namespace tenure::bench
