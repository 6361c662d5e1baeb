// What has ended and is still remembered, oldest first: terminal tasks, answers to request ids, lost lock leases. The
// archive decides nothing by itself: upkeep asks it what is overdue, and only the record Forgotten takes something out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tenure/settings.h>
#include "base/check.h"
#include "base/hash.h"
#include "base/table.h"
#include "core/decision.h"
#include "core/portrait.h"
#include "core/record.h"

namespace tenure {

// What a remembered entity carries; derive from it.
struct Keepsake {
  explicit Keepsake(Remembered what) : kind(what) {}

  Remembered kind;
  Instant kept_since;
  std::uint64_t kept_order = 0;  // consecutive in its archive, from 1
  std::uint64_t kept_bytes = 0;
  Keepsake* older = nullptr;
  Keepsake* newer = nullptr;
};

// Does not own its keepsakes. One thread.
class Archive {
 public:
  void add(Keepsake& keepsake, Instant since, std::uint64_t bytes) {
    keepsake.kept_since = since;
    keepsake.kept_order = ++added_;
    keepsake.kept_bytes = bytes;
    bytes_ += bytes;
    link(keepsake);
  }

  [[nodiscard]] Keepsake* oldest() const { return oldest_; }
  [[nodiscard]] std::uint64_t count() const { return added_ - dropped_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // How many were ever added.
  [[nodiscard]] std::uint64_t added() const { return added_; }

  // By its order, not by who else is here: a snapshot is made with few of them present.
  [[nodiscard]] bool is_oldest(const Keepsake& keepsake) const { return keepsake.kept_order == dropped_ + 1; }

  void drop(Keepsake& keepsake) {
    TENURE_CHECK(is_oldest(keepsake), "keepsake {} after {}", keepsake.kept_order, dropped_);
    ++dropped_;
    bytes_ -= keepsake.kept_bytes;
    (keepsake.older == nullptr ? oldest_ : keepsake.older->newer) = keepsake.newer;
    (keepsake.newer == nullptr ? newest_ : keepsake.newer->older) = keepsake.older;
  }

  // --- from a snapshot ---
  // Its keepsakes, in any order,
  void restore(Keepsake& keepsake, const portrait::Keeping& kept, std::uint64_t bytes) {
    keepsake.kept_since = kept.since;
    keepsake.kept_order = kept.order;
    keepsake.kept_bytes = bytes;
    bytes_ += bytes;
    link(keepsake);
  }
  void restore(const portrait::Kept& counters) {
    added_ = counters.added;
    dropped_ = counters.dropped;
  }
  // and, when all of them are here, puts the oldest first.
  void sort();

  [[nodiscard]] portrait::Kept portrait() const { return {added_, dropped_}; }

  // A keepsake that grew after it was added.
  void grow(Keepsake& keepsake, std::uint64_t by) {
    keepsake.kept_bytes += by;
    bytes_ += by;
  }

  // Whether the oldest is beyond a limit.
  [[nodiscard]] bool is_over(const Settings& settings, Instant now) const {
    return oldest_ != nullptr && is_over(*oldest_, count(), bytes_, settings, now);
  }

  // Whether forgetting is worth its while: something is too old, or so much too many that they are forgotten together.
  [[nodiscard]] bool is_forgetting_due(const Settings& settings, Instant now) const {
    return oldest_ != nullptr && is_over(*oldest_, without_surplus(count()), without_surplus(bytes_), settings, now);
  }

  // Calls visit(Keepsake) for those to be forgotten now, the oldest first, no more than a frame should hold.
  template <class Visit>
  void visit_overdue(const Settings& settings, Instant now, const Visit& visit) const {
    if (!is_forgetting_due(settings, now)) return;
    std::uint64_t visited = 0;
    std::uint64_t bytes = bytes_;
    for (const Keepsake* next = oldest_; next != nullptr && visited < kForgottenTogether; next = next->newer) {
      if (!is_over(*next, count() - visited, bytes, settings, now)) return;
      visit(*next);
      ++visited;
      bytes -= next->kept_bytes;
    }
  }

  // What is visited in one go, at most.
  static constexpr std::uint64_t kForgottenTogether = 64;

  // When the oldest has been kept for the retention time.
  [[nodiscard]] Instant due(const Settings& settings) const {
    return oldest_ == nullptr ? kNever : oldest_->kept_since + settings.retention_time;
  }

  template <class V>
  void fields(V&& visit) const {
    visit("added", added_);
    visit("dropped", dropped_);
  }

 private:
  // Of many, a 128th more than the limit may be kept for a while.
  static std::uint64_t without_surplus(std::uint64_t amount) { return amount - amount / 128; }

  // Whether a keepsake, being the oldest of so many, is beyond a limit.
  static bool is_over(const Keepsake& oldest, std::uint64_t count, std::uint64_t bytes, const Settings& settings,
                      Instant now) {
    return count > settings.retention_count || bytes > settings.retention_bytes ||
           now > oldest.kept_since + settings.retention_time;
  }

  void link(Keepsake& keepsake) {
    keepsake.older = newest_;
    keepsake.newer = nullptr;
    (newest_ == nullptr ? oldest_ : newest_->newer) = &keepsake;
    newest_ = &keepsake;
  }

  Keepsake* oldest_ = nullptr;
  Keepsake* newest_ = nullptr;
  std::uint64_t added_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t bytes_ = 0;
};

// The answer that was given to a request id.
template <class Answer>
struct RequestMemory : Keepsake, TableLink<RequestMemory<Answer>> {
  using Keepsake::Keepsake;

  std::string id;
  std::uint64_t print = 0;
  Answer answer;

  template <class V>
  void fields(V&& visit) const {
    visit("id", id);
    visit("print", print);
    visit("kept_since", this->kept_since);
    visit("kept_order", this->kept_order);
    answer.fields(visit);
  }
};

// The answers of one face, by request id. Owns them. One thread.
template <class Answer>
class RequestMemories {
 public:
  using Memory = RequestMemory<Answer>;

  RequestMemories(Remembered kind, Common& common, Archive& archive)
      : kind_(kind), common_(common), archive_(archive) {}
  RequestMemories(const RequestMemories&) = delete;
  RequestMemories& operator=(const RequestMemories&) = delete;
  ~RequestMemories() {
    table_.visit_all([](Memory& memory) { delete &memory; });
  }

  [[nodiscard]] Memory* find(std::string_view id) const {
    return table_.find(hash_of(id), [&](const Memory& memory) { return memory.id == id; });
  }

  [[nodiscard]] bool is_new(const std::optional<RequestMark>& mark) const { return !mark || find(mark->id) == nullptr; }

  // The remembered answer to a request that bears an id; null when it is new. INVALID when the id belongs to another.
  [[nodiscard]] Result<const Memory*> recall(std::optional<std::string_view> id, std::uint64_t print) const {
    const Memory* memory = id ? find(*id) : nullptr;
    if (memory != nullptr && memory->print != print) {
      return fail_with(ErrorCode::kInvalid,
                       "request id '{}': expected the request it was first used for, found another", *id);
    }
    return memory;
  }

  void remember(const std::optional<RequestMark>& mark, Instant now, Answer answer) {
    if (!mark) return;
    auto* memory = new Memory(kind_);
    memory->id = mark->id;
    memory->print = mark->print;
    memory->answer = std::move(answer);
    table_.insert(*memory, hash_of(mark->id));
    archive_.add(*memory, now, sizeof(Memory) + memory->id.size() + memory->answer.bytes());
    common_.put_in(Entity::kRequest, *memory);
  }

  // From a snapshot.
  Broken restore(const portrait::Request& from, Answer answer) {
    if (find(from.id) != nullptr) return "request id must be new";
    auto* memory = new Memory(kind_);
    memory->id = from.id;
    memory->print = from.print;
    memory->answer = std::move(answer);
    table_.insert(*memory, hash_of(from.id));
    archive_.restore(*memory, from.kept, sizeof(Memory) + memory->id.size() + memory->answer.bytes());
    common_.put_in(Entity::kRequest, *memory);
    return nullptr;
  }

  // Calls visit(portrait::Request, Answer) for each; what is particular to the answer is the caller's to fill in.
  template <class Visit>
  void visit_portraits(const Visit& visit) const {
    table_.visit_all([&](const Memory& memory) {
      visit(portrait::Request{kind_, memory.id, memory.print, {memory.kept_since, memory.kept_order}}, memory.answer);
    });
  }

  // Changes an answer that is there; change(Answer&).
  template <class Change>
  void amend(Memory& memory, const Change& change) {
    common_.take_out(Entity::kRequest, memory);
    const std::uint64_t before = memory.answer.bytes();
    change(memory.answer);
    archive_.grow(memory, memory.answer.bytes() - before);
    common_.put_in(Entity::kRequest, memory);
  }

  // The oldest keepsake, if it is this request; the archive lets go of it.
  Broken forget(std::string_view id) {
    Memory* memory = find(id);
    if (memory == nullptr) return "the request must be remembered";
    if (!archive_.is_oldest(*memory)) return "what is forgotten must be the oldest";
    archive_.drop(*memory);
    common_.take_out(Entity::kRequest, *memory);
    table_.remove(*memory);
    delete memory;
    return nullptr;
  }

  template <class Visit>
  void visit_all(const Visit& visit) const {
    table_.visit_all(visit);
  }

 private:
  static std::uint32_t hash_of(std::string_view id) { return static_cast<std::uint32_t>(hash64(id)); }

  const Remembered kind_;
  Common& common_;
  Archive& archive_;
  Table<Memory> table_;
};

}  // namespace tenure
