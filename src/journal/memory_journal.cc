#include "journal/memory_journal.h"

#include <algorithm>

namespace tenure {

Result<Done> MemoryJournal::read(FrameRange range, Visit visit) const {
  const MutexLock lock(mutex_);
  for (std::uint64_t i = range.after; i < std::min<std::uint64_t>(frames_.size(), range.upto); ++i) {
    if (auto visited = visit({i + 1, frames_[i].stamp, frames_[i].payload}); !visited) return visited;
  }
  return Done{};
}

void MemoryJournal::listen(Listener* listener) {
  const MutexLock lock(mutex_);
  listener_ = listener;
}

std::uint64_t MemoryJournal::append(std::uint64_t /*epoch*/, Instant stamp, std::string_view payload) {
  const MutexLock lock(mutex_);
  if (keep_ == Keep::kFrames) frames_.push_back({stamp, std::string(payload)});
  ++last_;
  if (!held_ && failed_.empty()) durable_ = last_;
  return last_;
}

void MemoryJournal::commit() {
  Listener* listener = nullptr;
  std::uint64_t durable = 0;
  {
    const MutexLock lock(mutex_);
    if (held_ || !failed_.empty()) return;
    durable_ = durable = last_;
    listener = listener_;
  }
  if (listener != nullptr) listener->on_durable(durable);
}

Result<Done> MemoryJournal::close() {
  commit();
  return Done{};
}

void MemoryJournal::fail(const std::string& why) {
  Listener* listener = nullptr;
  {
    const MutexLock lock(mutex_);
    failed_ = why;
    listener = listener_;
  }
  if (listener != nullptr) listener->on_failed(Outcome::kFailed, why);
}

void MemoryJournal::cut_after(std::uint64_t sequence) {
  const MutexLock lock(mutex_);
  while (frames_.size() > sequence) frames_.pop_back();
  durable_ = last_ = sequence;
}

void MemoryJournal::hold(bool held) {
  {
    const MutexLock lock(mutex_);
    held_ = held;
  }
  commit();
}

}  // namespace tenure
