// What HTTP makes of an error code; its word is to_string's.
#pragma once

#include <tenure/errors.h>

namespace tenure::wire {

int http_status(ErrorCode code);

}  // namespace tenure::wire
