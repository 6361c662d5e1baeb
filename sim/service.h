// Whom callers ask: one server, or several of which one leads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "request.h"

namespace tenure::sim {

// What a caller sends. A connection that it has given up is never used again.
struct Mail {
  std::uint64_t connection = 0;
  std::shared_ptr<const Letter> letter;
  std::uint64_t floor = 0;  // see Checker::floor
  std::function<void(const Reply&)> reply_to{};
  bool is_wired = false;  // over a connection that carries its answer itself
  std::string to{};       // of one that is wired: the address
};

// One thread.
class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // Where it can be asked.
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;
  [[nodiscard]] virtual bool is_up_at(const std::string& address) const = 0;
  // From the network. What arrives while it is down is lost.
  virtual void hear(const Mail& mail) = 0;
  // A caller's connection is gone.
  virtual void hang_up(std::uint64_t connection) = 0;
};

}  // namespace tenure::sim
