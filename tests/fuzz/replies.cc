// Replies in RESP, as a client reads them: a prefix of a reply is never another reply.
#include "base/check.h"
#include "fuzz.h"
#include "wire/reply_reader.h"
#include "wire/resp_reply.h"

namespace tenure {

void fuzz(std::string_view input) {
  while (true) {
    const auto reply = wire::first_reply(input);
    if (!reply || !*reply) return;
    const std::size_t consumed = (*reply)->consumed;
    TENURE_CHECK(consumed > 0 && consumed <= input.size(), "{} of {} bytes consumed", consumed, input.size());
    const auto shorter = wire::first_reply(input.substr(0, consumed - 1));
    TENURE_CHECK(!shorter || !*shorter, "{} bytes are a reply, and one less, too", consumed);
    if ((*reply)->reply.kind == wire::RespReply::Kind::kError) (void)wire::read_error((*reply)->reply.text);
    input.remove_prefix(consumed);
  }
}

}  // namespace tenure
