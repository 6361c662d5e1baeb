// Shell completion, made from the definition of the commands: what is not declared there is not completed.
#pragma once

#include <string>

#include "cli/command.h"

namespace tenure::cli {

void add_completion_command(CLI::App& app, Chosen& chosen);

// The scripts, for a program's root.
std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

}  // namespace tenure::cli
