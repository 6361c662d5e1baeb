// `tenure journal ...`: what can be done with a data folder without a server. Everything but `repair` and the folders
// that `backup` and `restore` make is read and never changed; reading works beside a running server.
//
// All but verify, restore and repair need memory for one frame, however long the journal is; those three replay it,
// which needs memory like the server's.
//
// A failure says what was expected, what was found and what to do; the command's exit status is then 1.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/result.h"
#include "cli/desk.h"

namespace tenure::cli {

// Every record as one line of JSON, with its sequence number and stamp. A torn tail is noted, damage is a failure.
struct DumpOptions {
  std::string folder;
  std::uint64_t from = 1;
  std::uint64_t to = std::numeric_limits<std::uint64_t>::max();
  bool all = false;  // also frames without records
};
Result<Done> dump_journal(const Desk& desk, const DumpOptions& options);

// Checks and replays everything, and compares every digest.
Result<Done> verify_journal(const Desk& desk, const std::string& folder);

// What the folder holds, in numbers.
struct StatOptions {
  std::string folder;
  bool json = false;
};
Result<Done> stat_journal(const Desk& desk, const StatOptions& options);

// One task's story: who leased it when, how each attempt ended, which late reports were refused.
struct HistoryOptions {
  std::string folder;
  std::string task;
  bool json = false;
};
Result<Done> tell_history(const Desk& desk, const HistoryOptions& options);

// Copies the journal into a folder that is empty or missing, up to its last whole frame, and checks the copy.
struct BackupOptions {
  std::string folder;
  std::string to;
};
Result<Done> backup_journal(const Desk& desk, const BackupOptions& options);

// Copies a backup into a folder that is empty or missing, and raises the fence there: above all that was granted since
// the backup was made.
struct RestoreOptions {
  std::string from;
  std::string folder;
};
Result<Done> restore_journal(const Desk& desk, const RestoreOptions& options);

// Cuts a damaged journal at the first bad place, keeps what was cut aside, and raises the fence. Without `accept_loss`
// it tells what would be lost, changes nothing and fails.
struct RepairOptions {
  std::string folder;
  bool accept_loss = false;
};
Result<Done> repair_journal(const Desk& desk, const RepairOptions& options);

}  // namespace tenure::cli
