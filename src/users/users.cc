#include "users/users.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "base/split.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "users/password.h"

namespace tenure::users {
namespace {

constexpr std::uint64_t kFileBytesMax = std::uint64_t{16} << 20;

// A word as a message may repeat it: one that looks like a role, which no hash and no password worth the name does.
std::string harmless(std::string_view word) {
  const std::string_view name = word.substr(0, word.find(':'));
  const bool is_plain = name.size() <= 16 && !name.empty() &&
                        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  return is_plain ? fmt::format("'{}'", name) : fmt::format("{} bytes that are none", name.size());
}

Result<User> parse_line(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < 2) {
    return fail_with(ErrorCode::kInvalid, "expected a name, a hash and roles, found {}",
                     line.empty() ? "an empty line" : "one word");
  }
  User user{.name = std::string(words[0]), .hash = std::string(words[1]), .rights = {}};
  if (auto fault = check_user_name(user.name)) return tl::unexpected(std::move(*fault));
  if (auto fault = check_hash(user.hash)) return tl::unexpected(std::move(*fault));
  for (const std::string_view word : absl::MakeConstSpan(words).subspan(2)) {
    auto right = parse_right(word);
    if (!right) return tl::unexpected(std::move(right.error()));
    user.rights.push_back(std::move(*right));
  }
  return user;
}

Result<Done> replace(Files& files, File& fresh, const std::string& path, const std::string& text) {
  if (auto written = fresh.write_at(0, text); !written) return written;
  if (auto synced = fresh.sync(); !synced) return synced;
  if (auto renamed = files.rename(fresh.path(), path); !renamed) return renamed;
  return files.sync_folder(folder_of(path));
}

Result<Done> change_into(Files& files, File& fresh, const std::string& path,
                         absl::FunctionRef<Result<Done>(Users&)> change) {
  auto users = files.exists(path) ? load_users(files, path) : Result<Users>(Users());
  if (!users) return tl::unexpected(std::move(users.error()));
  if (auto changed = change(*users); !changed) return changed;
  return replace(files, fresh, path, format_users(*users));
}

}  // namespace

std::shared_ptr<const User> Users::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

void Users::add(User user) {
  std::string name = user.name;
  by_name_[std::move(name)] = std::make_shared<const User>(std::move(user));
}

bool Users::remove(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return false;
  by_name_.erase(found);
  return true;
}

// --- text ---

// Where a name stands a hash may stand by mistake: it is not shown.
std::optional<Failure> check_user_name(std::string_view name) {
  Checker checker;
  checker.name("user name", name);
  if (checker.fault()) return checker.fault();
  if (name.starts_with('$') || name.find(' ') != std::string_view::npos) {
    return Failure{ErrorCode::kInvalid, "user name: expected one without blanks that does not begin with '$'"};
  }
  return std::nullopt;
}

Result<Right> parse_right(std::string_view word) {
  const std::size_t colon = word.find(':');
  const auto role = role_named(word.substr(0, colon));
  if (!role) {
    return fail_with(ErrorCode::kInvalid, "role: expected submit, work, lock, read or admin, found {}", harmless(word));
  }
  Right right{.role = *role};
  if (colon == std::string_view::npos) return right;
  const std::string_view pattern = word.substr(colon + 1);
  Checker checker;
  checker.name(fmt::format("pattern of role {}", to_string(*role)), pattern);
  if (checker.fault()) return tl::unexpected(*checker.fault());
  if (pattern.find(' ') != std::string_view::npos) {
    return fail_with(ErrorCode::kInvalid, "pattern of role {}: expected no blanks ('?' stands for one), found '{}'",
                     to_string(*role), pattern);
  }
  right.pattern = std::string(pattern);
  return right;
}

Result<Users> parse_users(std::string_view text) {
  Users users;
  if (text.empty()) return users;
  if (!text.ends_with('\n')) {
    return fail_with(ErrorCode::kInvalid, "expected a last line with its end, found one that is cut off");
  }
  text.remove_suffix(1);
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    auto user = parse_line(line);
    if (!user) return fail_with(ErrorCode::kInvalid, "line {}: {}", number, user.error().message);
    if (users.find(user->name) != nullptr) {
      return fail_with(ErrorCode::kInvalid, "line {}: expected each user once, found '{}' again", number, user->name);
    }
    users.add(std::move(*user));
  }
  return users;
}

std::string format_users(const Users& users) {
  std::string text;
  for (const auto& [name, user] : users.by_name()) {
    text += fmt::format("{} {}", name, user->hash);
    for (const Right& right : user->rights) text += " " + to_string(right);
    text += '\n';
  }
  return text;
}

// --- the file ---

Result<Users> load_users(Files& files, const std::string& path) {
  const auto text = read_whole(files, path, kFileBytesMax);
  if (!text) return tl::unexpected(text.error());
  auto users = parse_users(*text);
  if (!users) return fail_with(users.error().code, "{}: {}", path, users.error().message);
  return users;
}

// The new file is made first: that it is there keeps others away until the change is done.
Result<Done> change_users(Files& files, const std::string& path, absl::FunctionRef<Result<Done>(Users& users)> change) {
  const std::string fresh_path = path + ".new";
  if (files.exists(fresh_path)) {
    return fail_with(ErrorCode::kUnavailable,
                     "{}: expected no such file, found one: another changes the users, or was stopped while it did; if "
                     "nobody does, remove it",
                     fresh_path);
  }
  const auto fresh = files.open(fresh_path, Files::Mode::kCreate);
  if (!fresh) return tl::unexpected(fresh.error());
  auto changed = change_into(files, **fresh, path, change);
  if (!changed && files.exists(fresh_path)) static_cast<void>(files.remove(fresh_path));
  return changed;
}

}  // namespace tenure::users
