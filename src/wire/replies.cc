#include "wire/replies.h"

#include "wire/reply_shapes.h"

namespace tenure::wire {
namespace {

// --- parts ---

template <class Reply, class Get>
void write_part(RespWriter& out, const Reply& reply, const Part<Get>& part) {
  out.value(std::invoke(part.get, reply));
}
template <class Reply, class Get>
void write_part(RespWriter& out, const Reply& reply, const BytesPart<Get>& part) {
  out.value(std::invoke(part.get, reply));
}
template <class Reply, class Choice>
  requires requires(const Choice& choice, const Reply& reply) { choice.word(reply); }
void write_part(RespWriter& out, const Reply& reply, const Choice& choice) {
  out.value(choice.word(reply));
}

template <class Reply, class AnyPart>
void write_field(RespWriter& out, const Reply& reply, const AnyPart& part) {
  out.name(part.name);
  write_part(out, reply, part);
}

// --- shapes ---

template <class Reply>
void write_shaped(RespWriter& out, const Reply& reply);

template <class Reply, class... Parts>
void write_as(RespWriter& out, const Reply& reply, const Map<Parts...>& map) {
  out.map(sizeof...(Parts));
  std::apply([&](const auto&... part) { (write_field(out, reply, part), ...); }, map.parts);
}

template <class Reply, class... Parts>
void write_as(RespWriter& out, const Reply& reply, const Row<Parts...>& row) {
  out.array(sizeof...(Parts));
  std::apply([&](const auto&... part) { (write_part(out, reply, part), ...); }, row.parts);
}

// A word that stands alone is one of the protocol.
template <class Reply, class OnePart>
void write_as(RespWriter& out, const Reply& reply, const Alone<OnePart>& alone) {
  if constexpr (requires { alone.part.word(reply); }) {
    out.simple(alone.part.word(reply));
  } else {
    write_part(out, reply, alone.part);
  }
}

template <class Reply>
void write_as(RespWriter& out, const Reply& reply, const List& /*list*/) {
  out.array(reply.size());
  for (const auto& entry : reply) write_shaped(out, entry);
}

template <class Reply, class Get>
void write_as(RespWriter& out, const Reply& reply, const Page<Get>& page) {
  out.array(2);
  out.value(reply.cursor);
  write_as(out, std::invoke(page.get, reply), List{page.noun});
}

template <class Reply, class Get>
void write_as(RespWriter& out, const Reply& reply, const Hint<Get>& hint) {
  const auto& offset = std::invoke(hint.get, reply);
  out.array(offset ? 2 : 1);
  out.value(offset ? hint.some : hint.none);
  if (offset) out.value(*offset);
}

template <class Reply>
void write_shaped(RespWriter& out, const std::optional<Reply>& reply) {
  if (reply) return write_shaped(out, *reply);
  if constexpr (HasShapeOfNone<Reply>) {
    write_as(out, reply, kShapeOfNone<Reply>);
  } else {
    out.null();
  }
}

template <class... Replies>
void write_shaped(RespWriter& out, const std::variant<Replies...>& reply) {
  std::visit([&](const auto& alternative) { write_shaped(out, alternative); }, reply);
}

template <class Reply>
void write_shaped(RespWriter& out, const Reply& reply) {
  if constexpr (Shaped<Reply>) {
    write_as(out, reply, kShape<Reply>);
  } else {
    out.value(reply);
  }
}

}  // namespace

#define TENURE_X(Reply) \
  void write_reply(RespWriter& out, const Reply& reply) { write_shaped(out, reply); }
TENURE_WIRE_REPLIES(TENURE_X)
#undef TENURE_X

void hide_secrets(std::optional<TaskStatus>& reply) {
  if (reply) reply->lease_id.reset();
}

void hide_secrets(std::vector<TaskAttempt>& reply) {
  for (TaskAttempt& attempt : reply) attempt.lease_id.clear();
}

}  // namespace tenure::wire
