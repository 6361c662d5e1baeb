// All that replay makes of a journal: the three books and what they have in common. One thread: the authority's mutex
// guards it.
#pragma once

#include <cstdint>
#include <string_view>

#include <absl/functional/function_ref.h>

#include <tenure/settings.h>
#include "base/result.h"
#include "core/decision.h"
#include "core/lock_book.h"
#include "core/portrait.h"
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
  // How often a record's digest was found to be the state's.
  [[nodiscard]] std::uint64_t digest_checks() const { return digest_checks_; }
  // The same digest made anew from every entity; slow, for proof.
  [[nodiscard]] Digest recompute_digest() const;

  // How many things were ever kept, to be forgotten in time.
  [[nodiscard]] std::uint64_t kept() const {
    return tasks_.archive().added() + work_.archive().added() + locks_.archive().added();
  }

  // --- portraits: what a snapshot keeps ---
  // Calls visit(Portrait) for every entity; owners before their parts.
  void visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const;
  // A whole snapshot is to come, of so many entities.
  void begin_loading(std::uint64_t entities) { tasks_.begin_loading(entities); }
  // Takes in one entity; the counters first, owners before their parts. Answers what is wrong with it, or null.
  Broken load(const Portrait& portrait);
  // All are in.
  void finish_loading();
  // For the maker of a snapshot, who has few of the entities and proves what was made by adding it up: from now on only
  // the entities are kept. The digest is what the last record said it was, and nobody can ask who is next, or how many.
  void be_bare() { common_.be_bare(); }

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

  Broken load(const portrait::Counters& from);
  Broken apply(const record::Forgotten& record);
  Broken apply(const record::FenceRaised& record);
  Broken apply(const record::DigestTaken& record);

  Common common_;
  TaskBook tasks_;
  WorkBook work_;
  LockBook locks_;
  Instant last_stamp_;
  std::uint64_t digest_checks_ = 0;
  Digest believed_;  // if it is not summed up here
};

// Decodes the records of one frame and applies them. The failure names the sequence number, the record and the
// invariant.
Result<Done> replay_frame(State& state, std::uint64_t sequence, Instant stamp, std::string_view payload);

}  // namespace tenure
