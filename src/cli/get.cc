#include "cli/columns.h"
#include "cli/journal_text.h"
#include "cli/task_commands.h"

namespace tenure::cli {
namespace {

// The longest of a result that is shown to people.
constexpr std::size_t kResultShown = 1000;
// One wait; the next follows at once.
constexpr Millis kOneWait = std::chrono::hours(1);

std::string lease_text(const TaskStatus& task) {
  if (!task.worker) return {};
  return fmt::format("{}, fence {}, until {}", shown(*task.worker), task.fence ? task.fence->value : 0,
                     task.expires_at ? iso_time(*task.expires_at) : "?");
}

std::string result_text(const TaskStatus& task) {
  if (!task.result) return {};
  if (task.result->size() <= kResultShown) return shown(*task.result);
  return fmt::format("{} bytes; --result writes them", task.result->size());
}

int print_task(const Errand& errand, const TaskStatus& task, bool only_result) {
  if (only_result) {
    errand.desk.out << task.result.value_or("");
  } else if (errand.json) {
    errand.print_json(std::optional(task));
  } else {
    errand.desk.out << task_text(task);
  }
  return kDone;
}

std::optional<TaskStatus> await_task(Tasks& tasks, const WaitOptions& options, const Clock& clock) {
  const Millis began = clock.boot();
  while (true) {
    const Millis left = options.timeout ? *options.timeout - (clock.boot() - began) : kOneWait;
    auto task = tasks.wait(options.task, std::clamp(left, Millis{0}, kOneWait));
    if (task || left <= Millis{0}) return task;
  }
}

}  // namespace

std::string task_text(const TaskStatus& task) {
  return fields_text({{"task", shown(task.task_id)},
                      {"queue", shown(task.queue)},
                      {"state", std::string(to_string(task.state))},
                      {"attempt", task.attempt > 0 ? fmt::format("{}", task.attempt) : ""},
                      {"leased to", lease_text(task)},
                      {"failures", task.failures > 0 ? fmt::format("{}", task.failures) : ""},
                      {"priority", fmt::format("{}", task.priority)},
                      {"key", task.key ? shown(*task.key) : ""},
                      {"submitted", iso_time(task.created_at)},
                      {"not before", task.not_before ? iso_time(*task.not_before) : ""},
                      {"reason", task.reason ? shown(*task.reason) : ""},
                      {"late reports", task.late > 0 ? fmt::format("{} refused", task.late) : ""},
                      {"result", result_text(task)}});
}

int show_task(const Errand& errand, const GetOptions& options) {
  const auto task = errand.authority.tasks().get(options.task);
  if (task) return print_task(errand, *task, options.result);
  raise({.code = ErrorCode::kNoTask,
         .message = fmt::format("task {}: expected one of this id, found none", shown(options.task))});
}

int wait_for_task(const Errand& errand, const WaitOptions& options) {
  const auto task = await_task(errand.authority.tasks(), options, errand.desk.clock);
  if (!task) {
    if (errand.json) {
      errand.print_json(task, "NONE");
    } else {
      errand.desk.err << fmt::format("tenure: task {} has not ended; `tenure get` tells where it is\n",
                                     shown(options.task));
    }
    return kNotNow;
  }
  print_task(errand, *task, options.result);
  return task->state == TaskState::kCompleted ? kDone : kEndedBadly;
}

}  // namespace tenure::cli
