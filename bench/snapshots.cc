// What a snapshot costs those who ask meanwhile, and how soon an authority is there again with one: 1 million and 10
// million waiting tasks of 100 B in a folder. Snapshots are made as they come due while the tasks are submitted, so the
// one that is measured holds, as in earnest, the frames since the last.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <tenure/authority.h>
#include "common.h"

namespace tenure::bench {
namespace {

constexpr std::size_t kInFlight = 1000;
constexpr double kQuietSeconds = 3;

// Of the time since the last reset.
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

void fill(Authority& authority, std::uint64_t tasks) {
  const std::string payload(100, 'x');
  std::deque<std::future<Submitted>> flight;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    flight.push_back(authority.tasks().submit_later({.queue = "q", .payload = payload}));
    if (flight.size() < kInFlight) continue;
    flight.front().get();
    flight.pop_front();
  }
  for (auto& one : flight) one.get();
}

// Submits one task after the other until told to stop; how long each took, in milliseconds.
std::vector<double> ask_until(Authority& authority, const std::function<bool()>& is_over) {
  const std::string payload(100, 'x');
  std::vector<double> times;
  while (!is_over()) {
    const double begin = seconds();
    authority.tasks().submit({.queue = "load", .payload = payload});
    times.push_back((seconds() - begin) * 1e3);
  }
  std::sort(times.begin(), times.end());
  return times;
}

double p99(const std::vector<double>& times) { return times[times.size() * 99 / 100]; }

void measure(std::uint64_t tasks) {
  const std::string size = fmt::format("{} million tasks", tasks / 1'000'000);
  std::string pattern = "bench-data-XXXXXX";
  const std::string path = mkdtemp(pattern.data());
  {
    const auto authority = Authority::open(path);
    fill(*authority, tasks);
    const double until = seconds() + kQuietSeconds;
    const auto quiet = ask_until(*authority, [&] { return seconds() > until; });

    reset_peak();
    const std::uint64_t resident = resident_bytes();
    std::atomic<bool> is_made = false;
    const double begin = seconds();
    double took = 0;
    std::thread maker([&] {
      authority->snapshot();
      took = seconds() - begin;
      is_made = true;
    });
    const auto busy = ask_until(*authority, [&] { return is_made.load(); });
    maker.join();
    row(fmt::format("a snapshot with {}, submissions going on", size), took, "s");
    row(fmt::format("answers before it, p99 ({})", size), p99(quiet), "ms");
    row(fmt::format("answers during it, p99 ({})", size), p99(busy), "ms");
    row(fmt::format("slowest answer during it, beyond the p99 before it ({})", size), busy.back() - p99(quiet), "ms",
        "50");
    row(fmt::format("memory of the authority before it ({})", size), static_cast<double>(resident) / (1 << 20), "MiB");
    row(fmt::format("peak memory during it, above that ({})", size),
        static_cast<double>(peak_bytes() - resident) / (1 << 20), "MiB");
  }
  {
    const double begin = seconds();
    const auto authority =
        Authority::open(path, {}, {.tell = [](const std::string& line) { fmt::print("{}\n", line); }});
    row(fmt::format("start with {} waiting, from a snapshot", size), seconds() - begin, "s",
        tasks == 10'000'000 ? "20" : "-");
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace tenure::bench

int main() {
  tenure::bench::measure(1'000'000);
  tenure::bench::measure(10'000'000);
}
