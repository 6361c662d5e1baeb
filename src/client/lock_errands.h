// Calls about locks that take more than one request: what is asked next, by the answers so far. A lost answer must not
// become a second effect, so what is decided here knows neither sockets nor clocks, and the simulator runs it, too.
#pragma once

#include <optional>

#include <tenure/locks.h>
#include "authority/requests.h"
#include "base/result.h"

namespace tenure::client {

// Whether an acquisition is to be asked for anew, under another request id: an earlier try was granted, its answer was
// lost, and so was the lock before it could be asked for again. Nobody has entered by it. An id that the caller gave
// stays the caller's.
bool is_to_ask_anew(const Result<std::optional<LockGrant>>& answer, bool is_own_id, bool is_repeated);

// Frees a lock from its holder, and from nobody else: without a fence a second try could free the next holder, so the
// present one's is asked for first. One thread.
class ForceErrand {
 public:
  ForceErrand(const LockName& lock, std::optional<Fence> fence) : lock_(lock), given_(fence), fence_(fence) {}

  // What to ask next; nullopt: who holds the lock, for `take_holder`.
  [[nodiscard]] std::optional<LockForce> next() const;
  void take_holder(const std::optional<LockStatus>& holder);
  // `is_repeated`: it was asked before, and that may have been done as well.
  void take_answer(bool is_freed, bool is_repeated);

  // Nullopt: there is more to ask. It fails where nobody can know.
  [[nodiscard]] const std::optional<Result<bool>>& result() const { return result_; }

 private:
  LockName lock_;  // borrows its texts from the caller
  std::optional<Fence> given_;
  std::optional<Fence> fence_;
  std::optional<Result<bool>> result_;
};

}  // namespace tenure::client
