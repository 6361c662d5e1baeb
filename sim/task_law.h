// The laws of tasks, kept apart from the task book: a second, much simpler account of what the records say, and what
// they and the answers may say next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tenure/tasks.h>
#include "breach.h"
#include "core/lease.h"
#include "core/record.h"

namespace tenure::sim {

// Tokens in the order of their grants.
struct ByGrant {
  bool operator()(Token a, Token b) const {
    return std::tie(a.fence.value, a.secret) < std::tie(b.fence.value, b.secret);
  }
};

// One thread. Whatever breaks a law throws Breach.
class TaskLaw {
 public:
  void see(const record::TaskCreated& record, Instant stamp);
  void see(const record::LeaseGranted& record, Instant stamp);
  void see(const record::LeaseExtended& record, Instant stamp);
  void see(const record::TaskCompleted& record, Instant stamp);
  void see(const record::TaskFailed& record, Instant stamp);
  void see(const record::TaskCancelled& record, Instant stamp);
  void see(const record::LeaseExpired& record, Instant stamp);
  void see(const record::TaskDead& record, Instant stamp);
  void see(const record::QueuePaused& record) { paused_.emplace(record.queue); }
  void see(const record::QueueResumed& record) { paused_.erase(std::string(record.queue)); }
  void forget(std::string_view task_id);

  // What an answer claims, right behind the frame that it rests on.
  void judge(const Submitted& reply) const;
  void judge(const std::vector<TaskLease>& leases) const;
  void judge(const Completion& request, Report reply) const;
  void judge(const FailureReport& request, std::optional<TaskState> reply, bool is_new) const;
  void judge(const TaskExtension& request, const std::optional<Extended>& reply) const;

  // Whoever was told that the task is there may count on it.
  void acknowledge(const std::string& task_id) { acknowledged_.insert(task_id); }
  // Every task that was acknowledged is there, or has ended, once.
  void finish() const;
  // A task that has not ended.
  [[nodiscard]] std::optional<std::string> find_open() const;

 private:
  struct Failed {
    TaskState became = TaskState::kWaiting;
    std::uint32_t attempt = 0;
  };
  struct Facts {
    std::string queue;
    std::optional<std::string> key;
    std::uint64_t number = 0;
    std::uint8_t priority = 0;
    Instant not_before;
    TaskState state = TaskState::kWaiting;
    std::uint32_t retries = 0;
    std::uint32_t attempts_max = 0;
    std::uint32_t attempt = 0;
    std::uint32_t failures = 0;
    Token lease;
    Instant expires_at;
    std::optional<Token> completed_by;
    std::map<Token, Failed, ByGrant> failed_by;

    [[nodiscard]] bool is_held_by(std::optional<Token> token) const {
      return state == TaskState::kLeased && token == lease;
    }
  };

  Facts& known(std::string_view task_id);
  Facts& held(std::string_view task_id, Token lease, Instant stamp);
  void end(std::string_view task_id, Facts& task, TaskState state);
  void check_turn(const std::string& id, const Facts& task, Instant stamp) const;
  [[nodiscard]] bool is_first_of_its_key(const Facts& task) const;

  std::map<std::string, Facts, std::less<>> tasks_;
  std::map<std::string, std::map<std::uint64_t, const Facts*>, std::less<>> open_;  // by queue and number
  std::set<std::string, std::less<>> paused_;
  std::set<std::string, std::less<>> acknowledged_;
  std::set<std::string, std::less<>> ended_;
  std::uint64_t created_ = 0;
};

}  // namespace tenure::sim
