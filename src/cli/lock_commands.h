// The commands about locks and about the domains of ordered work; see docs/cli.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tenure/locks.h>
#include <tenure/work_lease.h>
#include "cli/errand.h"
#include "cli/signals.h"

namespace tenure::cli {

struct LockOptions {
  std::string domain{};
  std::string identifier{};
  std::string space = std::string(kDefaultSpace);
  std::vector<std::string> command{};
  Millis lease = std::chrono::seconds(30);
  std::optional<Millis> wait{};  // absent: as long as it takes
  Millis grace = std::chrono::seconds(10);
  // Members of a Hazelcast cluster that has the lock, with commas between; absent: an authority has it.
  std::optional<std::string> hazelcast{};
  std::string cluster = "dev";
};
// Where the lock is. All of it outlives the command.
struct LockErrand {
  const Desk& desk;
  LockBackend& locks;
  bool json = false;
};
// Runs a command while a lock is held. Its status, or kLost.
int run_locked(const LockErrand& errand, Signals& signals, const LockOptions& options);
// The same on the Hazelcast cluster that the options name; what is thrown is told, with what to do next.
int run_locked_on_hazelcast(const Desk& desk, const PlaceOptions& options, Signals& signals, const LockOptions& lock);

struct LocksOptions {
  std::optional<std::string> domain{};
  std::string space = std::string(kDefaultSpace);
  std::int64_t count = 1000;
};
int list_locks(const Errand& errand, const LocksOptions& options);

struct ForceOptions {
  std::string domain{};
  std::string identifier{};
  std::string space = std::string(kDefaultSpace);
  std::optional<std::uint64_t> fence{};
};
int force_unlock(const Errand& errand, const ForceOptions& options);

struct DomainOptions {
  std::optional<std::string> domain{};  // absent: the names of all
  bool backlog = false;
  bool failed = false;
  bool done = false;
  std::optional<std::int64_t> trim{};  // everything below is done
  std::int64_t count = 100;
};
int show_domain(const Errand& errand, const DomainOptions& options);

// Who holds it, as far as this user may know.
std::optional<LockStatus> find_holder(Locks& locks, const LockName& name);

// --- what they print ---

std::string lock_name(const LockName& lock);
std::string locks_text(const std::vector<LockStatus>& locks, Instant now);
std::string domain_text(const DomainStatus& domain);

}  // namespace tenure::cli
