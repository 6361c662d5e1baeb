// How a command is told a password: never as an argument, which every process of the machine can see.
#pragma once

#include "base/result.h"
#include "users/password.h"

namespace tenure::cli {

// At a terminal it is asked for twice, and not shown; otherwise it is the first line of standard input.
Result<users::Secret> ask_password();

// One that exists: asked for once, at a terminal only.
Result<users::Secret> ask_known_password();

}  // namespace tenure::cli
