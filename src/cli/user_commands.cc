#include "cli/user_commands.h"

#include <fmt/format.h>

#include "users/users.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kPasswordBytesMax = 1024;  // it has to fit into what a stranger may send

void tell_what_next(const Desk& desk, const std::string& file) {
  desk.err << fmt::format("A server that runs with --users {} reads it again at SIGHUP.\n", file);
}

Result<std::vector<users::Right>> rights_of(const std::vector<std::string>& roles) {
  std::vector<users::Right> rights;
  for (const std::string& role : roles) {
    auto right = users::parse_right(role);
    if (!right) return tl::unexpected(std::move(right.error()));
    rights.push_back(std::move(*right));
  }
  return rights;
}

Result<std::string> hash_of(const Result<users::Secret>& password, const users::HashCost& cost) {
  if (!password) return tl::unexpected(password.error());
  const std::size_t size = password->view().size();
  if (size == 0 || size > kPasswordBytesMax) {
    return fail_with(ErrorCode::kInvalid, "password: expected 1 to {} bytes, found {}", kPasswordBytesMax, size);
  }
  return users::hash_password(password->view(), cost);
}

std::string roles_text(const users::User& user) {
  if (user.rights.empty()) return " (no roles)";
  std::string text;
  for (const users::Right& right : user.rights) text += " " + to_string(right);
  return text;
}

}  // namespace

Result<Done> add_user(const Desk& desk, const UserAddOptions& options) {
  if (auto fault = users::check_user_name(options.name)) return tl::unexpected(std::move(*fault));
  auto rights = rights_of(options.roles);
  if (!rights) return tl::unexpected(std::move(rights.error()));
  // Not while others are kept from changing the file: somebody types.
  if (desk.files.exists(options.file)) {
    const auto readable = users::load_users(desk.files, options.file);
    if (!readable) return tl::unexpected(readable.error());
  }
  auto hash = hash_of(options.password(), options.cost);
  if (!hash) return tl::unexpected(std::move(hash.error()));
  bool is_new = false;
  auto changed = users::change_users(desk.files, options.file, [&](users::Users& users) -> Result<Done> {
    is_new = users.find(options.name) == nullptr;
    users.add({.name = options.name, .hash = *hash, .rights = *rights});
    return Done{};
  });
  if (!changed) return changed;
  desk.out << fmt::format("{} {}{}\n", is_new ? "added" : "replaced", options.name,
                          roles_text({.name = options.name, .hash = "", .rights = *rights}));
  tell_what_next(desk, options.file);
  return Done{};
}

Result<Done> list_users(const Desk& desk, const std::string& file) {
  const auto users = users::load_users(desk.files, file);
  if (!users) return tl::unexpected(users.error());
  for (const auto& [name, user] : users->by_name()) desk.out << name << roles_text(*user) << '\n';
  return Done{};
}

Result<Done> remove_user(const Desk& desk, const UserRemoveOptions& options) {
  if (!desk.files.exists(options.file)) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a file of users, found none", options.file);
  }
  auto changed = users::change_users(desk.files, options.file, [&](users::Users& users) -> Result<Done> {
    if (users.remove(options.name)) return Done{};
    return fail_with(ErrorCode::kInvalid, "{}: expected a user '{}', found none of that name", options.file,
                     options.name);
  });
  if (!changed) return changed;
  desk.out << fmt::format("removed {}\n", options.name);
  tell_what_next(desk, options.file);
  return Done{};
}

}  // namespace tenure::cli
