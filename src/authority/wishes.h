// What those who wait want: their requests, owned, and whom to answer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/functional/any_invocable.h>

#include "authority/requests.h"
#include "base/result.h"

namespace tenure {

template <class Reply>
using Callback = absl::AnyInvocable<void(Result<Reply>)>;

inline std::optional<std::string> own(std::optional<std::string_view> text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}
inline std::optional<std::string_view> lend(const std::optional<std::string>& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

// Names that locks, and the owners of locks, are waited for under. No name contains a NUL.
inline std::string waiting_name(const LockName& lock) {
  std::string name;
  name.append(lock.space).append(1, '\0').append(lock.domain).append(1, '\0').append(lock.identifier);
  return name;
}
inline std::string waiting_name(const LockName& lock, std::string_view owner, std::optional<std::string_view> user) {
  std::string name = waiting_name(lock);
  name.append(1, '\0').append(owner);
  if (user) name.append(1, '\0').append(*user);
  return name;
}
// The name under which the other requests of its present owner wait.
inline std::string waiting_name(const Lock& held) {
  std::string name = waiting_name(held.name());
  name.append(1, '\0').append(held.owner());
  if (held.has_user) name.append(1, '\0').append(held.user());
  return name;
}

struct LeaseWish {
  std::string worker;
  std::vector<std::string> queues;
  std::int64_t count;
  Millis lease;
  std::optional<std::string> request_id;
  std::uint64_t print;
  Callback<std::vector<TaskLease>> done;

  LeaseWish(const LeaseRequest& from, std::uint64_t print_of_it, Callback<std::vector<TaskLease>> whom)
      : worker(from.worker),
        queues(from.queues.begin(), from.queues.end()),
        count(from.count),
        lease(from.lease),
        request_id(own(from.request_id)),
        print(print_of_it),
        done(std::move(whom)) {}

  static std::vector<TaskLease> nothing() { return {}; }
  [[nodiscard]] std::vector<std::string> names() const { return queues; }

  [[nodiscard]] LeaseRequest request() const {
    return {.worker = worker,
            .queues = {queues.begin(), queues.end()},
            .count = count,
            .lease = lease,
            .request_id = lend(request_id)};
  }
};

struct LockWish {
  std::string domain;
  std::string identifier;
  std::string space;
  std::string owner;
  Millis lease;
  std::optional<std::string> request_id;
  std::optional<std::string> session;
  std::optional<std::string> user;
  std::uint64_t print;
  Callback<std::optional<LockGrant>> done;

  LockWish(const LockAcquire& from, std::uint64_t print_of_it, Callback<std::optional<LockGrant>> whom)
      : domain(from.lock.domain),
        identifier(from.lock.identifier),
        space(from.lock.space),
        owner(from.owner),
        lease(from.lease),
        request_id(own(from.request_id)),
        session(own(from.session)),
        user(own(from.user)),
        print(print_of_it),
        done(std::move(whom)) {}

  static std::optional<LockGrant> nothing() { return std::nullopt; }
  [[nodiscard]] std::vector<std::string> names() const {
    const LockName lock{domain, identifier, space};
    return {waiting_name(lock), waiting_name(lock, owner, lend(user))};
  }

  [[nodiscard]] LockAcquire request() const {
    LockAcquire acquire;
    acquire.lock = {domain, identifier, space};
    acquire.owner = owner;
    acquire.lease = lease;
    acquire.request_id = lend(request_id);
    acquire.session = lend(session);
    acquire.user = lend(user);
    return acquire;
  }
};

struct TaskWish {
  std::string task_id;
  std::optional<std::string> request_id;  // never given
  std::uint64_t print;
  Callback<std::optional<TaskStatus>> done;

  TaskWish(const AwaitTask& from, std::uint64_t print_of_it, Callback<std::optional<TaskStatus>> whom)
      : task_id(from.task_id), print(print_of_it), done(std::move(whom)) {}

  static std::optional<TaskStatus> nothing() { return std::nullopt; }
  [[nodiscard]] std::vector<std::string> names() const { return {task_id}; }
};

}  // namespace tenure
