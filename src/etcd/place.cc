#include "etcd/place.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/split.h"
#include "base/text.h"

namespace tenure::etcd {
namespace {

constexpr std::string_view kPlain = "etcd://";
constexpr std::string_view kSecured = "etcds://";
constexpr std::string_view kUsualPort = "2379";
constexpr std::size_t kPrefixBytesMax = 255;

template <class... Args>
tl::unexpected<Failure> bad_place(std::string_view text, fmt::format_string<Args...> what, Args&&... args) {
  return fail_with(ErrorCode::kInvalid, "'{}': {}; a journal in etcd is given as etcd://host:port,host:port/prefix",
                   text, fmt::format(what, std::forward<Args>(args)...));
}

// Behind the last colon, unless that is inside of an IPv6 address in brackets.
std::size_t port_at(std::string_view member) {
  const std::size_t colon = member.rfind(':');
  const std::size_t bracket = member.rfind(']');
  return colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)
             ? std::string_view::npos
             : colon + 1;
}

Result<std::string> parse_member(std::string_view text, std::string_view member) {
  const std::size_t at = port_at(member);
  const std::string_view host = member.substr(0, at == std::string_view::npos ? at : at - 1);
  const std::string_view port = at == std::string_view::npos ? kUsualPort : member.substr(at);
  if (host.empty()) return bad_place(text, "expected a member's host, found '{}'", member);
  if (host.front() != '[' && host.find(':') != std::string_view::npos) {
    return bad_place(text, "expected an IPv6 address in brackets, found '{}'", member);
  }
  const auto number = parse_decimal(port);
  if (!number || *number == 0 || *number > std::numeric_limits<std::uint16_t>::max()) {
    return bad_place(text, "expected a port from 1 to 65535, found '{}'", port);
  }
  return fmt::format("{}:{}", host, port);
}

Result<std::string> parse_prefix(std::string_view text, std::string_view prefix) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix.empty()) return bad_place(text, "expected a prefix of the keys behind the members, found none");
  if (prefix.size() > kPrefixBytesMax) {
    return bad_place(text, "expected a prefix of at most {} bytes, found {}", kPrefixBytesMax, prefix.size());
  }
  const bool is_plain = std::all_of(prefix.begin(), prefix.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           std::string_view("-_./").find(letter) != std::string_view::npos;
  });
  if (!is_plain || prefix.front() == '/' || prefix.find("//") != std::string_view::npos) {
    return bad_place(
        text, "expected a prefix of letters, digits, '-', '_', '.' and single '/' between them, found '{}'", prefix);
  }
  return std::string(prefix);
}

}  // namespace

bool is_place(std::string_view text) { return text.starts_with(kPlain) || text.starts_with(kSecured); }

Result<Place> parse_place(std::string_view text) {
  Place place;
  place.is_tls = text.starts_with(kSecured);
  if (!is_place(text)) return bad_place(text, "expected it to begin with {} or {}", kPlain, kSecured);
  std::string_view rest = text.substr(place.is_tls ? kSecured.size() : kPlain.size());
  const std::size_t slash = rest.find('/');
  std::string_view members = rest.substr(0, slash);
  if (const std::size_t at = members.find('@'); at != std::string_view::npos) {
    place.user = members.substr(0, at);
    members.remove_prefix(at + 1);
    if (place.user.empty()) return bad_place(text, "expected a user before '@', found none");
    if (place.user.find(':') != std::string::npos) {
      return bad_place(text, "expected a user alone before '@', found a password, too: give that in a file");
    }
  }
  for (const std::string_view member : split(members, ',')) {
    auto parsed = parse_member(text, member);
    if (!parsed) return tl::unexpected(parsed.error());
    place.members.push_back(std::move(*parsed));
  }
  auto prefix = parse_prefix(text, slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1));
  if (!prefix) return tl::unexpected(prefix.error());
  place.prefix = std::move(*prefix);
  return place;
}

std::string Place::text() const {
  return fmt::format("{}{}{}{}/{}", is_tls ? kSecured : kPlain, user, user.empty() ? "" : "@", fmt::join(members, ","),
                     prefix);
}

}  // namespace tenure::etcd
