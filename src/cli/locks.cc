// locks and force-unlock.
#include "cli/columns.h"
#include "cli/duration.h"
#include "cli/journal_text.h"
#include "cli/lock_commands.h"

namespace tenure::cli {

std::string locks_text(const std::vector<LockStatus>& locks, Instant now) {
  Columns columns({"DOMAIN", "LOCK", "OWNER", ">FENCE", ">HELD FOR", ">LEFT", ">HOLDS", ">WAITERS"});
  for (const LockStatus& lock : locks) {
    columns.add({shown(lock.domain), shown(lock.identifier), shown(lock.owner), std::to_string(lock.fence.value),
                 short_duration(now - lock.granted_at), short_duration(lock.remaining), std::to_string(lock.holds),
                 std::to_string(lock.waiters)});
  }
  return columns.text();
}

int list_locks(const Errand& errand, const LocksOptions& options) {
  LockListing listing{.space = options.space};
  if (options.domain) listing.domain = *options.domain;
  LockPage all{.cursor = "0", .locks = {}};
  do {
    listing.paging.cursor = all.cursor;
    LockPage page = errand.authority.locks().list(listing);
    all.cursor = page.cursor;
    for (LockStatus& lock : page.locks) all.locks.push_back(std::move(lock));
  } while (all.cursor != "0" && static_cast<std::int64_t>(all.locks.size()) < options.count);
  if (errand.json) {
    errand.print_json(all);
  } else if (all.locks.empty()) {
    errand.desk.err << "no lock is held here\n";
  } else {
    errand.desk.out << locks_text(all.locks, errand.authority.now());
    if (all.cursor != "0") errand.desk.err << "there are more: --count shows so many\n";
  }
  return kDone;
}

int force_unlock(const Errand& errand, const ForceOptions& options) {
  const LockName name{.domain = options.domain, .identifier = options.identifier, .space = options.space};
  const auto holder = find_holder(errand.authority.locks(), name);
  const auto fence = options.fence ? std::optional(Fence{*options.fence}) : std::nullopt;
  const bool is_forced = errand.authority.locks().force(name, fence);
  if (is_forced) {
    if (errand.json) {
      errand.print_json(true);
    } else {
      errand.print(
          "lock {} is free{}; the next grant has a higher fence\n", lock_name(name),
          holder ? fmt::format(", it was {}'s under fence {}", shown(holder->owner), holder->fence.value) : "");
    }
    return kDone;
  }
  const auto present = find_holder(errand.authority.locks(), name);
  if (!present) {
    complain(errand.desk, errand.json, ErrorCode::kNotFound,
             fmt::format("lock {}: expected a holder, found it free", lock_name(name)),
             "`tenure locks` shows what is held.");
    return kNotFound;
  }
  complain(errand.desk, errand.json, ErrorCode::kNotHeld,
           fmt::format("lock {}: expected it under fence {}, found it under {}, held by {}", lock_name(name),
                       options.fence.value_or(0), present->fence.value, shown(present->owner)),
           "It has another holder than you meant, and was left alone.");
  return kRefused;
}

}  // namespace tenure::cli
