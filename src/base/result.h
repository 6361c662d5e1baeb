// How errors travel inside: as values. The C++ API throws them (see raise), the wire prints them.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <tl/expected.hpp>

#include <tenure/errors.h>

namespace tenure {

struct Failure {
  ErrorCode code;
  std::string message;
  // Only with kBacklogOrder: what BacklogOrdering carries.
  std::optional<Offset> expected{};
  std::optional<Offset> got{};

  friend bool operator==(const Failure&, const Failure&) = default;
};

template <class T>
using Result = tl::expected<T, Failure>;

// Work that succeeds with nothing to say.
struct Done {
  friend bool operator==(Done, Done) = default;
};

template <class... Args>
tl::unexpected<Failure> fail_with(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(Failure{.code = code, .message = fmt::format(text, std::forward<Args>(args)...)});
}

// Throws the failure as the exception errors.h names for it. Lock failures are raised by raise_lock.
[[noreturn]] void raise(const Failure& failure, std::string_view domain = {});
[[noreturn]] void raise_lock(const Failure& failure, std::string_view domain, std::string_view identifier);

}  // namespace tenure
