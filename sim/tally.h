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

// In which worlds something occurs.
enum class Where : std::uint8_t { kAny, kServer, kCluster };

// The one table of faults.
#define TENURE_SIM_FAULTS(X)                                                 \
  X(kMessageDelayed, "message delayed", kAny)                                \
  X(kMessageDropped, "message dropped", kAny)                                \
  X(kMessageDoubled, "message doubled", kAny)                                \
  X(kMessageReordered, "message overtaken by a later one", kAny)             \
  X(kRequestRepeated, "request repeated by its caller", kAny)                \
  X(kCallerCrashed, "caller crashed", kAny)                                  \
  X(kCallerStalled, "caller stalled past its lease", kAny)                   \
  X(kCallerHungUp, "caller hung up while it waited", kAny)                   \
  X(kGrantUndelivered, "grant undelivered", kAny)                            \
  X(kLateClaim, "late claim", kAny)                                          \
  X(kWrongToken, "claim with a wrong token", kAny)                           \
  X(kRepeatedClaim, "claim made twice", kAny)                                \
  X(kWrongOrder, "offset asked for out of order", kAny)                      \
  X(kForeignRequestId, "request id of another request", kAny)                \
  X(kServerKilled, "server killed", kServer)                                 \
  X(kServerClosed, "server closed in order", kServer)                        \
  X(kServerStalled, "server stalled", kServer)                               \
  X(kMachineSuspended, "machine suspended", kServer)                         \
  X(kUpkeepLate, "upkeep late", kAny)                                        \
  X(kWallJumpedAhead, "wall clock jumped ahead", kAny)                       \
  X(kWallJumpedBack, "wall clock jumped back", kAny)                         \
  X(kClockDrifted, "clock drifted", kAny)                                    \
  X(kPowerLost, "power lost: nothing unsynced arrived", kServer)             \
  X(kPowerLostLate, "power lost: everything unsynced arrived", kServer)      \
  X(kPowerLostTorn, "power lost: writes torn", kServer)                      \
  X(kPowerLostReordered, "power lost: writes reordered", kServer)            \
  X(kPowerLostGarbage, "power lost: sectors garbled", kServer)               \
  X(kPowerLostZeroed, "power lost: sectors zeroed", kServer)                 \
  X(kPowerLostInOperation, "power lost in a file operation", kServer)        \
  X(kFileFailed, "file operation failed", kServer)                           \
  X(kFileShortWrite, "write cut short", kServer)                             \
  X(kFileNoSpace, "file operation without space", kServer)                   \
  X(kDiskFull, "disk full for a while", kServer)                             \
  X(kDiskSlow, "disk slow", kServer)                                         \
  X(kRefusedEarly, "lock refused before other frames", kAny)                 \
  X(kJournalFailed, "journal failed", kServer)                               \
  X(kStartFailed, "start failed", kServer)                                   \
  X(kTailCut, "torn tail cut", kServer)                                      \
  X(kSnapshotMade, "snapshot made", kAny)                                    \
  X(kSnapshotFailed, "snapshot failed", kAny)                                \
  X(kSnapshotUsed, "start from a snapshot", kAny)                            \
  X(kReplayUsed, "start from the journal alone", kAny)                       \
  X(kRotRefused, "flipped bit: start refused", kServer)                      \
  X(kRotHarmless, "flipped bit: state unharmed", kServer)                    \
  X(kRotTail, "flipped bit: last batch taken for torn", kServer)             \
  X(kTimeLeapt, "start with a wall clock set ahead", kAny)                   \
  X(kCallerDrifted, "caller's clock drifted", kAny)                          \
  X(kConnectionCut, "connection cut", kAny)                                  \
  X(kConnectionSilent, "connection lost without a word", kAny)               \
  X(kConnectionRefused, "connection refused", kAny)                          \
  X(kCallRepeated, "call asked again, its answer lost", kAny)                \
  X(kRepeatAnswered, "call asked again, and answered as before", kAny)       \
  X(kCallUnknown, "call given up, it may have happened", kAny)               \
  X(kCallUnsent, "call given up, nothing was sent", kAny)                    \
  X(kWaitEnded, "wait ended before its time", kAny)                          \
  X(kGrantEndedUnheard, "grant ended unheard, asked for anew", kAny)         \
  X(kGrantCountedAnew, "grant counted anew after a wait", kAny)              \
  X(kGrantTooLate, "grant came after its local deadline", kAny)              \
  X(kDeadlinePassed, "local deadline passed", kAny)                          \
  X(kRenewedInTime, "lease renewed before its deadline", kAny)               \
  X(kRefusedHolder, "holder told that its lease is lost", kAny)              \
  X(kForcedUnheard, "force asked again, its answer lost", kAny)              \
  X(kNodeKilled, "node killed", kCluster)                                    \
  X(kNodeClosed, "node closed in order", kCluster)                           \
  X(kNodePaused, "node stood still", kCluster)                               \
  X(kNodeCut, "node cut from etcd", kCluster)                                \
  X(kEtcdAway, "etcd away for everybody", kCluster)                          \
  X(kEtcdRequestLost, "request to etcd lost", kCluster)                      \
  X(kEtcdReplyLost, "done by etcd, its reply lost", kCluster)                \
  X(kEtcdCallDelayed, "call to etcd delayed", kCluster)                      \
  X(kEtcdCallLate, "call to etcd delayed past a term", kCluster)             \
  X(kEtcdCallOrphaned, "done by etcd when nobody waited any more", kCluster) \
  X(kEtcdTxnRefused, "transaction whose conditions did not hold", kCluster)  \
  X(kWatchCut, "watch cut off", kCluster)                                    \
  X(kWatchCompacted, "watch of what is compacted", kCluster)                 \
  X(kKeepingStopped, "no lease kept alive for a while", kCluster)            \
  X(kGoneLeaseKept, "lease kept alive that was gone", kCluster)              \
  X(kLeaseRevokedEarly, "lease of etcd ended early", kCluster)               \
  X(kElected, "node elected", kCluster)                                      \
  X(kLeadFailed, "node elected, and could not lead", kCluster)               \
  X(kDeposed, "leader deposed", kCluster)                                    \
  X(kTookOver, "follower took over", kCluster)                               \
  X(kLeadsAgain, "leader elected again", kCluster)                           \
  X(kAnswerByDeposed, "request refused by a deposed leader", kCluster)       \
  X(kCallerMoved, "caller sent on to the leader", kCluster)                  \
  X(kNobodyLeads, "request refused, nobody known to lead", kCluster)         \
  X(kFollowed, "frames followed", kCluster)                                  \
  X(kLoadedAnew, "state loaded anew", kCluster)                              \
  X(kTermLostFrames, "term ended with frames that were lost", kCluster)

enum class Fault : std::uint8_t {
#define TENURE_X(symbol, text, where) symbol,
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
  // What never happened, and should have, in worlds of this kind.
  [[nodiscard]] std::vector<std::string> missing(Where where) const;

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
