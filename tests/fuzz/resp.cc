// Requests in RESP: what the parser makes of bytes does not depend on the pieces they come in.
#include <algorithm>

#include "base/check.h"
#include "fuzz.h"
#include "wire/testing.h"

namespace tenure {
namespace {

constexpr wire::RequestLimits kLimits{.request_bytes_max = 4096,
                                      .words_max = 16,
                                      .line_bytes_max = 512,
                                      .skipped_bytes_max = 8192,
                                      .skipped_words_max = 64};

wire::Receiver receive(std::string_view input, std::size_t piece) {
  wire::Receiver receiver(kLimits);
  for (std::size_t at = 0; at < input.size(); at += piece) {
    receiver.receive(input.substr(at, piece));
    TENURE_CHECK(receiver.parser().bytes_kept() <= 64 * kLimits.request_bytes_max, "the parser keeps {} bytes",
                 receiver.parser().bytes_kept());
  }
  return receiver;
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(input.front()) % 61;
  input.remove_prefix(1);
  const wire::Receiver whole = receive(input, std::max<std::size_t>(input.size(), 1));
  const wire::Receiver pieces = receive(input, piece);
  TENURE_CHECK(whole.events == pieces.events, "other requests in pieces of {}: {} and {}", piece, whole.events.size(),
               pieces.events.size());
}

}  // namespace tenure
