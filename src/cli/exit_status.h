// How commands end, as the shell sees it. The one table: --help prints it, docs/cli.md has it, a test compares them.
#pragma once

namespace tenure::cli {

// Those above 2 are far from what most programs use, since `tenure lock` passes on the status of its command; where
// sysexits.h has a number for the same thing it is that.
#define TENURE_EXIT_STATUSES(X)                                                                                 \
  X(kDone, 0, "done")                                                                                           \
  X(kFailed, 1, "failed for another reason than those below")                                                   \
  X(kUsage, 2, "the command line, the configuration or a value in it is wrong")                                 \
  X(kNotFound, 66, "no such task, domain or lock")                                                              \
  X(kUnavailable, 69, "the server cannot be reached, or cannot answer")                                         \
  X(kLost, 70, "the lock was lost while the command ran; the command was stopped")                              \
  X(kEndedBadly, 71, "the task that was waited for is FAILED or DEAD")                                          \
  X(kRefused, 73, "not as things stand: the task exists, has ended or has not ended")                           \
  X(kNotNow, 75, "not now: the lock is held by another, the time has passed, or a limit is reached; try again") \
  X(kNoPermission, 77, "not signed in, a wrong password, or a role is missing")                                 \
  X(kNotRunnable, 126, "the command that was to be run cannot be")                                              \
  X(kNoCommand, 127, "the command that was to be run is not found")

enum ExitStatus : int {
#define TENURE_X(symbol, number, meaning) symbol = number,
  TENURE_EXIT_STATUSES(TENURE_X)
#undef TENURE_X
};

// Of a command that a signal ended: this and the signal's number.
inline constexpr int kSignalled = 128;

}  // namespace tenure::cli
