// Always-on checks. A check that fails is a bug of ours: the process stops with what was expected and what was found.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace tenure {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& found);

}  // namespace tenure

// TENURE_CHECK(condition, "format", args...): the message says what was found instead.
#define TENURE_CHECK(condition, ...)                                                      \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::tenure::check_failed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
