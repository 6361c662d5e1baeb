#include "core/state.h"

#include "base/bytes.h"
#include "base/planted.h"
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
  if (record.fence <= common_.fence() && !is_planted(PlantedBug::kFenceResetAtRestart))
    return "fence must be greater than every earlier one";
  common_.set_fence(record.fence);
  return nullptr;
}

Broken State::apply(const record::DigestTaken& record) {
  if (common_.is_bare()) {
    believed_ = record.digest;
    return nullptr;
  }
  if (record.digest != digest()) return "digest must equal the state's";
  ++digest_checks_;
  return nullptr;
}

Digest State::digest() const {
  if (common_.is_bare()) return believed_;
  tasks_.sum_up();
  work_.sum_up();
  locks_.sum_up();
  Digest sum = common_.entities();
  visit_counters([&](Entity kind, const auto& counters) { sum += digest_of(kind, counters); });
  return sum;
}

Digest State::recompute_digest() const {
  Digest sum;
  visit_entities([&](Entity kind, const auto& entity) { sum += digest_of(kind, entity); });
  return sum;
}

// --- portraits ---

void State::visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const {
  visit(portrait::Counters{.fence = common_.fence(),
                           .tasks_created = common_.tasks_created(),
                           .last_stamp = last_stamp_,
                           .tasks = tasks_.archive().portrait(),
                           .work = work_.archive().portrait(),
                           .locks = locks_.archive().portrait()});
  tasks_.visit_portraits(visit);
  work_.visit_portraits(visit);
  locks_.visit_portraits(visit);
}

Broken State::load(const Portrait& portrait) {
  return std::visit(
      [&]<class P>(const P& from) -> Broken {
        if constexpr (std::is_same_v<P, portrait::Task> || std::is_same_v<P, portrait::Attempt>) {
          return tasks_.load(from, last_stamp_);
        } else if constexpr (requires { tasks_.load(from); } && requires { work_.load(from); }) {
          switch (from.face) {
            case Remembered::kTaskRequest:
              return tasks_.load(from);
            case Remembered::kWorkRequest:
              return work_.load(from);
            case Remembered::kLockRequest:
              return locks_.load(from);
            default:
              return "a request must have a face";
          }
        } else if constexpr (requires { tasks_.load(from); }) {
          return tasks_.load(from);
        } else if constexpr (requires { work_.load(from); }) {
          return work_.load(from);
        } else if constexpr (requires { locks_.load(from); }) {
          return locks_.load(from);
        } else {
          return load(from);
        }
      },
      portrait);
}

Broken State::load(const portrait::Counters& from) {
  common_.restore(from.fence, from.tasks_created);
  last_stamp_ = from.last_stamp;
  tasks_.archive().restore(from.tasks);
  work_.archive().restore(from.work);
  locks_.archive().restore(from.locks);
  return nullptr;
}

void State::finish_loading() {
  tasks_.finish_loading();
  work_.archive().sort();
  locks_.archive().sort();
}

// --- replay ---

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
