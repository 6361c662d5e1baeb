// Growing to ten million waiting tasks: the longest that anybody held the mutex, and what a lease then costs against
// what it costs with a thousand waiting.
//
// A call that is the first to touch a page of memory waits for the kernel, and in a virtual machine for its host, to
// find one. What that alone costs here is measured, too: calls that needed no new page, and pages touched by a plain
// loop.
#include <algorithm>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include "authority/engine.h"
#include "base/check.h"
#include "common.h"
#include "journal/memory_journal.h"

namespace tenure::bench {
namespace {

constexpr std::uint64_t kMany = 10'000'000;
constexpr std::uint64_t kFew = 1'000;
constexpr int kSlices = 40;
constexpr int kSliceLeases = 5'000;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kTouchedBytes = std::size_t{2} << 30;

long page_faults() {
  rusage usage{};
  TENURE_CHECK(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage failed");
  return usage.ru_minflt + usage.ru_majflt;
}

// An authority in memory with so many tasks waiting, and how long it took to take them in.
class Backlog {
 public:
  explicit Backlog(std::uint64_t tasks) {
    long faults = page_faults();
    for (std::uint64_t i = 0; i < tasks; ++i) {
      const double took = submit();
      const long faults_now = page_faults();
      longest_ = std::max(longest_, took);
      if (faults_now == faults) longest_without_fault_ = std::max(longest_without_fault_, took);
      if (took > 0.001) ++over_;
      faults = faults_now;
    }
  }

  // Processor seconds for one lease. What is leased is completed and replaced, so that the number waiting stays.
  double lease_cost() {
    double leasing = 0;
    for (int i = 0; i < kSliceLeases; ++i) {
      TaskLease lease;
      const double begin = thread_seconds();
      engine_->ask(LeaseRequest{.worker = "w", .queues = {"q"}},
                   [&](Result<std::vector<TaskLease>> got) { lease = std::move(got.value().front()); });
      leasing += thread_seconds() - begin;
      engine_->ask(Completion{.task_id = lease.task_id, .lease_id = lease.lease_id}, [](const Result<Report>&) {});
      submit();
      engine_->run_due();
    }
    return leasing / kSliceLeases;
  }

  void print_growth() const {
    row("longest call while growing to 10 million tasks, processor time", longest_ * 1e6, "us", "1000", "1000");
    row("calls of more than 1 ms of processor time, of 10 million", static_cast<double>(over_), "calls");
    row("longest of the calls that needed no new page of memory", longest_without_fault_ * 1e6, "us");
    row("longest call by the wall clock, with whatever else the machine did", longest_wall_ * 1e6, "us");
  }

 private:
  double submit() {
    const double begin = thread_seconds();
    const double begin_wall = seconds();
    engine_->ask(Submission{.queue = "q", .payload = payload_}, [](const Result<Submitted>&) {});
    longest_wall_ = std::max(longest_wall_, seconds() - begin_wall);
    return thread_seconds() - begin;
  }

  const std::string payload_ = std::string(100, 'x');
  SystemClock clock_;
  SystemEntropy entropy_;
  MemoryJournal journal_{MemoryJournal::Keep::kNothing};
  std::unique_ptr<Engine> engine_ = Engine::start({.retention_count = 1000}, {clock_, entropy_, journal_}).value();
  double longest_ = 0;
  double longest_without_fault_ = 0;
  double longest_wall_ = 0;
  std::uint64_t over_ = 0;
};

// Processor seconds of the slowest first touch of a page.
double slowest_touch() {
  void* const room = mmap(nullptr, kTouchedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TENURE_CHECK(room != MAP_FAILED, "no memory");
  auto* const bytes = static_cast<volatile char*>(room);
  double slowest = 0;
  for (std::size_t at = 0; at < kTouchedBytes; at += kPageBytes) {
    const double begin = thread_seconds();
    bytes[at] = 1;
    slowest = std::max(slowest, thread_seconds() - begin);
  }
  munmap(room, kTouchedBytes);
  return slowest;
}

// In turns, because a machine's speed changes within seconds; the median of each.
std::pair<double, double> lease_costs(Backlog& few, Backlog& many) {
  std::vector<double> of_few;
  std::vector<double> of_many;
  for (int i = 0; i < kSlices; ++i) {
    of_few.push_back(few.lease_cost());
    of_many.push_back(many.lease_cost());
  }
  const auto median = [](std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + kSlices / 2, values.end());
    return values[kSlices / 2];
  };
  return {median(of_few), median(of_many)};
}

}  // namespace
}  // namespace tenure::bench

int main() {
  using namespace tenure::bench;
  const double begin = seconds();
  Backlog many(kMany);
  row("submissions by callback up to 10 million waiting", static_cast<double>(kMany) / (seconds() - begin), "tasks/s");
  many.print_growth();
  row("longest first touch of a page of memory by a plain loop", slowest_touch() * 1e6, "us");
  Backlog few(kFew);
  const auto [with_few, with_many] = lease_costs(few, many);
  row("a lease with 1,000 waiting", with_few * 1e9, "ns");
  row("a lease with 10 million waiting", with_many * 1e9, "ns");
  row("lease with 10 million waiting against 1,000", with_many / with_few, "x", "1.3", "1.3");
}
