#include "wire/routes.h"

#include <algorithm>

#include <fmt/format.h>

#include "wire/errors.h"
#include "wire/named_arguments.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

using Subject = ServerPage::Subject;

constexpr ServerPage kServerPages[] = {
    {Subject::kStatus, Permission::kRead, "/v1/status", "Tells how the server stands: what INFO says."},
    {Subject::kUser, Permission::kSignedIn, "/v1/user", "Tells who asks, and which roles they have."},
    {Subject::kEvents, Permission::kRead, "/v1/events", "Streams every record as it becomes durable."},
    {Subject::kMetrics, Permission::kRead, "/metrics", "Tells the same as numbers, for Prometheus.", "text/plain"},
    {Subject::kHealth, Permission::kAnyone, "/healthz", "Answers while the server lives."},
    {Subject::kReadiness, Permission::kAnyone, "/readyz", "Answers 200 while the server takes requests, else 503."},
    {Subject::kDescription, Permission::kSignedIn, "/openapi.json", "Describes every route."},
    {Subject::kConsole, Permission::kAnyone, "/", "Shows the console, a page for people.", "text/html"},
    {Subject::kConsole, Permission::kAnyone, "/console.js", "The console's script.", "text/javascript"},
    {Subject::kConsole, Permission::kAnyone, "/console.css", "The console's style.", "text/css"},
    {Subject::kConsole, Permission::kAnyone, "/console.svg", "The console's sign.", "image/svg+xml"},
};

// One path of the table.
struct Way {
  std::string_view method;
  std::vector<std::string_view> segments;
  const Verb* verb = nullptr;
  const ServerPage* page = nullptr;
};

const std::vector<Way>& all_ways() {
  static const std::vector<Way> ways = [] {
    std::vector<Way> made;
    for (const Verb* verb : all_verbs()) {
      for (const std::string_view path : {verb->route.path, verb->route.longer_path}) {
        if (!path.empty()) made.push_back({.method = verb->route.method, .segments = segments_of(path), .verb = verb});
      }
    }
    for (const ServerPage& page : kServerPages) {
      made.push_back({.method = "GET", .segments = segments_of(page.path), .page = &page});
    }
    return made;
  }();
  return ways;
}

// No argument is empty.
bool leads_to(const Way& way, const std::vector<std::string>& segments) {
  return std::equal(way.segments.begin(), way.segments.end(), segments.begin(), segments.end(),
                    [](std::string_view expected, const std::string& found) {
                      return is_argument(expected) ? !found.empty() : expected == found;
                    });
}

// The path of a target, also of one with scheme and host, as proxies are asked.
std::string_view without_host(std::string_view target) {
  if (!target.starts_with("http://") && !target.starts_with("https://")) return target;
  const std::size_t host = target.find("//") + 2;
  const std::size_t path = target.find_first_of("/?", host);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

Stray stray(Failure failure) {
  const int status = http_status(failure.code);
  return {.status = status, .failure = std::move(failure)};
}

Result<std::vector<std::string>> decoded_segments(std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string_view segment : segments_of(path)) {
    auto decoded = percent_decoded(segment, Encoded::kPath);
    if (!decoded) return tl::unexpected(std::move(decoded.error()));
    segments.push_back(std::move(*decoded));
  }
  return segments;
}

Destination arrive(const Way& way, std::vector<std::string> segments, std::string_view query) {
  Destination destination{.verb = way.verb, .page = way.page, .query = query};
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (!is_argument(way.segments[i])) continue;
    destination.arguments.emplace_back(argument_name(way.segments[i]), std::move(segments[i]));
  }
  return destination;
}

}  // namespace

absl::Span<const ServerPage> server_pages() { return kServerPages; }

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

tl::expected<Destination, Stray> find_destination(std::string_view method, std::string_view target) {
  const std::string_view whole = without_host(target);
  const std::size_t mark = std::min(whole.find('?'), whole.size());
  const std::string_view path = whole.substr(0, mark);
  auto segments = decoded_segments(path);
  if (!segments) return tl::unexpected(stray(std::move(segments.error())));
  std::string allow;
  for (const Way& way : all_ways()) {
    if (!path.starts_with('/') || !leads_to(way, *segments)) continue;
    if (way.method == method || (way.method == "GET" && method == "HEAD")) {
      return arrive(way, std::move(*segments), whole.substr(std::min(mark + 1, whole.size())));
    }
    allow += fmt::format("{}{}", allow.empty() ? "" : ", ", way.method == "GET" ? "GET, HEAD" : way.method);
  }
  if (allow.empty()) {
    return tl::unexpected(stray(
        {ErrorCode::kNotFound, fmt::format("path: expected one that /openapi.json lists, found {}", quote(path))}));
  }
  const std::string message = fmt::format("method: expected {}, found {}", allow, quote(method));
  return tl::unexpected(Stray{.status = 405, .failure = {ErrorCode::kErr, message}, .allow = allow});
}

}  // namespace tenure::wire
