#include "authority/snapshots.h"

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "core/next_snapshot.h"
#include "core/snapshot_sum.h"

namespace tenure {
namespace {

std::string bytes_of(Digest digest) {
  std::string bytes;
  ByteWriter out(bytes, 16);
  out.fixed64(digest.high());
  out.fixed64(digest.low());
  return bytes;
}

Digest digest_in(std::string_view bytes) {
  ByteReader in(bytes);
  const std::uint64_t high = in.fixed64();
  return {high, in.fixed64()};
}

// What the last one says, with what is newer in its place.
Result<Done> merge(Snapshot* last, const NextSnapshot& next, SnapshotDraft& draft, Effort& effort) {
  const auto pairs = next.pairs();
  auto pair = pairs.begin();
  const auto add_before = [&](const std::string_view* key) -> Result<Done> {
    for (; pair != pairs.end() && (key == nullptr || pair->first < *key); ++pair) {
      if (auto added = draft.add(pair->first, pair->second); !added) return added;
    }
    return effort.go_on();
  };
  if (last != nullptr) {
    auto visited = last->visit("", [&](std::string_view key, std::string_view value) -> Result<Done> {
      if (auto added = add_before(&key); !added) return added;
      return next.replaces(key) ? Done{} : draft.add(key, value);
    });
    if (!visited) return visited;
  }
  return add_before(nullptr);
}

// Read again, all of it, it must add up to the digest that the journal has for its frame.
Result<Done> prove(Snapshot& snapshot, Effort& effort) {
  SnapshotSum sum;
  auto read = snapshot.visit("", [&](std::string_view key, std::string_view value) -> Result<Done> {
    if (auto going = effort.go_on(); !going) return going;
    return sum.add(key, value);
  });
  if (read && sum.digest() != digest_in(snapshot.digest())) {
    read = fail_with(ErrorCode::kInvalid, "expected that it adds up to the journal's digest, found another");
  }
  if (read || effort.is_given_up()) return read;
  return fail_with(read.error().code, "snapshot of frame {}, read again: {}", snapshot.sequence(),
                   read.error().message);
}

}  // namespace

Result<Done> load_snapshot(Snapshot& snapshot, State& state) {
  state.begin_loading(snapshot.pairs());
  auto loaded =
      snapshot.visit("", [&](std::string_view key, std::string_view value) { return load_pair(state, key, value); });
  if (loaded) {
    state.finish_loading();
    if (!is_of(snapshot, state)) loaded = fail_with(ErrorCode::kInvalid, "its digest is not that of what it holds");
  }
  if (loaded) return loaded;
  return fail_with(loaded.error().code, "snapshot of frame {}: {}", snapshot.sequence(), loaded.error().message);
}

Result<Done> load_snapshot(const Snapshots& snapshots, std::uint64_t sequence, State& state) {
  const auto snapshot = snapshots.open(sequence);
  return snapshot ? load_snapshot(**snapshot, state) : tl::unexpected(snapshot.error());
}

bool is_of(const Snapshot& snapshot, const State& state) { return digest_in(snapshot.digest()) == state.digest(); }

Result<std::unique_ptr<Snapshot>> newest_good_snapshot(const Snapshots& snapshots) {
  const auto list = snapshots.list();
  if (!list) return tl::unexpected(list.error());
  for (const std::uint64_t sequence : *list) {
    auto snapshot = snapshots.open(sequence);
    if (snapshot && (*snapshot)->verify()) return snapshot;
  }
  return nullptr;
}

tl::unexpected<Failure> without(const std::vector<std::string>& passed_over, const Failure& failure) {
  std::string text = failure.message;
  for (const std::string& why : passed_over) text += fmt::format(". A snapshot was passed over: {}", why);
  return fail_with(failure.code, "{}", text);
}

Result<Done> make_snapshot(Journal& journal, std::uint64_t sequence, Effort effort) {
  Snapshots* const snapshots = journal.snapshots();
  TENURE_CHECK(snapshots != nullptr, "a journal that keeps no snapshots");
  if (auto going = effort.go_on(); !going) return going;
  const auto last = newest_good_snapshot(*snapshots);
  if (!last) return tl::unexpected(last.error());
  Snapshot* const base = last->get();
  const FrameRange since{.after = base == nullptr ? 0 : base->sequence(), .upto = sequence};
  if (since.after >= sequence) return Done{};

  const auto fetch = [&](std::string_view prefix, const NextSnapshot::VisitPair& visit) -> Result<Done> {
    return base == nullptr ? Done{} : base->visit(prefix, visit);
  };
  NextSnapshot next(fetch);
  const bool is_small = base == nullptr || base->pairs() <= sequence - since.after;
  auto done = is_small ? next.take_all() : journal.read(since, [&](const Frame& frame) -> Result<Done> {
    if (auto going = effort.go_on(); !going) return going;
    return next.foresee(frame.sequence, frame.payload);
  });
  // The last of these frames has the digest.
  if (done) {
    done = journal.read(since, [&](const Frame& frame) -> Result<Done> {
      if (auto going = effort.go_on(); !going) return going;
      return next.replay(frame.sequence, frame.stamp, frame.payload);
    });
  }
  if (!done) return done;
  const auto draft = snapshots->begin(sequence);
  if (!draft) return tl::unexpected(draft.error());
  if (auto merged = merge(base, next, **draft, effort); !merged) return merged;
  const auto complete = (*draft)->complete(bytes_of(next.digest()));
  if (!complete) return tl::unexpected(complete.error());
  done = prove(**complete, effort);
  if (done) done = (*draft)->publish();
  if (done && base != nullptr) done = snapshots->drop_before(base->sequence());
  return done;
}

}  // namespace tenure
