// What the stress tests share.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <tenure/types.h>
#include "base/dice.h"

namespace tenure {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderTsan = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kUnderTsan = true;
#else
inline constexpr bool kUnderTsan = false;
#endif
#else
inline constexpr bool kUnderTsan = false;
#endif

inline constexpr Millis kLong = std::chrono::minutes(10);

// Work that takes a random, short time: mostly nothing, at times long enough to lose the processor.
inline void work_a_little(Dice& dice) {
  if (dice.one_in(50)) std::this_thread::yield();
  volatile std::uint64_t sum = 0;
  for (std::uint64_t i = dice.roll(200); i > 0; --i) sum = sum + i;
}

// Runs `run(number)` on as many threads, and waits for all.
template <class Run>
void on_threads(std::uint64_t threads, const Run& run) {
  std::vector<std::jthread> crew;
  crew.reserve(threads);
  for (std::uint64_t number = 0; number < threads; ++number) crew.emplace_back([&run, number] { run(number); });
}

}  // namespace tenure
