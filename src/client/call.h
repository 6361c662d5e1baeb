// One thing that is asked, from its beginning until its answer: over as many connections as it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <absl/functional/any_invocable.h>

#include <tenure/types.h>
#include "base/result.h"
#include "wire/resp_reply.h"

namespace tenure::client {

// What may be done when the answer was lost.
enum class Repeat : std::uint8_t {
  kFreely,  // it has a request id, or asking twice is as good as once
  kNever,   // it may have been done, and a second time would be another effect or another answer
};

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
};

}  // namespace tenure::client
