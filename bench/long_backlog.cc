// Growing to ten million waiting tasks: the longest that anybody held the mutex, and what a lease then costs against
// what it costs with a thousand waiting.
#include <algorithm>
#include <string>

#include "authority/engine.h"
#include "common.h"
#include "journal/memory_journal.h"

namespace tenure::bench {
namespace {

constexpr std::uint64_t kMany = 10'000'000;
constexpr std::uint64_t kFew = 1'000;
constexpr int kLeases = 200'000;

// Seconds for one lease, completion and a new submission in its place, so that the number waiting stays.
double lease_cost(Engine& engine, const std::string& payload) {
  double leasing = 0;
  for (int i = 0; i < kLeases; ++i) {
    TaskLease lease;
    const double begin = thread_seconds();
    engine.ask(LeaseRequest{.worker = "w", .queues = {"q"}},
               [&](Result<std::vector<TaskLease>> got) { lease = std::move(got.value().front()); });
    leasing += thread_seconds() - begin;
    engine.ask(Completion{.task_id = lease.task_id, .lease_id = lease.lease_id}, [](const Result<Report>&) {});
    engine.ask(Submission{.queue = "q", .payload = payload}, [](const Result<Submitted>&) {});
    engine.run_due();
  }
  return leasing / kLeases;
}

}  // namespace
}  // namespace tenure::bench

int main() {
  using namespace tenure;
  SystemClock clock;
  SystemEntropy entropy;
  MemoryJournal journal(MemoryJournal::Keep::kNothing);
  const auto started = Engine::start({.retention_count = 1000}, {clock, entropy, journal});
  Engine& engine = **started;
  const std::string payload(100, 'x');
  double longest = 0;
  double longest_wall = 0;
  std::uint64_t over = 0;  // calls of more than a millisecond
  std::uint64_t waiting = 0;
  const auto grow_to = [&](std::uint64_t tasks) {
    for (; waiting < tasks; ++waiting) {
      const double begin = bench::thread_seconds();
      const double begin_wall = bench::seconds();
      engine.ask(Submission{.queue = "q", .payload = payload}, [](const Result<Submitted>&) {});
      longest_wall = std::max(longest_wall, bench::seconds() - begin_wall);
      const double took = bench::thread_seconds() - begin;
      longest = std::max(longest, took);
      if (took > 0.001) ++over;
    }
  };
  grow_to(bench::kFew);
  const double few = bench::lease_cost(engine, payload);
  const double begin = bench::seconds();
  grow_to(bench::kMany);
  bench::row("submissions by callback up to 10 million waiting",
             static_cast<double>(bench::kMany) / (bench::seconds() - begin), "tasks/s");
  const double many = bench::lease_cost(engine, payload);
  bench::row("longest call while growing to 10 million tasks, processor time", longest * 1e6, "us", "1000", "1000");
  bench::row("calls of more than 1 ms of processor time, of 10 million", static_cast<double>(over), "calls");
  bench::row("the same by the wall clock, with whatever else the machine did", longest_wall * 1e6, "us");
  bench::row("a lease with 1,000 waiting", few * 1e9, "ns");
  bench::row("a lease with 10 million waiting", many * 1e9, "ns");
  bench::row("lease with 10 million waiting against 1,000", many / few, "x", "1.3", "1.3");
}
