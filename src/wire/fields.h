// Every argument that any verb takes, declared once: its name in usage texts, in messages and in JSON, and what values
// it takes. One word has one meaning in all verbs.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include <tenure/types.h>
#include "base/limits.h"

namespace tenure::wire {

enum class Kind : std::uint8_t {
  kName,      // UTF-8 without control characters, 1 to 255 bytes
  kLockName,  // a name without "::"
  kToken,     // a lease id or token: at most 255 bytes
  kReason,    // at most 4 KiB
  kPayload,   // at most as much as the authority is told
  kBytes,     // any bytes
  kLabel,     // of a connection: a name without blanks, or nothing
  kInteger,   // within the field's limits
  kBackoff,   // two integers, the first at most the second
  kQueues,    // a number, and so many names
  kState,     // a task's state
  kFlag,      // nothing: its word says all
  kPair,      // twice any bytes
  kVersion,   // of the protocol: 2 or 3
  // What a listing gave as its next cursor, or 0.
  kTaskCursor,
  kNameCursor,
  kOffsetCursor,
  kTableCursor,
};

inline constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();

#define TENURE_WIRE_FIELDS(X)                                                                                      \
  /* symbol, usage, label, json, kind, low, high */                                                                \
  X(kQueue, "queue", "queue", "queue", kName, 0, 0)                                                                \
  X(kPayload, "payload", "payload", "payload", kPayload, 0, 0)                                                     \
  X(kId, "id", "id", "id", kName, 0, 0)                                                                            \
  X(kRequestId, "id", "request id", "request_id", kName, 0, 0)                                                     \
  X(kWindow, "ms", "window", "window_ms", kInteger, 1, kLeaseMax.count())                                          \
  X(kRetries, "n", "retries", "retries", kInteger, 0, kRetriesMax)                                                 \
  X(kBackoff, "initial_ms max_ms", "backoff", "backoff_initial_ms backoff_max_ms", kBackoff, 0, kDelayMax.count()) \
  X(kAttempts, "n", "attempts", "attempts", kInteger, 1, kRetriesMax)                                              \
  X(kDelay, "ms", "delay", "delay_ms", kInteger, 0, kDelayMax.count())                                             \
  X(kPriority, "0-9", "priority", "priority", kInteger, 0, 9)                                                      \
  X(kKey, "key", "key", "key", kName, 0, 0)                                                                        \
  X(kWorker, "worker", "worker", "worker", kName, 0, 0)                                                            \
  X(kQueues, "numqueues queue [queue ...]", "number of queues", "queues", kQueues, 1, kCountMax)                   \
  X(kCount, "n", "count", "count", kInteger, 1, kCountMax)                                                         \
  X(kLease, "ms", "lease", "lease_ms", kInteger, 1, kLeaseMax.count())                                             \
  X(kBlock, "ms", "block", "block_ms", kInteger, 0, kLeaseMax.count())                                             \
  X(kTaskId, "task_id", "task id", "task_id", kName, 0, 0)                                                         \
  X(kLeaseId, "lease_id", "lease id", "lease_id", kToken, 0, 0)                                                    \
  X(kResult, "bytes", "result", "result", kPayload, 0, 0)                                                          \
  X(kReason, "reason", "reason", "reason", kReason, 0, 0)                                                          \
  X(kFinal, "", "final", "final", kFlag, 0, 0)                                                                     \
  X(kState, "state", "state", "state", kState, 0, 0)                                                               \
  X(kTaskCursor, "c", "cursor", "cursor", kTaskCursor, 0, 0)                                                       \
  X(kNameCursor, "c", "cursor", "cursor", kNameCursor, 0, 0)                                                       \
  X(kOffsetCursor, "c", "cursor", "cursor", kOffsetCursor, 0, 0)                                                   \
  X(kTableCursor, "c", "cursor", "cursor", kTableCursor, 0, 0)                                                     \
  X(kDomain, "domain", "domain", "domain", kName, 0, 0)                                                            \
  X(kOffset, "offset", "offset", "offset", kInteger, 0, kInt64Max)                                                 \
  X(kToken, "token", "token", "token", kToken, 0, 0)                                                               \
  X(kWhy, "text", "reason", "reason", kReason, 0, 0)                                                               \
  X(kBelow, "below", "below", "below", kInteger, 0, kInt64Max)                                                     \
  X(kLockDomain, "domain", "domain", "domain", kLockName, 0, 0)                                                    \
  X(kIdentifier, "identifier", "identifier", "identifier", kLockName, 0, 0)                                        \
  X(kOwner, "owner", "owner", "owner", kName, 0, 0)                                                                \
  X(kWait, "ms", "wait", "wait_ms", kInteger, 0, kLeaseMax.count())                                                \
  X(kBound, "", "bound", "bound", kFlag, 0, 0)                                                                     \
  X(kSpace, "space", "space", "space", kName, 0, 0)                                                                \
  X(kFence, "n", "fence", "fence", kInteger, 0, kInt64Max)                                                         \
  X(kMessage, "message", "message", "message", kBytes, 0, 0)                                                       \
  X(kVersion, "protover", "protocol version", "protover", kVersion, kInt64Min, kInt64Max)                          \
  X(kCredentials, "username password", "credentials", "credentials", kPair, 0, 0)                                  \
  X(kUser, "username", "username", "username", kBytes, 0, 0)                                                       \
  X(kPassword, "password", "password", "password", kBytes, 0, 0)                                                   \
  X(kDatabase, "index", "database", "database", kInteger, 0, 0)                                                    \
  X(kLabel, "name", "connection name", "name", kLabel, 0, 0)                                                       \
  X(kAttribute, "attribute", "attribute", "attribute", kBytes, 0, 0)                                               \
  X(kAttributeValue, "value", "value", "value", kLabel, 0, 0)                                                      \
  X(kClientId, "client_id", "client id", "client_id", kInteger, 1, kInt64Max)                                      \
  X(kAddress, "address", "address", "address", kBytes, 0, 0)                                                       \
  X(kKilledAddress, "address", "address", "address", kBytes, 0, 0)                                                 \
  X(kSession, "id", "session", "session", kName, 0, 0)                                                             \
  X(kGrace, "ms", "grace", "grace_ms", kInteger, 0, kLeaseMax.count())                                             \
  X(kCommands, "command", "command", "command", kBytes, 0, 0)                                                      \
  X(kSections, "section", "section", "section", kBytes, 0, 0)                                                      \
  X(kPatterns, "pattern", "pattern", "pattern", kBytes, 0, 0)

enum class Field : std::uint8_t {
#define TENURE_X(symbol, usage, label, json, kind, low, high) symbol,
  TENURE_WIRE_FIELDS(TENURE_X)
#undef TENURE_X
};

struct FieldTraits {
  std::string_view usage;
  std::string_view label;  // what messages call it
  std::string_view json;   // of a backoff two, with a blank between
  Kind kind;
  std::int64_t low;  // of an integer
  std::int64_t high;
};

inline constexpr FieldTraits kFields[] = {
#define TENURE_X(symbol, usage, label, json, kind, low, high) {usage, label, json, Kind::kind, low, high},
    TENURE_WIRE_FIELDS(TENURE_X)
#undef TENURE_X
};
inline constexpr std::size_t kFieldCount = std::size(kFields);
static_assert(kFieldCount <= 64, "Values keeps a bit for each");

constexpr const FieldTraits& traits_of(Field field) { return kFields[static_cast<std::size_t>(field)]; }

}  // namespace tenure::wire
