// The facts of the journal. Every record is declared here, once: its members, and a table of its fields with the
// numbers they keep for ever. Encoding, decoding, JSON and comparison (record_codec.h) come from that table.
//
// A member that is not optional must be there; an unknown optional field is skipped; an unknown record type, or an
// unknown field marked as required, refuses the replay. Texts are views: a record borrows from the request that led to
// it, or from the journal's bytes, and is encoded and applied before those go away.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>

#include <tenure/tasks.h>
#include <tenure/types.h>
#include "core/digest.h"
#include "core/lease.h"

namespace tenure {

// One row of a record's table.
template <class Owner, class T>
struct Field {
  std::uint32_t number;
  std::string_view name;
  T Owner::* member;
};

template <class Owner, class T>
constexpr Field<Owner, T> field(std::uint32_t number, std::string_view name, T Owner::* member) {
  return {number, name, member};
}

// What has a table is compared by it.
template <class T>
bool have_same_fields(const T& a, const T& b) {
  return std::apply(
      [&](const auto&... row) {
        const bool same[] = {a.*row.member == b.*row.member...};
        return std::find(std::begin(same), std::end(same), false) == std::end(same);
      },
      T::table());
}

struct RetryPolicy {
  std::uint32_t retries = 3;
  Millis backoff_initial{1000};
  Millis backoff_max{300'000};

  static constexpr auto table() {
    return std::tuple{field(1, "retries", &RetryPolicy::retries),
                      field(2, "backoff_initial_ms", &RetryPolicy::backoff_initial),
                      field(3, "backoff_max_ms", &RetryPolicy::backoff_max)};
  }
  friend bool operator==(const RetryPolicy& a, const RetryPolicy& b) { return have_same_fields(a, b); }
};

// What makes a repeated request the same request: its id, and a fingerprint of its verb and positional arguments.
struct RequestMark {
  std::string_view id;
  std::uint64_t print = 0;

  static constexpr auto table() {
    return std::tuple{field(1, "id", &RequestMark::id), field(2, "print", &RequestMark::print)};
  }
  friend bool operator==(const RequestMark& a, const RequestMark& b) { return have_same_fields(a, b); }
};

// How a lock's holder lost or gave up one hold.
enum class ReleaseCause : std::uint8_t { kByHolder, kDisconnected, kUndelivered };
// What was remembered, and no longer is.
enum class Remembered : std::uint8_t { kTask, kTaskRequest, kWorkRequest, kLockRequest, kLostLease };

// How a lock's holder lost its lease.
enum class LostCause : std::uint8_t { kExpired, kForced, kDisconnected, kUndelivered };

std::string_view to_string(ReleaseCause cause);
std::string_view to_string(LostCause cause);
std::string_view to_string(Remembered kind);

namespace record {

template <class R>
  requires requires { R::kType; }
bool operator==(const R& a, const R& b) {
  return have_same_fields(a, b);
}

// --- tasks (wal-records; the fields behind the first six are additions, absent in a minimal journal) ---

struct TaskCreated {
  std::string_view task_id;
  std::string_view payload;
  Millis execution_window{0};
  RetryPolicy retry_policy;
  std::optional<RequestMark> request{};
  std::optional<Instant> created_at{};
  std::optional<std::string_view> queue{};
  std::optional<std::uint8_t> priority{};
  std::optional<std::string_view> key{};
  std::optional<std::uint32_t> attempts{};
  std::optional<Instant> not_before{};
  std::optional<std::string_view> resubmit_of{};

  static constexpr std::uint32_t kType = 1;
  static constexpr std::string_view kName = "TaskCreated";
  static constexpr auto table() {
    using R = TaskCreated;
    return std::tuple{field(1, "task_id", &R::task_id),
                      field(2, "payload", &R::payload),
                      field(3, "execution_window_ms", &R::execution_window),
                      field(4, "retry_policy", &R::retry_policy),
                      field(5, "request", &R::request),
                      field(6, "created_at", &R::created_at),
                      field(7, "queue", &R::queue),
                      field(8, "priority", &R::priority),
                      field(9, "key", &R::key),
                      field(10, "attempts", &R::attempts),
                      field(11, "not_before", &R::not_before),
                      field(12, "resubmit_of", &R::resubmit_of)};
  }
};

struct LeaseGranted {
  std::string_view task_id;
  Token lease_id;
  std::string_view worker_id;
  std::uint32_t attempt = 0;
  Instant lease_expiry;
  std::optional<Instant> granted_at{};
  std::optional<Fence> fence{};
  std::optional<Millis> lease_time{};
  std::optional<Instant> window_ends_at{};
  std::optional<RequestMark> request{};

  static constexpr std::uint32_t kType = 2;
  static constexpr std::string_view kName = "LeaseGranted";
  static constexpr auto table() {
    using R = LeaseGranted;
    return std::tuple{field(1, "task_id", &R::task_id),
                      field(2, "lease_id", &R::lease_id),
                      field(3, "worker_id", &R::worker_id),
                      field(4, "attempt", &R::attempt),
                      field(5, "lease_expiry", &R::lease_expiry),
                      field(6, "granted_at", &R::granted_at),
                      field(7, "fence", &R::fence),
                      field(8, "lease_ms", &R::lease_time),
                      field(9, "window_ends_at", &R::window_ends_at),
                      field(10, "request", &R::request)};
  }
};

struct LeaseExtended {
  Token lease_id;
  Instant new_lease_expiry;
  std::optional<std::string_view> task_id{};  // so that whoever reads the journal need not know all leases

  static constexpr std::uint32_t kType = 3;
  static constexpr std::string_view kName = "LeaseExtended";
  static constexpr auto table() {
    using R = LeaseExtended;
    return std::tuple{field(1, "lease_id", &R::lease_id), field(2, "new_lease_expiry", &R::new_lease_expiry),
                      field(3, "task_id", &R::task_id)};
  }
};

struct TaskCompleted {
  std::string_view task_id;
  Token lease_id;
  std::optional<std::string_view> result{};

  static constexpr std::uint32_t kType = 4;
  static constexpr std::string_view kName = "TaskCompleted";
  static constexpr auto table() {
    using R = TaskCompleted;
    return std::tuple{field(1, "task_id", &R::task_id), field(2, "lease_id", &R::lease_id),
                      field(3, "result", &R::result)};
  }
};

struct TaskFailed {
  std::string_view task_id;
  Token lease_id;
  std::string_view failure_reason;
  std::optional<TaskState> next_state{};
  std::optional<Instant> not_before{};

  static constexpr std::uint32_t kType = 5;
  static constexpr std::string_view kName = "TaskFailed";
  static constexpr auto table() {
    using R = TaskFailed;
    return std::tuple{field(1, "task_id", &R::task_id), field(2, "lease_id", &R::lease_id),
                      field(3, "failure_reason", &R::failure_reason), field(4, "next_state", &R::next_state),
                      field(5, "not_before", &R::not_before)};
  }
};

// A report was refused. The claimed id is kept as the text it was.
struct TaskCancelled {
  std::string_view task_id;
  std::string_view lease_id;

  static constexpr std::uint32_t kType = 6;
  static constexpr std::string_view kName = "TaskCancelled";
  static constexpr auto table() {
    using R = TaskCancelled;
    return std::tuple{field(1, "task_id", &R::task_id), field(2, "lease_id", &R::lease_id)};
  }
};

struct LeaseExpired {
  std::string_view task_id;
  Token lease_id;

  static constexpr std::uint32_t kType = 7;
  static constexpr std::string_view kName = "LeaseExpired";
  static constexpr auto table() {
    using R = LeaseExpired;
    return std::tuple{field(1, "task_id", &R::task_id), field(2, "lease_id", &R::lease_id)};
  }
};

struct TaskDead {
  std::string_view task_id;
  std::string_view reason;

  static constexpr std::uint32_t kType = 8;
  static constexpr std::string_view kName = "TaskDead";
  static constexpr auto table() {
    using R = TaskDead;
    return std::tuple{field(1, "task_id", &R::task_id), field(2, "reason", &R::reason)};
  }
};

// --- work leases ---

struct WorkAcquired {
  std::string_view domain;
  Offset offset;
  Token token;
  Instant acquired_at;
  std::uint32_t retry_count = 0;
  std::optional<Instant> lease_expiry{};

  static constexpr std::uint32_t kType = 20;
  static constexpr std::string_view kName = "WorkAcquired";
  static constexpr auto table() {
    using R = WorkAcquired;
    return std::tuple{field(1, "domain", &R::domain),
                      field(2, "offset", &R::offset),
                      field(3, "token", &R::token),
                      field(4, "acquired_at", &R::acquired_at),
                      field(5, "retry_count", &R::retry_count),
                      field(6, "lease_expiry", &R::lease_expiry)};
  }
};

struct WorkEnqueued {
  std::string_view domain;
  Offset offset;

  static constexpr std::uint32_t kType = 21;
  static constexpr std::string_view kName = "WorkEnqueued";
  static constexpr auto table() {
    using R = WorkEnqueued;
    return std::tuple{field(1, "domain", &R::domain), field(2, "offset", &R::offset)};
  }
};

struct WorkSucceeded {
  std::string_view domain;
  Token token;
  Offset offset;
  std::optional<RequestMark> request{};

  static constexpr std::uint32_t kType = 22;
  static constexpr std::string_view kName = "WorkSucceeded";
  static constexpr auto table() {
    using R = WorkSucceeded;
    return std::tuple{field(1, "domain", &R::domain), field(2, "token", &R::token), field(3, "offset", &R::offset),
                      field(4, "request", &R::request)};
  }
};

struct WorkRetried {
  std::string_view domain;
  Token token;
  Offset offset;
  std::uint32_t retry_count = 0;
  std::optional<std::string_view> reason{};
  std::optional<RequestMark> request{};

  static constexpr std::uint32_t kType = 23;
  static constexpr std::string_view kName = "WorkRetried";
  static constexpr auto table() {
    using R = WorkRetried;
    return std::tuple{field(1, "domain", &R::domain), field(2, "token", &R::token),
                      field(3, "offset", &R::offset), field(4, "retry_count", &R::retry_count),
                      field(5, "reason", &R::reason), field(6, "request", &R::request)};
  }
};

struct WorkGivenUp {
  std::string_view domain;
  Token token;
  Offset offset;
  std::optional<std::string_view> reason{};
  std::optional<RequestMark> request{};

  static constexpr std::uint32_t kType = 24;
  static constexpr std::string_view kName = "WorkGivenUp";
  static constexpr auto table() {
    using R = WorkGivenUp;
    return std::tuple{field(1, "domain", &R::domain), field(2, "token", &R::token), field(3, "offset", &R::offset),
                      field(4, "reason", &R::reason), field(5, "request", &R::request)};
  }
};

struct WorkExtended {
  std::string_view domain;
  Token token;
  Instant new_lease_expiry;

  static constexpr std::uint32_t kType = 25;
  static constexpr std::string_view kName = "WorkExtended";
  static constexpr auto table() {
    using R = WorkExtended;
    return std::tuple{field(1, "domain", &R::domain), field(2, "token", &R::token),
                      field(3, "new_lease_expiry", &R::new_lease_expiry)};
  }
};

struct WorkExpired {
  std::string_view domain;
  Token token;
  Offset offset;

  static constexpr std::uint32_t kType = 26;
  static constexpr std::string_view kName = "WorkExpired";
  static constexpr auto table() {
    using R = WorkExpired;
    return std::tuple{field(1, "domain", &R::domain), field(2, "token", &R::token), field(3, "offset", &R::offset)};
  }
};

struct WorkTrimmed {
  std::string_view domain;
  Offset below;

  static constexpr std::uint32_t kType = 27;
  static constexpr std::string_view kName = "WorkTrimmed";
  static constexpr auto table() {
    using R = WorkTrimmed;
    return std::tuple{field(1, "domain", &R::domain), field(2, "below", &R::below)};
  }
};

// --- locks ---

struct LockGranted {
  std::string_view space;
  std::string_view domain;
  std::string_view identifier;
  std::string_view owner;
  Token token;
  Millis lease_time{0};
  Instant lease_expiry;
  std::optional<std::string_view> user{};
  std::optional<std::string_view> session{};  // a bound lock's, with the grace it then had
  std::optional<Millis> grace{};
  std::optional<RequestMark> request{};

  static constexpr std::uint32_t kType = 40;
  static constexpr std::string_view kName = "LockGranted";
  static constexpr auto table() {
    using R = LockGranted;
    return std::tuple{field(1, "space", &R::space),
                      field(2, "domain", &R::domain),
                      field(3, "identifier", &R::identifier),
                      field(4, "owner", &R::owner),
                      field(5, "token", &R::token),
                      field(6, "lease_ms", &R::lease_time),
                      field(7, "lease_expiry", &R::lease_expiry),
                      field(8, "user", &R::user),
                      field(9, "session", &R::session),
                      field(10, "grace_ms", &R::grace),
                      field(11, "request", &R::request)};
  }
};

struct LockReentered {
  std::string_view space;
  std::string_view domain;
  std::string_view identifier;
  Token token;
  std::uint32_t holds = 0;
  Instant lease_expiry;
  std::optional<RequestMark> request{};

  static constexpr std::uint32_t kType = 41;
  static constexpr std::string_view kName = "LockReentered";
  static constexpr auto table() {
    using R = LockReentered;
    return std::tuple{field(1, "space", &R::space),           field(2, "domain", &R::domain),
                      field(3, "identifier", &R::identifier), field(4, "token", &R::token),
                      field(5, "holds", &R::holds),           field(6, "lease_expiry", &R::lease_expiry),
                      field(7, "request", &R::request)};
  }
};

struct LockExtended {
  std::string_view space;
  std::string_view domain;
  std::string_view identifier;
  Token token;
  Instant new_lease_expiry;

  static constexpr std::uint32_t kType = 42;
  static constexpr std::string_view kName = "LockExtended";
  static constexpr auto table() {
    using R = LockExtended;
    return std::tuple{field(1, "space", &R::space), field(2, "domain", &R::domain),
                      field(3, "identifier", &R::identifier), field(4, "token", &R::token),
                      field(5, "new_lease_expiry", &R::new_lease_expiry)};
  }
};

// `holds` is what is left; at 0 the lock is free.
struct LockReleased {
  std::string_view space;
  std::string_view domain;
  std::string_view identifier;
  Token token;
  std::uint32_t holds = 0;
  ReleaseCause cause = ReleaseCause::kByHolder;
  std::optional<RequestMark> request{};

  static constexpr std::uint32_t kType = 43;
  static constexpr std::string_view kName = "LockReleased";
  static constexpr auto table() {
    using R = LockReleased;
    return std::tuple{field(1, "space", &R::space),           field(2, "domain", &R::domain),
                      field(3, "identifier", &R::identifier), field(4, "token", &R::token),
                      field(5, "holds", &R::holds),           field(6, "cause", &R::cause),
                      field(7, "request", &R::request)};
  }
};

struct LockExpired {
  std::string_view space;
  std::string_view domain;
  std::string_view identifier;
  Token token;

  static constexpr std::uint32_t kType = 44;
  static constexpr std::string_view kName = "LockExpired";
  static constexpr auto table() {
    using R = LockExpired;
    return std::tuple{field(1, "space", &R::space), field(2, "domain", &R::domain),
                      field(3, "identifier", &R::identifier), field(4, "token", &R::token)};
  }
};

struct LockForced {
  std::string_view space;
  std::string_view domain;
  std::string_view identifier;
  Token token;

  static constexpr std::uint32_t kType = 45;
  static constexpr std::string_view kName = "LockForced";
  static constexpr auto table() {
    using R = LockForced;
    return std::tuple{field(1, "space", &R::space), field(2, "domain", &R::domain),
                      field(3, "identifier", &R::identifier), field(4, "token", &R::token)};
  }
};

// --- system ---

// `name` is the task's id, the request's id, or the lost lease's token.
struct Forgotten {
  Remembered kind = Remembered::kTask;
  std::string_view name;

  static constexpr std::uint32_t kType = 60;
  static constexpr std::string_view kName = "Forgotten";
  static constexpr auto table() {
    using R = Forgotten;
    return std::tuple{field(1, "kind", &R::kind), field(2, "name", &R::name)};
  }
};

struct QueuePaused {
  std::string_view queue;

  static constexpr std::uint32_t kType = 61;
  static constexpr std::string_view kName = "QueuePaused";
  static constexpr auto table() { return std::tuple{field(1, "queue", &QueuePaused::queue)}; }
};

struct QueueResumed {
  std::string_view queue;

  static constexpr std::uint32_t kType = 62;
  static constexpr std::string_view kName = "QueueResumed";
  static constexpr auto table() { return std::tuple{field(1, "queue", &QueueResumed::queue)}; }
};

struct FenceRaised {
  Fence fence;

  static constexpr std::uint32_t kType = 63;
  static constexpr std::string_view kName = "FenceRaised";
  static constexpr auto table() { return std::tuple{field(1, "fence", &FenceRaised::fence)}; }
};

struct DigestTaken {
  Digest digest;

  static constexpr std::uint32_t kType = 64;
  static constexpr std::string_view kName = "DigestTaken";
  static constexpr auto table() { return std::tuple{field(1, "digest", &DigestTaken::digest)}; }
};

}  // namespace record

// In the order in which they came, which new ones continue whatever their number: a version that knows so many types
// knows the first so many. Numbers 1-19 are tasks, 20-39 work, 40-59 locks, 60 and up the system. What an older version
// would read otherwise is a new type, not a new field; and what no request asks for (expiry, forgetting, digests) is
// told in these 27 types, which all versions know.
using Record = std::variant<record::TaskCreated, record::LeaseGranted, record::LeaseExtended, record::TaskCompleted,
                            record::TaskFailed, record::TaskCancelled, record::LeaseExpired, record::TaskDead,
                            record::WorkAcquired, record::WorkEnqueued, record::WorkSucceeded, record::WorkRetried,
                            record::WorkGivenUp, record::WorkExtended, record::WorkExpired, record::WorkTrimmed,
                            record::LockGranted, record::LockReentered, record::LockExtended, record::LockReleased,
                            record::LockExpired, record::LockForced, record::Forgotten, record::QueuePaused,
                            record::QueueResumed, record::FenceRaised, record::DigestTaken>;

}  // namespace tenure
