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
#include "cli/lock_cli.h"
#include "cli/server_cli.h"
#include "cli/task_cli.h"
#include "cli/user_cli.h"
#include "cli/work_cli.h"

namespace {

void add_demo(CLI::App& app, tenure::cli::DemoOptions& options, tenure::cli::Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("demo", "Tell how Tenure works: a lost lease, a domain's backlog, a lock that expires");
  command->add_flag("--plain", options.plain, "No colours (also when the output is no terminal)");
  command->add_option("--keep", options.keep, "Keep the journal in this folder, which is empty or missing")
      ->type_name("FOLDER");
  command->footer("Example:\n  tenure demo --keep /tmp/demo && tenure journal dump /tmp/demo");
  command->callback([&] { chosen = [&](const tenure::cli::Desk& desk) { return run_demo(desk, options); }; });
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
      "`tenure COMMAND --help` has more. TENURE_SERVER, TENURE_USER, TENURE_PASSWORD_FILE, TENURE_TIMEOUT and\n"
      "~/.config/tenure.conf stand for flags that are not given.\n"
      "Exit status:\n";
#define TENURE_X(symbol, number, meaning) text += fmt::format("  {:<6} {}\n", number, meaning);
  TENURE_EXIT_STATUSES(TENURE_X)
#undef TENURE_X
  return text + fmt::format("  {:<6} the command was ended by the signal N", "128+N");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"tenure: who owns this piece of work right now, until when, and can they prove it?", "tenure"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("tenure {}", tenure::kVersion));
  app.footer(footer_text());

  tenure::cli::Chosen chosen;
  tenure::cli::DemoOptions demo;
  tenure::cli::PlaceOptions place;
  add_place(app, place);
  add_task_commands(app, place, chosen);
  std::vector<std::string> behind;
  add_work_command(app, place, behind, chosen);
  add_lock_commands(app, place, behind, chosen);
  add_server_commands(app, place, chosen);
  add_demo(app, demo, chosen);
  add_completion_command(app, chosen);
  add_journal_commands(app, chosen);
  add_user_commands(app, chosen);

  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    behind = take_command(app, words);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    // CLI11 says that a command is missing, but not what was found in its place.
    const auto found = app.remaining(true);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !found.empty()) {
      fmt::print(stderr, "tenure: expected a command, found '{}'\n", found.front());
    }
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
