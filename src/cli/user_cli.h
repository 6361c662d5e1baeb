// The command line of `tenure user ...`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace tenure::cli {

// Adds the commands to the program's; choosing one sets `chosen`, which outlives the parsing.
void add_user_commands(CLI::App& app, Chosen& chosen);

}  // namespace tenure::cli
