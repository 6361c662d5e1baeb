// kill, resubmit, pause and resume.
#include "cli/journal_text.h"
#include "cli/task_commands.h"

namespace tenure::cli {
namespace {

int print_done(const Errand& errand, const std::string& text) {
  if (errand.json) {
    errand.print_json(Done{});
  } else {
    errand.print("{}\n", text);
  }
  return kDone;
}

}  // namespace

int kill_task(const Errand& errand, const KillOptions& options) {
  errand.authority.tasks().kill({.task_id = options.task, .reason = options.reason});
  return print_done(errand, fmt::format("{} is DEAD: {}; a report of its worker will be refused", shown(options.task),
                                        shown(options.reason)));
}

int resubmit_task(const Errand& errand, const ResubmitOptions& options) {
  Resubmission request{.task_id = options.task};
  if (options.request_id) request.request_id = *options.request_id;
  const Submitted task = errand.authority.tasks().resubmit(request);
  if (errand.json) {
    errand.print_json(task);
  } else {
    errand.print("{}\n", task.task_id);
  }
  return kDone;
}

int pause_queue(const Errand& errand, const std::string& queue) {
  errand.authority.tasks().pause(queue);
  return print_done(errand, fmt::format("{} is paused: its tasks are not leased until `tenure resume`", shown(queue)));
}

int resume_queue(const Errand& errand, const std::string& queue) {
  errand.authority.tasks().resume(queue);
  return print_done(errand, fmt::format("{} is not paused", shown(queue)));
}

}  // namespace tenure::cli
