// Waiting before something is tried again.
#pragma once

#include <stop_token>

#include <tenure/types.h>
#include "base/entropy.h"
#include "base/mutex.h"
#include "client/backoff.h"

namespace tenure {

// Doubles from 20 ms to 2 s, each time up to half less by chance, so that those who lost the same server do not come
// back in step. One thread.
class Pause {
 public:
  // Ends early when told to stop.
  void wait(const std::stop_token& stop) {
    const Millis time = spread_pause(kFirst, kLongest, times_++, entropy_.next());
    Mutex mutex;
    Condition stopped;
    const std::stop_callback wake(stop, [&] {
      const MutexLock lock(mutex);
      stopped.notify_one();
    });
    const MutexLock lock(mutex);
    if (!stop.stop_requested()) stopped.wait_for(mutex, time);
  }
  void forget() { times_ = 0; }

 private:
  static constexpr Millis kFirst{20};
  static constexpr Millis kLongest{2000};
  SystemEntropy entropy_;
  int times_ = 0;
};

}  // namespace tenure
