// Declares the commands about tasks.
#pragma once

#include "cli/command.h"

namespace tenure::cli {

void add_task_commands(CLI::App& app, PlaceOptions& place, Chosen& chosen);

}  // namespace tenure::cli
