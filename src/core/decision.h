// What a decision is made from, and what it is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/inlined_vector.h>

#include <tenure/settings.h>
#include "base/entropy.h"
#include "base/hash.h"
#include "base/result.h"
#include "core/record.h"

namespace tenure {

// What the books have in common: the counters, and the sum of their entities' hashes that every `apply` keeps true,
// unless it is told to stop. One thread.
class Common {
 public:
  [[nodiscard]] Fence fence() const { return fence_; }
  [[nodiscard]] Fence next_fence(std::uint64_t ahead = 0) const { return Fence{fence_.value + 1 + ahead}; }
  [[nodiscard]] Digest entities() const { return entities_; }

  void set_fence(Fence fence) { fence_ = fence; }
  // The number of a task that is created now.
  std::uint64_t count_task() { return ++tasks_created_; }
  // From a snapshot.
  void restore(Fence fence, std::uint64_t tasks_created) {
    fence_ = fence;
    tasks_created_ = tasks_created;
  }
  [[nodiscard]] std::uint64_t tasks_created() const { return tasks_created_; }

  // Whether there are only the entities: no digest of them, and nothing that only requests ask for.
  [[nodiscard]] bool is_bare() const { return is_bare_; }
  void be_bare() { is_bare_ = true; }
  // Answers the entity's hash, for those that keep it to take it out again.
  template <class T>
  Digest put_in(Entity kind, const T& entity) {
    if (is_bare_) return {};
    const Digest digest = digest_of(kind, entity);
    entities_ += digest;
    return digest;
  }
  template <class T>
  void take_out(Entity kind, const T& entity) {
    if (!is_bare_) entities_ -= digest_of(kind, entity);
  }
  void take_out(Digest entity) { entities_ -= entity; }

  template <class V>
  void fields(V&& visit) const {
    visit("fence", fence_);
    visit("tasks_created", tasks_created_);
  }

 private:
  Fence fence_;
  std::uint64_t tasks_created_ = 0;
  Digest entities_;
  bool is_bare_ = false;
};

// Everything a decision may depend on beside the state and the request. Made by the authority, once for each decision.
struct Moment {
  Instant now;
  Entropy& entropy;
  const Settings& settings;
  std::uint64_t state_bytes;  // of all books
  bool has_room;              // in the journal, for more than finishing what was begun
  std::string& scratch;       // text made by the decision that its records view: a new task's id
};

// Most decisions make one record: it needs no memory of its own.
using Records = absl::InlinedVector<Record, 1>;

// The answer, and the facts that make it true. A decision changes nothing: `apply` does.
template <class Reply>
struct Verdict {
  Result<Reply> reply;
  Records records{};
  // The grant because of which it was refused.
  std::optional<Fence> refused_for{};
};

// New work is refused when memory or the journal is full; finishing what was begun never is.
inline bool is_full(const Moment& moment) {
  return !moment.has_room || moment.state_bytes >= moment.settings.state_bytes_max;
}
inline tl::unexpected<Failure> refuse_new_work(const Moment& moment) {
  if (!moment.has_room) return fail_with(ErrorCode::kBackpressure, "journal: expected room on its disk, found it full");
  return fail_with(ErrorCode::kBackpressure, "memory: expected less than {} bytes of state, found {}",
                   moment.settings.state_bytes_max, moment.state_bytes);
}

// The fingerprint of a request's verb and positional arguments. One thread.
class Fingerprint {
 public:
  explicit Fingerprint(std::string_view verb) : value_(hash64(verb)) {}
  Fingerprint& add(std::string_view argument) {
    value_ = hash64(argument, value_ + argument.size());
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

inline std::optional<RequestMark> mark_of(std::optional<std::string_view> request_id, std::uint64_t print) {
  if (!request_id) return std::nullopt;
  return RequestMark{*request_id, print};
}

// What `apply` answers: the invariant that the record would break, or null. A record that breaks one changes nothing.
using Broken = const char*;

}  // namespace tenure
