// How often a server was started on a folder: kept in a file of its own beside the journal, which does not tell.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace tenure::server {

// Counts this start, and answers how many came before it. A count that cannot be read begins anew; one that a crash
// loses is missed by nobody but whoever counts crashes, so it is not synced.
Result<std::uint64_t> count_start(Files& files, const std::string& folder);

}  // namespace tenure::server
