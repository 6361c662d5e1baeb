// The disk fills up. New work is refused in time, what was begun can be finished, and when there is room again work
// goes on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lives.h"

namespace tenure {
namespace {

constexpr int kBegun = 8;  // of each kind
constexpr std::uint64_t kDiskBlock = 4096;

// Work of all three kinds, begun while there was room. One thread.
class FullDisk {
 public:
  explicit FullDisk(Process& process) : process_(process) {}

  void begin() {
    for (int i = 0; i < kBegun; ++i) submit(10);
    process_.put(LeaseRequest{.worker = "w", .queues = {"q"}, .count = kBegun, .lease = kLong},
                 [this](const std::vector<TaskLease>& reply) { leases_ = reply; });
    for (int i = 0; i < kBegun; ++i) {
      const std::string name = std::to_string(i);
      acquire(name);
      process_.put(WorkRequest{.domain = name, .offset = Offset{1}},
                   [this](const AcquireResult& reply) { works_.push_back(std::get<Acquired>(reply).token); });
    }
    process_.flush();
  }

  void submit(std::uint64_t payload) {
    const std::string text(payload, 'p');
    process_.put(Submission{.queue = "q", .payload = text}, [this](const Submitted& /*reply*/) { ++submitted_; });
  }
  void acquire(const std::string& name) {
    LockAcquire request = acquire_by("o", name);
    request.lease = kLong;
    process_.put(request, [this](const std::optional<LockGrant>& reply) { locks_.push_back(reply.value().token); });
  }

  // Submits, this many in one hand-over, until one is refused.
  void fill(std::uint64_t payload, int at_once) {
    while (refused() == 0 && !process_.has_failed()) {
      for (int i = 0; i < at_once; ++i) submit(payload);
      process_.flush();
    }
  }

  void finish() {
    const auto count = [this](const auto& /*reply*/) { ++finished_; };
    for (const TaskLease& lease : leases_) {
      process_.put(Completion{.task_id = lease.task_id, .lease_id = lease.lease_id, .result = "done"}, count);
    }
    for (int i = 0; i < kBegun; ++i) {
      const std::string name = std::to_string(i);
      const auto index = static_cast<std::size_t>(i);
      process_.put(release_of(locks_[index], name), count);
      process_.put(WorkSuccess{.domain = name, .token = works_[index]}, count);
      process_.flush();
    }
  }

  [[nodiscard]] std::uint64_t refused() const { return process_.count_of(ErrorCode::kBackpressure); }
  [[nodiscard]] std::uint64_t submitted() const { return submitted_; }
  [[nodiscard]] int finished() const { return finished_; }

 private:
  static constexpr Millis kLong = std::chrono::minutes(5);

  Process& process_;
  std::vector<TaskLease> leases_;
  std::vector<std::string> locks_;
  std::vector<std::string> works_;
  std::uint64_t submitted_ = 0;
  int finished_ = 0;
};

// New work of every kind.
void expect_refused(Process& process, FullDisk& disk) {
  const std::uint64_t before = disk.refused();
  disk.submit(1);
  disk.acquire("another");
  process.put(WorkRequest{.domain = "another", .offset = Offset{1}}, [](const AcquireResult&) {});
  process.flush();
  EXPECT_EQ(before + 3, disk.refused());
}

struct Filling {
  std::uint64_t capacity = 0;  // in blocks
  std::uint64_t payload = 0;
  int at_once = 1;
};

// Answers how many submissions there was room for.
std::uint64_t fill_and_finish(const Filling& filling) {
  FaultyFiles files;
  Process process(files);
  FullDisk work(process);
  work.begin();
  EXPECT_FALSE(process.has_failed());
  files.set_capacity(filling.capacity * kDiskBlock);
  work.fill(filling.payload, filling.at_once);
  EXPECT_FALSE(process.has_failed());
  if (process.has_failed()) return 0;
  expect_refused(process, work);
  work.finish();
  EXPECT_FALSE(process.has_failed());
  EXPECT_EQ(3 * kBegun, work.finished());

  files.set_capacity(std::uint64_t{1} << 30);
  process.vouch();  // the next write sees that there is room
  const std::uint64_t submitted = work.submitted();
  for (int i = 0; i < 20; ++i) {
    work.submit(filling.payload);
    process.flush();
  }
  EXPECT_FALSE(process.has_failed());
  EXPECT_EQ(submitted + 20, work.submitted());
  EXPECT_TRUE(process.close());
  return submitted;
}

TEST(FaultTest, FullDisk) {
  std::uint64_t disks = 0;
  std::uint64_t submitted = 0;
  for (std::uint64_t capacity = 0; capacity <= 24; ++capacity) {
    for (const std::uint64_t payload : {0U, 100U, 300U, 1000U}) {
      SCOPED_TRACE(fmt::format("{} blocks, payloads of {} bytes", capacity, payload));
      ++disks;
      submitted += fill_and_finish({.capacity = capacity, .payload = payload});
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(submitted, 0U);
  fmt::print("full_disk: {} disks: {} submissions until BACKPRESSURE, then {} things finished on each\n", disks,
             submitted, 3 * kBegun);
}

// Those that are handed over together count, too, before they are written.
TEST(FaultTest, FullDiskAndBatches) {
  std::uint64_t disks = 0;
  std::uint64_t submitted = 0;
  for (const int at_once : {2, 8, 12}) {
    for (std::uint64_t capacity = 0; capacity <= 24; ++capacity) {
      SCOPED_TRACE(fmt::format("{} blocks, {} at once", capacity, at_once));
      ++disks;
      submitted += fill_and_finish({.capacity = capacity, .payload = 100, .at_once = at_once});
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(submitted, 0U);
  fmt::print("full_disk_batches: {} disks: {} submissions until BACKPRESSURE\n", disks, submitted);
}

// A full disk is no reason not to start: what was begun wants to be finished.
TEST(FaultTest, StartsOnAFullDisk) {
  for (std::uint64_t capacity = 0; capacity <= 24; ++capacity) {
    SCOPED_TRACE(fmt::format("{} blocks", capacity));
    FaultyFiles files;
    Promises promises;
    {
      Process process(files);
      FullDisk work(process);
      work.begin();
      files.set_capacity(capacity * kDiskBlock);
      work.fill(300, 1);
      EXPECT_TRUE(process.close());
      promises = process.promises();
    }
    const Process again(files);
    ASSERT_TRUE(again.is_up()) << again.refusal();
    EXPECT_EQ(promises.digest_after(again.recovered()), again.digest());
  }
}

}  // namespace
}  // namespace tenure
