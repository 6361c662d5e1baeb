// Work leases: the offsets of somebody else's log, one at a time and in order for each domain, never twice, with a
// token that proves it. Timing and scheduling belong to the caller: `succeed` and `fail` hand nothing over, they only
// hint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tenure/export.h>
#include <tenure/types.h>

namespace tenure {

struct WorkRequest {
  std::string_view domain;
  Offset offset;
  std::optional<Millis> lease{};  // absent: held until reported, however long that takes
};

struct Acquired {
  std::string token;
  Fence fence;
  Instant acquired_at;              // of the first acquisition of this offset; never changes
  std::uint32_t retry_count = 0;    // failures of this offset so far
  std::optional<Millis> remaining;  // absent without a lease time
  bool already = false;             // ALREADY_ACQUIRED: the lease existed; whoever asks is given its token
};
struct Enqueued {
  std::uint64_t position = 0;  // 1 is the head
};
struct AlreadyProcessed {};
struct AlreadyFailed {};
using AcquireResult = std::variant<Acquired, Enqueued, AlreadyProcessed, AlreadyFailed>;

struct WorkSuccess {
  std::string_view domain;
  std::string_view token;
  std::optional<std::string_view> request_id{};
};
// `next`: the head of the backlog (NEXT_HINT), or none (NO_BACKLOG).
struct SucceedResult {
  std::optional<Offset> next;
};

struct WorkFailure {
  std::string_view domain;
  std::string_view token;
  std::optional<std::string_view> reason{};
  std::optional<std::string_view> request_id{};
};
struct RetryScheduled {
  std::uint32_t retry_count = 0;
};
struct GivenUp {
  std::optional<Offset> next;
};
using FailResult = std::variant<RetryScheduled, GivenUp>;

struct WorkExtension {
  std::string_view domain;
  std::string_view token;
  Millis lease;
};
struct WorkExtended {
  std::optional<Instant> expires_at;  // absent: a lease without a lease time stays without
  std::optional<Millis> remaining;
};

struct DomainStatus {
  std::string domain;
  bool in_flight = false;
  std::optional<Offset> offset;  // these five are the lease's
  std::optional<Fence> fence;
  std::optional<std::uint32_t> retry_count;
  std::optional<Instant> acquired_at;
  std::optional<Instant> expires_at;
  std::uint64_t backlog = 0;
  std::optional<Offset> backlog_head;
  std::uint64_t processed = 0;
  std::uint64_t failed = 0;
  Offset trimmed_below;
};

struct Interval {
  Offset first;
  Offset last;

  friend constexpr bool operator==(Interval, Interval) = default;
};

struct OffsetPage {
  std::string cursor;
  std::vector<Offset> offsets;
};
struct IntervalPage {
  std::string cursor;
  std::vector<Interval> intervals;
};
struct DomainPage {
  std::string cursor;
  std::vector<std::string> domains;
};

// Thread-safe. Calls return when what they did is durable. Hard bugs of the caller throw: BacklogOrdering,
// TokenMismatch, LeaseNotFound.
class TENURE_API WorkLeases {
 public:
  WorkLeases() = default;
  WorkLeases(const WorkLeases&) = delete;
  WorkLeases& operator=(const WorkLeases&) = delete;
  virtual ~WorkLeases() = default;

  virtual AcquireResult try_acquire(const WorkRequest& request) = 0;
  virtual SucceedResult succeed(const WorkSuccess& request) = 0;
  virtual FailResult fail(const WorkFailure& request) = 0;
  virtual WorkExtended extend(const WorkExtension& request) = 0;
  // Declares everything below the offset done.
  virtual void trim(std::string_view domain, Offset below) = 0;

  virtual std::optional<DomainStatus> inspect(std::string_view domain) = 0;
  virtual OffsetPage backlog(std::string_view domain, const Paging& paging) = 0;  // head first
  virtual OffsetPage failed(std::string_view domain, const Paging& paging) = 0;   // ascending
  virtual IntervalPage done(std::string_view domain, const Paging& paging) = 0;   // ascending
  virtual DomainPage domains(const Paging& paging) = 0;
};

}  // namespace tenure
