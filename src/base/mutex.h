// std::mutex with the annotations that clang's thread-safety analysis needs; under g++ they are nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TENURE_THREAD(x) __attribute__((x))
#else
#define TENURE_THREAD(x)
#endif

#define TENURE_GUARDED_BY(mutex) TENURE_THREAD(guarded_by(mutex))
#define TENURE_REQUIRES(...) TENURE_THREAD(requires_capability(__VA_ARGS__))
#define TENURE_EXCLUDES(...) TENURE_THREAD(locks_excluded(__VA_ARGS__))

namespace tenure {

class TENURE_THREAD(capability("mutex")) Mutex {
 public:
  void lock() TENURE_THREAD(acquire_capability()) { mutex_.lock(); }
  void unlock() TENURE_THREAD(release_capability()) { mutex_.unlock(); }
  // Tells the analysis, inside a callback, that the caller holds it.
  void assert_held() const TENURE_THREAD(assert_capability(this)) {}

 private:
  friend class Condition;
  std::mutex mutex_;
};

class TENURE_THREAD(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TENURE_THREAD(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() TENURE_THREAD(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable for Mutex. Wake-ups may be spurious: wait in a loop.
class Condition {
 public:
  void wait(Mutex& mutex) TENURE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  template <class Rep, class Period>
  void wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> time) TENURE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, time);
    lock.release();
  }

  void notify_all() { condition_.notify_all(); }
  void notify_one() { condition_.notify_one(); }

 private:
  std::condition_variable condition_;
};

}  // namespace tenure
