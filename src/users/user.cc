#include "users/user.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/pattern.h"

namespace tenure::users {
namespace {

constexpr std::string_view kRoleNames[] = {"submit", "work", "lock", "read", "admin"};

template <class Fits>
bool has_any(const User& user, RoleSet roles, const Fits& fits) {
  return std::any_of(user.rights.begin(), user.rights.end(),
                     [&](const Right& right) { return roles.has(right.role) && fits(right); });
}

}  // namespace

std::string_view to_string(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }

std::optional<Role> role_named(std::string_view name) {
  for (const Role role : kRoles) {
    if (to_string(role) == name) return role;
  }
  return std::nullopt;
}

std::string to_string(RoleSet roles) {
  std::vector<std::string_view> names;
  for (const Role role : kRoles) {
    if (roles.has(role)) names.push_back(to_string(role));
  }
  if (names.empty()) return "none";
  const std::string_view last = names.back();
  names.pop_back();
  return names.empty() ? std::string(last) : fmt::format("{} or {}", fmt::join(names, ", "), last);
}

std::string to_string(const Right& right) {
  return right.pattern ? fmt::format("{}:{}", to_string(right.role), *right.pattern)
                       : std::string(to_string(right.role));
}

bool User::has(RoleSet roles) const {
  return has_any(*this, roles, [](const Right&) { return true; });
}

bool User::has_for_all(RoleSet roles) const {
  return has_any(*this, roles, [](const Right& right) { return right.is_for_all(); });
}

bool User::has_for(RoleSet roles, std::string_view wanted) const {
  return has_any(*this, roles,
                 [&](const Right& right) { return right.is_for_all() || matches_pattern(*right.pattern, wanted); });
}

}  // namespace tenure::users
