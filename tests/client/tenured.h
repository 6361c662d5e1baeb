// A real tenured, as a process of its own, that can be killed and started again at the same port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "child.h"

namespace tenure::testing {

// One thread.
class Tenured {
 public:
  // With these words on its command line, beyond those that give it a folder and ports.
  explicit Tenured(std::vector<std::string> words = {}) : words_(std::move(words)) { start(); }

  // Until it listens.
  void start();
  // With SIGKILL.
  void kill() { process_.reset(); }
  void signal(int number) const { process_->signal(number); }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  bool try_start();

  const std::vector<std::string> words_;
  TemporaryFolder folder_;
  std::uint16_t port_ = 0;  // 0: any
  std::optional<Child> process_;
};

}  // namespace tenure::testing
