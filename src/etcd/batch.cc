#include "etcd/batch.h"

#include <string_view>

#include "base/text.h"
#include "journal/frame.h"

namespace tenure::etcd {
namespace {

tl::unexpected<Failure> damaged(const KeyValue& pair, const std::string& what) {
  return fail_with(ErrorCode::kInvalid, "etcd key {}: {}", pair.key, what);
}

}  // namespace

std::uint64_t seal_batch(std::string& frames, std::uint64_t first, std::uint64_t chain, std::uint64_t seed) {
  std::size_t at = 0;
  while (at < frames.size()) {
    const std::size_t size = frame_bytes(peek_frame(std::string_view(frames).substr(at)).length);
    chain = seal_frame(absl::MakeSpan(frames).subspan(at, size), first, chain, seed);
    at += size;
  }
  return chain;
}

Result<Done> visit_batch(const KeyValue& pair, std::uint64_t seed, FrameRange range, Position& position,
                         Journal::Visit visit) {
  const auto first = Keys::number_of(pair.key);
  if (!first || *first != position.next) {
    return damaged(pair, fmt::format("expected the batch that begins with frame {}, found another", position.next));
  }
  std::string_view rest = pair.value;
  if (rest.empty()) return damaged(pair, fmt::format("expected frame {}, found nothing", position.next));
  while (!rest.empty()) {
    const auto frame = parse_frame(rest, seed);
    if (!frame || frame->header.sequence != position.next || frame->header.batch != *first) {
      return damaged(pair, fmt::format("offset {}: expected frame {} of this journal, found none",
                                       pair.value.size() - rest.size(), position.next));
    }
    if (position.chain && frame->header.previous != *position.chain) {
      return damaged(pair, fmt::format("expected frame {} to follow one of checksum {}, found {}", position.next,
                                       hex16(*position.chain), hex16(frame->header.previous)));
    }
    if (position.next > range.after && position.next <= range.upto) {
      auto visited = visit({position.next, frame->header.stamp, frame->payload});
      if (!visited) return visited;
    }
    position.chain = frame->header.checksum;
    ++position.next;
    rest.remove_prefix(frame->bytes());
  }
  position.batch = *first;
  return Done{};
}

}  // namespace tenure::etcd
