// The limits of single values, and the checks that say so: each names the value, what was expected and what was found.
// Faces check arguments from left to right and report the first fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tenure/types.h>
#include "base/result.h"

namespace tenure {

inline constexpr std::size_t kNameBytesMax = 255;
inline constexpr std::size_t kTokenBytesMax = 255;
inline constexpr std::size_t kReasonBytesMax = 4096;
inline constexpr Millis kLeaseMax = std::chrono::hours(24);
inline constexpr Millis kDelayMax = std::chrono::hours(24 * 366);
inline constexpr std::int64_t kCountMax = 1000;
inline constexpr std::int64_t kRetriesMax = (std::int64_t{1} << 31) - 1;
inline constexpr std::string_view kLockDelimiter = "::";

// UTF-8 without control characters, 1 to 255 bytes.
bool is_name(std::string_view value);
// A name that is one half of a lock's key: without the delimiter.
bool is_lock_name(std::string_view value);

// Collects the first fault of a request's values. One thread.
class Checker {
 public:
  Checker& name(std::string_view what, std::string_view value) {
    return is_name(value) ? *this : note_name(what, value);
  }
  Checker& name(std::string_view what, std::optional<std::string_view> value) {
    return value ? name(what, *value) : *this;
  }
  Checker& lock_name(std::string_view what, std::string_view value) {
    return is_lock_name(value) ? *this : note_lock_name(what, value);
  }
  Checker& token(std::string_view what, std::string_view value) {
    return value.size() <= kTokenBytesMax ? *this : note_token(what, value);
  }
  Checker& reason(std::string_view what, std::string_view value);
  // A payload or result.
  Checker& payload(std::string_view what, std::string_view value, std::uint64_t bytes_max);
  Checker& range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
    return value >= low && value <= high ? *this : note_range(what, value, low, high);
  }
  Checker& lease(std::string_view what, Millis value) { return range(what, value.count(), 1, kLeaseMax.count()); }
  Checker& offset(std::string_view what, Offset value);

  [[nodiscard]] const std::optional<Failure>& fault() const { return fault_; }

 private:
  Checker& note_name(std::string_view what, std::string_view value);
  Checker& note_lock_name(std::string_view what, std::string_view value);
  Checker& note_token(std::string_view what, std::string_view value);
  Checker& note_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high);
  template <class... Args>
  Checker& note(ErrorCode code, fmt::format_string<Args...> text, Args&&... args);

  std::optional<Failure> fault_;
};

}  // namespace tenure
