#include "wire/permissions.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/planted.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

using users::Role;
using users::RoleSet;

// Those who deal with what the group's verbs look at.
RoleSet owners_of(Group group) {
  switch (group) {
    case Group::kTasks:
      return {Role::kSubmit, Role::kWork};
    case Group::kWork:
      return {Role::kWork};
    case Group::kLocks:
      return {Role::kLock};
    case Group::kServer:
      return {};
  }
  TENURE_CHECK(false, "group {}", static_cast<int>(group));
}

Touch touch(const std::string_view& name) { return {.kind = Touch::Kind::kNames, .names = {&name, 1}}; }
Touch touch(const LockName& lock) { return touch(lock.domain); }
Touch touch(const std::optional<std::string_view>& name) { return name ? touch(*name) : Touch{}; }

// By the names of the fields, which mean the same in all requests. What has none of them touches everything.
template <BookRequest T>
Touch touch_of(const T& request) {
  const auto& asked = engine_request(request);
  if constexpr (requires { asked.task_id; }) {
    return {.kind = Touch::Kind::kTask, .task_id = asked.task_id};
  } else if constexpr (requires { asked.queues; }) {
    return {.kind = Touch::Kind::kNames, .names = asked.queues};
  } else if constexpr (requires { asked.queue; }) {
    return touch(asked.queue);
  } else if constexpr (requires { asked.lock; }) {
    return touch(asked.lock);
  } else if constexpr (requires { asked.domain; }) {
    return touch(asked.domain);
  } else {
    return {};
  }
}
template <ServerRequest T>
Touch touch_of(const T& /*request*/) {
  return {.kind = std::is_same_v<T, JoinSession> ? Touch::Kind::kNothing : Touch::Kind::kEverything};
}

Failure nobody(const Verb& verb) {
  return {ErrorCode::kNoAuth,
          fmt::format("{}: expected a user who has signed in with AUTH or HELLO, found nobody", verb.name)};
}

Failure lacking(const users::User& user, std::string_view asked, RoleSet roles, std::string_view what) {
  return {ErrorCode::kNoPerm, fmt::format("{}: expected a user with role {}{}, found {} without", asked,
                                          to_string(roles), what, quote(user.name))};
}
Failure lacking(const users::User& user, const Verb& verb, std::string_view what) {
  return lacking(user, verb.name, roles_for(verb), what);
}

// Who has not signed in is greeted only as it does.
bool needs_nobody(const Verb& verb, const Request& request) {
  const Hello* hello = std::get_if<Hello>(&request);
  return verb.permission == Permission::kAnyone && (hello == nullptr || hello->credentials);
}

RoleSet roles_for(Permission permission, Group group) {
  switch (permission) {
    case Permission::kAnyone:
    case Permission::kSignedIn:
      return {};
    case Permission::kRead:
      return RoleSet{Role::kRead, Role::kAdmin} | owners_of(group);
    case Permission::kSubmit:
      return {Role::kSubmit};
    case Permission::kWork:
      return {Role::kWork};
    case Permission::kLock:
      return {Role::kLock};
    case Permission::kAdmin:
      return {Role::kAdmin};
  }
  TENURE_CHECK(false, "permission {}", static_cast<int>(permission));
}

}  // namespace

RoleSet roles_for(const Verb& verb) {
  if (verb.name == "TASK.KILL" && is_planted(PlantedBug::kPermissionMissing)) return {};
  return roles_for(verb.permission, verb.group);
}
RoleSet roles_for(const ServerPage& page) { return roles_for(page.permission, Group::kServer); }

Touch touched_by(const Request& request) {
  return std::visit([](const auto& asked) { return touch_of(asked); }, request);
}

std::optional<Failure> refusal_of(const users::User* user, const Verb& verb, const Request& request, QueueOf queue_of) {
  if (user == nullptr) return needs_nobody(verb, request) ? std::nullopt : std::optional(nobody(verb));
  const RoleSet roles = roles_for(verb);
  if (roles.empty() || user->has_for_all(roles)) return std::nullopt;
  if (!user->has(roles)) return lacking(*user, verb, "");
  const Touch touch = touched_by(request);
  switch (touch.kind) {
    case Touch::Kind::kNothing:
      return std::nullopt;
    case Touch::Kind::kEverything:
      return lacking(*user, verb, " for every name");
    case Touch::Kind::kNames: {
      const auto foreign = std::find_if(touch.names.begin(), touch.names.end(),
                                        [&](std::string_view name) { return !user->has_for(roles, name); });
      if (foreign == touch.names.end()) return std::nullopt;
      return lacking(*user, verb, fmt::format(" for {}", quote(*foreign)));
    }
    case Touch::Kind::kTask: {
      const auto queue = queue_of(touch.task_id);
      if (!queue || user->has_for(roles, *queue)) return std::nullopt;
      return lacking(*user, verb, fmt::format(" for the queue of task {}", quote(touch.task_id)));
    }
  }
  TENURE_CHECK(false, "touch {}", static_cast<int>(touch.kind));
}

Failure nobody_over_http() {
  return {ErrorCode::kNoAuth, "HTTP: expected a user, by Authorization or by a client's certificate; found nobody"};
}

std::optional<Failure> refusal_of(const users::User* user, const ServerPage& page) {
  if (page.permission == Permission::kAnyone) return std::nullopt;
  if (user == nullptr) return nobody_over_http();
  const RoleSet roles = roles_for(page);
  if (roles.empty() || user->has_for_all(roles)) return std::nullopt;
  return lacking(*user, page.path, roles, user->has(roles) ? " for every name" : "");
}

}  // namespace tenure::wire
