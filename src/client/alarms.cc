#include "client/alarms.h"

#include <algorithm>

namespace tenure {

void Alarms::stop() {
  std::thread running;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    woken_.notify_one();
    running.swap(thread_);
  }
  if (running.joinable()) running.join();
}

Alarms::Id Alarms::set(Millis due, std::function<void()> ring) {
  const MutexLock lock(mutex_);
  const Id id{due, ++numbers_};
  if (stopping_) return id;
  waiting_.emplace(id, std::move(ring));
  // The thread is not disturbed for what is due later than it wakes anyhow: most alarms are cancelled before.
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { run(); });
  } else if (due < wakes_at_) {
    woken_.notify_one();
  }
  return id;
}

bool Alarms::cancel(Id id) {
  const MutexLock lock(mutex_);
  return waiting_.erase(id) > 0;
}

void Alarms::settle() {
  const MutexLock lock(mutex_);
  if (!thread_.joinable()) return;
  // The look under way may have begun before the clock was moved: the one after it has not.
  const std::uint64_t enough = looks_ + 2;
  while (looks_ < enough) {
    wakes_at_ = Millis::min();
    woken_.notify_one();
    settled_.wait_for(mutex_, Millis{1});
  }
}

void Alarms::run() {
  // Long sleeps are cut: the boot clock counts suspension, the condition variable may not.
  constexpr Millis kLongest = std::chrono::seconds(10);
  const MutexLock lock(mutex_);
  while (!stopping_) {
    ring_what_is_due();
    if (stopping_) return;
    ++looks_;
    settled_.notify_all();
    const Millis now = clock_.boot();
    const Millis due = waiting_.empty() ? now + kLongest : std::min(waiting_.begin()->first.first, now + kLongest);
    wakes_at_ = due;
    if (due > now) woken_.wait_for(mutex_, due - now);
    wakes_at_ = Millis::min();
  }
}

void Alarms::ring_what_is_due() {
  while (!stopping_ && !waiting_.empty() && waiting_.begin()->first.first <= clock_.boot()) {
    const std::function<void()> ring = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    mutex_.unlock();
    ring();
    mutex_.lock();
  }
}

}  // namespace tenure
