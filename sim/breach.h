// A law that was broken: what ends a simulation.
#pragma once

#include <stdexcept>

#include <fmt/format.h>

namespace tenure::sim {

class Breach : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws, unless the condition holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) [[unlikely]]
    throw Breach(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace tenure::sim
