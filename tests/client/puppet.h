// A client in a process of its own that takes soft locks as it is told: to be killed, or stopped.
#pragma once

#include <string>
#include <string_view>
#include <unistd.h>

#include <tenure/types.h>
#include "child.h"

namespace tenure::testing {

// One thread.
class Puppet {
 public:
  // `binding` is "bound", "unbound", or the grace of its session in milliseconds.
  Puppet(const std::string& address, Millis lease, const std::string& binding = "bound")
      : process_({TENURE_PUPPET, address, std::to_string(lease.count()), binding}, STDOUT_FILENO) {}

  // Orders are a verb and the identifier of a lock: lock, try, fence, lost (waits for that), is_lost, release. What it
  // answers is the verb in the past, a value, or the exception that was thrown.
  void tell(std::string_view order) const { process_.tell(order); }
  std::string hear() { return process_.hear().value_or("gone"); }
  std::string ask(std::string_view order) {
    tell(order);
    return hear();
  }
  Fence fence(const std::string& identifier) { return Fence{std::stoull(ask("fence " + identifier))}; }
  void signal(int number) const { process_.signal(number); }
  void kill() { process_.kill(); }

 private:
  Child process_;
};

}  // namespace tenure::testing
