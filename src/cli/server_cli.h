// Declares the commands about a server as a whole.
#pragma once

#include "cli/command.h"

namespace tenure::cli {

void add_server_commands(CLI::App& app, PlaceOptions& place, Chosen& chosen);

}  // namespace tenure::cli
