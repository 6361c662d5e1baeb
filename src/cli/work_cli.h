// Declares `tenure work`.
#pragma once

#include "cli/command.h"

namespace tenure::cli {

// `behind`: the words behind `--`, which are the command it runs. They outlive the choice.
void add_work_command(CLI::App& app, PlaceOptions& place, const std::vector<std::string>& behind, Chosen& chosen);

}  // namespace tenure::cli
