// Reads what the books answer out of RESP replies, for clients: a further reading of the declarations in
// reply_shapes.h. Maps are RESP3's.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wire/replies.h"
#include "wire/resp_reply.h"

namespace tenure::wire {

// True: the reply is one of these, and `to` is it. An error is none.
#define TENURE_X(Reply) bool read_reply(const RespReply& reply, Reply& to);
TENURE_WIRE_REPLIES(TENURE_X)
#undef TENURE_X

// What an error reply says: `CODE text`. A code that is not known is ERR, and its word stays in the text.
Failure read_error(std::string_view text);

}  // namespace tenure::wire
