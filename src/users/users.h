// All users, and the file they are kept in: one line for each,
//
//   name hash role[:pattern] role[:pattern] ...
//
// with one blank between the words. A name has no blanks and does not begin with `$`; the hash is argon2id's, as
// libsodium writes it; a role may stand there several times, with a pattern each; a pattern has no blanks (`?` stands
// for one). Nothing else: no comments, no empty lines. Whoever reads a file that is not so is told the line, what was
// expected and what was found, but never a hash.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <absl/container/btree_map.h>
#include <absl/functional/function_ref.h>

#include "base/files.h"
#include "base/result.h"
#include "users/user.h"

namespace tenure::users {

// One thread; what `find` gives stays as it is, whatever becomes of the users.
class Users {
 public:
  using ByName = absl::btree_map<std::string, std::shared_ptr<const User>, std::less<>>;

  // Null: there is none.
  [[nodiscard]] std::shared_ptr<const User> find(std::string_view name) const;
  // In the place of one of the same name.
  void add(User user);
  // False: there was none.
  bool remove(std::string_view name);

  [[nodiscard]] const ByName& by_name() const { return by_name_; }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

 private:
  ByName by_name_;
};

// --- text ---

// A name that a user can have.
std::optional<Failure> check_user_name(std::string_view name);
// A right, from `role` or `role:pattern`.
Result<Right> parse_right(std::string_view word);
Result<Users> parse_users(std::string_view text);
std::string format_users(const Users& users);

// --- the file ---

Result<Users> load_users(Files& files, const std::string& path);
// Reads the file (missing: no users), lets change(users) change them and puts the new file, for its owner only, in the
// old one's place: whole, or not at all. Fails if another does the same at this time, and with what `change` fails
// with.
Result<Done> change_users(Files& files, const std::string& path, absl::FunctionRef<Result<Done>(Users& users)> change);

}  // namespace tenure::users
