// Who this process says it is.
#pragma once

#include <string>

#include "base/entropy.h"

namespace tenure::cli {

// host:process
std::string worker_name();
// The same with something that no other process has, nor a later one of the same number.
std::string process_name(Entropy& entropy);

}  // namespace tenure::cli
