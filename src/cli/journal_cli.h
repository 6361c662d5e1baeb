// The command line of `tenure journal ...`.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "cli/desk.h"

namespace tenure::cli {

// What was chosen; called once the command line is parsed. Answers the exit status.
using Chosen = std::function<int(const Desk& desk)>;

// Adds the commands to the program's; choosing one sets `chosen`, which outlives the parsing.
void add_journal_commands(CLI::App& app, Chosen& chosen);

}  // namespace tenure::cli
