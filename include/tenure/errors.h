// What can go wrong, as codes (the same words as on the wire) and as exceptions.
//
// Refusals that a correct program meets in normal life (held by another, cancelled, nothing to lease) are not here:
// they are answers. What is here is a caller's bug, a limit reached, or an authority that cannot answer.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tenure/export.h>
#include <tenure/types.h>

namespace tenure {

// The one table of error codes: name on the wire, and what it means.
#define TENURE_ERROR_CODES(X)                                              \
  X(kErr, "ERR", "the request cannot be understood")                       \
  X(kNoProto, "NOPROTO", "a protocol version that is not spoken")          \
  X(kInvalid, "INVALID", "a value out of its limits")                      \
  X(kTooLarge, "TOOLARGE", "a payload, result or request over the limit")  \
  X(kNoTask, "NOTASK", "no such task")                                     \
  X(kTaskExists, "TASKEXISTS", "a task of this id exists")                 \
  X(kTerminal, "TERMINAL", "the task has ended")                           \
  X(kNotTerminal, "NOTTERMINAL", "the task has not ended")                 \
  X(kNoLease, "NOLEASE", "the domain has nothing in flight")               \
  X(kTokenMismatch, "TOKENMISMATCH", "the token is not the lease's")       \
  X(kBacklogOrder, "BACKLOGORDER", "not the head of the domain's backlog") \
  X(kExpired, "EXPIRED", "the lock's lease was lost")                      \
  X(kNotHeld, "NOTHELD", "the lock is not held under this token")          \
  X(kBackpressure, "BACKPRESSURE", "a limit is reached; try again later")  \
  X(kNoAuth, "NOAUTH", "not signed in")                                    \
  X(kNoPerm, "NOPERM", "not permitted")                                    \
  X(kMoved, "MOVED", "another node leads")                                 \
  X(kNotFound, "NOTFOUND", "no such path, lock or domain; over HTTP only") \
  X(kUnavailable, "UNAVAILABLE", "starting, stopping, or the journal has failed")

enum class ErrorCode : std::uint8_t {
#define TENURE_X(symbol, word, meaning) symbol,
  TENURE_ERROR_CODES(TENURE_X)
#undef TENURE_X
};

// The code's word on the wire, e.g. "NOTASK".
TENURE_API std::string_view to_string(ErrorCode code);

// The root of everything Tenure throws, InvalidLockKey aside. The message names what was expected and what was found.
class TENURE_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// A value out of its limits, or a request that makes no sense.
class TENURE_API InvalidRequest : public Error {
 public:
  using Error::Error;
};

class TENURE_API NoSuchTask : public Error {
 public:
  using Error::Error;
};

class TENURE_API TaskExists : public Error {
 public:
  using Error::Error;
};

// Killing a task that has ended, or resubmitting one that has not.
class TENURE_API WrongTaskState : public Error {
 public:
  using Error::Error;
};

// A limit is reached (backlog, memory, waiters): nothing was changed; ask again later.
class TENURE_API Backpressure : public Error {
 public:
  using Error::Error;
};

// The authority cannot answer, now or (after a failed journal) for good. What was asked may or may not have happened.
class TENURE_API Unavailable : public Error {
 public:
  using Error::Error;
};

// An offset was acquired while another one is at the head of its domain's backlog.
class TENURE_API BacklogOrdering : public Error {
 public:
  BacklogOrdering(const std::string& message, std::string domain, Offset expected, Offset got);
  [[nodiscard]] const std::string& domain() const { return domain_; }
  [[nodiscard]] Offset expected() const { return expected_; }
  [[nodiscard]] Offset got() const { return got_; }

 private:
  std::string domain_;
  Offset expected_;
  Offset got_;
};

// The domain's lease is not the caller's.
class TENURE_API TokenMismatch : public Error {
 public:
  using Error::Error;
};

// The domain has no lease at all.
class TENURE_API LeaseNotFound : public Error {
 public:
  using Error::Error;
};

// The root of what soft locks throw.
class TENURE_API SoftLockError : public Error {
 public:
  SoftLockError(ErrorCode code, const std::string& message, std::string domain, std::string identifier);
  [[nodiscard]] const std::string& domain() const { return domain_; }
  [[nodiscard]] const std::string& identifier() const { return identifier_; }

 private:
  std::string domain_;
  std::string identifier_;
};

// The lock could not be asked for.
class TENURE_API LockAcquisitionError : public SoftLockError {
 public:
  using SoftLockError::SoftLockError;
};

// The lease ended before its holder released it: what it guarded may have been entered by another.
class TENURE_API LockExpired : public SoftLockError {
 public:
  using SoftLockError::SoftLockError;
};

// A wait for the lock was given up because its stop_token was asked to stop.
class TENURE_API LockInterrupted : public SoftLockError {
 public:
  using SoftLockError::SoftLockError;
};

// Released already, or never held under this token.
class TENURE_API NotHeld : public SoftLockError {
 public:
  using SoftLockError::SoftLockError;
};

// A domain or identifier that cannot name a lock.
class TENURE_API InvalidLockKey : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace tenure
