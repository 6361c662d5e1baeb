// How long something takes, for whoever watches the server: nothing is decided by it.
#pragma once

#include <cstdint>

namespace tenure {

// Immutable: it runs from when it was made.
class Stopwatch {
 public:
  Stopwatch();
  [[nodiscard]] double seconds() const;

 private:
  std::int64_t began_ns_;
};

}  // namespace tenure
