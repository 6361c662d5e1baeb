// All that replay makes of a journal: the three books and what they have in common. One thread: the authority's mutex
// guards it.
#pragma once

#include <cstdint>
#include <string_view>

#include <tenure/settings.h>
#include "base/result.h"
#include "core/decision.h"
#include "core/lock_book.h"
#include "core/record.h"
#include "core/task_book.h"
#include "core/work_book.h"

namespace tenure {

class State {
 public:
  State() : tasks_(common_), work_(common_), locks_(common_) {}

  [[nodiscard]] TaskBook& tasks() { return tasks_; }
  [[nodiscard]] WorkBook& work() { return work_; }
  [[nodiscard]] LockBook& locks() { return locks_; }
  [[nodiscard]] const TaskBook& tasks() const { return tasks_; }
  [[nodiscard]] const WorkBook& work() const { return work_; }
  [[nodiscard]] const LockBook& locks() const { return locks_; }

  // The only way in. Answers the invariant that the record would break, and then changes nothing.
  Broken apply(Instant stamp, const Record& record);

  [[nodiscard]] Fence fence() const { return common_.fence(); }
  [[nodiscard]] Instant last_stamp() const { return last_stamp_; }
  [[nodiscard]] std::uint64_t bytes() const { return tasks_.bytes() + work_.bytes() + locks_.bytes(); }
  [[nodiscard]] Digest digest() const;
  // The same digest made anew from every entity; slow, for proof.
  [[nodiscard]] Digest recompute_digest() const;

  // Calls visit(Entity, const T&) for every entity of the digest.
  template <class Visit>
  void visit_entities(const Visit& visit) const {
    visit_counters(visit);
    tasks_.visit_entities(visit);
    work_.visit_entities(visit);
    locks_.visit_entities(visit);
  }

 private:
  // They change with almost every record, so their hashes are made when the digest is asked for.
  template <class Visit>
  void visit_counters(const Visit& visit) const {
    visit(Entity::kCounters, common_);
    visit(Entity::kTaskArchive, tasks_.archive());
    visit(Entity::kWorkArchive, work_.archive());
    visit(Entity::kLockArchive, locks_.archive());
  }

  Broken apply(const record::Forgotten& record);
  Broken apply(const record::FenceRaised& record);
  [[nodiscard]] Broken apply(const record::DigestTaken& record) const;

  Common common_;
  TaskBook tasks_;
  WorkBook work_;
  LockBook locks_;
  Instant last_stamp_;
};

// Decodes the records of one frame and applies them. The failure names the sequence number, the record and the
// invariant.
Result<Done> replay_frame(State& state, std::uint64_t sequence, Instant stamp, std::string_view payload);

}  // namespace tenure
