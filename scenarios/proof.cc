#include "proof.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "core/record_codec.h"

namespace tenure::scenario {

void Proof::note(std::string breach) {
  if (breach_.empty()) breach_ = std::move(breach);
}

void Proof::restart(const Journal& journal) {
  shadow_ = std::make_unique<State>();
  records_ = 0;
  const auto replayed = journal.read(
      {}, [&](const Frame& frame) { return replay_frame(*shadow_, frame.sequence, frame.stamp, frame.payload); });
  if (!replayed) note(replayed.error().message);
}

void Proof::check(const State& live, Instant stamp, std::string_view bytes) {
  ++records_;
  ByteReader in(bytes);
  const auto record = decode(in);
  if (!record) return note(fmt::format("record {}: {}", records_, record.error().message));
  if (const Broken broken = shadow_->apply(stamp, *record)) {
    return note(fmt::format("record {}, {}: the replayed state refuses it: {}", records_, to_json(*record), broken));
  }
  const auto compare = [&](std::string_view what, Digest digest) {
    if (digest != live.digest()) {
      note(fmt::format("record {}, {}: the live digest differs from {}", records_, to_json(*record), what));
    }
  };
  compare("that of the replayed bytes", shadow_->digest());
  compare("the live state's, recomputed", live.recompute_digest());
  compare("the replayed state's, recomputed", shadow_->recompute_digest());
}

void Proof::check_replay(const Journal& journal, Digest live) {
  restart(journal);
  if (shadow_->digest() != live) note("the whole journal, replayed, gives another digest than the live state's");
  if (shadow_->recompute_digest() != live) note("the replayed state, recomputed, has another digest than the live one");
}

}  // namespace tenure::scenario
