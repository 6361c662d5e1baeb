// An order is processed by one at a time, whoever else wants to, and the store refuses a holder that comes too late.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include <tenure/authority.h>
#include <tenure/fence_guard.h>
#include <tenure/soft_lock.h>

namespace {

int processed = 0;  // guarded by the lock of the order

void process_order(tenure::SoftLockManager& manager, tenure::FenceGuard& store) {
  auto lock = manager.get_lock("orders", "order-12345");
  std::unique_lock guard(lock);
  store.write("order-12345", lock.fence().value(), [&] { ++processed; });
}

}  // namespace

int main() {
  auto authority = tenure::Authority::in_memory();
  auto manager = tenure::SoftLockManager::builder(authority->locks()).lease_time(std::chrono::minutes(2)).build();
  tenure::FenceGuard store;

  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) process_order(manager, store);
    });
  }
  for (auto& thread : threads) thread.join();

  const bool is_refused = !store.write("order-12345", tenure::Fence{1}, [] { processed = -1; });
  std::printf("processed %d times, one at a time; an old holder was %s\n", processed,
              is_refused ? "refused" : "let in");
  return processed == 100 && is_refused ? 0 : 1;
}
