#include "core/state.h"

#include "base/bytes.h"
#include "core/record_codec.h"

namespace tenure {
namespace {

template <class R>
constexpr bool kIsTaskRecord =
    R::kType < 20 || R::kType == record::QueuePaused::kType || R::kType == record::QueueResumed::kType;
template <class R>
constexpr bool kIsWorkRecord = R::kType >= 20 && R::kType < 40;
template <class R>
constexpr bool kIsLockRecord = R::kType >= 40 && R::kType < 60;

}  // namespace

Broken State::apply(Instant stamp, const Record& record) {
  if (stamp < last_stamp_) return "time must not run backwards";
  const Broken broken = std::visit(
      [&]<class R>(const R& fact) {
        if constexpr (kIsTaskRecord<R>) {
          return tasks_.apply(fact, stamp);
        } else if constexpr (kIsWorkRecord<R>) {
          return work_.apply(fact, stamp);
        } else if constexpr (kIsLockRecord<R>) {
          return locks_.apply(fact, stamp);
        } else {
          return apply(fact);
        }
      },
      record);
  if (broken == nullptr) last_stamp_ = stamp;
  return broken;
}

Broken State::apply(const record::Forgotten& record) {
  switch (record.kind) {
    case Remembered::kTask:
      return tasks_.forget_task(record.name);
    case Remembered::kTaskRequest:
      return tasks_.forget_request(record.name);
    case Remembered::kWorkRequest:
      return work_.forget_request(record.name);
    case Remembered::kLockRequest:
      return locks_.forget_request(record.name);
    case Remembered::kLostLease:
      return locks_.forget_lost(record.name);
  }
  return "kind must be known";
}

Broken State::apply(const record::FenceRaised& record) {
  if (record.fence <= common_.fence()) return "fence must be greater than every earlier one";
  common_.set_fence(record.fence);
  return nullptr;
}

Broken State::apply(const record::DigestTaken& record) const {
  return record.digest == digest() ? nullptr : "digest must equal the state's";
}

Digest State::digest() const {
  Digest sum = common_.entities();
  visit_counters([&](Entity kind, const auto& counters) { sum += digest_of(kind, counters); });
  return sum;
}

Digest State::recompute_digest() const {
  Digest sum;
  visit_entities([&](Entity kind, const auto& entity) { sum += digest_of(kind, entity); });
  return sum;
}

Result<Done> replay_frame(State& state, std::uint64_t sequence, Instant stamp, std::string_view payload) {
  ByteReader in(payload);
  while (!in.at_end()) {
    const auto record = decode(in);
    if (!record) return fail_with(record.error().code, "sequence number {}: {}", sequence, record.error().message);
    if (const Broken broken = state.apply(stamp, *record)) {
      return fail_with(ErrorCode::kInvalid, "sequence number {}: {} breaks the invariant: {}", sequence,
                       to_json(*record), broken);
    }
  }
  return Done{};
}

}  // namespace tenure
