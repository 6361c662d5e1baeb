// A file that batches of bytes are written to, each synced before it counts, on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <semaphore>
#include <string>
#include <thread>

#include "socket.h"

namespace tenure::bench {

// One caller; the thread is its own. A batch belongs to the thread from begin() until done() can be read.
class GroupCommit {
 public:
  // The file's blocks are written with zeros once, here: a sync never has to find room. It is used round and round.
  explicit GroupCommit(const std::string& path);
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Takes the bytes and leaves an empty string. Not before the last batch is done.
  void begin(std::string& bytes);
  // An eventfd that can be read once the batch is on the disk.
  [[nodiscard]] const Descriptor& done() const { return done_; }

 private:
  void fill_with_zeros();
  void work();
  void write_and_sync();

  Descriptor file_;
  Descriptor done_;
  std::string batch_;
  std::uint64_t position_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::counting_semaphore<2> begun_{0};  // a batch, and the end
  std::thread thread_;
};

}  // namespace tenure::bench
