// A request that was answered with an error: for whoever counts them, and for the log. What the client said is not in
// it, since that may be a secret at the wrong place.
#pragma once

#include <cstdint>
#include <string_view>

#include <tenure/errors.h>

namespace tenure::wire {

struct Refusal {
  std::uint64_t client_id = 0;
  ErrorCode code;
  std::string_view verb;  // or the server's page; empty: it is none
};

}  // namespace tenure::wire
