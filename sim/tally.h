// How often everything happened that a simulation is for: faults, records, verdicts, refusals. What never happens is
// not tested, so a long run in which something is missing has failed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"
#include "request.h"

namespace tenure::sim {

// The one table of faults.
#define TENURE_SIM_FAULTS(X)                                     \
  X(kMessageDelayed, "message delayed")                          \
  X(kMessageDropped, "message dropped")                          \
  X(kMessageDoubled, "message doubled")                          \
  X(kMessageReordered, "message overtaken by a later one")       \
  X(kRequestRepeated, "request repeated by its caller")          \
  X(kCallerCrashed, "caller crashed")                            \
  X(kCallerStalled, "caller stalled past its lease")             \
  X(kCallerHungUp, "caller hung up while it waited")             \
  X(kGrantUndelivered, "grant undelivered")                      \
  X(kLateClaim, "late claim")                                    \
  X(kWrongToken, "claim with a wrong token")                     \
  X(kRepeatedClaim, "claim made twice")                          \
  X(kWrongOrder, "offset asked for out of order")                \
  X(kForeignRequestId, "request id of another request")          \
  X(kServerKilled, "server killed")                              \
  X(kServerClosed, "server closed in order")                     \
  X(kServerStalled, "server stalled")                            \
  X(kMachineSuspended, "machine suspended")                      \
  X(kUpkeepLate, "upkeep late")                                  \
  X(kWallJumpedAhead, "wall clock jumped ahead")                 \
  X(kWallJumpedBack, "wall clock jumped back")                   \
  X(kClockDrifted, "clock drifted")                              \
  X(kPowerLost, "power lost: nothing unsynced arrived")          \
  X(kPowerLostLate, "power lost: everything unsynced arrived")   \
  X(kPowerLostTorn, "power lost: writes torn")                   \
  X(kPowerLostReordered, "power lost: writes reordered")         \
  X(kPowerLostGarbage, "power lost: sectors garbled")            \
  X(kPowerLostZeroed, "power lost: sectors zeroed")              \
  X(kPowerLostInOperation, "power lost in a file operation")     \
  X(kFileFailed, "file operation failed")                        \
  X(kFileShortWrite, "write cut short")                          \
  X(kFileNoSpace, "file operation without space")                \
  X(kDiskFull, "disk full for a while")                          \
  X(kDiskSlow, "disk slow")                                      \
  X(kRefusedEarly, "lock refused before other frames")           \
  X(kJournalFailed, "journal failed")                            \
  X(kStartFailed, "start failed")                                \
  X(kTailCut, "torn tail cut")                                   \
  X(kSnapshotMade, "snapshot made")                              \
  X(kSnapshotFailed, "snapshot failed")                          \
  X(kSnapshotUsed, "start from a snapshot")                      \
  X(kReplayUsed, "start from the journal alone")                 \
  X(kRotRefused, "flipped bit: start refused")                   \
  X(kRotHarmless, "flipped bit: state unharmed")                 \
  X(kRotTail, "flipped bit: last batch taken for torn")          \
  X(kTimeLeapt, "start with a wall clock set ahead")             \
  X(kCallerDrifted, "caller's clock drifted")                    \
  X(kConnectionCut, "connection cut")                            \
  X(kConnectionSilent, "connection lost without a word")         \
  X(kConnectionRefused, "connection refused")                    \
  X(kCallRepeated, "call asked again, its answer lost")          \
  X(kRepeatAnswered, "call asked again, and answered as before") \
  X(kCallUnknown, "call given up, it may have happened")         \
  X(kCallUnsent, "call given up, nothing was sent")              \
  X(kWaitEnded, "wait ended before its time")                    \
  X(kGrantEndedUnheard, "grant ended unheard, asked for anew")   \
  X(kGrantCountedAnew, "grant counted anew after a wait")        \
  X(kGrantTooLate, "grant came after its local deadline")        \
  X(kDeadlinePassed, "local deadline passed")                    \
  X(kRenewedInTime, "lease renewed before its deadline")         \
  X(kRefusedHolder, "holder told that its lease is lost")        \
  X(kForcedUnheard, "force asked again, its answer lost")

enum class Fault : std::uint8_t {
#define TENURE_X(symbol, text) symbol,
  TENURE_SIM_FAULTS(TENURE_X)
#undef TENURE_X
};
std::string_view to_string(Fault fault);

// One thread.
class Tally {
 public:
  Tally();

  void count(Fault fault) { ++faults_[static_cast<std::size_t>(fault)]; }
  void count(const Record& record);
  // An answer: its verdict, or its refusal.
  void count(std::string_view request_text, const Reply& reply, std::string_view reply_text);
  void count_event() { ++events_; }

  [[nodiscard]] std::uint64_t events() const { return events_; }

  // As lines "kind|name|count", and the sum of two.
  [[nodiscard]] std::vector<std::string> lines() const;
  void add(std::string_view line);
  [[nodiscard]] std::string table() const;
  // What never happened.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  using Counts = std::map<std::string, std::uint64_t, std::less<>>;

  [[nodiscard]] std::map<std::string, Counts> by_kind() const;

  std::vector<std::uint64_t> faults_;
  Counts records_;
  Counts details_;  // causes and kinds within records
  Counts verdicts_;
  Counts refusals_;
  std::uint64_t events_ = 0;
};

}  // namespace tenure::sim
