// What those who wait want: their requests, owned, and whom to answer.
#pragma once

#include <absl/functional/any_invocable.h>

#include <optional>
#include <string>
#include <vector>

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

struct LeaseWish {
  std::string worker;
  std::vector<std::string> queues;
  std::int64_t count = 1;
  Millis lease{0};
  std::optional<std::string> request_id;
  std::uint64_t print = 0;
  Callback<std::vector<TaskLease>> done;

  static std::vector<TaskLease> nothing() { return {}; }

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
  Millis lease{0};
  std::optional<std::string> request_id;
  std::optional<std::string> session;
  std::optional<std::string> user;
  std::uint64_t print = 0;
  Callback<std::optional<LockGrant>> done;

  static std::optional<LockGrant> nothing() { return std::nullopt; }

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
  std::uint64_t print = 0;
  Callback<std::optional<TaskStatus>> done;

  static std::optional<TaskStatus> nothing() { return std::nullopt; }
};

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

}  // namespace tenure
