// Which verb, or which page of the server's own, an HTTP request asks for: made from the table of verbs. Immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/types/span.h>
#include <tl/expected.hpp>

#include "base/result.h"
#include "wire/verbs.h"

namespace tenure::wire {

// What the server tells of itself, besides its verbs; read with GET.
struct ServerPage {
  enum class Subject : std::uint8_t { kStatus, kMetrics, kEvents, kHealth, kReadiness, kDescription, kUser, kConsole };
  Subject subject;
  Permission permission;
  std::string_view path;
  std::string_view summary;
  std::string_view content_type = "application/json";
};
absl::Span<const ServerPage> server_pages();

// Where a request goes: to a verb or to a page. It views the target.
struct Destination {
  const Verb* verb = nullptr;
  const ServerPage* page = nullptr;
  std::vector<std::pair<std::string_view, std::string>> arguments{};  // of the path, by name
  std::string_view query{};
};

// Why it goes nowhere.
struct Stray {
  int status;
  Failure failure;
  std::string allow{};  // the methods of this path, if it is one
};

// The target's path is taken apart at its slashes, and each segment decoded once: an encoded slash is part of its
// segment, and dots mean nothing. HEAD goes where GET does.
tl::expected<Destination, Stray> find_destination(std::string_view method, std::string_view target);

// The segments of a route's path, without the first slash; `{name}` is an argument.
std::vector<std::string_view> segments_of(std::string_view path);
constexpr bool is_argument(std::string_view segment) { return segment.starts_with('{'); }
constexpr std::string_view argument_name(std::string_view segment) { return segment.substr(1, segment.size() - 2); }

}  // namespace tenure::wire
