// The work book: for each domain, the offsets of somebody else's log, one in flight, the others in line, none twice.
//
// Two sides that never mix: `decide` reads and answers with records; `apply` writes and is all that replay calls. The
// rest are views. One thread: the authority's mutex guards it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/btree_map.h>
#include <absl/functional/function_ref.h>

#include <tenure/settings.h>
#include <tenure/work_lease.h>
#include "base/table.h"
#include "core/archive.h"
#include "core/deadlines.h"
#include "core/decision.h"
#include "core/interval_set.h"
#include "core/late_sum.h"
#include "core/record.h"

namespace tenure {

// What belongs to an offset from its first acquisition on, also while its lease is lost.
struct InFlight {
  Offset offset;
  Instant acquired_at;
  std::uint32_t retry_count = 0;
};

struct WorkHold : InFlight {
  Token token;
  Instant expires_at = kNever;
};

// Offsets waiting for their turn. Offsets enter at the tail and leave at the head, except that one whose lease expired
// returns to the head; so their places are consecutive numbers.
class Backlog {
 public:
  [[nodiscard]] bool empty() const { return offsets_.empty(); }
  [[nodiscard]] std::uint64_t size() const { return offsets_.size(); }
  [[nodiscard]] Offset head() const { return offsets_.front(); }
  [[nodiscard]] std::uint64_t head_place() const { return head_place_; }
  // The place of an offset that waits; nullopt for one that does not.
  [[nodiscard]] std::optional<std::uint64_t> place_of(Offset offset) const;
  [[nodiscard]] Offset at(std::uint64_t place) const { return offsets_[place - head_place_]; }
  // The lowest of the waiting offsets; there must be one.
  [[nodiscard]] Offset lowest() const { return Offset{places_.begin()->first}; }

  // Each answers the place it used.
  std::uint64_t push_tail(Offset offset);
  // The first is put at this place; the others follow it.
  void restore(std::uint64_t place, Offset offset);
  std::uint64_t push_head(Offset offset);
  std::uint64_t pop_head();

 private:
  std::deque<Offset> offsets_;
  absl::btree_map<std::int64_t, std::uint64_t> places_;
  std::uint64_t head_place_ = std::uint64_t{1} << 63;
};

struct Domain : TableLink<Domain> {
  std::string name;
  std::uint64_t name_hash = 0;
  Digest digest;  // its own part of the state's if it is not late, so that it need not be made anew to be taken out
  std::uint32_t late = kNotLate;
  Alarm alarm;
  std::optional<WorkHold> hold;
  std::optional<InFlight> returned;  // the backlog's head, when its lease was lost
  IntervalSet processed;
  IntervalSet failed;
  Offset trimmed_below;
  std::unique_ptr<Backlog> backlog;  // null while nothing waits: most domains never need one

  [[nodiscard]] bool has_backlog() const { return backlog != nullptr; }
  [[nodiscard]] bool is_done(Offset offset) const {
    return offset < trimmed_below || processed.contains(offset) || failed.contains(offset);
  }
  [[nodiscard]] std::optional<Offset> hint() const {
    return has_backlog() ? std::optional(backlog->head()) : std::nullopt;
  }

  template <class V>
  void fields(V&& visit) const {
    visit("name", name);
    visit("trimmed_below", trimmed_below);
    visit("in_flight", hold.has_value());
    if (hold) {
      visit("offset", hold->offset);
      visit("acquired_at", hold->acquired_at);
      visit("retry_count", hold->retry_count);
      visit("token", hold->token);
      visit("expires_at", hold->expires_at);
    }
    visit("returned", returned.has_value());
    if (returned) {
      visit("returned_offset", returned->offset);
      visit("returned_acquired_at", returned->acquired_at);
      visit("returned_retry_count", returned->retry_count);
    }
  }
};

// The parts of a domain that are entities of their own in the digest.
struct BacklogEntry {
  std::uint64_t domain = 0;  // hash of the name
  std::uint64_t place = 0;
  Offset offset;

  template <class V>
  void fields(V&& visit) const {
    visit("domain", domain);
    visit("place", place);
    visit("offset", offset);
  }
};

struct DoneInterval {
  std::uint64_t domain = 0;  // hash of the name
  Interval interval;

  template <class V>
  void fields(V&& visit) const {
    visit("domain", domain);
    visit("first", interval.first);
    visit("last", interval.last);
  }
};

// The remembered answer to a succeed or a fail.
struct WorkAnswer {
  std::optional<Offset> next;
  std::optional<std::uint32_t> retry_count;  // RETRY_SCHEDULED

  [[nodiscard]] static std::uint64_t bytes() { return 0; }

  template <class V>
  void fields(V&& visit) const {
    visit("next", next);
    visit("retry_count", retry_count);
  }
};

// What a backlog entry, an interval and a domain take in memory, roughly.
inline constexpr std::uint64_t kBacklogBytes = 32;
inline constexpr std::uint64_t kIntervalBytes = 24;
inline constexpr std::uint64_t kDomainBytes = sizeof(Domain) + 24;

struct WorkTrim {
  std::string_view domain;
  Offset below;
};

// Trimming goes in steps of bounded cost; `complete` is false while another is needed.
struct Trimmed {
  bool complete = true;
};

class WorkBook {
 public:
  explicit WorkBook(Common& common) : common_(common), requests_(Remembered::kWorkRequest, common, archive_) {}
  WorkBook(const WorkBook&) = delete;
  WorkBook& operator=(const WorkBook&) = delete;
  ~WorkBook();

  // --- decide ---
  [[nodiscard]] Verdict<AcquireResult> decide(const WorkRequest& request, const Moment& moment) const;
  [[nodiscard]] Verdict<SucceedResult> decide(const WorkSuccess& request, const Moment& moment) const;
  [[nodiscard]] Verdict<FailResult> decide(const WorkFailure& request, const Moment& moment) const;
  [[nodiscard]] Verdict<WorkExtended> decide(const WorkExtension& request, const Moment& moment) const;
  [[nodiscard]] Verdict<Trimmed> decide(const WorkTrim& request, const Moment& moment) const;
  [[nodiscard]] static Records decide_expiry(const Domain& domain);
  // What is to be forgotten next, a frame's worth.
  [[nodiscard]] Records decide_forgetting(const Settings& settings, Instant now) const;

  // --- apply ---
  Broken apply(const record::WorkAcquired& record, Instant stamp);
  Broken apply(const record::WorkEnqueued& record, Instant stamp);
  Broken apply(const record::WorkSucceeded& record, Instant stamp);
  Broken apply(const record::WorkRetried& record, Instant stamp);
  Broken apply(const record::WorkGivenUp& record, Instant stamp);
  Broken apply(const record::WorkExtended& record, Instant stamp);
  Broken apply(const record::WorkExpired& record, Instant stamp);
  Broken apply(const record::WorkTrimmed& record, Instant stamp);
  Broken forget_request(std::string_view request_id) { return requests_.forget(request_id); }

  // --- portraits ---
  // Calls visit(Portrait) for every entity; a domain's parts come behind it.
  void visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const;
  Broken load(const portrait::Domain& from);
  Broken load(const portrait::DoneOffsets& from);
  Broken load(const portrait::BacklogEntry& from);
  Broken load(const portrait::Request& from);
  Archive& archive() { return archive_; }

  // --- time: keeps the order of what is due; no part of the state ---
  const Domain* first_expired(Instant now);
  [[nodiscard]] const Domain* expired(std::string_view name, Instant now) const;
  [[nodiscard]] Instant next_expiry() const { return expiries_.next(); }

  // --- views ---
  [[nodiscard]] const Domain* find(std::string_view domain) const;
  [[nodiscard]] std::optional<DomainStatus> inspect(std::string_view name) const;
  [[nodiscard]] Result<OffsetPage> list_backlog(std::string_view name, const Paging& paging) const;
  [[nodiscard]] Result<OffsetPage> list_failed(std::string_view name, const Paging& paging) const;
  [[nodiscard]] Result<IntervalPage> list_done(std::string_view name, const Paging& paging) const;
  [[nodiscard]] Result<DomainPage> list(const Paging& paging) const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + archive_.bytes(); }
  [[nodiscard]] const Archive& archive() const { return archive_; }
  [[nodiscard]] std::uint64_t domains() const { return domains_.size(); }

  // Calls visit(Entity, const T&) for every entity of the digest.
  template <class Visit>
  void visit_entities(const Visit& visit) const;
  // Adds those to the digest that are late.
  void sum_up() const {
    late_.clear([this](Domain& domain) { sum_up(domain); });
  }

 private:
  [[nodiscard]] static Result<const WorkHold*> claim(const Domain* domain, std::string_view name,
                                                     std::string_view token);
  [[nodiscard]] Domain* find_mutable(std::string_view domain) const { return const_cast<Domain*>(find(domain)); }
  Domain& domain_of(std::string_view name);
  // `changing` takes the domain's hash out of the digest; after `changed` it is late.
  void changing(Domain& domain) {
    if (!late_.leave(domain)) common_.take_out(domain.digest);
  }
  void changed(Domain& domain) {
    if (common_.is_bare()) return;
    if (Domain* const first = late_.join(domain)) sum_up(*first);
  }
  void sum_up(Domain& domain) const { domain.digest = common_.put_in(Entity::kDomain, domain); }
  void enter_backlog(Domain& domain, Offset offset, bool at_head);
  void leave_backlog(Domain& domain);
  void finish(Domain& domain, IntervalSet& into, Entity kind);
  void trim_intervals(Domain& domain, Offset below);
  [[nodiscard]] static Broken check_hold(const Domain* domain, Token token, Instant stamp);

  Common& common_;
  Archive archive_;
  RequestMemories<WorkAnswer> requests_;
  Table<Domain> domains_;
  mutable LateSum<Domain> late_;
  Deadlines<Domain> expiries_;
  std::uint64_t bytes_ = 0;
};

template <class Visit>
void WorkBook::visit_entities(const Visit& visit) const {
  domains_.visit_all([&](const Domain& domain) {
    visit(Entity::kDomain, domain);
    const auto intervals = [&](Entity kind, const IntervalSet& set) {
      for (const auto& [first, last] : set.map()) {
        visit(kind, DoneInterval{domain.name_hash, {Offset{first}, Offset{last}}});
      }
    };
    intervals(Entity::kProcessed, domain.processed);
    intervals(Entity::kFailedOffsets, domain.failed);
    if (!domain.has_backlog()) return;
    for (std::uint64_t i = 0; i < domain.backlog->size(); ++i) {
      const std::uint64_t place = domain.backlog->head_place() + i;
      visit(Entity::kBacklogEntry, BacklogEntry{domain.name_hash, place, domain.backlog->at(place)});
    }
  });
  requests_.visit_all([&](const auto& memory) { visit(Entity::kRequest, memory); });
}

}  // namespace tenure
