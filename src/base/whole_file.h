// A small file, at once.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace tenure {

// Fails if it has more than `bytes_max` bytes.
Result<std::string> read_whole(Files& files, const std::string& path, std::uint64_t bytes_max);

}  // namespace tenure
