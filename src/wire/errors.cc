#include "wire/errors.h"

#include "base/check.h"

namespace tenure::wire {

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kErr:
    case ErrorCode::kNoProto:
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kNoAuth:
      return 401;
    case ErrorCode::kNoPerm:
      return 403;
    case ErrorCode::kNoTask:
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kTaskExists:
    case ErrorCode::kTerminal:
    case ErrorCode::kNotTerminal:
    case ErrorCode::kNoLease:
    case ErrorCode::kTokenMismatch:
    case ErrorCode::kBacklogOrder:
    case ErrorCode::kExpired:
    case ErrorCode::kNotHeld:
      return 409;
    case ErrorCode::kTooLarge:
      return 413;
    case ErrorCode::kBackpressure:
      return 429;
    case ErrorCode::kMoved:
      return 307;
    case ErrorCode::kUnavailable:
      return 503;
  }
  TENURE_CHECK(false, "error code {}", static_cast<int>(code));
}

}  // namespace tenure::wire
