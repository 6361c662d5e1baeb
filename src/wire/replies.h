// What the books answer, in the shapes of docs/protocol.md: as RESP, as JSON, and as the JSON's schema.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/json_writer.h"
#include "wire/requests.h"
#include "wire/resp_writer.h"

namespace tenure::wire {

// Every reply there is: all that reply_shapes.h describes, as the engine gives it.
#define TENURE_WIRE_REPLIES(X)   \
  X(Done)                        \
  X(Submitted)                   \
  X(std::vector<TaskLease>)      \
  X(std::optional<Extended>)     \
  X(Report)                      \
  X(std::optional<TaskState>)    \
  X(std::optional<TaskStatus>)   \
  X(std::vector<TaskAttempt>)    \
  X(TaskPage)                    \
  X(QueuePage)                   \
  X(WorkerPage)                  \
  X(AcquireResult)               \
  X(SucceedResult)               \
  X(FailResult)                  \
  X(WorkExtended)                \
  X(std::optional<DomainStatus>) \
  X(OffsetPage)                  \
  X(IntervalPage)                \
  X(DomainPage)                  \
  X(Trimmed)                     \
  X(std::optional<LockGrant>)    \
  X(std::uint32_t)               \
  X(LockExtended)                \
  X(bool)                        \
  X(std::optional<LockStatus>)   \
  X(LockPage)

#define TENURE_X(Reply) void write_reply(RespWriter& out, const Reply& reply);
TENURE_WIRE_REPLIES(TENURE_X)
#undef TENURE_X

// `nothing` is the verdict of a reply that is nil or an empty list; empty: a list has none, and nil is not written.
#define TENURE_X(Reply)                                                           \
  void write_json(JsonWriter& out, const Reply& reply, std::string_view nothing); \
  void write_schema(JsonWriter& out, const Reply* /*of*/, std::string_view nothing);
TENURE_WIRE_REPLIES(TENURE_X)
#undef TENURE_X

// An answer or an error.
template <class Reply>
void write_result(RespWriter& out, const Result<Reply>& result) {
  if (result) {
    write_reply(out, *result);
  } else {
    out.error(result.error());
  }
}

// The verdict of HTTP for an answer that is nothing; where there is none, nil is error 404.
template <BookRequest T>
inline constexpr std::string_view kNothing{};
template <>
inline constexpr std::string_view kNothing<LeaseTasks> = "NONE";
template <>
inline constexpr std::string_view kNothing<AwaitTaskEnd> = "NONE";
template <>
inline constexpr std::string_view kNothing<AcquireLock> = "BUSY";

// The schema of what HTTP answers to a request.
template <BookRequest T>
void reply_schema_of(JsonWriter& out) {
  write_schema(out, static_cast<const BookReply<T>*>(nullptr), kNothing<T>);
}

// Takes the lease ids out, for those who may not see them; they are then written as null.
void hide_secrets(std::optional<TaskStatus>& reply);
void hide_secrets(std::vector<TaskAttempt>& reply);

}  // namespace tenure::wire
