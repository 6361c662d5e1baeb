#include "wire/reply_reader.h"

#include <charconv>
#include <type_traits>

#include "wire/reply_shapes.h"

namespace tenure::wire {
namespace {

using Sort = RespReply::Kind;

// --- plain values ---

bool read_number(const RespReply& reply, std::int64_t& to) {
  if (reply.kind != Sort::kInteger) return false;
  const char* const end = reply.text.data() + reply.text.size();
  const auto [stop, error] = std::from_chars(reply.text.data(), end, to);
  return error == std::errc{} && stop == end;
}

bool read_plain(const RespReply& reply, std::string& to) {
  if (reply.kind != Sort::kBulk) return false;
  to = reply.text;
  return true;
}

template <std::integral T>
bool read_plain(const RespReply& reply, T& to) {
  std::int64_t number = 0;
  if (!read_number(reply, number)) return false;
  if constexpr (std::is_same_v<T, bool>) {
    to = number == 1;
    return number == 0 || number == 1;
  } else {
    to = static_cast<T>(number);
    return std::in_range<T>(number);
  }
}

bool read_plain(const RespReply& reply, Instant& to) { return read_number(reply, to.ms); }
bool read_plain(const RespReply& reply, Offset& to) { return read_number(reply, to.value); }
bool read_plain(const RespReply& reply, Fence& to) { return read_plain(reply, to.value); }

bool read_plain(const RespReply& reply, Millis& to) {
  std::int64_t number = 0;
  if (!read_number(reply, number)) return false;
  to = Millis{number};
  return true;
}

template <class T>
bool read_plain(const RespReply& reply, std::optional<T>& to) {
  to.reset();
  return reply.kind == Sort::kNull || read_plain(reply, to.emplace());
}

// --- parts ---

template <class Reply, class Get>
decltype(auto) place_of(Reply& reply, Get get) {
  return std::invoke(get, reply);
}
// One that is hidden is null.
bool read_shown_lease_id(const RespReply& value, std::string& to) {
  std::optional<std::string> shown;
  if (!read_plain(value, shown)) return false;
  to = std::move(shown).value_or("");
  return true;
}

template <class Get>
inline constexpr bool kIsPlace = std::is_member_object_pointer_v<Get> || std::is_same_v<Get, std::identity>;

template <class Reply, class Get>
bool read_value(const RespReply& value, Reply& reply, Get get) {
  if constexpr (kIsPlace<Get>) {
    return read_plain(value, place_of(reply, get));
  } else {
    static_assert(std::is_same_v<Get, decltype(&shown_lease_id)>, "a part that cannot be read back");
    return read_shown_lease_id(value, reply.lease_id);
  }
}

template <class Reply, class Get>
bool read_part(const RespReply& value, Reply& reply, const Part<Get>& part) {
  return read_value(value, reply, part.get);
}
template <class Reply, class Get>
bool read_part(const RespReply& value, Reply& reply, const BytesPart<Get>& part) {
  return read_value(value, reply, part.get);
}

bool is_one_word(const RespReply& value) { return value.kind == Sort::kBulk || value.kind == Sort::kSimple; }

// What tells nothing that another part does not tell is only checked.
template <class Reply, class Get, std::size_t N>
bool read_part(const RespReply& value, Reply& reply, const ChoicePart<Get, N>& choice) {
  const auto word = std::find(choice.words.begin(), choice.words.end(), value.text);
  if (!is_one_word(value) || word == choice.words.end()) return false;
  if constexpr (kIsPlace<Get>) {
    auto& place = place_of(reply, choice.get);
    place = static_cast<std::remove_reference_t<decltype(place)>>(word - choice.words.begin());
  }
  return true;
}

template <class Reply, class Get, class Enum>
bool read_part(const RespReply& value, Reply& reply, const EnumPart<Get, Enum>& part) {
  if (!is_one_word(value)) return false;
  for (int i = 0; i <= static_cast<int>(part.last); ++i) {
    const auto candidate = static_cast<Enum>(i);
    if (to_string(candidate) != value.text) continue;
    place_of(reply, part.get) = candidate;
    return true;
  }
  return false;
}

// --- shapes ---

template <class Reply>
bool read_shaped(const RespReply& from, Reply& to);

// Fields come in the order declared; one that does not is looked for.
const RespReply* field_of(const RespReply& map, std::size_t index, std::string_view name) {
  const std::size_t at = 2 * index;
  return at + 1 < map.items.size() && map.items[at].text == name ? &map.items[at + 1] : map.find(name);
}

template <class Reply, class... Parts>
bool read_as(const RespReply& from, Reply& to, const Map<Parts...>& map) {
  if (from.kind != Sort::kMap) return false;
  std::size_t index = 0;
  const auto read = [&](const auto& part) {
    const RespReply* value = field_of(from, index++, part.name);
    return value != nullptr && read_part(*value, to, part);
  };
  return std::apply([&](const auto&... part) { return (read(part) && ...); }, map.parts);
}

template <class Reply, class... Parts>
bool read_as(const RespReply& from, Reply& to, const Row<Parts...>& row) {
  if (from.kind != Sort::kArray || from.items.size() != sizeof...(Parts)) return false;
  std::size_t index = 0;
  return std::apply([&](const auto&... part) { return (read_part(from.items[index++], to, part) && ...); }, row.parts);
}

template <class Reply, class OnePart>
bool read_as(const RespReply& from, Reply& to, const Alone<OnePart>& alone) {
  return read_part(from, to, alone.part);
}

template <class Entry>
bool read_as(const RespReply& from, std::vector<Entry>& to, const List& /*list*/) {
  if (from.kind != Sort::kArray) return false;
  to.clear();
  to.reserve(from.items.size());
  for (const RespReply& item : from.items) {
    if (!read_shaped(item, to.emplace_back())) return false;
  }
  return true;
}

template <class Reply, class Get>
bool read_as(const RespReply& from, Reply& to, const Page<Get>& page) {
  return from.kind == Sort::kArray && from.items.size() == 2 && read_plain(from.items[0], to.cursor) &&
         read_as(from.items[1], place_of(to, page.get), List{page.noun});
}

template <class Reply, class Get>
bool read_as(const RespReply& from, Reply& to, const Hint<Get>& hint) {
  if (from.kind != Sort::kArray || from.items.empty()) return false;
  auto& offset = place_of(to, hint.get);
  offset.reset();
  if (from.items.size() == 1) return from.items[0].text == hint.none;
  return from.items.size() == 2 && from.items[0].text == hint.some && read_plain(from.items[1], offset.emplace());
}

template <class Reply>
bool read_shaped(const RespReply& from, std::optional<Reply>& to) {
  to.reset();
  if constexpr (HasShapeOfNone<Reply>) {
    if (read_as(from, to, kShapeOfNone<Reply>)) return true;
  } else {
    if (from.kind == Sort::kNull) return true;
  }
  return read_shaped(from, to.emplace());
}

template <class... Replies>
bool read_shaped(const RespReply& from, std::variant<Replies...>& to) {
  return (read_shaped(from, to.template emplace<Replies>()) || ...);
}

template <class Reply>
bool read_shaped(const RespReply& from, Reply& to) {
  if constexpr (Shaped<Reply>) {
    return read_as(from, to, kShape<Reply>);
  } else {
    return read_plain(from, to);
  }
}

// --- errors ---

// The number behind the last `words`.
std::optional<Offset> offset_behind(std::string_view words, std::string_view text) {
  const std::size_t at = text.rfind(words);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + words.size());
  Offset offset;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset.value);
  return error == std::errc{} ? std::optional(offset) : std::nullopt;
}

}  // namespace

#define TENURE_X(Reply) \
  bool read_reply(const RespReply& reply, Reply& to) { return read_shaped(reply, to); }
TENURE_WIRE_REPLIES(TENURE_X)
#undef TENURE_X

Failure read_error(std::string_view text) {
  static constexpr ErrorCode kCodes[] = {
#define TENURE_X(symbol, word, meaning) ErrorCode::symbol,
      TENURE_ERROR_CODES(TENURE_X)
#undef TENURE_X
  };
  const std::size_t blank = text.find(' ');
  const std::string_view word = text.substr(0, blank);
  for (const ErrorCode code : kCodes) {
    if (to_string(code) != word) continue;
    Failure failure{.code = code, .message = std::string(blank == text.npos ? text : text.substr(blank + 1))};
    if (code == ErrorCode::kBacklogOrder) {
      failure.expected = offset_behind("expected offset ", text);
      failure.got = offset_behind("got ", text);
    }
    return failure;
  }
  return {.code = ErrorCode::kErr, .message = std::string(text)};
}

}  // namespace tenure::wire
