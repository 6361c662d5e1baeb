// Declares the commands about locks and about the domains of ordered work.
#pragma once

#include "cli/command.h"

namespace tenure::cli {

// `behind`: the words behind `--`, which are the command that `tenure lock` runs. They outlive the choice.
void add_lock_commands(CLI::App& app, PlaceOptions& place, const std::vector<std::string>& behind, Chosen& chosen);

}  // namespace tenure::cli
