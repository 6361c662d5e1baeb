// The file of users: what can be read is written as a file that says the same.
#include "users/users.h"

#include "base/check.h"
#include "fuzz.h"

namespace tenure {

void fuzz(std::string_view input) {
  const auto users = users::parse_users(input);
  if (!users) {
    TENURE_CHECK(!users.error().message.empty(), "a refusal that says nothing");
    return;
  }
  const std::string text = users::format_users(*users);
  const auto again = users::parse_users(text);
  TENURE_CHECK(again.has_value() && users::format_users(*again) == text, "other users when they are read again");
}

}  // namespace tenure
