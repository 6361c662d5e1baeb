// Always-on checks. A check that fails is a bug of ours: the process stops with what was expected and what was found.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace tenure {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& found);

// Formats apart from the checks: in place, that code would keep the small functions they guard from being inlined.
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void check_failed_with(const char* file, int line, const char* condition,
                                                              fmt::format_string<const Args&...> text,
                                                              const Args&... args) {
  check_failed(file, line, condition, fmt::format(text, args...));
}

}  // namespace tenure

// TENURE_CHECK(condition, "format", args...): the message says what was found instead.
#define TENURE_CHECK(condition, ...)                                            \
  do {                                                                          \
    if (!(condition)) [[unlikely]]                                              \
      ::tenure::check_failed_with(__FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (false)
