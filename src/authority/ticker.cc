#include "authority/ticker.h"

#include <algorithm>

namespace tenure {

Ticker::Ticker(Engine& engine) : engine_(engine), thread_([this] { run(); }) {
  engine_.on_earlier_due([this] { wake(); });
}

Ticker::~Ticker() {
  engine_.on_earlier_due(nullptr);
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    woken_.notify_one();
  }
  thread_.join();
}

void Ticker::wake() {
  const MutexLock lock(mutex_);
  due_ = true;
  woken_.notify_one();
}

void Ticker::run() {
  // Long sleeps are cut: the boot clock counts suspension, the condition variable may not.
  constexpr Millis kLongest = std::chrono::seconds(10);
  while (true) {
    const Instant due = engine_.run_due();
    const MutexLock lock(mutex_);
    if (stopping_) return;
    const Millis pause = std::min(due - engine_.now(), kLongest);
    if (!due_ && pause > Millis{0}) woken_.wait_for(mutex_, pause);
    if (stopping_) return;
    due_ = false;
  }
}

}  // namespace tenure
