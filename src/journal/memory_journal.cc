#include "journal/memory_journal.h"

namespace tenure {

void MemoryJournal::read(absl::FunctionRef<bool(const Frame&)> visit) const {
  const MutexLock lock(mutex_);
  std::uint64_t sequence = 0;
  for (const Kept& kept : frames_) {
    if (!visit(Frame{++sequence, kept.stamp, kept.payload})) return;
  }
}

void MemoryJournal::listen(Listener* listener) {
  const MutexLock lock(mutex_);
  listener_ = listener;
}

std::uint64_t MemoryJournal::append(Instant stamp, std::string_view payload) {
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

void MemoryJournal::fail(const std::string& why) {
  Listener* listener = nullptr;
  {
    const MutexLock lock(mutex_);
    failed_ = why;
    listener = listener_;
  }
  if (listener != nullptr) listener->on_failed(why);
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
