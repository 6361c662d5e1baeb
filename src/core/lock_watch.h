// For whoever counts locks. Nothing is decided by it.
#pragma once

#include <string_view>

#include <tenure/types.h>

namespace tenure {

// Told what becomes of locks as records are applied; it must not call back.
class LockWatch {
 public:
  LockWatch() = default;
  LockWatch(const LockWatch&) = delete;
  LockWatch& operator=(const LockWatch&) = delete;
  virtual ~LockWatch() = default;

  virtual void on_held(std::string_view domain) = 0;
  virtual void on_freed(std::string_view domain, Millis held, bool has_expired) = 0;
};

}  // namespace tenure
