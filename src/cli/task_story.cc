#include "cli/task_story.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "cli/journal_text.h"

namespace tenure::cli {
namespace {

constexpr std::string_view kDefaultQueueShown = "default";

std::string times(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

}  // namespace

std::optional<TaskStory::Event> TaskStory::tell(Instant stamp, const Record& record) {
  return std::visit([&](const auto& fact) { return on(stamp, fact); }, record);
}

std::optional<TaskStory::Event> TaskStory::tell(const Portrait& portrait) {
  return std::visit([&](const auto& held) { return on(held); }, portrait);
}

std::optional<TaskStory::Event> TaskStory::on(const portrait::Task& held) {
  if (held.task_id != task_id_) return std::nullopt;
  state_ = held.state;
  refused_unknown_ = held.story ? held.story->late_unknown : 0;
  std::string text = fmt::format("submitted {} to queue {}: {}; by then {}", iso_time(held.created_at),
                                 shown(held.queue), times(held.payload.size(), "byte", "bytes"), to_string(held.state));
  if (held.key) text += fmt::format(", key {}", shown(*held.key));
  if (held.not_before) text += fmt::format(", not before {}", iso_time(*held.not_before));
  if (held.story && held.story->reason) text += fmt::format(", reason: {}", shown(*held.story->reason));
  return Event{.text = std::move(text)};
}

std::optional<TaskStory::Event> TaskStory::on(const portrait::Attempt& held) {
  if (held.task_id != task_id_) return std::nullopt;
  attempts_.push_back({.number = held.attempt,
                       .worker = shown(held.worker),
                       .lease_id = held.token,
                       .granted_at = held.granted_at,
                       .outcome = held.outcome,
                       .ended_at = held.ended_at,
                       .extensions = held.extensions,
                       .late = held.late});
  const Attempt& attempt = attempts_.back();
  std::string text =
      fmt::format("attempt {}: leased to {} {}, fence {}, lease id {}; by then {}", attempt.number, attempt.worker,
                  iso_time(held.granted_at), held.token.fence.value, held.token.text(), to_string(held.outcome));
  if (held.outcome != AttemptOutcome::kLeased) text += fmt::format(" {}", iso_time(held.ended_at));
  if (!held.reason.empty()) text += fmt::format(", reason: {}", shown(held.reason));
  return event_of(attempt, std::move(text));
}

bool TaskStory::is_leased() const { return !attempts_.empty() && attempts_.back().outcome == AttemptOutcome::kLeased; }

// A journal that begins in the middle may end what it did not begin.
TaskStory::Attempt& TaskStory::end_attempt(Instant stamp, AttemptOutcome outcome) {
  if (!is_leased()) attempts_.push_back({.worker = "a worker", .granted_at = stamp});
  attempts_.back().outcome = outcome;
  attempts_.back().ended_at = stamp;
  return attempts_.back();
}

TaskStory::Attempt* TaskStory::find_attempt(std::string_view lease_id) {
  const auto token = Token::parse(lease_id);
  const auto found = std::find_if(attempts_.begin(), attempts_.end(),
                                  [&](const Attempt& attempt) { return token && attempt.lease_id == *token; });
  return found == attempts_.end() ? nullptr : &*found;
}

TaskStory::Event TaskStory::event_of(const Attempt& attempt, std::string text) {
  return {.attempt = attempt.number, .worker = attempt.worker, .text = std::move(text)};
}

std::optional<TaskStory::Event> TaskStory::on(Instant /*stamp*/, const record::TaskCreated& fact) {
  if (fact.task_id != task_id_) {
    if (fact.resubmit_of != task_id_) return std::nullopt;
    return Event{.text = fmt::format("resubmitted as the new task {}", shown(fact.task_id))};
  }
  state_ = TaskState::kWaiting;
  std::string text =
      fmt::format("submitted to queue {}: {}, {}, {} for an attempt at most",
                  shown(fact.queue.value_or(kDefaultQueueShown)), times(fact.payload.size(), "byte", "bytes"),
                  times(fact.retry_policy.retries, "retry", "retries"), seconds_text(fact.execution_window));
  if (fact.key) text += fmt::format(", key {}", shown(*fact.key));
  if (fact.attempts) text += fmt::format(", given up when attempt {} expires", *fact.attempts);
  if (fact.not_before) text += fmt::format(", not before {}", iso_time(*fact.not_before));
  if (fact.resubmit_of) text += fmt::format(", as a resubmission of {}", shown(*fact.resubmit_of));
  return Event{.text = std::move(text)};
}

std::optional<TaskStory::Event> TaskStory::on(Instant stamp, const record::LeaseGranted& fact) {
  if (fact.task_id != task_id_) return std::nullopt;
  state_ = TaskState::kLeased;
  attempts_.push_back({.number = fact.attempt,
                       .worker = shown(fact.worker_id),
                       .lease_id = fact.lease_id,
                       .granted_at = fact.granted_at.value_or(stamp),
                       .expires_at = fact.lease_expiry});
  const Attempt& attempt = attempts_.back();
  return event_of(attempt,
                  fmt::format("attempt {}: leased to {} for {}, until {}, fence {}, lease id {}", attempt.number,
                              attempt.worker, seconds_text(fact.lease_expiry - attempt.granted_at),
                              iso_time(fact.lease_expiry), fact.lease_id.fence.value, fact.lease_id.text()));
}

std::optional<TaskStory::Event> TaskStory::on(Instant /*stamp*/, const record::LeaseExtended& fact) {
  if (!is_leased() || attempts_.back().lease_id != fact.lease_id) return std::nullopt;
  Attempt& attempt = attempts_.back();
  ++attempt.extensions;
  attempt.expires_at = fact.new_lease_expiry;
  return event_of(attempt, fmt::format("attempt {}: extended by {} until {}", attempt.number, attempt.worker,
                                       iso_time(fact.new_lease_expiry)));
}

std::optional<TaskStory::Event> TaskStory::on(Instant stamp, const record::TaskCompleted& fact) {
  if (fact.task_id != task_id_) return std::nullopt;
  state_ = TaskState::kCompleted;
  const Attempt& attempt = end_attempt(stamp, AttemptOutcome::kCompleted);
  return event_of(attempt, fmt::format("attempt {}: completed by {} after {}; its result counts", attempt.number,
                                       attempt.worker, seconds_text(stamp - attempt.granted_at)));
}

std::optional<TaskStory::Event> TaskStory::on(Instant stamp, const record::TaskFailed& fact) {
  if (fact.task_id != task_id_) return std::nullopt;
  state_ = fact.next_state.value_or(TaskState::kWaiting);
  const Attempt& attempt = end_attempt(stamp, AttemptOutcome::kFailed);
  std::string text = fmt::format("attempt {}: {} reported failure after {}, reason: {}; the task is now {}",
                                 attempt.number, attempt.worker, seconds_text(stamp - attempt.granted_at),
                                 shown(fact.failure_reason), to_string(*state_));
  if (fact.not_before) text += fmt::format(", not before {}", iso_time(*fact.not_before));
  return event_of(attempt, std::move(text));
}

std::optional<TaskStory::Event> TaskStory::on(Instant stamp, const record::LeaseExpired& fact) {
  if (fact.task_id != task_id_) return std::nullopt;
  state_ = TaskState::kWaiting;
  const Attempt& attempt = end_attempt(stamp, AttemptOutcome::kExpired);
  return event_of(attempt,
                  fmt::format("attempt {}: expired; {} had it for {} and neither reported nor extended it in time",
                              attempt.number, attempt.worker, seconds_text(stamp - attempt.granted_at)));
}

std::optional<TaskStory::Event> TaskStory::on(Instant stamp, const record::TaskDead& fact) {
  if (fact.task_id != task_id_) return std::nullopt;
  state_ = TaskState::kDead;
  if (!is_leased()) return Event{.text = fmt::format("given up for good, reason: {}", shown(fact.reason))};
  const Attempt& attempt = end_attempt(stamp, AttemptOutcome::kKilled);
  return event_of(attempt, fmt::format("attempt {}: taken from {} as the task was killed, reason: {}", attempt.number,
                                       attempt.worker, shown(fact.reason)));
}

std::optional<TaskStory::Event> TaskStory::on(Instant /*stamp*/, const record::TaskCancelled& fact) {
  if (fact.task_id != task_id_) return std::nullopt;
  Attempt* attempt = find_attempt(fact.lease_id);
  if (attempt == nullptr) {
    ++refused_unknown_;
    return Event{.text = fmt::format("a report under lease id {}, which is none of this task's, was refused",
                                     shown(fact.lease_id))};
  }
  ++attempt->late;
  return event_of(*attempt, fmt::format("attempt {}: a late report of {} was refused; this attempt had {}",
                                        attempt->number, attempt->worker, to_string(attempt->outcome)));
}

std::optional<TaskStory::Event> TaskStory::on(Instant /*stamp*/, const record::Forgotten& fact) {
  if (fact.kind != Remembered::kTask || fact.name != task_id_) return std::nullopt;
  state_.reset();
  return Event{.text = "forgotten by the authority: kept as long as its settings say; the id may be used again"};
}

std::vector<std::string> TaskStory::summary() const {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("It ran {} and is {}.", times(attempts_.size(), "time", "times"),
                              state_ ? to_string(*state_) : "forgotten"));
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    const Attempt& attempt = attempts_[i];
    std::string line = fmt::format("attempt {} by {}, fence {}: {}", attempt.number, attempt.worker,
                                   attempt.lease_id.fence.value, to_string(attempt.outcome));
    if (attempt.outcome != AttemptOutcome::kLeased) {
      line += fmt::format(" after {}", seconds_text(attempt.ended_at - attempt.granted_at));
    }
    line += fmt::format(", {}, {} refused", times(attempt.extensions, "extension", "extensions"),
                        times(attempt.late, "late report", "late reports"));
    if (i + 1 < attempts_.size()) line += "; so it ran again";
    lines.push_back(std::move(line));
  }
  if (refused_unknown_ > 0) {
    lines.push_back(fmt::format("{} under foreign lease ids refused", times(refused_unknown_, "report", "reports")));
  }
  return lines;
}

}  // namespace tenure::cli
