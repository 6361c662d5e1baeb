// Who may ask what: the one place where a user's roles are held against a request, whatever protocol it came by. Pure.
//
//   a request -> its verb's permission -> the roles any of which allow it
//             -> the names it touches  -> each must be one that such a role is for
//
// A request that names a task touches the task's queue. What looks at all names, or is about the server, touches every
// name: it needs a role without a pattern.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/functional/function_ref.h>
#include <absl/types/span.h>

#include "base/result.h"
#include "users/user.h"
#include "wire/requests.h"
#include "wire/routes.h"
#include "wire/verbs.h"

namespace tenure::wire {

// The roles any of which allow the verb; none, where none is needed. What looks is allowed to `read`, to `admin`, and
// to the roles that deal with what it looks at.
users::RoleSet roles_for(const Verb& verb);
users::RoleSet roles_for(const ServerPage& page);

// What a request touches. It views the request.
struct Touch {
  enum class Kind : std::uint8_t {
    kNothing,  // that has a name to match
    kNames,
    kTask,  // the queue of a task
    kEverything,
  };
  Kind kind = Kind::kEverything;
  absl::Span<const std::string_view> names{};
  std::string_view task_id{};
};
Touch touched_by(const Request& request);

// The queue of a task; nullopt: the task is unknown.
using QueueOf = absl::FunctionRef<std::optional<std::string>(std::string_view task_id)>;

// Why the user (null: nobody has signed in) may not ask this: NOAUTH, or NOPERM with the role that is missing. nullopt:
// it may. About a task that is unknown whoever has the role for some name may ask, and is told that.
std::optional<Failure> refusal_of(const users::User* user, const Verb& verb, const Request& request, QueueOf queue_of);
// What strangers are told over HTTP.
Failure nobody_over_http();
// Pages are about the server: they touch every name.
std::optional<Failure> refusal_of(const users::User* user, const ServerPage& page);

}  // namespace tenure::wire
