// One task's story, told from the records of the journal alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/tasks.h>
#include "core/portrait.h"
#include "core/record.h"

namespace tenure::cli {

// Given every record in order, it knows which concern its task, and what they mean. Its memory follows the number of
// the task's attempts, not the journal. One thread.
class TaskStory {
 public:
  explicit TaskStory(std::string task_id) : task_id_(std::move(task_id)) {}

  struct Event {
    std::uint32_t attempt = 0;  // 0: of none
    std::string worker{};
    std::string text{};
  };
  // Nothing, if the record is not about the task.
  std::optional<Event> tell(Instant stamp, const Record& record);

  // What a snapshot holds of it, before the records since: the task, then its attempts.
  std::optional<Event> tell(const Portrait& portrait);

  // What became of it, and why it ran as often as it did; one line each.
  [[nodiscard]] std::vector<std::string> summary() const;

 private:
  struct Attempt {
    std::uint32_t number = 0;
    std::string worker{};
    Token lease_id{};
    Instant granted_at{};
    Instant expires_at{};
    AttemptOutcome outcome = AttemptOutcome::kLeased;
    Instant ended_at{};
    std::uint64_t extensions = 0;
    std::uint64_t late = 0;
  };

  std::optional<Event> on(Instant stamp, const record::TaskCreated& fact);
  std::optional<Event> on(Instant stamp, const record::LeaseGranted& fact);
  std::optional<Event> on(Instant stamp, const record::LeaseExtended& fact);
  std::optional<Event> on(Instant stamp, const record::TaskCompleted& fact);
  std::optional<Event> on(Instant stamp, const record::TaskFailed& fact);
  std::optional<Event> on(Instant stamp, const record::TaskCancelled& fact);
  std::optional<Event> on(Instant stamp, const record::LeaseExpired& fact);
  std::optional<Event> on(Instant stamp, const record::TaskDead& fact);
  std::optional<Event> on(Instant stamp, const record::Forgotten& fact);
  template <class Fact>
  std::optional<Event> on(Instant /*stamp*/, const Fact& /*fact*/) {
    return std::nullopt;
  }

  std::optional<Event> on(const portrait::Task& held);
  std::optional<Event> on(const portrait::Attempt& held);
  template <class Held>
  std::optional<Event> on(const Held& /*held*/) {
    return std::nullopt;
  }

  [[nodiscard]] bool is_leased() const;
  Attempt& end_attempt(Instant stamp, AttemptOutcome outcome);
  Attempt* find_attempt(std::string_view lease_id);
  static Event event_of(const Attempt& attempt, std::string text);

  const std::string task_id_;
  std::optional<TaskState> state_;  // none: not known, or forgotten
  std::vector<Attempt> attempts_;
  std::uint64_t refused_unknown_ = 0;  // reports under a lease id that was never the task's
};

}  // namespace tenure::cli
