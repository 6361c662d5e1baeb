// How the files of a data folder are called.
//
//   LOCK                            held by the process that uses the folder
//   00000000000000000001.journal    a segment, by the sequence number of its first frame
//   00000000000000000123.snapshot   the state after frame 123
//   00000000000000000001.torn       what was cut off behind that sequence number, kept for whoever wants to look
//   00000000000000000001.lost       a whole segment that `tenure journal repair` has put aside
//   00000000000000000123.snapshot.lost   a snapshot of lost frames, put aside by it, too
//   STARTS                          how often a server was started on it; only tenured cares
//   *.tmp                           not finished; the next start removes what is left of them
//   UNFINISHED-COPY                 a backup or restore into the folder has begun and not ended: nobody may use it
//   UNFINISHED-REPAIR               the same of a repair; repairing again finishes it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure {

inline constexpr std::string_view kLockName = "LOCK";
inline constexpr std::string_view kSegmentSuffix = ".journal";
inline constexpr std::string_view kSnapshotSuffix = ".snapshot";
inline constexpr std::string_view kTornSuffix = ".torn";
inline constexpr std::string_view kLostSuffix = ".lost";
inline constexpr std::string_view kUnfinishedCopyName = "UNFINISHED-COPY";
inline constexpr std::string_view kUnfinishedRepairName = "UNFINISHED-REPAIR";
inline constexpr std::string_view kStartsName = "STARTS";
inline constexpr std::string_view kTemporarySuffix = ".tmp";
inline constexpr std::string_view kSpareName = "spare.tmp";          // a blank segment
inline constexpr std::string_view kNextSegmentName = "next.tmp";     // one that is getting its header
inline constexpr std::string_view kRewrittenName = "rewritten.tmp";  // a copy of the last segment
inline constexpr std::string_view kSnapshotDraftName = "snapshot.tmp";

std::string numbered_name(std::uint64_t sequence, std::string_view suffix);
// The sequence number of a name with this suffix; nullopt for any other name.
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view suffix);
std::string path_of(const std::string& folder, std::string_view name);

}  // namespace tenure
