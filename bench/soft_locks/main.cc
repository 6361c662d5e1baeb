// tenure-soft-locks: drives a server through SoftLock over Client with so many threads, for some seconds, and prints
// what was measured as a line of JSON, as tenure-load does. The work is that of the seed's two benchmarks:
//
//   lock       lock() and unlock() of one of 1,000 locks, chosen by chance
//   contended  try_lock() of the one that all want, and unlock() if it was had
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <tenure/client.h>
#include <tenure/soft_lock.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLocks = 1000;

struct Plan {
  std::string work = "lock";
  int port = 0;
  std::size_t threads = 50;
  double seconds = 3;
  double warm_up_seconds = 0.5;
};

enum class Phase : std::uint8_t { kWarmUp, kMeasuring, kOver };

class Bench {
 public:
  explicit Bench(Plan plan)
      : plan_(std::move(plan)),
        client_(tenure::Client::connect(fmt::format("127.0.0.1:{}", plan_.port))),
        manager_(tenure::SoftLockManager::builder(client_->locks()).build()),
        latencies_us_(plan_.threads) {}

  void run() {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < plan_.threads; ++i) threads.emplace_back([this, i] { work(i); });
    std::this_thread::sleep_for(std::chrono::duration<double>(plan_.warm_up_seconds));
    phase_ = Phase::kMeasuring;
    const auto begun = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(plan_.seconds));
    phase_ = Phase::kOver;
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    threads.clear();
    print(seconds);
  }

 private:
  void work(std::size_t thread) {
    std::minstd_rand chance(static_cast<unsigned>(thread + 1));
    while (phase_ != Phase::kOver) {
      const auto begun = Clock::now();
      const bool counts = phase_ == Phase::kMeasuring;
      if (plan_.work == "lock") {
        cycle(fmt::format("key-{}", chance() % kLocks));
      } else {
        try_one();
      }
      if (!counts) continue;
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
      latencies_us_[thread].push_back(static_cast<std::uint32_t>(took.count()));
    }
  }

  void cycle(const std::string& identifier) {
    auto lock = manager_.get_lock("bench", identifier);
    lock.lock();
    lock.unlock();
  }

  void try_one() {
    auto lock = manager_.get_lock("bench", "contended");
    if (lock.try_lock()) lock.unlock();
  }

  void print(double seconds) const {
    std::vector<std::uint32_t> all;
    for (const auto& one : latencies_us_) all.insert(all.end(), one.begin(), one.end());
    if (all.empty()) throw std::runtime_error("expected cycles to be done, found none");
    std::ranges::sort(all);
    fmt::print(
        "{{\"peer\": \"tenure\", \"work\": \"{}\", \"connections\": {}, \"seconds\": {:.3f}, \"cycles\": {}, "
        "\"cycles_per_second\": {:.1f}, \"p50_us\": {}, \"p99_us\": {}, \"max_us\": {}}}\n",
        plan_.work, plan_.threads, seconds, all.size(), static_cast<double>(all.size()) / seconds, all[all.size() / 2],
        all[all.size() * 99 / 100], all.back());
  }

  const Plan plan_;
  const std::unique_ptr<tenure::Client> client_;
  const tenure::SoftLockManager manager_;
  std::atomic<Phase> phase_ = Phase::kWarmUp;
  std::vector<std::vector<std::uint32_t>> latencies_us_;  // by thread
};

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  CLI::App app("Drives a server of this machine through soft locks of many threads; prints a line of JSON.");
  app.add_option("--work", plan.work)->check(CLI::IsMember({"lock", "contended"}))->required();
  app.add_option("--port", plan.port, "the server's port at 127.0.0.1")->required();
  app.add_option("--threads", plan.threads)->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seconds", plan.seconds)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--warm-up", plan.warm_up_seconds, "seconds before those that count")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    Bench(plan).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenure-soft-locks: {}: {}\n", plan.work, error.what());
    return 1;
  }
}
