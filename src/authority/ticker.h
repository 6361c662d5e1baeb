// The thread that lets time pass for an engine.
#pragma once

#include <thread>

#include "authority/engine.h"
#include "base/mutex.h"

namespace tenure {

// Runs until destroyed. The engine outlives it.
class Ticker {
 public:
  explicit Ticker(Engine& engine);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void run();
  void wake();

  Engine& engine_;
  Mutex mutex_;
  Condition woken_;
  bool due_ TENURE_GUARDED_BY(mutex_) = false;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tenure
