// What an engine has done since its start, and how it stands: for whoever watches it. Nothing is decided by it, and
// nothing of it outlives a restart.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tenure/tasks.h>
#include <tenure/types.h>
#include "core/record.h"

namespace tenure {

// One for each book.
struct ByBook {
  std::uint64_t tasks = 0;
  std::uint64_t work = 0;
  std::uint64_t locks = 0;
};

// What records have said, without those of a replay. One thread.
struct Tally {
  std::uint64_t tasks_submitted = 0;
  std::uint64_t tasks_completed = 0;
  std::uint64_t tasks_failed = 0;
  std::uint64_t tasks_dead = 0;
  std::uint64_t late_reports = 0;  // refused
  ByBook leases_granted;
  ByBook leases_expired;
  ByBook retries;  // locks have none

  void count(const Record& record);
};

struct EngineFigures {
  Tally tally;
  QueuePage::Entry tasks;                // of all queues
  std::vector<QueuePage::Entry> queues;  // the first ones by name
  std::uint64_t queue_count = 0;
  std::uint64_t domains = 0;
  std::uint64_t locks = 0;
  ByBook bytes;
  std::uint64_t fence = 0;
  std::uint64_t digest_checks = 0;  // at the replay, too
  // Those who wait: for a lease, for a lock, for a task's end.
  std::uint64_t lease_waiters = 0;
  std::uint64_t lock_waiters = 0;
  std::uint64_t task_waiters = 0;
};

}  // namespace tenure
