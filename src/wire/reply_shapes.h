// What the books answer, described once: the parts of each reply, by name and in order. RESP, JSON and the schemas of
// /openapi.json are all made from these declarations.
//
// The same reply in the two notations:
//
//   shape   RESP                          JSON
//   Map     a map of its parts            an object of them
//   Row     an array of their values      an object of them
//   Alone   the one part's value          an object of it
//   List    an array of replies           an object: the array under its noun
//   Page    an array: cursor, array       an object: cursor, and the array under its noun
//   Hint    a verdict alone, or with an   an object of verdict and offset
//           offset
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "wire/field_name.h"
#include "wire/requests.h"

namespace tenure::wire {

// --- parts: `get` is what std::invoke takes, applied to the reply ---

template <class Get>
struct Part {
  FieldName name;
  Get get;
};
// Any bytes, which JSON may have to write in base64.
template <class Get>
struct BytesPart {
  FieldName name;
  Get get;
};
// One of a few words; `get` tells which.
template <class Get, std::size_t N>
struct ChoicePart {
  FieldName name;
  std::array<std::string_view, N> words;
  Get get;

  template <class Reply>
  [[nodiscard]] constexpr std::string_view word(const Reply& reply) const {
    return words[static_cast<std::size_t>(std::invoke(get, reply))];
  }
};
// The word of an enumeration, which to_string knows.
template <class Get, class Enum>
struct EnumPart {
  FieldName name;
  Get get;
  Enum last;

  template <class Reply>
  [[nodiscard]] std::string_view word(const Reply& reply) const {
    return to_string(std::invoke(get, reply));
  }
};

template <class Get>
constexpr Part<Get> part(FieldName name, Get get) {
  return {name, get};
}
template <class Get>
constexpr BytesPart<Get> bytes_part(FieldName name, Get get) {
  return {name, get};
}
template <class Get, std::size_t N>
constexpr ChoicePart<Get, N> choice(FieldName name, std::array<std::string_view, N> words, Get get) {
  return {name, words, get};
}
template <class Get, class Enum>
constexpr EnumPart<Get, Enum> enum_part(FieldName name, Get get, Enum last) {
  return {name, get, last};
}

// The first of the words.
struct First {
  template <class Reply>
  constexpr std::size_t operator()(const Reply& /*reply*/) const {
    return 0;
  }
};
constexpr auto verdict(std::string_view word) { return choice("verdict", std::array{word}, First{}); }
template <class Get>
constexpr auto verdict(std::string_view otherwise, std::string_view if_true, Get get) {
  return choice("verdict", std::array{otherwise, if_true}, get);
}

// --- shapes ---

template <class... Parts>
struct Map {
  std::tuple<Parts...> parts;
};
template <class... Parts>
struct Row {
  std::tuple<Parts...> parts;
};
template <class OnePart>
struct Alone {
  OnePart part;
};
struct List {
  std::string_view noun;
};
template <class Get>
struct Page {
  std::string_view noun;
  Get get;
};
template <class Get>
struct Hint {
  std::string_view none;
  std::string_view some;
  Get get;
};

template <class... Parts>
constexpr Map<Parts...> map_of(Parts... parts) {
  return {std::tuple(parts...)};
}
template <class... Parts>
constexpr Row<Parts...> row_of(Parts... parts) {
  return {std::tuple(parts...)};
}
template <class OnePart>
constexpr Alone<OnePart> alone(OnePart part) {
  return {part};
}
template <class Get>
constexpr Page<Get> page_of(std::string_view noun, Get get) {
  return {noun, get};
}
template <class Get>
constexpr Hint<Get> hint(std::string_view none, std::string_view some, Get get) {
  return {none, some, get};
}

// The shape of a reply; null: it is a plain value.
template <class Reply>
inline constexpr std::nullptr_t kShape = nullptr;
// What takes the place of an optional reply that is not there; null: nil.
template <class Reply>
inline constexpr std::nullptr_t kShapeOfNone = nullptr;

template <class Reply>
concept Shaped = !std::is_same_v<std::remove_cv_t<decltype(kShape<Reply>)>, std::nullptr_t>;
template <class Reply>
concept HasShapeOfNone = !std::is_same_v<std::remove_cv_t<decltype(kShapeOfNone<Reply>)>, std::nullptr_t>;

// --- tasks ---

template <>
inline constexpr auto kShape<Done> = alone(verdict("OK"));
template <>
inline constexpr auto kShape<Submitted> =
    row_of(part("task_id", &Submitted::task_id), verdict("EXISTING", "CREATED", &Submitted::created));
template <>
inline constexpr auto kShape<TaskLease> = map_of(
    part("task_id", &TaskLease::task_id), part("lease_id", &TaskLease::lease_id), part("fence", &TaskLease::fence),
    part("attempt", &TaskLease::attempt), part("expires_at", &TaskLease::expires_at),
    part("remaining_ms", &TaskLease::remaining), part("window_ends_at", &TaskLease::window_ends_at),
    part("queue", &TaskLease::queue), bytes_part("payload", &TaskLease::payload));
template <>
inline constexpr auto kShape<std::vector<TaskLease>> = List{"leases"};
template <>
inline constexpr auto kShape<Extended> =
    row_of(verdict("EXTENDED"), part("expires_at", &Extended::expires_at), part("remaining_ms", &Extended::remaining));
template <>
inline constexpr auto kShapeOfNone<Extended> = row_of(verdict("CANCELLED"));
template <>
inline constexpr auto kShape<Report> =
    alone(choice("verdict", std::array<std::string_view, 2>{"COMMITTED", "CANCELLED"}, std::identity{}));
// Of a failure.
template <>
inline constexpr auto kShape<TaskState> =
    row_of(verdict("COMMITTED"), enum_part("state", std::identity{}, TaskState::kDead));
template <>
inline constexpr auto kShapeOfNone<TaskState> = row_of(verdict("CANCELLED"));
template <>
inline constexpr auto kShape<TaskStatus> = map_of(
    part("task_id", &TaskStatus::task_id), part("queue", &TaskStatus::queue),
    enum_part("state", &TaskStatus::state, TaskState::kDead), part("attempt", &TaskStatus::attempt),
    part("failures", &TaskStatus::failures), part("priority", &TaskStatus::priority), part("key", &TaskStatus::key),
    part("created_at", &TaskStatus::created_at), part("not_before", &TaskStatus::not_before),
    part("fence", &TaskStatus::fence), part("lease_id", &TaskStatus::lease_id), part("worker", &TaskStatus::worker),
    part("expires_at", &TaskStatus::expires_at), bytes_part("result", &TaskStatus::result),
    bytes_part("reason", &TaskStatus::reason), part("late", &TaskStatus::late));

// Hidden: null.
constexpr std::optional<std::string_view> shown_lease_id(const TaskAttempt& attempt) {
  return attempt.lease_id.empty() ? std::nullopt : std::optional<std::string_view>(attempt.lease_id);
}
template <>
inline constexpr auto kShape<TaskAttempt> = map_of(
    part("attempt", &TaskAttempt::attempt), part("worker", &TaskAttempt::worker), part("lease_id", &shown_lease_id),
    part("fence", &TaskAttempt::fence), part("granted_at", &TaskAttempt::granted_at),
    part("ended_at", &TaskAttempt::ended_at), enum_part("outcome", &TaskAttempt::outcome, AttemptOutcome::kKilled),
    bytes_part("reason", &TaskAttempt::reason), part("extensions", &TaskAttempt::extensions),
    part("late", &TaskAttempt::late));
template <>
inline constexpr auto kShape<std::vector<TaskAttempt>> = List{"attempts"};
template <>
inline constexpr auto kShape<TaskPage::Entry> =
    map_of(part("task_id", &TaskPage::Entry::task_id), enum_part("state", &TaskPage::Entry::state, TaskState::kDead),
           part("attempt", &TaskPage::Entry::attempt));
template <>
inline constexpr auto kShape<TaskPage> = page_of("tasks", &TaskPage::tasks);
template <>
inline constexpr auto kShape<QueuePage::Entry> =
    map_of(part("queue", &QueuePage::Entry::queue), part("waiting", &QueuePage::Entry::waiting),
           part("delayed", &QueuePage::Entry::delayed), part("leased", &QueuePage::Entry::leased),
           part("completed", &QueuePage::Entry::completed), part("failed", &QueuePage::Entry::failed),
           part("dead", &QueuePage::Entry::dead), part("paused", &QueuePage::Entry::paused));
template <>
inline constexpr auto kShape<QueuePage> = page_of("queues", &QueuePage::queues);
template <>
inline constexpr auto kShape<WorkerPage::Entry> =
    map_of(part("worker", &WorkerPage::Entry::worker), part("leases", &WorkerPage::Entry::leases),
           part("last_seen", &WorkerPage::Entry::last_seen));
template <>
inline constexpr auto kShape<WorkerPage> = page_of("workers", &WorkerPage::workers);

// --- work leases ---

template <>
inline constexpr auto kShape<Acquired> =
    row_of(verdict("ACQUIRED", "ALREADY_ACQUIRED", &Acquired::already), part("token", &Acquired::token),
           part("fence", &Acquired::fence), part("acquired_at", &Acquired::acquired_at),
           part("retry_count", &Acquired::retry_count), part("remaining_ms", &Acquired::remaining));
template <>
inline constexpr auto kShape<Enqueued> = row_of(verdict("ENQUEUED"), part("position", &Enqueued::position));
template <>
inline constexpr auto kShape<AlreadyProcessed> = row_of(verdict("ALREADY_PROCESSED"));
template <>
inline constexpr auto kShape<AlreadyFailed> = row_of(verdict("ALREADY_FAILED"));
template <>
inline constexpr auto kShape<SucceedResult> = hint("NO_BACKLOG", "NEXT_HINT", &SucceedResult::next);
template <>
inline constexpr auto kShape<RetryScheduled> =
    row_of(verdict("RETRY_SCHEDULED"), part("retry_count", &RetryScheduled::retry_count));
template <>
inline constexpr auto kShape<GivenUp> = hint("GIVE_UP_NO_BACKLOG", "GIVE_UP_NEXT_HINT", &GivenUp::next);
template <>
inline constexpr auto kShape<WorkExtended> = row_of(verdict("EXTENDED"), part("expires_at", &WorkExtended::expires_at),
                                                    part("remaining_ms", &WorkExtended::remaining));
template <>
inline constexpr auto kShape<DomainStatus> =
    map_of(part("domain", &DomainStatus::domain),
           choice("state", std::array<std::string_view, 2>{"IDLE", "IN_FLIGHT"}, &DomainStatus::in_flight),
           part("offset", &DomainStatus::offset), part("fence", &DomainStatus::fence),
           part("retry_count", &DomainStatus::retry_count), part("acquired_at", &DomainStatus::acquired_at),
           part("expires_at", &DomainStatus::expires_at), part("backlog", &DomainStatus::backlog),
           part("backlog_head", &DomainStatus::backlog_head), part("processed", &DomainStatus::processed),
           part("failed", &DomainStatus::failed), part("trimmed_below", &DomainStatus::trimmed_below));
template <>
inline constexpr auto kShape<OffsetPage> = page_of("offsets", &OffsetPage::offsets);
template <>
inline constexpr auto kShape<Interval> = row_of(part("first", &Interval::first), part("last", &Interval::last));
template <>
inline constexpr auto kShape<IntervalPage> = page_of("intervals", &IntervalPage::intervals);
template <>
inline constexpr auto kShape<DomainPage> = page_of("domains", &DomainPage::domains);
// The last step's.
template <>
inline constexpr auto kShape<Trimmed> = alone(verdict("OK"));

// --- locks ---

template <>
inline constexpr auto kShape<LockGrant> =
    row_of(part("token", &LockGrant::token), part("fence", &LockGrant::fence),
           part("remaining_ms", &LockGrant::remaining), part("holds", &LockGrant::holds));
// The holds left after a release.
constexpr bool is_still_held(std::uint32_t holds) { return holds > 0; }
template <>
inline constexpr auto kShape<std::uint32_t> =
    row_of(verdict("RELEASED", "HELD", &is_still_held), part("holds", std::identity{}));
template <>
inline constexpr auto kShape<LockExtended> =
    row_of(part("fence", &LockExtended::fence), part("remaining_ms", &LockExtended::remaining));
// Whether force found something to free.
template <>
inline constexpr auto kShape<bool> = alone(part("forced", std::identity{}));
template <>
inline constexpr auto kShape<LockStatus> =
    map_of(part("domain", &LockStatus::domain), part("identifier", &LockStatus::identifier),
           part("owner", &LockStatus::owner), part("fence", &LockStatus::fence), part("holds", &LockStatus::holds),
           part("granted_at", &LockStatus::granted_at), part("expires_at", &LockStatus::expires_at),
           part("remaining_ms", &LockStatus::remaining), part("waiters", &LockStatus::waiters));
template <>
inline constexpr auto kShape<LockPage> = page_of("locks", &LockPage::locks);

}  // namespace tenure::wire
