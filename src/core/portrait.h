// Portraits: what a snapshot keeps of each entity, which is what the digest covers. Declared as records are: members,
// and a table of their fields with the numbers they keep for ever. Texts are views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"
#include "core/record.h"

namespace tenure {
namespace portrait {

// Of one archive: how many it ever kept, and how many of these it has forgotten.
struct Kept {
  std::uint64_t added = 0;
  std::uint64_t dropped = 0;

  static constexpr auto table() {
    return std::tuple{field(1, "added", &Kept::added), field(2, "dropped", &Kept::dropped)};
  }
};

struct Counters {
  Fence fence{};
  std::uint64_t tasks_created = 0;
  Instant last_stamp{};
  Kept tasks{};
  Kept work{};
  Kept locks{};

  static constexpr std::uint32_t kType = 1;
  static constexpr std::string_view kName = "Counters";
  static constexpr auto table() {
    using P = Counters;
    return std::tuple{field(1, "fence", &P::fence),
                      field(2, "tasks_created", &P::tasks_created),
                      field(3, "last_stamp", &P::last_stamp),
                      field(4, "tasks", &P::tasks),
                      field(5, "work", &P::work),
                      field(6, "locks", &P::locks)};
  }
};

// A keepsake's place in its archive.
struct Keeping {
  Instant since{};
  std::uint64_t order = 0;

  static constexpr auto table() {
    return std::tuple{field(1, "since", &Keeping::since), field(2, "order", &Keeping::order)};
  }
};

// What a task has beyond waiting.
struct Story {
  std::optional<Keeping> kept{};  // of a task that has ended
  Instant expires_at{};
  Instant window_ends_at{};
  Millis lease_time{0};
  std::uint32_t late_unknown = 0;
  std::optional<std::string_view> result{};
  std::optional<std::string_view> reason{};

  static constexpr auto table() {
    using P = Story;
    return std::tuple{field(1, "kept", &P::kept),
                      field(2, "expires_at", &P::expires_at),
                      field(3, "window_ends_at", &P::window_ends_at),
                      field(4, "lease_time_ms", &P::lease_time),
                      field(5, "late_unknown", &P::late_unknown),
                      field(6, "result", &P::result),
                      field(7, "reason", &P::reason)};
  }
};

struct Task {
  std::string_view task_id{};
  std::uint64_t number = 0;
  std::string_view queue{};
  TaskState state = TaskState::kWaiting;
  std::uint8_t priority = 0;
  Instant created_at{};
  std::optional<Instant> not_before{};
  Millis window{0};
  RetryPolicy retry_policy{};
  std::uint32_t attempts_max = 0;
  std::uint32_t attempt = 0;
  std::uint32_t failures = 0;
  std::string_view payload{};
  std::optional<std::string_view> key{};
  std::optional<Story> story{};

  static constexpr std::uint32_t kType = 2;
  static constexpr std::string_view kName = "Task";
  static constexpr auto table() {
    using P = Task;
    return std::tuple{field(1, "task_id", &P::task_id),
                      field(2, "number", &P::number),
                      field(3, "queue", &P::queue),
                      field(4, "state", &P::state),
                      field(5, "priority", &P::priority),
                      field(6, "created_at", &P::created_at),
                      field(7, "not_before", &P::not_before),
                      field(8, "window_ms", &P::window),
                      field(9, "retry_policy", &P::retry_policy),
                      field(10, "attempts_max", &P::attempts_max),
                      field(11, "attempt", &P::attempt),
                      field(12, "failures", &P::failures),
                      field(13, "payload", &P::payload),
                      field(14, "key", &P::key),
                      field(15, "story", &P::story)};
  }
};

// Comes behind its task, in order.
struct Attempt {
  std::string_view task_id{};
  std::uint32_t attempt = 0;
  std::uint32_t extensions = 0;
  std::uint32_t late = 0;
  AttemptOutcome outcome = AttemptOutcome::kLeased;
  bool retried = false;
  Token token{};
  Instant granted_at{};
  Instant ended_at{};
  std::string_view worker{};
  std::string_view reason{};

  static constexpr std::uint32_t kType = 3;
  static constexpr std::string_view kName = "Attempt";
  static constexpr auto table() {
    using P = Attempt;
    return std::tuple{field(1, "task_id", &P::task_id),       field(2, "attempt", &P::attempt),
                      field(3, "extensions", &P::extensions), field(4, "late", &P::late),
                      field(5, "outcome", &P::outcome),       field(6, "retried", &P::retried),
                      field(7, "token", &P::token),           field(8, "granted_at", &P::granted_at),
                      field(9, "ended_at", &P::ended_at),     field(10, "worker", &P::worker),
                      field(11, "reason", &P::reason)};
  }
};

struct PausedQueue {
  std::string_view queue{};

  static constexpr std::uint32_t kType = 4;
  static constexpr std::string_view kName = "PausedQueue";
  static constexpr auto table() { return std::tuple{field(1, "queue", &PausedQueue::queue)}; }
};

// A remembered answer; which of the fields behind `kept` it has depends on the face.
struct Request {
  Remembered face = Remembered::kTaskRequest;
  std::string_view id{};
  std::uint64_t print = 0;
  Keeping kept{};
  std::optional<std::string_view> task_id{};
  std::optional<std::string_view> leases{};  // fences, 8 bytes each
  std::optional<Offset> next{};
  std::optional<std::uint32_t> retry_count{};
  std::optional<Token> token{};
  std::optional<std::uint32_t> holds{};

  static constexpr std::uint32_t kType = 5;
  static constexpr std::string_view kName = "Request";
  static constexpr auto table() {
    using P = Request;
    return std::tuple{field(1, "face", &P::face),       field(2, "id", &P::id),
                      field(3, "print", &P::print),     field(4, "kept", &P::kept),
                      field(5, "task_id", &P::task_id), field(6, "leases", &P::leases),
                      field(7, "next", &P::next),       field(8, "retry_count", &P::retry_count),
                      field(9, "token", &P::token),     field(10, "holds", &P::holds)};
  }
};

// An offset in flight, or one whose lease was lost: then without token and expiry.
struct InFlight {
  Offset offset{};
  Instant acquired_at{};
  std::uint32_t retry_count = 0;
  std::optional<Token> token{};
  std::optional<Instant> expires_at{};

  static constexpr auto table() {
    using P = InFlight;
    return std::tuple{field(1, "offset", &P::offset), field(2, "acquired_at", &P::acquired_at),
                      field(3, "retry_count", &P::retry_count), field(4, "token", &P::token),
                      field(5, "expires_at", &P::expires_at)};
  }
};

struct Domain {
  std::string_view domain{};
  Offset trimmed_below{};
  std::optional<InFlight> hold{};
  std::optional<InFlight> returned{};

  static constexpr std::uint32_t kType = 6;
  static constexpr std::string_view kName = "Domain";
  static constexpr auto table() {
    using P = Domain;
    return std::tuple{field(1, "domain", &P::domain), field(2, "trimmed_below", &P::trimmed_below),
                      field(3, "hold", &P::hold), field(4, "returned", &P::returned)};
  }
};

// Comes behind its domain.
struct DoneOffsets {
  std::string_view domain{};
  bool failed = false;
  Offset first{};
  Offset last{};

  static constexpr std::uint32_t kType = 7;
  static constexpr std::string_view kName = "DoneOffsets";
  static constexpr auto table() {
    using P = DoneOffsets;
    return std::tuple{field(1, "domain", &P::domain), field(2, "failed", &P::failed), field(3, "first", &P::first),
                      field(4, "last", &P::last)};
  }
};

// Comes behind its domain, in order of the places.
struct BacklogEntry {
  std::string_view domain{};
  std::uint64_t place = 0;
  Offset offset{};

  static constexpr std::uint32_t kType = 8;
  static constexpr std::string_view kName = "BacklogEntry";
  static constexpr auto table() {
    using P = BacklogEntry;
    return std::tuple{field(1, "domain", &P::domain), field(2, "place", &P::place), field(3, "offset", &P::offset)};
  }
};

struct Lock {
  std::string_view space{};
  std::string_view domain{};
  std::string_view identifier{};
  std::string_view owner{};
  std::optional<std::string_view> user{};
  std::optional<std::string_view> session{};
  Millis grace{0};
  Token token{};
  Instant granted_at{};
  Instant expires_at{};
  Millis lease_time{0};
  std::uint32_t holds = 0;

  static constexpr std::uint32_t kType = 9;
  static constexpr std::string_view kName = "Lock";
  static constexpr auto table() {
    using P = Lock;
    return std::tuple{field(1, "space", &P::space),
                      field(2, "domain", &P::domain),
                      field(3, "identifier", &P::identifier),
                      field(4, "owner", &P::owner),
                      field(5, "user", &P::user),
                      field(6, "session", &P::session),
                      field(7, "grace_ms", &P::grace),
                      field(8, "token", &P::token),
                      field(9, "granted_at", &P::granted_at),
                      field(10, "expires_at", &P::expires_at),
                      field(11, "lease_time_ms", &P::lease_time),
                      field(12, "holds", &P::holds)};
  }
};

struct LostLease {
  Token token{};
  std::uint64_t name_hash = 0;
  LostCause cause = LostCause::kExpired;
  Keeping kept{};

  static constexpr std::uint32_t kType = 10;
  static constexpr std::string_view kName = "LostLease";
  static constexpr auto table() {
    using P = LostLease;
    return std::tuple{field(1, "token", &P::token), field(2, "name_hash", &P::name_hash), field(3, "cause", &P::cause),
                      field(4, "kept", &P::kept)};
  }
};

// A session that has bound locks.
struct Session {
  std::string_view session{};
  Millis grace{0};
  std::uint64_t locks = 0;

  static constexpr std::uint32_t kType = 11;
  static constexpr std::string_view kName = "Session";
  static constexpr auto table() {
    using P = Session;
    return std::tuple{field(1, "session", &P::session), field(2, "grace_ms", &P::grace), field(3, "locks", &P::locks)};
  }
};

}  // namespace portrait

using Portrait = std::variant<portrait::Counters, portrait::Task, portrait::Attempt, portrait::PausedQueue,
                              portrait::Request, portrait::Domain, portrait::DoneOffsets, portrait::BacklogEntry,
                              portrait::Lock, portrait::LostLease, portrait::Session>;

void encode(const Portrait& portrait, std::string& out);
Result<Portrait> decode_portrait(ByteReader& in);
std::string to_json(const Portrait& portrait);

// The key under which a snapshot keeps it. Keys sort by kind, then by name; the keys of what comes behind its owner
// (attempts, done offsets, backlog entries) begin with the owner's.
std::string key_of(const Portrait& portrait);

// The keys of what records name.
namespace keys {
std::string counters();
std::string task(std::string_view task_id);
std::string queue(std::string_view name);
std::string request(Remembered face, std::string_view id);
std::string domain(std::string_view name);
std::string lock(std::string_view space, std::string_view domain, std::string_view identifier);
std::string lost_lease(Token token);
std::string session(std::string_view name);
// The part of a key that is its owner's.
std::string_view owner_of(std::string_view key);
}  // namespace keys

}  // namespace tenure
