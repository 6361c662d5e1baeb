// Who may do what: a user has roles, each for every name or for those that match a pattern. Deny by default: what no
// role of a user's allows, it may not do.
//
// Names are those of queues, of work domains and of lock domains; which of them a role is about depends on what is
// asked. See docs/security.md.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::users {

enum class Role : std::uint8_t {
  kSubmit,  // gives tasks to queues
  kWork,    // leases tasks and offsets, and reports
  kLock,    // takes locks
  kRead,    // looks
  kAdmin,   // decides over others and over the server, and looks
};
inline constexpr Role kRoles[] = {Role::kSubmit, Role::kWork, Role::kLock, Role::kRead, Role::kAdmin};
std::string_view to_string(Role role);
std::optional<Role> role_named(std::string_view name);

// Some of the roles. Immutable.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(std::initializer_list<Role> roles) {
    for (const Role role : roles) bits_ |= bit(role);
  }
  [[nodiscard]] constexpr bool has(Role role) const { return (bits_ & bit(role)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  friend constexpr RoleSet operator|(RoleSet a, RoleSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend constexpr bool operator==(RoleSet, RoleSet) = default;

 private:
  static constexpr unsigned bit(Role role) { return 1U << static_cast<unsigned>(role); }

  unsigned bits_ = 0;
};
// "submit", "read or admin", "submit, work or read"
std::string to_string(RoleSet roles);

// A role, as the users file has it: `submit`, or `submit:mail.*`.
struct Right {
  Role role;
  std::optional<std::string> pattern{};  // absent: every name

  [[nodiscard]] bool is_for_all() const { return !pattern || *pattern == "*"; }
  friend bool operator==(const Right&, const Right&) = default;
};
std::string to_string(const Right& right);

// Immutable, once it is known to others.
struct User {
  std::string name;
  std::string hash;  // of the password; in no message, log or listing
  std::vector<Right> rights;

  // Any of the roles, for at least some name.
  [[nodiscard]] bool has(RoleSet roles) const;
  [[nodiscard]] bool has_for_all(RoleSet roles) const;
  [[nodiscard]] bool has_for(RoleSet roles, std::string_view wanted) const;

  friend bool operator==(const User&, const User&) = default;
};

}  // namespace tenure::users
