// A server in this process, in memory, at a free port.
#pragma once

#include <memory>
#include <string>

#include <tenure/settings.h>

namespace tenure::testing {

class Host {
 public:
  explicit Host(const Settings& settings = {});
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::string address_;
};

}  // namespace tenure::testing
