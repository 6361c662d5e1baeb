#include "base/limits.h"

#include <limits>

#include "base/text.h"

namespace tenure {

template <class... Args>
Checker& Checker::note(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  if (!fault_) fault_ = Failure{.code = code, .message = fmt::format(text, std::forward<Args>(args)...)};
  return *this;
}

bool is_name(std::string_view value) { return !value.empty() && value.size() <= kNameBytesMax && is_clean(value); }

bool is_lock_name(std::string_view value) {
  // Nearly every name is plain and has no colon: that is seen at a glance.
  if (!value.empty() && value.size() <= kNameBytesMax && is_plain_without(value, ':')) return true;
  return is_name(value) && value.find(kLockDelimiter) == std::string_view::npos;
}

Checker& Checker::note_name(std::string_view what, std::string_view value) {
  if (value.empty()) return note(ErrorCode::kInvalid, "{}: expected 1 to {} bytes, found none", what, kNameBytesMax);
  if (value.size() > kNameBytesMax) {
    return note(ErrorCode::kInvalid, "{}: expected 1 to {} bytes, found {}", what, kNameBytesMax, value.size());
  }
  return note(ErrorCode::kInvalid, "{}: expected UTF-8 without control characters", what);
}

Checker& Checker::note_lock_name(std::string_view what, std::string_view value) {
  if (!is_name(value)) return note_name(what, value);
  return note(ErrorCode::kInvalid, "{}: expected a name without '{}', found '{}'", what, kLockDelimiter, value);
}

Checker& Checker::note_token(std::string_view what, std::string_view value) {
  return note(ErrorCode::kInvalid, "{}: expected at most {} bytes, found {}", what, kTokenBytesMax, value.size());
}

Checker& Checker::reason(std::string_view what, std::string_view value) {
  if (value.size() <= kReasonBytesMax) return *this;
  return note(ErrorCode::kInvalid, "{}: expected at most {} bytes, found {}", what, kReasonBytesMax, value.size());
}

Checker& Checker::payload(std::string_view what, std::string_view value, std::uint64_t bytes_max) {
  if (value.size() <= bytes_max) return *this;
  return note(ErrorCode::kTooLarge, "{}: expected at most {} bytes, found {}", what, bytes_max, value.size());
}

Checker& Checker::note_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  return note(ErrorCode::kInvalid, "{}: expected {} to {}, found {}", what, low, high, value);
}

Checker& Checker::offset(std::string_view what, Offset value) {
  return range(what, value.value, 0, std::numeric_limits<std::int64_t>::max());
}

}  // namespace tenure
