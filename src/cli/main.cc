// tenure, the command line tool.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <tenure/version.h>
#include "cli/demo.h"

int main(int argc, char** argv) {
  CLI::App app{"tenure: who owns this piece of work right now, until when, and can they prove it?", "tenure"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("tenure {}", tenure::kVersion));
  app.footer(
      "Examples:\n  tenure demo          tell the three stories, with their records and states\n"
      "  tenure demo --plain  the same without colours");

  tenure::cli::DemoOptions demo;
  CLI::App* demo_command =
      app.add_subcommand("demo", "Tell how Tenure works: a lost lease, a domain's backlog, a lock that expires");
  demo_command->add_flag("--plain", demo.plain, "No colours (also when the output is no terminal)");

  CLI11_PARSE(app, argc, argv);
  try {
    return tenure::cli::run_demo(demo);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenure: {}\n", error.what());
    return 1;
  }
}
