#include "common.h"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <unistd.h>

#include <fmt/core.h>

namespace tenure::bench {
namespace {

double read_clock(clockid_t which) {
  timespec time{};
  clock_gettime(which, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

double seconds() { return read_clock(CLOCK_MONOTONIC); }
double thread_seconds() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void row(std::string_view name, double value, std::string_view unit, std::string_view floor, std::string_view goal) {
  fmt::print("row: {} | {:.3f} | {} | {} | {}\n", name, value, unit, floor, goal);
  std::fflush(stdout);
}

}  // namespace tenure::bench
