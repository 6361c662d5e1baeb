// What the books answer, in the shapes of docs/protocol.md.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "wire/requests.h"
#include "wire/resp_writer.h"

namespace tenure::wire {

void write_reply(RespWriter& out, Done reply);
void write_reply(RespWriter& out, const Submitted& reply);
void write_reply(RespWriter& out, const std::vector<TaskLease>& reply);
void write_reply(RespWriter& out, const std::optional<Extended>& reply);
void write_reply(RespWriter& out, Report reply);
void write_reply(RespWriter& out, std::optional<TaskState> reply);  // of a failure
void write_reply(RespWriter& out, const std::optional<TaskStatus>& reply);
void write_reply(RespWriter& out, const std::vector<TaskAttempt>& reply);
void write_reply(RespWriter& out, const TaskPage& reply);
void write_reply(RespWriter& out, const QueuePage& reply);
void write_reply(RespWriter& out, const WorkerPage& reply);

void write_reply(RespWriter& out, const AcquireResult& reply);
void write_reply(RespWriter& out, SucceedResult reply);
void write_reply(RespWriter& out, const FailResult& reply);
void write_reply(RespWriter& out, const WorkExtended& reply);
void write_reply(RespWriter& out, const std::optional<DomainStatus>& reply);
void write_reply(RespWriter& out, const OffsetPage& reply);
void write_reply(RespWriter& out, const IntervalPage& reply);
void write_reply(RespWriter& out, const DomainPage& reply);
void write_reply(RespWriter& out, Trimmed reply);  // the last step's

void write_reply(RespWriter& out, const std::optional<LockGrant>& reply);
void write_reply(RespWriter& out, std::uint32_t holds);  // left after a release
void write_reply(RespWriter& out, const LockExtended& reply);
void write_reply(RespWriter& out, bool forced);
void write_reply(RespWriter& out, const std::optional<LockStatus>& reply);
void write_reply(RespWriter& out, const LockPage& reply);

// An answer or an error.
template <class Reply>
void write_result(RespWriter& out, const Result<Reply>& result) {
  if (result) {
    write_reply(out, *result);
  } else {
    out.error(result.error());
  }
}

// Takes the lease ids out, for those who may not see them; they are then written as null.
void hide_secrets(std::optional<TaskStatus>& reply);
void hide_secrets(std::vector<TaskAttempt>& reply);

}  // namespace tenure::wire
