// `tenure user ...`: the users file of a server; see users/users.h and docs/security.md. Needs no server: one that runs
// reads the file again at SIGHUP.
//
// No hash and no password is ever printed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/desk.h"
#include "users/password.h"

namespace tenure::cli {

// Adds a user, or replaces one. The password is asked for once everything else is known to be right.
struct UserAddOptions {
  std::string file;
  std::string name;
  std::vector<std::string> roles;  // `role` or `role:pattern`
  std::function<Result<users::Secret>()> password;
  users::HashCost cost{};
};
Result<Done> add_user(const Desk& desk, const UserAddOptions& options);

// A line for each user: the name, and the roles.
Result<Done> list_users(const Desk& desk, const std::string& file);

struct UserRemoveOptions {
  std::string file;
  std::string name;
};
Result<Done> remove_user(const Desk& desk, const UserRemoveOptions& options);

}  // namespace tenure::cli
