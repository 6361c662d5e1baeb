#include "core/next_snapshot.h"

#include <algorithm>

#include "core/record_codec.h"

namespace tenure {
namespace {

template <class R>
constexpr Remembered kFaceOf = R::kType < 20   ? Remembered::kTaskRequest
                               : R::kType < 40 ? Remembered::kWorkRequest
                                               : Remembered::kLockRequest;

std::string key_of_forgotten(const record::Forgotten& record) {
  if (record.kind == Remembered::kTask) return keys::task(record.name);
  if (record.kind == Remembered::kLostLease) return keys::lost_lease(Token::parse(record.name).value_or(Token{}));
  return keys::request(record.kind, record.name);
}

}  // namespace

Result<Done> load_pair(State& state, std::string_view key, std::string_view value) {
  ByteReader in(value);
  const auto portrait = decode_portrait(in);
  if (!portrait) return tl::unexpected(portrait.error());
  if (key_of(*portrait) != key) {
    return fail_with(ErrorCode::kInvalid, "{}: expected it under its own key, found it under another",
                     to_json(*portrait));
  }
  if (const Broken broken = state.load(*portrait)) {
    return fail_with(ErrorCode::kInvalid, "{} breaks the invariant: {}", to_json(*portrait), broken);
  }
  return Done{};
}

Result<Done> NextSnapshot::fetch(const std::string& key) {
  if (!present_.insert(key).second) return Done{};
  return fetch_(key, [&](std::string_view found, std::string_view value) { return load_pair(state_, found, value); });
}

// The counters are always there.
Result<Done> NextSnapshot::begin() {
  has_begun_ = true;
  auto fetched = fetch(keys::counters());
  state_.stand_for(last_digest_);
  return fetched;
}

// Its session is the lock's own, or the one it is granted to.
template <class R>
Result<Done> NextSnapshot::fetch_lock(const R& record) {
  auto fetched = fetch(keys::lock(record.space, record.domain, record.identifier));
  if constexpr (requires { record.session; }) {
    if (fetched && record.session) fetched = fetch(keys::session(*record.session));
  }
  const Lock* lock = state_.locks().find({record.domain, record.identifier, record.space});
  if (fetched && lock != nullptr && lock->is_bound) fetched = fetch(keys::session(lock->session()));
  return fetched;
}

Result<Done> NextSnapshot::fetch_named(const Record& record) {
  return std::visit(
      [&]<class R>(const R& fact) -> Result<Done> {
        Result<Done> fetched = Done{};
        if constexpr (std::is_same_v<R, record::Forgotten>) {
          fetched = fetch(key_of_forgotten(fact));
        } else if constexpr (std::is_same_v<R, record::LeaseExtended>) {
          fetched = fetch(keys::task(fact.task_id.value_or("")));
        } else if constexpr (requires { fact.task_id; }) {
          fetched = fetch(keys::task(fact.task_id));
        } else if constexpr (requires { fact.identifier; }) {
          fetched = fetch_lock(fact);
        } else if constexpr (requires { fact.domain; }) {
          fetched = fetch(keys::domain(fact.domain));
        } else if constexpr (requires { fact.queue; }) {
          fetched = fetch(keys::queue(fact.queue));
        }
        if constexpr (requires { fact.request; }) {
          if (fetched && fact.request) fetched = fetch(keys::request(kFaceOf<R>, fact.request->id));
        }
        return fetched;
      },
      record);
}

Result<Done> NextSnapshot::replay(std::uint64_t sequence, Instant stamp, std::string_view payload) {
  if (!has_begun_) {
    if (auto begun = begin(); !begun) return begun;
  }
  ByteReader in(payload);
  while (!in.at_end()) {
    const auto record = decode(in);
    if (!record) return fail_with(record.error().code, "sequence number {}: {}", sequence, record.error().message);
    if (auto fetched = fetch_named(*record); !fetched) return fetched;
  }
  return replay_frame(state_, sequence, stamp, payload);
}

NextSnapshot::Pairs NextSnapshot::pairs() const {
  Pairs pairs;
  state_.visit_portraits([&](const Portrait& portrait) {
    auto& [key, value] = pairs.emplace_back(key_of(portrait), "");
    encode(portrait, value);
  });
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace tenure
