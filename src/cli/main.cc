// tenure, the command line tool.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <tenure/version.h>
#include "cli/completion.h"
#include "cli/demo.h"
#include "cli/exit_status.h"
#include "cli/journal_cli.h"
#include "cli/live_demo.h"
#include "cli/lock_cli.h"
#include "cli/server_cli.h"
#include "cli/task_cli.h"
#include "cli/user_cli.h"
#include "cli/work_cli.h"

namespace {

struct DemoChoice {
  tenure::cli::DemoOptions told{};
  tenure::cli::LiveDemoOptions live{};
  bool is_live = false;

  [[nodiscard]] int run(const tenure::cli::Desk& desk, const tenure::cli::PlaceOptions& place) const {
    if (!is_live) return run_demo(desk, told);
    const tenure::cli::Signals signals({SIGINT, SIGTERM, SIGHUP});
    return run_errand(
        desk, place, [&](const tenure::cli::Errand& errand) { return run_live_demo(errand, signals, live); }, &signals);
  }
};

void add_demo(CLI::App& app, tenure::cli::PlaceOptions& place, tenure::cli::Chosen& chosen) {
  const tenure::cli::Command<DemoChoice> command{
      app.add_subcommand("demo", "Tell how Tenure works: a lost lease, a domain's backlog, a lock that expires")};
  DemoChoice& options = *command.options;
  command.app->add_flag("--plain", options.told.plain, "No colours (also when the output is no terminal)");
  command.app->add_option("--keep", options.told.keep, "Keep the journal in this folder, which is empty or missing")
      ->type_name("FOLDER");
  auto* live =
      command.app->add_flag("--live", options.is_live, "Fill a running server with work instead, for its console");
  command.app->add_option("--pace", options.live.pace, "How busy it is, with --live: 1 is for people to follow")
      ->needs(live)
      ->type_name("X");
  tenure::cli::add_duration(*command.app, "--for", options.live.time, "How long, with --live [until Ctrl-C]")
      ->needs(live);
  add_place(*command.app, place);
  command.app->footer(
      "Examples:\n  tenure demo --keep /tmp/demo && tenure journal dump /tmp/demo\n"
      "  tenure demo --live --server 127.0.0.1:8368");
  command.app->callback([&chosen, &place, kept = command.options] {
    // No range: it lets nan pass.
    if (!(kept->live.pace >= 0.1 && kept->live.pace <= 100)) {
      throw CLI::ValidationError("--pace", "expected 0.1 to 100");
    }
    chosen = [&place, kept](const tenure::cli::Desk& desk) { return kept->run(desk, place); };
  });
}

// The words behind `--` of a command that runs another: CLI11 would take some of them apart. They are taken out of
// `words`, which it gets.
std::vector<std::string> take_command(const CLI::App& app, std::vector<std::string>& words) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto command = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(commands.begin(), commands.end(), [&](const CLI::App* one) { return one->get_name() == word; });
  });
  if (command == words.end() || (*command != "lock" && *command != "work")) return {};
  const auto mark = std::find(command, words.end(), "--");
  if (mark == words.end()) return {};
  std::vector<std::string> behind(mark + 1, words.end());
  words.erase(mark, words.end());
  return behind;
}

std::string footer_text() {
  std::string text =
      "Examples:\n"
      "  tenured --data /tmp/t &                     a server on this machine\n"
      "  tenure submit mail hello                    a task for it\n"
      "  tenure list                                 what is there\n"
      "  tenure demo                                 three stories, with their records and states\n"
      "`tenure COMMAND --help` has more. TENURE_SERVER, TENURE_USER, TENURE_CA and so on, and lines of\n"
      "~/.config/tenure.conf, stand for flags that are not given.\n"
      "Exit status:\n";
#define TENURE_X(symbol, number, meaning) text += fmt::format("  {:<6} {}\n", number, meaning);
  TENURE_EXIT_STATUSES(TENURE_X)
#undef TENURE_X
  return text + fmt::format("  {:<6} the command was ended by the signal N", "128+N");
}

// CLI11 names neither the program nor what it found in the place of a command.
std::string failure_text(const CLI::App* app, const CLI::Error& error) {
  std::string what = error.what();
  if (what == CLI::RequiredError::Subcommand(1).what()) {
    const auto found = app->remaining(true);
    what =
        found.empty() ? "expected a command, found none" : fmt::format("expected a command, found '{}'", found.front());
  }
  return fmt::format("tenure: {}\nRun with --help for more information.\n", what);
}

}  // namespace

int main(int argc, char** argv) {
  tenure::fill_standard_descriptors();
  CLI::App app{"tenure: who owns this piece of work right now, until when, and can they prove it?", "tenure"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("tenure {}", tenure::kVersion));
  app.footer(footer_text());
  app.failure_message(failure_text);

  tenure::cli::Chosen chosen;
  tenure::cli::PlaceOptions place;
  add_place(app, place);
  add_task_commands(app, place, chosen);
  std::vector<std::string> behind;
  add_work_command(app, place, behind, chosen);
  add_lock_commands(app, place, behind, chosen);
  add_server_commands(app, place, chosen);
  add_demo(app, place, chosen);
  add_completion_command(app, chosen);
  add_journal_commands(app, chosen);
  add_user_commands(app, chosen);

  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    behind = take_command(app, words);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    // Whatever is wrong with the arguments, the status is the same; it is 0 for --help and --version, if they could be
    // read.
    const int status = app.exit(error) == 0 ? tenure::cli::kDone : tenure::cli::kUsage;
    return std::cout.flush() ? status : tenure::cli::kFailed;
  }
  std::ios::sync_with_stdio(false);
  tenure::SystemClock clock;
  tenure::SystemEntropy entropy;
  try {
    return chosen({tenure::real_files(), clock, entropy, std::cout, std::cerr});
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenure: {}\n", error.what());
    return tenure::cli::kFailed;
  }
}
