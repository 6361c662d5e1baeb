#include "task_law.h"

#include "core/task_book.h"

namespace tenure::sim {

TaskLaw::Facts& TaskLaw::known(std::string_view task_id) {
  const auto found = tasks_.find(task_id);
  require(found != tasks_.end(), "task {}: a record about a task that is not there", task_id);
  return found->second;
}

TaskLaw::Facts& TaskLaw::held(std::string_view task_id, Token lease, Instant stamp) {
  Facts& task = known(task_id);
  require(task.is_held_by(lease), "task {}: a record in the name of lease {}, which does not hold it", task_id,
          lease.text());
  require(stamp <= task.expires_at, "task {}: lease {} was used at {}, and had ended at {}", task_id, lease.text(),
          stamp.ms, task.expires_at.ms);
  return task;
}

void TaskLaw::see(const record::TaskCreated& record, Instant /*stamp*/) {
  const auto [made, is_new] = tasks_.try_emplace(std::string(record.task_id));
  require(is_new, "task {}: created twice", record.task_id);
  Facts& task = made->second;
  task.queue = record.queue.value_or(kDefaultQueue);
  if (record.key) task.key = *record.key;
  task.number = ++created_;
  task.priority = record.priority.value_or(kDefaultPriority);
  task.not_before = record.not_before.value_or(Instant{});
  task.retries = record.retry_policy.retries;
  task.attempts_max = record.attempts.value_or(0);
  open_[task.queue].emplace(task.number, &task);
}

void TaskLaw::see(const record::LeaseGranted& record, Instant stamp) {
  Facts& task = known(record.task_id);
  require(task.state == TaskState::kWaiting, "task {}: leased while it is {}", record.task_id, to_string(task.state));
  require(record.attempt == task.attempt + 1, "task {}: attempt {} after {}", record.task_id, record.attempt,
          task.attempt);
  require(record.lease_expiry >= stamp, "task {}: leased until before now", record.task_id);
  require(!paused_.contains(task.queue), "task {}: leased from a paused queue", record.task_id);
  require(task.not_before <= stamp, "task {}: leased at {}, not due before {}", record.task_id, stamp.ms,
          task.not_before.ms);
  check_turn(std::string(record.task_id), task, stamp);
  task.state = TaskState::kLeased;
  task.attempt = record.attempt;
  task.lease = record.lease_id;
  task.expires_at = record.lease_expiry;
}

bool TaskLaw::is_first_of_its_key(const Facts& task) const {
  if (!task.key) return true;
  for (const auto& [number, other] : open_.find(task.queue)->second) {
    if (other->key == task.key) return other == &task;
  }
  return false;
}

// First the order of the key, then priority, then the order of submission.
void TaskLaw::check_turn(const std::string& id, const Facts& task, Instant stamp) const {
  require(is_first_of_its_key(task), "task {}: leased before an older one of its key {}", id, task.key.value_or(""));
  for (const auto& [number, other] : open_.find(task.queue)->second) {
    const bool is_better =
        other->priority > task.priority || (other->priority == task.priority && number < task.number);
    if (!is_better || other->state != TaskState::kWaiting || other->not_before > stamp) continue;
    require(!is_first_of_its_key(*other), "task {}: leased before the task of its queue that comes first, number {}",
            id, number);
  }
}

void TaskLaw::see(const record::LeaseExtended& record, Instant stamp) {
  Facts& task = held(record.task_id.value_or(""), record.lease_id, stamp);
  require(record.new_lease_expiry > task.expires_at, "task {}: a lease was shortened", record.task_id.value_or(""));
  task.expires_at = record.new_lease_expiry;
}

void TaskLaw::end(std::string_view task_id, Facts& task, TaskState state) {
  require(!is_terminal(task.state), "task {}: ended twice, {} and {}", task_id, to_string(task.state),
          to_string(state));
  task.state = state;
  open_.find(task.queue)->second.erase(task.number);
}

void TaskLaw::see(const record::TaskCompleted& record, Instant stamp) {
  Facts& task = held(record.task_id, record.lease_id, stamp);
  task.completed_by = record.lease_id;
  end(record.task_id, task, TaskState::kCompleted);
}

void TaskLaw::see(const record::TaskFailed& record, Instant stamp) {
  Facts& task = held(record.task_id, record.lease_id, stamp);
  const TaskState next = record.next_state.value_or(TaskState::kFailed);
  task.failed_by.emplace(record.lease_id, Failed{next, task.attempt});
  require(next == TaskState::kFailed || task.failures < task.retries, "task {}: retried more often than allowed",
          record.task_id);
  ++task.failures;
  if (is_terminal(next)) return end(record.task_id, task, next);
  task.state = next;
  task.not_before = record.not_before.value_or(stamp);
}

void TaskLaw::see(const record::TaskCancelled& record, Instant /*stamp*/) {
  const Facts& task = known(record.task_id);
  require(!task.is_held_by(Token::parse(record.lease_id)), "task {}: its holder {} was refused", record.task_id,
          record.lease_id);
}

void TaskLaw::see(const record::LeaseExpired& record, Instant stamp) {
  Facts& task = known(record.task_id);
  require(task.is_held_by(record.lease_id), "task {}: lease {} expired, and does not hold it", record.task_id,
          record.lease_id.text());
  require(stamp > task.expires_at, "task {}: expired at {}, held until {}", record.task_id, stamp.ms,
          task.expires_at.ms);
  task.state = TaskState::kWaiting;
  task.not_before = {};
}

void TaskLaw::see(const record::TaskDead& record, Instant /*stamp*/) {
  Facts& task = known(record.task_id);
  require(record.reason != kPoison || (task.attempts_max != 0 && task.attempt >= task.attempts_max),
          "task {}: poisoned after {} attempts of {}", record.task_id, task.attempt, task.attempts_max);
  end(record.task_id, task, TaskState::kDead);
}

void TaskLaw::forget(std::string_view task_id) {
  require(is_terminal(known(task_id).state), "task {}: forgotten, and has not ended", task_id);
  tasks_.erase(tasks_.find(task_id));
  ended_.emplace(task_id);
}

// --- answers ---

void TaskLaw::judge(const Submitted& reply) const {
  require(tasks_.contains(reply.task_id) || ended_.contains(reply.task_id), "task {}: acknowledged, and not there",
          reply.task_id);
}

void TaskLaw::judge(const std::vector<TaskLease>& leases) const {
  for (const TaskLease& lease : leases) {
    const auto found = tasks_.find(lease.task_id);
    require(found != tasks_.end() && found->second.is_held_by(Token::parse(lease.lease_id)),
            "task {}: told that lease {} holds it, and it does not", lease.task_id, lease.lease_id);
  }
}

void TaskLaw::judge(const Completion& request, Report reply) const {
  const auto found = tasks_.find(request.task_id);
  const bool is_his = found != tasks_.end() && found->second.completed_by &&
                      found->second.completed_by == Token::parse(request.lease_id);
  require((reply == Report::kCommitted) == is_his, "task {}: the report of lease {} was {}", request.task_id,
          request.lease_id, is_his ? "refused" : "accepted, and it was not its holder");
}

void TaskLaw::judge(const FailureReport& request, std::optional<TaskState> reply, bool is_new) const {
  const auto token = Token::parse(request.lease_id);
  const auto found = tasks_.find(request.task_id);
  if (found == tasks_.end() || !token) return;
  const Facts& task = found->second;
  const auto failed = task.failed_by.find(*token);
  // Only so many attempts are remembered.
  const bool is_known = failed != task.failed_by.end() && failed->second.attempt + kAttemptsKept > task.attempt;
  require(reply.has_value() == is_known, "task {}: the failure reported by {} was {}", request.task_id,
          request.lease_id, reply ? "accepted, and it was not its holder" : "refused");
  if (!reply) return;
  require(*reply == failed->second.became, "task {}: told {}, became {}", request.task_id, to_string(*reply),
          to_string(failed->second.became));
  // Only failures use up retries; time does not.
  require(request.final || !is_new || *reply == TaskState::kWaiting || task.failures > task.retries,
          "task {}: FAILED after {} failures, {} retries allowed", request.task_id, task.failures, task.retries);
}

void TaskLaw::judge(const TaskExtension& request, const std::optional<Extended>& reply) const {
  const auto found = tasks_.find(request.task_id);
  const bool is_his = found != tasks_.end() && found->second.is_held_by(Token::parse(request.lease_id));
  require(reply.has_value() == is_his, "task {}: extending lease {} was {}", request.task_id, request.lease_id,
          reply ? "granted, and it does not hold it" : "refused");
}

void TaskLaw::finish() const {
  for (const std::string& id : acknowledged_) {
    require(tasks_.contains(id) || ended_.contains(id), "task {}: acknowledged, and lost", id);
  }
}

std::optional<std::string> TaskLaw::find_open() const {
  for (const auto& [id, task] : tasks_) {
    if (!is_terminal(task.state)) return fmt::format("task {} {}", id, to_string(task.state));
  }
  return std::nullopt;
}

}  // namespace tenure::sim
