// The steps that backup, restore and repair have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/journal_reader.h"

namespace tenure::cli {

// A copy is made into a folder that is empty or missing.
Result<Done> expect_new_folder(Files& files, const std::string& folder);
Result<Done> make_new_folder(Files& files, const std::string& folder);

// A file whose presence says that the folder must not be used yet; durable before it answers.
Result<Done> mark(Files& files, const std::string& folder, std::string_view name);
Result<Done> unmark(Files& files, const std::string& folder, std::string_view name);

// Copies what was read, behind the snapshot of the frame `base` or all of it (0), into a folder that is empty or
// missing, and checks the copy. The folder is then marked as an unfinished copy; see file_names.h. Answers how many
// snapshots were copied.
Result<std::uint64_t> copy_journal(const Desk& desk, const JournalReader& reader, std::uint64_t base,
                                   const JournalEnd& end, const std::string& to);

// Opens the folder, unfinished as it may be, as a server would, lifts its fence above all that may have been granted
// and lost, and closes it cleanly. Answers the fence.
Result<Fence> raise_fence_in(const Desk& desk, const std::string& folder, std::uint64_t segment_bytes);

}  // namespace tenure::cli
