// A blank segment file, made ahead of its need: zeros that are on the disk already, so that a sync never has to convert
// unwritten extents, and rolling only has to write a header.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/files.h"
#include "base/mutex.h"

namespace tenure {

// Thread-safe.
class SpareSegment {
 public:
  SpareSegment(Files& files, const std::string& folder, std::uint64_t bytes);
  ~SpareSegment();
  SpareSegment(const SpareSegment&) = delete;
  SpareSegment& operator=(const SpareSegment&) = delete;

  // From now on a thread makes a spare whenever there is none.
  void start_thread();
  void stop_thread();
  // Makes one on this thread, if there is none.
  void prepare();

  // The path of a blank file of this many bytes, which is the caller's from now on; made now if none is ready.
  Result<std::string> take(std::uint64_t bytes);

  // Whether the last try to make one failed: the disk is full.
  [[nodiscard]] bool has_failed() const { return has_failed_.load(); }

 private:
  enum class Spare : std::uint8_t { kNone, kBeingMade, kReady };

  void run();
  Result<Done> make(const std::string& path, std::uint64_t bytes);

  Files& files_;
  const std::string path_;
  const std::string taken_path_;
  const std::uint64_t bytes_;
  Mutex mutex_;
  Condition changed_;
  Spare spare_ TENURE_GUARDED_BY(mutex_) = Spare::kNone;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::atomic<bool> has_failed_{false};
  std::thread thread_;
};

}  // namespace tenure
