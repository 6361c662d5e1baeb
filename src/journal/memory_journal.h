// A journal in memory: durable at once, and gone with the process.
#pragma once

#include <atomic>
#include <deque>
#include <string>

#include "base/mutex.h"
#include "journal/journal.h"

namespace tenure {

// Thread-safe.
class MemoryJournal final : public Journal {
 public:
  // Keeping no frames suits those who will never read them again.
  enum class Keep : bool { kNothing, kFrames };
  explicit MemoryJournal(Keep keep) : keep_(keep) {}

  Result<Done> start(std::uint64_t after, Visit visit) override { return read({.after = after}, visit); }
  Result<Done> read(FrameRange range, Visit visit) const override;
  void listen(Listener* listener) override;
  std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) override;
  [[nodiscard]] std::uint64_t durable() const override { return durable_.load(); }
  void commit() override;
  Result<Done> close() override;

  // From now on nothing becomes durable: as if the medium had broken.
  void fail(const std::string& why);
  // Frames after this one are dropped, as a crash would drop what had not become durable.
  void cut_after(std::uint64_t sequence);
  // Holds back durability until it is let go: for those who want to see what waits for it.
  void hold(bool held);

 private:
  struct Kept {
    Instant stamp;
    std::string payload;
  };

  const Keep keep_;
  mutable Mutex mutex_;
  Listener* listener_ TENURE_GUARDED_BY(mutex_) = nullptr;
  std::deque<Kept> frames_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t last_ TENURE_GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> durable_{0};
  bool held_ TENURE_GUARDED_BY(mutex_) = false;
  std::string failed_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
