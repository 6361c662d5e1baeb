// The lock book: locks by name, held by one owner at a time until released, expired, forced, or their session ended. A
// lock that nobody holds takes no memory.
//
// Two sides that never mix: `decide` reads and answers with records; `apply` writes and is all that replay calls. The
// rest are views. One thread: the authority's mutex guards it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/btree_map.h>
#include <absl/functional/function_ref.h>

#include <tenure/locks.h>
#include <tenure/settings.h>
#include "base/table.h"
#include "core/archive.h"
#include "core/deadlines.h"
#include "core/decision.h"
#include "core/late_sum.h"
#include "core/lock_watch.h"
#include "core/record.h"

namespace tenure {

// A lock that is held: one allocation, this and behind it its texts.
struct Lock : TableLink<Lock> {
  std::uint64_t name_hash = 0;
  Digest digest;  // its own part of the state's if it is not late, so that freeing need not make it anew
  Token token;
  Instant granted_at;
  Instant expires_at;
  Millis lease_time{0};
  Millis grace{0};
  Alarm alarm;
  std::uint32_t holds = 1;
  std::uint32_t late = kNotLate;
  bool has_user = false;
  bool is_bound = false;

  // With all of its texts.
  static Lock* make(const record::LockGranted& record);
  static void destroy(Lock* lock);

  [[nodiscard]] std::string_view space() const { return text(0); }
  [[nodiscard]] std::string_view domain() const { return text(1); }
  [[nodiscard]] std::string_view identifier() const { return text(2); }
  [[nodiscard]] std::string_view owner() const { return text(3); }
  [[nodiscard]] std::string_view user() const { return text(4); }
  [[nodiscard]] std::string_view session() const { return text(5); }
  [[nodiscard]] LockName name() const { return {domain(), identifier(), space()}; }
  [[nodiscard]] std::uint64_t bytes() const { return sizeof(Lock) + ends_[kTexts - 1]; }

  template <class V>
  void fields(V&& visit) const {
    visit("space", space());
    visit("domain", domain());
    visit("identifier", identifier());
    visit("owner", owner());
    visit("has_user", has_user);
    visit("user", user());
    visit("is_bound", is_bound);
    visit("session", session());
    visit("grace", grace);
    visit("token", token);
    visit("granted_at", granted_at);
    visit("expires_at", expires_at);
    visit("lease_time", lease_time);
    visit("holds", holds);
  }

 private:
  static constexpr std::size_t kTexts = 6;

  Lock() = default;
  ~Lock() = default;
  [[nodiscard]] std::string_view text(std::size_t i) const {
    const char* begin = reinterpret_cast<const char*>(this + 1);
    const std::size_t from = i == 0 ? 0 : ends_[i - 1];
    return {begin + from, ends_[i] - from};
  }

  std::uint16_t ends_[kTexts] = {};
};

// A lease that was lost, remembered for its holder's next word.
struct LostLease : Keepsake, TableLink<LostLease> {
  LostLease() : Keepsake(Remembered::kLostLease) {}

  Token token;
  std::uint64_t name_hash = 0;
  LostCause cause = LostCause::kExpired;
  std::string text;  // the token's, as Forgotten names it

  [[nodiscard]] std::uint64_t bytes() const { return sizeof(LostLease) + text.size(); }

  template <class V>
  void fields(V&& visit) const {
    visit("kept_since", kept_since);
    visit("kept_order", kept_order);
    visit("token", token);
    visit("name_hash", name_hash);
    visit("cause", cause);
  }
};

// The remembered answer to an acquire or a release.
struct LockAnswer {
  Token token;
  std::uint32_t holds = 0;

  [[nodiscard]] static std::uint64_t bytes() { return 0; }

  template <class V>
  void fields(V&& visit) const {
    visit("token", token);
    visit("holds", holds);
  }
};

// The locks bound to one session, and the grace of its latest grant.
struct BoundLocks {
  std::string session;
  Millis grace{0};
  std::uint64_t count = 0;              // of its locks,
  absl::btree_map<Fence, Lock*> locks;  // which are all here, but while a snapshot is made

  template <class V>
  void fields(V&& visit) const {
    visit("session", session);
    visit("grace", grace);
    visit("count", count);
  }
};

// An acquire as the authority sees it: with the user it came from, and the grace of its session.
struct LockAcquire : LockRequest {
  std::optional<std::string_view> user{};
  Millis grace{0};
};

struct LockGiveBack : LockRelease {
  ReleaseCause cause = ReleaseCause::kByHolder;
};

struct LockForce {
  LockName lock;
  std::optional<Fence> fence{};
};

class LockBook {
 public:
  explicit LockBook(Common& common) : common_(common), requests_(Remembered::kLockRequest, common, archive_) {}
  LockBook(const LockBook&) = delete;
  LockBook& operator=(const LockBook&) = delete;
  ~LockBook();

  // --- decide ---
  // nullopt: held by another.
  [[nodiscard]] Verdict<std::optional<LockGrant>> decide(const LockAcquire& request, const Moment& moment) const;
  [[nodiscard]] Verdict<std::uint32_t> decide(const LockGiveBack& request, const Moment& moment) const;
  [[nodiscard]] Verdict<LockExtended> decide(const LockExtension& request, const Moment& moment) const;
  [[nodiscard]] Verdict<bool> decide(const LockForce& request, const Moment& moment) const;
  [[nodiscard]] static Records decide_expiry(const Lock& lock);
  // The end of a lock's session.
  [[nodiscard]] static Records decide_disconnection(const Lock& lock);
  // What is to be forgotten next, a frame's worth.
  [[nodiscard]] Records decide_forgetting(const Settings& settings, Instant now) const;

  // --- apply ---
  Broken apply(const record::LockGranted& record, Instant stamp);
  Broken apply(const record::LockReentered& record, Instant stamp);
  Broken apply(const record::LockExtended& record, Instant stamp);
  Broken apply(const record::LockReleased& record, Instant stamp);
  Broken apply(const record::LockExpired& record, Instant stamp);
  Broken apply(const record::LockForced& record, Instant stamp);
  Broken forget_request(std::string_view request_id) { return requests_.forget(request_id); }
  Broken forget_lost(std::string_view token);

  // --- portraits ---
  // Calls visit(Portrait) for every entity.
  void visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const;
  Broken load(const portrait::Lock& from);
  Broken load(const portrait::LostLease& from);
  Broken load(const portrait::Session& from);
  Broken load(const portrait::Request& from);
  Archive& archive() { return archive_; }

  // --- time: keeps the order of what is due; no part of the state ---
  const Lock* first_expired(Instant now);
  [[nodiscard]] Instant next_expiry() const { return expiries_.next(); }

  // --- views ---
  [[nodiscard]] static std::uint64_t hash_of(const LockName& name);
  // The fingerprints of an acquire (its lock and owner) and of a release (its lock and token).
  [[nodiscard]] static std::uint64_t print_of(const LockRequest& request);
  [[nodiscard]] static std::uint64_t print_of(const LockRelease& request);
  [[nodiscard]] const Lock* find(const LockName& name) const { return find(name, hash_of(name)); }
  // Whether the answer to this request id is known.
  [[nodiscard]] bool remembers(std::string_view request_id) const { return requests_.find(request_id) != nullptr; }
  // The oldest lock bound to the session; null when there is none.
  [[nodiscard]] const Lock* first_of(std::string_view session) const;
  // Every session that has a bound lock, with the grace of its latest grant.
  [[nodiscard]] std::vector<std::pair<std::string, Millis>> sessions() const;
  [[nodiscard]] static LockStatus status(const Lock& lock, Instant now);
  [[nodiscard]] Result<LockPage> list(const LockListing& request, Instant now) const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + archive_.bytes(); }
  [[nodiscard]] const Archive& archive() const { return archive_; }
  [[nodiscard]] std::uint64_t locks() const { return locks_.size(); }

  // Tells at once of those that are held. It outlives the book, or is replaced; null: no more is told.
  void watch(LockWatch* watch);

  // Calls visit(Entity, const T&) for every entity of the digest.
  template <class Visit>
  void visit_entities(const Visit& visit) const {
    locks_.visit_all([&](const Lock& lock) { visit(Entity::kLock, lock); });
    lost_.visit_all([&](const LostLease& lost) { visit(Entity::kLostLease, lost); });
    for (const auto& [session, bound] : bound_) visit(Entity::kSession, bound);
    requests_.visit_all([&](const auto& memory) { visit(Entity::kRequest, memory); });
  }
  // Adds those to the digest that are late.
  void sum_up() const {
    late_.clear([this](Lock& lock) { sum_up(lock); });
  }

 private:
  // As Forgotten names it.
  static std::string_view name_of(const Keepsake& kept);

  // Why a token is not the present holder's: EXPIRED or NOTHELD.
  [[nodiscard]] tl::unexpected<Failure> refuse(const LockName& name, std::optional<Token> token) const;
  [[nodiscard]] const Lock* find(const LockName& name, std::uint64_t hash) const;
  [[nodiscard]] LostLease* find_lost(Token token) const;
  [[nodiscard]] Broken check_holder(const Lock* lock, Token token, Instant stamp) const;
  [[nodiscard]] Lock* find_mutable(const LockName& name) const { return const_cast<Lock*>(find(name)); }
  // `changing` takes the lock's hash out of the digest; after `changed` it is late.
  void changing(Lock& lock) {
    if (!late_.leave(lock)) common_.take_out(lock.digest);
  }
  void changed(Lock& lock) {
    if (common_.is_bare()) return;
    if (Lock* const first = late_.join(lock)) sum_up(*first);
  }
  void sum_up(Lock& lock) const { lock.digest = common_.put_in(Entity::kLock, lock); }
  void bind(Lock& lock);
  void unbind(const Lock& lock);
  void insert(Lock& lock, std::uint64_t name_hash);
  LostLease& insert_lost(Token token, std::uint64_t name_hash, LostCause cause);
  void remember_lost(const Lock& lock, LostCause cause, Instant stamp);
  void free(Lock& lock, Instant stamp, bool has_expired = false);

  Common& common_;
  LockWatch* watch_ = nullptr;
  Archive archive_;
  RequestMemories<LockAnswer> requests_;
  Table<Lock> locks_;
  mutable LateSum<Lock> late_;
  Table<LostLease> lost_;
  Deadlines<Lock> expiries_;
  absl::btree_map<std::string, BoundLocks, std::less<>> bound_;  // by session
  std::uint64_t bytes_ = 0;
};

}  // namespace tenure
