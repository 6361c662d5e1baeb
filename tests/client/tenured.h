// A real tenured, as a process of its own, that can be killed and started again at the same port.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

#include "base/temporary_folder.h"

namespace tenure::testing {

// One thread.
class Tenured {
 public:
  Tenured() { start(); }
  ~Tenured() { kill(); }
  Tenured(const Tenured&) = delete;
  Tenured& operator=(const Tenured&) = delete;

  // Until it listens.
  void start();
  // With SIGKILL.
  void kill();
  void signal(int number) const;
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  bool try_start();

  TemporaryFolder folder_;
  std::uint16_t port_ = 0;  // 0: any
  pid_t process_ = -1;
};

}  // namespace tenure::testing
