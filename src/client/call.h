// One thing that is asked, from its beginning until its answer: over as many connections as it takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <absl/functional/any_invocable.h>

#include <tenure/types.h>
#include "authority/requests.h"
#include "base/result.h"
#include "wire/resp_reply.h"

namespace tenure::client {

// What may be done when the answer was lost.
enum class Repeat : std::uint8_t {
  kFreely,  // it has a request id, or asking twice is as good as once
  kNever,   // it may have been done, and a second time would be another effect or another answer
};

// Of a request as the faces send it: what changes something has a request id, a fence, a token that works once, or is
// the same twice as once. To kill a task twice is an error.
template <class Request>
inline constexpr Repeat kRepeat = Repeat::kFreely;
template <>
inline constexpr Repeat kRepeat<TaskKill> = Repeat::kNever;

struct Answer {
  Result<wire::RespReply> reply;  // an error reply is a failure
  bool is_repeated = false;       // it was asked before, and that may have been done as well
};

// Belongs to the loop's thread once it was asked.
struct Call {
  std::string bytes;                   // the request; of one that waits all but the last word
  Repeat repeat = Repeat::kFreely;     //
  Millis deadline{0};                  // by the boot clock: then it is given up
  std::optional<Millis> wait_until{};  // it waits until then, and must be told for how long
  // Whether the wait can be ended by the same request in its place; otherwise nothing was asked that needs an end.
  bool has_request_id = false;
  absl::AnyInvocable<void(Answer)> done;  // null: answered, or given up

  bool is_repeated = false;
  Millis sent_at{-1};
  std::uint64_t begin = 0;  // of its bytes, in all that the connection has sent

  void answer(Result<wire::RespReply> reply) {
    if (auto told = std::exchange(done, nullptr)) told({std::move(reply), is_repeated});
  }
  // Whether a byte of it may have reached the server.
  [[nodiscard]] bool may_be_done() const { return is_repeated || sent_at >= Millis{0}; }
};

// Ends a wait before its time: the same request, for a moment, takes over the place of the one that waits, which is
// answered with nothing; and if that was granted something meanwhile, it is the answer of both. The call has a request
// id, and is not answered itself any more.
inline std::shared_ptr<Call> end_of_wait(Call& call, Millis deadline) {
  auto last = std::make_shared<Call>();
  last->bytes = call.bytes;
  last->wait_until = Millis{0};
  last->has_request_id = true;
  last->deadline = std::min(call.deadline, deadline);
  last->is_repeated = true;
  last->done = std::exchange(call.done, nullptr);
  return last;
}

}  // namespace tenure::client
