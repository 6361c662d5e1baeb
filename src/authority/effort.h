// Long work in the background: how hard it is done, and until when.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "base/result.h"
#include "base/stopwatch.h"

namespace tenure {

enum class Pace : std::uint8_t {
  kFull,
  kGentle,  // rests as long as it works, a millisecond at a time: others get the processor between
};

// One thread.
class Effort {
 public:
  explicit Effort(std::stop_token stop = {}, Pace pace = Pace::kFull) : stop_(std::move(stop)), pace_(pace) {}

  // To be called after each small step; may rest. Fails once it is given up.
  Result<Done> go_on();
  [[nodiscard]] bool is_given_up() const { return stop_.stop_requested(); }

 private:
  // A step is about a microsecond, and to look at the clock is a part of that.
  static constexpr std::uint32_t kStepsALook = 32;

  void rest_if_due();

  const std::stop_token stop_;
  const Pace pace_;
  std::uint32_t steps_ = 0;
  Stopwatch worked_;  // since the last rest
};

}  // namespace tenure
