// How much an embedded authority makes durable a second, next to what the disk itself can do: sequential 64 KiB writes,
// each followed by fdatasync, in the same folder and the same run. And how fast it is there again: replay at start.
#include <atomic>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <tenure/authority.h>
#include "base/bytes.h"
#include "base/check.h"
#include "base/files.h"
#include "common.h"
#include "journal/recovery.h"

namespace tenure::bench {
namespace {

constexpr double kSeconds = 3;
constexpr std::size_t kInFlight = 32;

struct Folder {
  Folder() {
    std::string pattern = "bench-data-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

template <class T>
T take(Result<T> result) {
  TENURE_CHECK(result.has_value(), "{}", result.error().message);
  return std::move(*result);
}

// Bytes a second that reach the disk; the file is made of zeros first, as the journal's are.
double disk_bandwidth() {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  const Folder folder;
  const auto file = take(real_files().open(folder.path + "/disk", Files::Mode::kCreate));
  take(file->write_at(0, std::string(kBytes, '\0')));
  take(file->sync());
  const std::string piece(64 << 10, 'x');
  std::uint64_t written = 0;
  const double begin = seconds();
  double end = begin;
  while (end - begin < kSeconds) {
    take(file->write_at(written % kBytes, piece));
    take(file->sync());
    written += piece.size();
    end = seconds();
  }
  const double syncs = static_cast<double>(written) / static_cast<double>(piece.size());
  row("disk: 64 KiB write + fdatasync", (end - begin) / syncs * 1e6, "us");
  return static_cast<double>(written) / (end - begin);
}

// Each thread keeps this many submissions in flight. Answered submissions a second.
double submissions(std::size_t threads, std::size_t bytes) {
  const Folder folder;
  const auto authority = Authority::open(folder.path + "/data");
  const std::string payload(bytes, 'x');
  std::atomic<std::uint64_t> done{0};
  const double begin = seconds();
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      std::deque<std::future<Submitted>> flight;
      while (seconds() - begin < kSeconds) {
        while (flight.size() < kInFlight) {
          flight.push_back(authority->tasks().submit_later({.queue = "q", .payload = payload}));
        }
        flight.front().get();
        flight.pop_front();
        ++done;
      }
      for (auto& one : flight) one.get();
      done += flight.size();
    });
  }
  for (std::thread& worker : workers) worker.join();
  return static_cast<double>(done) / (seconds() - begin);
}

// Three for each task, one for each that was forgotten, and digests.
std::uint64_t count_records(const std::string& folder) {
  std::uint64_t records = 0;
  take(walk(real_files(), folder, {}, [&](const Frame& frame) -> Result<Done> {
    for (ByteReader in(frame.payload); !in.at_end(); ++records) {
      in.varint();
      in.bytes();
    }
    return Done{};
  }));
  return records;
}

// Task cycles are written, few tasks are left; then the folder is opened again.
void replay() {
  constexpr int kCycles = 500'000;
  constexpr int kWriters = 64;
  const Folder folder;
  const std::string path = folder.path + "/data";
  {
    const auto authority = Authority::open(path, Settings{.retention_count = 50'000});
    const std::string payload(100, 'x');
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&] {
        for (int k = 0; k < kCycles / kWriters / 32; ++k) {
          std::vector<std::future<Submitted>> submitted;
          for (int n = 0; n < 32; ++n) {
            submitted.push_back(authority->tasks().submit_later({.queue = "q", .payload = payload}));
          }
          for (auto& one : submitted) one.get();
          std::vector<std::future<Report>> reports;
          for (const TaskLease& lease : authority->tasks().lease({.worker = "w", .queues = {"q"}, .count = 32})) {
            reports.push_back(
                authority->tasks().complete_later({.task_id = lease.task_id, .lease_id = lease.lease_id}));
          }
          for (auto& one : reports) one.get();
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
  }
  const double records = static_cast<double>(count_records(path));
  std::string told;
  const double begin = seconds();
  {
    const auto authority = Authority::open(path, {}, {.tell = [&](const std::string& line) { told = line; }});
  }
  const double took = seconds() - begin;
  fmt::print("{}\n", told);
  row("replay of task cycles of 100 B, all checks on", records / took, "records/s", "1000000", "1500000");
}

}  // namespace
}  // namespace tenure::bench

int main() {
  using namespace tenure::bench;
  const double disk = disk_bandwidth();
  row("disk: 64 KiB writes, each with fdatasync", disk / 1e6, "MB/s");
  for (const std::size_t bytes : {100U, 1024U}) {
    for (const std::size_t threads : {1U, 8U, 64U}) {
      const double rate = submissions(threads, bytes);
      row(fmt::format("durable submissions of {} B, {} threads, 32 in flight each", bytes, threads), rate, "tasks/s");
      const double share = rate * static_cast<double>(bytes) / disk;
      row(fmt::format("the same: payload bandwidth / disk's ({} B, {} threads)", bytes, threads), share, "x",
          bytes == 1024 && threads == 8 ? "0.5" : "-");
    }
  }
  replay();
}
