// A small program that owns an embedded authority, for the tests that kill it.
//
//   writer FOLDER           submits, leases and completes from a few threads until it is killed or its journal fails,
//                           and prints each answer once it has it: "submitted ID", "completed ID"; then "failed WHY",
//                           status 3
//   writer FOLDER --synced  the same with segments that are not of whole blocks, so that what is written is then synced
//   writer FOLDER --check   opens the folder and prints what is there: "there ID STATE" for each task
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <tenure/authority.h>

namespace {

constexpr int kThreads = 4;
constexpr std::uint64_t kSegmentBytes = 64 << 10;  // small: it rolls often

std::mutex output;

// One line, at once: the process may die right behind it.
void print(const std::string& line) {
  const std::lock_guard lock(output);
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void work(tenure::Authority& authority, int thread) {
  const std::string queue = fmt::format("q{}", thread);
  const std::string payload(200, 'x');
  for (int i = 0;; ++i) {
    print("submitted " + authority.tasks().submit({.queue = queue, .payload = payload}).task_id);
    if (i % 2 == 0) continue;
    for (const tenure::TaskLease& lease : authority.tasks().lease({.worker = queue, .queues = {queue}})) {
      authority.tasks().complete({.task_id = lease.task_id, .lease_id = lease.lease_id});
      print("completed " + lease.task_id);
    }
  }
}

int write(tenure::Authority& authority) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&authority, i] {
      try {
        work(authority, i);
      } catch (const tenure::Unavailable& error) {
        print(fmt::format("failed {}", error.what()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 3;
}

int check(tenure::Authority& authority) {
  const tenure::QueuePage queues = authority.tasks().queues({.count = 1000});
  for (const auto& queue : queues.queues) {
    std::string cursor = "0";
    do {
      const auto page =
          authority.tasks().list({.queue = queue.queue, .state = {}, .paging = {.count = 1000, .cursor = cursor}});
      for (const auto& task : page.tasks) {
        print(fmt::format("there {} {}", task.task_id, tenure::to_string(task.state)));
      }
      cursor = page.cursor;
    } while (cursor != "0");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view option = argc > 2 ? argv[2] : "";
  try {
    const std::uint64_t segment_bytes = kSegmentBytes + (option == "--synced" ? 1 : 0);
    const auto authority = tenure::Authority::open(argv[1], {}, {.segment_bytes = segment_bytes});
    return option == "--check" ? check(*authority) : write(*authority);
  } catch (const tenure::Error& error) {
    print(fmt::format("failed {}", error.what()));
    return 3;
  }
}
