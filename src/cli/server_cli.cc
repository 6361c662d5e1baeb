#include "cli/server_cli.h"

#include "cli/bench.h"
#include "cli/server_commands.h"
#include "cli/top.h"

namespace tenure::cli {
namespace {

struct Nothing {};

void add_status(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<Nothing> command{app.add_subcommand("status", "Tell how the server is")};
  command.app->footer(
      "Examples:\n  tenure status\n  tenure status --json | jq .journal.durable_frame\n"
      "--json has all that INFO tells, by section.");
  command.ask(chosen, place, [](const Errand& errand, const Nothing&) { return show_status(errand); });
}

void add_top(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<TopOptions> command{app.add_subcommand("top", "Watch queues, workers, locks and rates")};
  add_duration(*command.app, "--interval", command.options->interval, "Between two looks [1s]");
  command.app->add_flag("--once", command.options->once, "One view, as lines (also when there is no terminal)");
  add_place(*command.app, place);
  command.app->footer(
      "Examples:\n  tenure top\n  tenure top --interval 250ms\n  tenure top --once\nq or Ctrl-C quits.");
  command.app->callback([&chosen, &place, kept = command.options] {
    if (kept->interval < Millis{10}) throw CLI::ValidationError("--interval", "expected 10ms or more");
    chosen = [&place, kept](const Desk& desk) {
      Signals signals({SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP});
      return run_errand(desk, place, [&](const Errand& errand) { return show_top(errand, signals, *kept); }, &signals);
    };
  });
}

void add_bench(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  const Command<BenchOptions> command{app.add_subcommand("bench", "Put a load on a server, and measure its answers")};
  BenchOptions& options = *command.options;
  command.app->add_option("what", options.what, "tasks: submit, lease, complete; locks: acquire, release [tasks]")
      ->check(CLI::IsMember({"tasks", "locks"}).description(""));
  add_duration(*command.app, "--for", options.time, "How long [5s]");
  command.app->add_option("--threads", options.threads, "So many at a time, each waiting for its answer [8]")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""));
  command.app->add_option("--payload", options.payload_bytes, "Bytes of each payload [100]")->type_name("N");
  add_place(*command.app, place);
  command.app->footer(
      "Examples:\n  tenure bench\n  tenure bench locks --threads 64 --for 30s\n  tenure bench --json | jq .p99_ms\n"
      "It uses a queue and a lock domain of its own, named bench-..., and completes what it has submitted. Ctrl-C "
      "ends\n"
      "it early, with what was measured until then. See docs/benchmarks.md for what the figures mean.");
  command.app->callback([&chosen, &place, kept = command.options] {
    chosen = [&place, kept](const Desk& desk) {
      Signals signals({SIGINT, SIGTERM});
      return run_errand(desk, place, [&](const Errand& errand) { return run_bench(errand, signals, *kept); }, &signals);
    };
  });
}

}  // namespace

void add_server_commands(CLI::App& app, PlaceOptions& place, Chosen& chosen) {
  add_status(app, place, chosen);
  add_top(app, place, chosen);
  add_bench(app, place, chosen);
}

}  // namespace tenure::cli
