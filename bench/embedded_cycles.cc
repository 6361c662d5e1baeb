// How many whole cycles a second one thread makes on an embedded authority in memory.
#include <string>

#include <tenure/authority.h>
#include "common.h"

namespace tenure::bench {
namespace {

constexpr double kSeconds = 3;

void lock_cycles(Authority& authority) {
  Locks& locks = authority.locks();
  const double cycles = rate(kSeconds, [&](std::uint64_t i) {
    const std::string identifier = std::to_string(i % 1000);
    const LockName lock{.domain = "orders", .identifier = identifier};
    const auto grant = locks.acquire({.lock = lock, .owner = "bench"});
    locks.release({.lock = lock, .token = grant.value().token});
  });
  row("lock cycles, embedded in memory, 1 thread", cycles, "cycles/s", "700000", "1000000");
}

void task_cycles(Authority& authority) {
  Tasks& tasks = authority.tasks();
  const std::string payload(100, 'x');
  const double cycles = rate(kSeconds, [&](std::uint64_t) {
    tasks.submit({.queue = "mail", .payload = payload});
    for (const TaskLease& lease : tasks.lease({.worker = "w1", .queues = {"mail"}})) {
      tasks.complete({.task_id = lease.task_id, .lease_id = lease.lease_id});
    }
  });
  row("task cycles of 100 B, embedded in memory, 1 thread", cycles, "cycles/s");
}

void work_cycles(Authority& authority) {
  WorkLeases& work = authority.work();
  const double cycles = rate(kSeconds, [&](std::uint64_t i) {
    const std::string domain = std::to_string(i % 1000);
    const auto got = work.try_acquire({.domain = domain, .offset = Offset{static_cast<std::int64_t>(i / 1000)}});
    work.succeed({.domain = domain, .token = std::get<Acquired>(got).token});
  });
  row("work cycles over 1,000 domains, embedded in memory, 1 thread", cycles, "cycles/s");
}

}  // namespace
}  // namespace tenure::bench

int main() {
  const auto authority = tenure::Authority::in_memory();
  tenure::bench::lock_cycles(*authority);
  tenure::bench::task_cycles(*authority);
  tenure::bench::work_cycles(*authority);
}
