// Bugs on purpose, to prove that the tests find them. In every normal build they are not there: is_planted is a
// constant, and the code behind it is left out. Two test programs alone compile the sources that mention it once more,
// with TENURE_PLANTED_BUGS, and plant one: tenure-sim-planted, which the simulator runs, and tenured-planted, a server
// for what only real processes show (tests/planted).
#pragma once

#include <cstdint>
#include <string_view>

namespace tenure {

#define TENURE_PLANTED(X)                                   \
  X(kAnswerBeforeDurable, "answer_before_durable")          \
  X(kExpiryWithoutRecord, "expiry_without_record")          \
  X(kCompletionByTaskId, "completion_by_task_id")           \
  X(kFenceResetAtRestart, "fence_reset_at_restart")         \
  X(kDeadWaiterGranted, "dead_waiter_granted")              \
  X(kAppliedNotAppended, "applied_not_appended")            \
  X(kSnapshotDropsLiveTask, "snapshot_drops_live_task")     \
  X(kTornTailInMidJournal, "torn_tail_in_mid_journal")      \
  X(kRetryCountedOnExpiry, "retry_counted_on_expiry")       \
  X(kReserveIgnored, "reserve_ignored")                     \
  X(kForgottenWithoutRecord, "forgotten_without_record")    \
  X(kRequestIdForgottenEarly, "request_id_forgotten_early") \
  X(kLeaseExpiresEarly, "lease_expires_early")              \
  X(kWaitersServedLastFirst, "waiters_served_last_first")   \
  X(kRefusedBeforeDurable, "refused_before_durable")        \
  X(kDeadlineFromAnswer, "deadline_from_answer")            \
  X(kMarginMissing, "margin_missing")                       \
  X(kFreshIdAfterLostAnswer, "fresh_id_after_lost_answer")  \
  X(kForceWithoutFence, "force_without_fence")

// Of several nodes on etcd.
#define TENURE_PLANTED_IN_CLUSTER(Z)     \
  Z(kNoEpochCompare, "no_epoch_compare") \
  Z(kBlindReappend, "blind_reappend")    \
  Z(kExpiryByStaleLeader, "expiry_by_stale_leader")

// Of the server's own folders, which the simulator does not run.
#define TENURE_PLANTED_IN_SERVER(Y)              \
  Y(kWaiterKept, "waiter_kept")                  \
  Y(kOutputWithoutLimit, "output_without_limit") \
  Y(kPermissionMissing, "permission_missing")

enum class PlantedBug : std::uint8_t {
#define TENURE_X(symbol, name) symbol,
  TENURE_PLANTED(TENURE_X) TENURE_PLANTED_IN_CLUSTER(TENURE_X) TENURE_PLANTED_IN_SERVER(TENURE_X)
#undef TENURE_X
};

#ifdef TENURE_PLANTED_BUGS
bool is_planted(PlantedBug bug);
// False: there is no bug of this name.
bool plant(std::string_view name);
#else
constexpr bool is_planted(PlantedBug /*bug*/) { return false; }
#endif

}  // namespace tenure
