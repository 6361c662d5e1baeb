// What a waiting task with a payload of 100 bytes costs in resident memory, everything included.
#include <tenure/authority.h>
#include "common.h"

int main() {
  using namespace tenure;
  constexpr std::uint64_t kTasks = 1'000'000;
  const auto authority = Authority::in_memory();
  const std::string payload(100, 'x');
  authority->tasks().submit({.queue = "mail", .payload = payload});
  const std::uint64_t before = bench::resident_bytes();
  for (std::uint64_t i = 1; i < kTasks; ++i) authority->tasks().submit({.queue = "mail", .payload = payload});
  const std::uint64_t after = bench::resident_bytes();
  bench::row("resident memory per waiting task of 100 B, 1 million tasks",
             static_cast<double>(after - before) / static_cast<double>(kTasks), "bytes", "350", "280");
}
