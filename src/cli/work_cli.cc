#include "cli/work_cli.h"

#include "cli/work_command.h"

namespace tenure::cli {

void add_work_command(CLI::App& app, PlaceOptions& place, const std::vector<std::string>& behind, Chosen& chosen) {
  const Command<WorkOptions> command{
      app.add_subcommand("work", "Run a command for each task of a queue: tenure work --queue QUEUE -- COMMAND...")};
  WorkOptions& options = *command.options;
  command.app->add_option("--queue", options.queues, "The queue; may be given again, the first is emptied first")
      ->required()
      ->allow_extra_args(false)
      ->type_name("QUEUE");
  command.app->add_option("--name", options.name, "This worker's name [HOST:PROCESS]")->type_name("NAME");
  command.app->add_option("--concurrency", options.concurrency, "So many tasks at a time [1]")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""));
  add_duration(*command.app, "--lease", options.lease,
               "A task whose worker has died is given to another after so long; renewed while the command runs [30s]");
  add_duration(*command.app, "--grace", options.grace,
               "For a command that must stop: the time from SIGTERM to SIGKILL [10s]");
  command.app->add_option("--count", options.count, "End after so many tasks [never]")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000000).description(""));
  command.app->add_flag("--result", options.result, "What the command writes to standard output is the task's result");
  command.app
      ->add_option("--final-status", options.final_statuses,
                   "An exit status of the command after which the task is not tried again; may be given again")
      ->allow_extra_args(false)
      ->type_name("N");
  command.app->add_flag("--quiet", options.quiet, "No line for each task");
  add_place(*command.app, place);
  command.app->footer(
      "Examples:\n  tenure work --queue thumbnails -- xargs convert -resize 100x100\n"
      "  tenure work --queue mail --concurrency 4 --result -- ./send.sh\n"
      "The command gets the payload on standard input, and TENURE_TASK, TENURE_QUEUE, TENURE_ATTEMPT and TENURE_FENCE "
      "in\n"
      "its environment. Exit status 0 completes the task, any other fails it, to be tried again if it has retries "
      "left.\n"
      "A command may run twice for one task: give the fence to what it writes to. Ctrl-C or SIGTERM finishes the "
      "tasks\n"
      "under way and ends with status 0; a second one stops their commands, and the tasks are tried again.");
  command.app->callback([&chosen, &place, &behind, kept = command.options] {
    if (behind.empty()) throw CLI::ValidationError("work", "expected a command behind --, found none");
    for (const std::string& queue : kept->queues) {
      if (queue.empty()) throw CLI::ValidationError("--queue", "expected a name, found none");
    }
    kept->command = behind;
    chosen = [&place, kept](const Desk& desk) {
      Signals signals({SIGINT, SIGTERM, SIGHUP});
      return run_errand(desk, place, [&](const Errand& errand) { return do_work(errand, signals, *kept); }, &signals);
    };
  });
}

}  // namespace tenure::cli
