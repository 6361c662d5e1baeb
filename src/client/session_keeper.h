// A lock backend that keeps sessions for the locks that are bound to them: a client. Soft locks ask their backend for
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <tenure/types.h>

namespace tenure {

// Thread-safe.
class SessionKeeper {
 public:
  // What is told ends with it: nothing is being told any more when its destructor has returned.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    virtual ~Subscription() = default;
  };

  SessionKeeper() = default;
  SessionKeeper(const SessionKeeper&) = delete;
  SessionKeeper& operator=(const SessionKeeper&) = delete;
  virtual ~SessionKeeper() = default;

  // The keeper's own session of that grace, which lasts as long as the keeper. Does not wait for a connection.
  virtual std::string own_session(Millis grace) = 0;
  // Calls `lost` each time the session may have ended, on a thread that must not be held up and for no call of the
  // keeper's.
  virtual std::unique_ptr<Subscription> watch(std::string_view session, std::function<void()> lost) = 0;
};

}  // namespace tenure
