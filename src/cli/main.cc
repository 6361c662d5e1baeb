// tenure, the command line tool.
#include <cstdio>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <tenure/version.h>
#include "cli/demo.h"
#include "cli/journal_cli.h"
#include "cli/live_demo.h"
#include "cli/user_cli.h"

namespace {

void add_demo(CLI::App& app, tenure::cli::DemoOptions& options, tenure::cli::Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("demo", "Tell how Tenure works: a lost lease, a domain's backlog, a lock that expires");
  command->add_flag("--plain", options.plain, "No colours (also when the output is no terminal)");
  command->add_option("--keep", options.keep, "Keep the journal in this folder, which is empty or missing")
      ->type_name("FOLDER");
  command->footer(
      "Examples:\n  tenure demo --keep /tmp/demo && tenure journal dump /tmp/demo\n"
      "  tenure demo --live --server 127.0.0.1:8368");
  const auto live = tenure::cli::add_live_demo(*command);
  command->callback([&, live] {
    chosen = [&, live](const tenure::cli::Desk& desk) {
      return live->is_chosen ? run_live_demo(desk, *live) : run_demo(desk, options);
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"tenure: who owns this piece of work right now, until when, and can they prove it?", "tenure"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("tenure {}", tenure::kVersion));
  app.footer(
      "Examples:\n  tenure demo                     tell the three stories, with their records and states\n"
      "  tenure demo --keep /tmp/demo    the same, and keep its journal\n"
      "  tenure journal dump /tmp/demo   every record of a journal\n"
      "  tenure user list --users users  who may sign in at a server");

  tenure::cli::Chosen chosen;
  tenure::cli::DemoOptions demo;
  add_demo(app, demo, chosen);
  add_journal_commands(app, chosen);
  add_user_commands(app, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 says that a command is missing, but not what was found in its place.
    const auto found = app.remaining(true);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !found.empty()) {
      fmt::print(stderr, "tenure: expected a command, found '{}'\n", found.front());
    }
    // Whatever is wrong with the arguments, the status is 1; it is 0 for --help and --version, if they could be read.
    const int status = app.exit(error) == 0 ? 0 : 1;
    return std::cout.flush() ? status : 1;
  }
  std::ios::sync_with_stdio(false);
  tenure::SystemClock clock;
  tenure::SystemEntropy entropy;
  try {
    return chosen({tenure::real_files(), clock, entropy, std::cout, std::cerr});
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenure: {}\n", error.what());
    return 1;
  }
}
