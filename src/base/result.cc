#include "base/result.h"

#include "base/check.h"

namespace tenure {

std::string_view to_string(ErrorCode code) {
  switch (code) {
#define TENURE_X(symbol, word, meaning) \
  case ErrorCode::symbol:               \
    return word;
    TENURE_ERROR_CODES(TENURE_X)
#undef TENURE_X
  }
  TENURE_CHECK(false, "error code {}", static_cast<int>(code));
}

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

BacklogOrdering::BacklogOrdering(const std::string& message, std::string domain, Offset expected, Offset got)
    : Error(ErrorCode::kBacklogOrder, message), domain_(std::move(domain)), expected_(expected), got_(got) {}

SoftLockError::SoftLockError(ErrorCode code, const std::string& message, std::string domain, std::string identifier)
    : Error(code, message), domain_(std::move(domain)), identifier_(std::move(identifier)) {}

void raise(const Failure& failure, std::string_view domain) {
  switch (failure.code) {
    case ErrorCode::kNoTask:
      throw NoSuchTask(failure.code, failure.message);
    case ErrorCode::kTaskExists:
      throw TaskExists(failure.code, failure.message);
    case ErrorCode::kTerminal:
    case ErrorCode::kNotTerminal:
      throw WrongTaskState(failure.code, failure.message);
    case ErrorCode::kNoLease:
      throw LeaseNotFound(failure.code, failure.message);
    case ErrorCode::kTokenMismatch:
      throw TokenMismatch(failure.code, failure.message);
    case ErrorCode::kBacklogOrder:
      throw BacklogOrdering(failure.message, std::string(domain), failure.expected.value(), failure.got.value());
    case ErrorCode::kBackpressure:
      throw Backpressure(failure.code, failure.message);
    case ErrorCode::kUnavailable:
      throw Unavailable(failure.code, failure.message);
    case ErrorCode::kInvalid:
    case ErrorCode::kTooLarge:
      throw InvalidRequest(failure.code, failure.message);
    default:
      throw Error(failure.code, failure.message);
  }
}

void raise_lock(const Failure& failure, std::string_view domain, std::string_view identifier) {
  switch (failure.code) {
    case ErrorCode::kExpired:
      throw LockExpired(failure.code, failure.message, std::string(domain), std::string(identifier));
    case ErrorCode::kNotHeld:
      throw NotHeld(failure.code, failure.message, std::string(domain), std::string(identifier));
    case ErrorCode::kUnavailable:
      throw LockAcquisitionError(failure.code, failure.message, std::string(domain), std::string(identifier));
    default:
      raise(failure);
  }
}

}  // namespace tenure
