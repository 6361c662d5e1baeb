// Where a thread waits for an answer that comes by callback. Thread-safe; used once; outlives its callback's call.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "authority/engine.h"
#include "base/mutex.h"

namespace tenure {

template <class Reply>
class Reception {
 public:
  Callback<Reply> callback() {
    return [this](Result<Reply> reply) {
      reply_.emplace(std::move(reply));
      if (state_.exchange(State::kArrived) == State::kEmpty) return;
      // Somebody sleeps. Told under the mutex: it may destroy this as soon as it has been.
      const MutexLock lock(mutex_);
      told_ = true;
      arrived_.notify_one();
    };
  }

  Result<Reply> wait() {
    // Most answers are there already: they came on this very thread.
    auto expected = State::kEmpty;
    if (state_.compare_exchange_strong(expected, State::kAwaited)) {
      const MutexLock lock(mutex_);
      while (!told_) arrived_.wait(mutex_);
    }
    return std::move(*reply_);
  }

 private:
  enum class State : std::uint8_t { kEmpty, kAwaited, kArrived };

  std::atomic<State> state_{State::kEmpty};
  std::optional<Result<Reply>> reply_;  // written before kArrived, read after it
  Mutex mutex_;
  Condition arrived_;
  bool told_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure
