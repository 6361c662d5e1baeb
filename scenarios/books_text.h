// The books as scenarios show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace tenure::scenario {

// One entity: its title, and a line for each thing worth knowing.
struct Portrait {
  std::string title;
  std::vector<std::string> lines;
};

// Tasks in order of submission, then domains, locks and paused queues by name.
std::vector<Portrait> portraits(const State& state);

// The task of this id, the domain of this name or the lock `domain::identifier`; what does not exist has no lines.
Portrait portrait_of(const State& state, std::string_view name);

}  // namespace tenure::scenario
