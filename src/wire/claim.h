// A lock that somebody asked for over a connection, and what becomes of its grant when that cannot be delivered.
#pragma once

#include <string>

#include "authority/engine.h"

namespace tenure::wire {

// One thread.
class LockClaim {
 public:
  explicit LockClaim(const LockName& lock);

  void granted(const std::string& token) { token_ = token; }
  [[nodiscard]] bool is_granted() const { return !token_.empty(); }
  // Gives back what was granted, if anything was and it is not lost by now.
  void give_back(Engine& engine) const;

 private:
  std::string lock_;   // its name as one text
  std::string token_;  // empty: not granted
};

}  // namespace tenure::wire
