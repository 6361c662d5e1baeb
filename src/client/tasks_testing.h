// For tests: tasks that pass on what is asked of them, for those that change a part of it.
#pragma once

#include <utility>

#include <tenure/tasks.h>

namespace tenure {

// Thread-safe. The tasks behind it outlive it.
class TasksInFront : public Tasks {
 public:
  explicit TasksInFront(Tasks& tasks) : tasks_(tasks) {}

  Submitted submit(const Submission& task) override { return tasks_.submit(task); }
  std::future<Submitted> submit_later(const Submission& task) override { return tasks_.submit_later(task); }
  std::vector<Submitted> submit_many(const std::vector<Submission>& tasks) override {
    return tasks_.submit_many(tasks);
  }
  std::vector<TaskLease> lease(const LeaseRequest& request, Millis block, std::stop_token stop) override {
    return tasks_.lease(request, block, std::move(stop));
  }
  std::optional<Extended> extend(const TaskExtension& request) override { return tasks_.extend(request); }
  Report complete(const Completion& request) override { return tasks_.complete(request); }
  std::future<Report> complete_later(const Completion& request) override { return tasks_.complete_later(request); }
  std::optional<TaskState> fail(const FailureReport& request) override { return tasks_.fail(request); }
  void kill(const TaskKill& request) override { tasks_.kill(request); }
  Submitted resubmit(const Resubmission& request) override { return tasks_.resubmit(request); }
  std::optional<TaskStatus> get(std::string_view task_id) override { return tasks_.get(task_id); }
  std::vector<TaskAttempt> history(std::string_view task_id) override { return tasks_.history(task_id); }
  std::optional<TaskStatus> wait(std::string_view task_id, Millis block, std::stop_token stop) override {
    return tasks_.wait(task_id, block, std::move(stop));
  }
  TaskPage list(const TaskListing& request) override { return tasks_.list(request); }
  QueuePage queues(const Paging& paging) override { return tasks_.queues(paging); }
  void pause(std::string_view queue) override { tasks_.pause(queue); }
  void resume(std::string_view queue) override { tasks_.resume(queue); }
  WorkerPage workers(const Paging& paging) override { return tasks_.workers(paging); }

 protected:
  Tasks& tasks_;
};

}  // namespace tenure
