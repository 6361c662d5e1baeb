// Looks at an authority again and again, so that who shows it never waits for an answer.
#pragma once

#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "cli/bell.h"
#include "cli/top.h"

namespace tenure::cli {

// One look. Throws what errors.h lists.
TopView look(const Errand& errand);

// Thread-safe. The errand outlives it.
class Viewer {
 public:
  Viewer(const Errand& errand, Millis interval);
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  struct Seen {
    std::optional<TopView> view;
    std::optional<TopView> before;
    std::string trouble;  // why there is nothing newer
  };
  [[nodiscard]] Seen seen() const TENURE_EXCLUDES(mutex_);
  // Rung when there is something new.
  [[nodiscard]] const Bell& bell() const { return bell_; }

 private:
  void watch() TENURE_EXCLUDES(mutex_);
  void look_once() TENURE_EXCLUDES(mutex_);

  const Errand& errand_;
  const Millis interval_;
  Bell bell_;
  Bell over_;
  mutable Mutex mutex_;
  Seen seen_ TENURE_GUARDED_BY(mutex_);
  std::thread watcher_;
};

}  // namespace tenure::cli
