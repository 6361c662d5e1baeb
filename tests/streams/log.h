// Somebody else's log: a real server of Redis or Kafka, and the example that reads it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tenure/types.h>

namespace tenure::testing {

// One thread.
class Log {
 public:
  Log() = default;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  virtual ~Log() = default;

  // What its four domains are called, and the offset that each begins with.
  [[nodiscard]] virtual std::vector<std::string> domains() const = 0;
  [[nodiscard]] virtual Offset first() const = 0;
  // Adds so many entries to each of these; what they say is payload().
  virtual void fill(const std::vector<std::string>& domains, int entries) = 0;
  // The example's program and its first arguments; domains are to follow.
  [[nodiscard]] virtual std::vector<std::string> consumer(const std::string& tenured) const = 0;

  static std::string payload(const std::string& domain, Offset offset) {
    return domain + "-" + std::to_string(offset.value);
  }
};

// False: scripts/test_peers has tried to fetch it, and could not.
bool can_have_kafka();
// Throw if the server is not there: there is no test without.
std::unique_ptr<Log> make_redis();
std::unique_ptr<Log> make_kafka();

}  // namespace tenure::testing
