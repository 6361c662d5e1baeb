// Where a thread waits for an answer that comes by callback. Thread-safe; used once; outlives its callback's call.
#pragma once

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
      const MutexLock lock(mutex_);
      reply_.emplace(std::move(reply));
      // Under the mutex: the one who waits may destroy this as soon as it has the answer.
      arrived_.notify_one();
    };
  }

  Result<Reply> wait() {
    const MutexLock lock(mutex_);
    while (!reply_) arrived_.wait(mutex_);
    return std::move(*reply_);
  }

 private:
  Mutex mutex_;
  Condition arrived_;
  std::optional<Result<Reply>> reply_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
