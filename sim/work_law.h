// The laws of work leases and of locks, kept apart from their books; see task_law.h.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <tenure/locks.h>
#include <tenure/work_lease.h>
#include "breach.h"
#include "core/lock_book.h"
#include "core/record.h"
#include "task_law.h"

namespace tenure::sim {

// One in flight for each domain, in order, none twice. One thread. Whatever breaks a law throws Breach.
class WorkLaw {
 public:
  void see(const record::WorkAcquired& record, Instant stamp);
  void see(const record::WorkEnqueued& record, Instant stamp);
  void see(const record::WorkSucceeded& record, Instant stamp);
  void see(const record::WorkRetried& record, Instant stamp);
  void see(const record::WorkGivenUp& record, Instant stamp);
  void see(const record::WorkExtended& record, Instant stamp);
  void see(const record::WorkExpired& record, Instant stamp);
  void see(const record::WorkTrimmed& record, Instant stamp);

  void judge(const WorkRequest& request, const AcquireResult& reply) const;
  void judge(const WorkSuccess& request) const;

  // A domain with something in flight or in line.
  [[nodiscard]] std::optional<std::string> find_open() const;

 private:
  struct Hold {
    Offset offset;
    Token token;
    Instant expires_at = kNever;
    std::uint32_t retries = 0;
  };
  struct Facts {
    std::optional<Hold> hold;
    std::deque<Offset> backlog;
    std::set<Offset> done;  // processed or failed
    Offset trimmed_below;
    std::set<Token, ByGrant> succeeded;

    [[nodiscard]] bool is_done(Offset offset) const { return offset < trimmed_below || done.contains(offset); }
    [[nodiscard]] bool is_in_line(Offset offset) const;
  };

  Facts& held(std::string_view domain, Token token, Instant stamp);
  void finish(Facts& domain, std::string_view name, Offset offset);

  std::map<std::string, Facts, std::less<>> domains_;
};

// One holder for each lock. One thread. Whatever breaks a law throws Breach.
class LockLaw {
 public:
  void see(const record::LockGranted& record, Instant stamp);
  void see(const record::LockReentered& record, Instant stamp);
  void see(const record::LockExtended& record, Instant stamp);
  void see(const record::LockReleased& record, Instant stamp);
  void see(const record::LockExpired& record, Instant stamp);
  void see(const record::LockForced& record, Instant stamp);

  void judge(const LockAcquire& request, const LockGrant& grant) const;
  void judge(const LockGiveBack& request) const;

  // The session that the lock is bound to, if it is.
  [[nodiscard]] std::optional<std::string> session_of(const record::LockReleased& record) const;
  // A lock that is held.
  [[nodiscard]] std::optional<std::string> find_open() const;

 private:
  struct Facts {
    Token token;
    std::uint32_t holds = 1;
    Instant expires_at;
    std::optional<std::string> session{};
  };

  using Locks = std::map<std::string, Facts, std::less<>>;
  Locks::iterator held(const std::string& name, Token token);
  Locks::iterator held(const std::string& name, Token token, Instant stamp);

  Locks locks_;
  std::set<Token, ByGrant> released_;  // once or more, by their holders
};

}  // namespace tenure::sim
