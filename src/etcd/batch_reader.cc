#include "etcd/batch_reader.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace tenure::etcd {
namespace {

constexpr std::int64_t kFirstPage = 16;
constexpr std::int64_t kPageMax = 4096;
constexpr std::size_t kPageBytes = std::size_t{4} << 20;

// As many keys as the last ones' size says are a good page.
std::int64_t next_limit(const RangeAnswer& page, std::int64_t limit) {
  std::size_t bytes = 1;
  for (const KeyValue& pair : page.found) bytes += pair.value.size();
  const auto fitting = static_cast<std::int64_t>(kPageBytes * page.found.size() / bytes);
  return std::clamp<std::int64_t>(fitting, 1, std::min(limit * 4, kPageMax));
}

// Batches are dropped from the oldest on, while others read.
Result<Done> expect_no_gap(const KeyValue& pair, const Position& position) {
  const auto first = Keys::number_of(pair.key);
  if (!first || *first <= position.next) return Done{};
  return fail_with(
      ErrorCode::kUnavailable,
      "etcd: expected a batch that begins with frame {}, found that the next one begins with frame {}: what "
      "is before it was dropped behind a snapshot, or is lost",
      position.next, *first);
}

}  // namespace

tl::unexpected<Failure> failure_of(const Trouble& trouble) {
  return fail_with(ErrorCode::kUnavailable, "{}", trouble.why);
}

Result<JournalId> parse_id(const KeyValue& pair) {
  const std::string_view text = pair.value;
  const auto high = parse_hex16(text.substr(0, std::min<std::size_t>(16, text.size())));
  const auto low = text.size() == 32 ? parse_hex16(text.substr(16)) : std::nullopt;
  if (!high || !low) {
    return fail_with(ErrorCode::kInvalid, "etcd key {}: expected a journal's id of 32 hexadecimal digits, found '{}'",
                     pair.key, text);
  }
  return JournalId{*high, *low};
}

Result<RangeAnswer> BatchReader::read(Range range) const {
  auto answer = store_.range_now(std::move(range), timeout_);
  if (!answer) return failure_of(answer.error());
  return std::move(*answer);
}

Result<std::optional<JournalId>> BatchReader::id() const {
  const auto answer = read({.keys = KeyRange::one(keys_.id())});
  if (!answer) return tl::unexpected(answer.error());
  if (answer->found.empty()) return std::nullopt;
  auto id = parse_id(answer->found.front());
  if (!id) return tl::unexpected(id.error());
  return *id;
}

Result<std::optional<std::uint64_t>> BatchReader::batch_of(std::uint64_t frame) const {
  const auto answer = read({.keys = {keys_.batches().begin, keys_.batch(frame) + '\0'},
                            .limit = 1,
                            .is_descending = true,
                            .is_keys_only = true});
  if (!answer) return tl::unexpected(answer.error());
  if (answer->found.empty()) return std::nullopt;
  return Keys::number_of(answer->found.front().key);
}

Result<Position> BatchReader::find(std::uint64_t frame) const {
  const auto batch = batch_of(frame);
  if (!batch) return tl::unexpected(batch.error());
  // Either there is nothing at all, or what was wanted is not there any more; the first page shows which.
  Position position{.next = batch->value_or(frame)};
  if (position.next == 1) position.chain = 0;
  return position;
}

Result<Position> BatchReader::walk(const JournalId& id, FrameRange range, const std::optional<Position>& from,
                                   Journal::Visit visit) const {
  Result<Position> position = from ? Result<Position>(*from) : find(range.after + 1);
  if (!position) return position;
  const bool is_open = range.upto == std::numeric_limits<std::uint64_t>::max();
  const std::string end = is_open ? keys_.batches().end : keys_.batch(range.upto) + '\0';
  std::int64_t limit = kFirstPage;
  while (position->next <= range.upto) {
    const auto page = read({.keys = {keys_.batch(position->next), end}, .limit = limit});
    if (!page) return tl::unexpected(page.error());
    for (const KeyValue& pair : page->found) {
      auto done = expect_no_gap(pair, *position);
      if (done) done = visit_batch(pair, id.seed(), range, *position, visit);
      if (!done) return tl::unexpected(done.error());
    }
    if (!page->has_more) break;
    limit = next_limit(*page, limit);
  }
  if (position->next <= range.after) {
    return fail_with(ErrorCode::kInvalid, "etcd: expected frame {}, found that the journal ends with frame {}",
                     range.after, position->next - 1);
  }
  return position;
}

Result<std::optional<std::uint64_t>> BatchReader::chain_at(const JournalId& id, std::uint64_t frame) const {
  const auto see_nothing = [](const Frame&) -> Result<Done> { return Done{}; };
  const auto first = batch_of(frame);
  if (!first) return tl::unexpected(first.error());
  const std::uint64_t wanted = first->value_or(frame + 1);
  const auto answer = read({.keys = KeyRange::one(keys_.batch(wanted))});
  if (!answer) return tl::unexpected(answer.error());
  if (answer->found.empty()) return std::nullopt;
  const KeyValue& pair = answer->found.front();
  // All of it is checked.
  Position position{.next = wanted};
  if (auto sound = visit_batch(pair, id.seed(), {}, position, see_nothing); !sound)
    return tl::unexpected(sound.error());
  std::string_view rest = pair.value;
  while (!rest.empty()) {
    const FrameHeader header = peek_frame(rest);
    if (header.sequence == frame + 1) return header.previous;
    if (header.sequence == frame) return header.checksum;
    rest.remove_prefix(frame_bytes(header.length));
  }
  return fail_with(ErrorCode::kInvalid, "etcd: expected frame {}, found that the journal ends with frame {}", frame,
                   position.next - 1);
}

}  // namespace tenure::etcd
