#include "cli/task_cli.h"

#include <iostream>
#include <iterator>
#include <unistd.h>

#include "cli/task_commands.h"

namespace tenure::cli {
namespace {

constexpr const char* kTaskId = "The task's id, as `tenure submit` printed it";

std::string read_standard_input() {
  if (::isatty(STDIN_FILENO) != 0) std::cerr << "tenure: the payload is what you type; Ctrl-D ends it\n";
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::optional<std::string>& value,
                      const std::string& what, const std::string& type = "") {
  CLI::Option* option =
      app.add_option_function<std::string>(name, [&value](const std::string& text) { value = text; }, what);
  return type.empty() ? option : option->type_name(type);
}

void add_number(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value, const std::string& what) {
  app.add_option_function<std::int64_t>(
         name, [&value](const std::int64_t& number) { value = number; }, what)
      ->type_name("N");
}

void add_submit(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<SubmitOptions> command{app.add_subcommand("submit", "Submit a task; prints its id")};
  SubmitOptions& options = *command.options;
  options.input = read_standard_input;
  command.app->add_option("queue", options.queue, "The queue")->required();
  add_text(*command.app, "payload", options.payload, "The payload; left out or `-`: standard input");
  add_text(*command.app, "--file", options.file, "The payload is what is in this file", "FILE");
  command.app->add_flag("--lines", options.lines, "One task for each line of the input");
  add_text(*command.app, "--id", options.id, "The task's id, instead of a new one", "ID");
  add_text(*command.app, "--request-id", options.request_id, "A second submission under this id is the first one",
           "ID");
  add_duration(*command.app, "--window", options.window, "The longest one attempt may take, heartbeats included [5m]");
  add_number(*command.app, "--retries", options.retries, "Failures after which it is tried again [3]");
  add_duration(*command.app, "--backoff", options.backoff, "Before the first retry, doubled for each further one [1s]");
  add_duration(*command.app, "--backoff-max", options.backoff_max, "The longest time before a retry [5m]");
  add_number(*command.app, "--attempts", options.attempts, "Given up when so many leases of it have expired");
  add_duration(*command.app, "--delay", options.delay, "Not before this time has passed");
  add_number(*command.app, "--priority", options.priority, "9 first, 0 last [4]");
  add_text(*command.app, "--key", options.key, "Tasks of one queue and key run one at a time, in order", "KEY");
  command.app->add_flag("--wait", options.wait, "Wait for its end, as `tenure wait` does");
  command.app->footer(
      "Examples:\n  tenure submit mail 'to: joe'\n  tenure submit mail --file letter.txt --delay 5m --retries 10\n"
      "  ls *.png | tenure submit thumbnails --lines\n  tenure submit mail -- '-starts with a dash'\n"
      "  tenure submit mail hello --request-id order-17   # again and again, and still one task");
  command.ask(chosen, place, submit_task);
}

void add_get(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<GetOptions> command{app.add_subcommand("get", "Show a task: its state, its holder, its result")};
  command.app->add_option("task", command.options->task, kTaskId)->required();
  command.app->add_flag("--result", command.options->result, "Write the bytes of its result, and nothing else");
  command.app->footer(
      "Examples:\n  tenure get T1\n  tenure get T1 --json | jq -r .state\n  tenure get T1 --result > out");
  command.ask(chosen, place, show_task);
}

void add_wait(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<WaitOptions> command{app.add_subcommand("wait", "Wait for a task's end, and show it")};
  command.app->add_option("task", command.options->task, kTaskId)->required();
  add_duration(*command.app, "--for", command.options->timeout, "At most so long; then status 75");
  command.app->add_flag("--result", command.options->result, "Write the bytes of its result, and nothing else");
  command.app->footer(
      "Example:\n  tenure wait T1 --for 30s && echo completed\n"
      "Status 0 if it is COMPLETED, 71 if it is FAILED or DEAD, 75 if it has not ended.");
  command.ask(chosen, place, wait_for_task);
}

void add_task_history(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<std::string> command{app.add_subcommand("history", "Draw a task's attempts: why did it run twice?")};
  command.app->add_option("task", *command.options, kTaskId)->required();
  command.app->footer(
      "Example:\n  tenure history T1\n"
      "A bar for each attempt that the authority remembers: who had it, when it was granted, how it ended, how often\n"
      "it was extended, and which late reports were refused. `tenure journal history` tells it record by record.");
  command.ask(chosen, place, show_history);
}

void add_list_tasks(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<ListOptions> command{app.add_subcommand("list", "List the queues, or the tasks of one")};
  add_text(*command.app, "queue", command.options->queue, "The queue; left out: all queues, in numbers");
  add_text(*command.app, "--state", command.options->state, "Only these: waiting, leased, completed, failed or dead",
           "STATE");
  command.app->add_option("--count", command.options->count, "At most so many [100]")->type_name("N");
  command.app->footer("Examples:\n  tenure list\n  tenure list mail --state failed --count 1000");
  command.ask(chosen, place, list_tasks);
}

void add_kill(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<KillOptions> command{app.add_subcommand("kill", "End a task for good: it is DEAD")};
  command.app->add_option("task", command.options->task, kTaskId)->required();
  command.app->add_option("--reason", command.options->reason, "Kept with the task")->type_name("TEXT");
  command.app->footer(
      "Example:\n  tenure kill T1 --reason 'sent by hand'\n"
      "A worker that has it is told at its next heartbeat; what it reports is refused.");
  command.ask(chosen, place, kill_task);
}

void add_resubmit(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<ResubmitOptions> command{
      app.add_subcommand("resubmit", "Submit a task again that has ended; prints the new one's id")};
  command.app->add_option("task", command.options->task, kTaskId)->required();
  add_text(*command.app, "--request-id", command.options->request_id,
           "A second resubmission under this id is the first one", "ID");
  command.app->footer(
      "Examples:\n  tenure resubmit T1\n"
      "  tenure list mail --state failed --json | jq -r .tasks[].task_id | xargs -n 1 tenure resubmit");
  command.ask(chosen, place, resubmit_task);
}

void add_pauses(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<std::string> pause{app.add_subcommand("pause", "Keep the tasks of a queue from being leased")};
  pause.app->add_option("queue", *pause.options, "The queue; it need not exist yet")->required();
  pause.app->footer("Example:\n  tenure pause mail\nTasks that are leased go on. It outlives a restart.");
  pause.ask(chosen, place, pause_queue);
  const Command<std::string> resume{app.add_subcommand("resume", "Lease the tasks of a paused queue again")};
  resume.app->add_option("queue", *resume.options, "The queue")->required();
  resume.app->footer("Example:\n  tenure resume mail");
  resume.ask(chosen, place, resume_queue);
}

}  // namespace

void add_task_commands(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  add_submit(app, place, chosen);
  add_get(app, place, chosen);
  add_task_history(app, place, chosen);
  add_list_tasks(app, place, chosen);
  add_wait(app, place, chosen);
  add_kill(app, place, chosen);
  add_resubmit(app, place, chosen);
  add_pauses(app, place, chosen);
}

}  // namespace tenure::cli
