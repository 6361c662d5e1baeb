// What a command works with: the world outside, so that tests can give it another.
#pragma once

#include <ostream>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/files.h"

namespace tenure::cli {

// All of it outlives the command.
struct Desk {
  Files& files;
  const Clock& clock;
  Entropy& entropy;
  std::ostream& out;  // what was asked for
  std::ostream& err;  // notes, progress, errors
};

// The command's exit status; a failure is told on `err`, also that of writing to `out`.
int finish(const Desk& desk, const Result<Done>& result);

}  // namespace tenure::cli
