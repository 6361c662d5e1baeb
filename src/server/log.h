// The log, on standard error: one line for each event, with its time in UTC, its level, the event's name and fields,
//
//   2026-05-01T12:00:00.000Z warning client.cut_off client=7 address=127.0.0.1:50312 msg="it has not signed in"
//
// or the same as an object of JSON. Whatever a value holds, it stays within its line and its quotes: what clients send
// cannot look like an event. Passwords, tokens, lease ids and payloads are in none.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/stopwatch.h"

namespace tenure::server {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

// A name in lower case, and a value.
struct LogField {
  LogField(std::string_view of, std::string_view text) : name(of), value(text) {}
  LogField(std::string_view of, const std::string& text) : name(of), value(text) {}
  LogField(std::string_view of, const char* text) : name(of), value(text) {}
  LogField(std::string_view of, std::integral auto number) : name(of), value(std::to_string(number)), is_number(true) {}

  std::string_view name;
  std::string value;
  bool is_number = false;
};
using LogFields = std::initializer_list<LogField>;

// Once, before anything is logged by several threads.
void set_up_log(LogLevel least, LogFormat format);
[[nodiscard]] bool is_logged(LogLevel level);

// Thread-safe. The field `msg` comes last; empty: there is none.
void log_event(LogLevel level, std::string_view event, std::string_view message, LogFields fields = {});

inline void log_debug(std::string_view event, std::string_view message, LogFields fields = {}) {
  log_event(LogLevel::kDebug, event, message, fields);
}
inline void log_info(std::string_view event, std::string_view message, LogFields fields = {}) {
  log_event(LogLevel::kInfo, event, message, fields);
}
inline void log_warning(std::string_view event, std::string_view message, LogFields fields = {}) {
  log_event(LogLevel::kWarning, event, message, fields);
}
inline void log_error(std::string_view event, std::string_view message, LogFields fields = {}) {
  log_event(LogLevel::kError, event, message, fields);
}

// What stands behind time and level.
std::string text_line(std::string_view event, std::string_view message, LogFields fields);
std::string json_members(std::string_view event, std::string_view message, LogFields fields);

// Lets so many lines through at once, and then so many a second: a flood does not fill a disk. One thread.
class LogValve {
 public:
  LogValve(double at_once, double per_second) : at_once_(at_once), per_second_(per_second), left_(at_once) {}

  // Whether one more may be written, `seconds` after the beginning.
  bool lets_through(double seconds);
  bool lets_through() { return lets_through(watch_.seconds()); }
  // How many were not, since this was last asked.
  std::uint64_t take_held_back() { return std::exchange(held_back_, 0); }

 private:
  const double at_once_;
  const double per_second_;
  const Stopwatch watch_;
  double left_;
  double last_ = 0;
  std::uint64_t held_back_ = 0;
};

}  // namespace tenure::server
