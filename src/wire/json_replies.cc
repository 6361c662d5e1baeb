// Replies as JSON, and the schemas of that JSON.
#include <type_traits>

#include "base/check.h"
#include "wire/replies.h"
#include "wire/reply_shapes.h"

namespace tenure::wire {
namespace {

// --- values ---

template <class Reply, class Get>
void put_part(JsonWriter& out, const Reply& reply, const Part<Get>& part) {
  out.field(part.name, std::invoke(part.get, reply));
}
template <class Reply, class Get>
void put_part(JsonWriter& out, const Reply& reply, const BytesPart<Get>& part) {
  out.bytes(part.name, std::invoke(part.get, reply));
}
template <class Reply, class Choice>
  requires requires(const Choice& choice, const Reply& reply) { choice.word(reply); }
void put_part(JsonWriter& out, const Reply& reply, const Choice& choice) {
  out.field(choice.name, choice.word(reply));
}

void put_verdict(JsonWriter& out, std::string_view word) { out.field("verdict", word); }

template <class Reply>
void put_shaped(JsonWriter& out, const Reply& reply, std::string_view nothing = {});

template <class Reply, class... Parts>
void put_parts(JsonWriter& out, const Reply& reply, const std::tuple<Parts...>& parts) {
  out.begin_object();
  std::apply([&](const auto&... part) { (put_part(out, reply, part), ...); }, parts);
  out.end_object();
}

template <class Entries>
void put_entries(JsonWriter& out, std::string_view noun, const Entries& entries) {
  out.name(noun);
  out.begin_array();
  for (const auto& entry : entries) put_shaped(out, entry);
  out.end_array();
}

template <class Reply, class... Parts>
void put_as(JsonWriter& out, const Reply& reply, const Map<Parts...>& map, std::string_view /*nothing*/) {
  put_parts(out, reply, map.parts);
}

template <class Reply, class... Parts>
void put_as(JsonWriter& out, const Reply& reply, const Row<Parts...>& row, std::string_view /*nothing*/) {
  put_parts(out, reply, row.parts);
}

template <class Reply, class OnePart>
void put_as(JsonWriter& out, const Reply& reply, const Alone<OnePart>& alone, std::string_view /*nothing*/) {
  put_parts(out, reply, std::tuple(alone.part));
}

template <class Reply>
void put_as(JsonWriter& out, const Reply& reply, const List& list, std::string_view nothing) {
  out.begin_object();
  if (reply.empty() && !nothing.empty()) put_verdict(out, nothing);
  put_entries(out, list.noun, reply);
  out.end_object();
}

template <class Reply, class Get>
void put_as(JsonWriter& out, const Reply& reply, const Page<Get>& page, std::string_view /*nothing*/) {
  out.begin_object();
  out.field("cursor", reply.cursor);
  put_entries(out, page.noun, std::invoke(page.get, reply));
  out.end_object();
}

template <class Reply, class Get>
void put_as(JsonWriter& out, const Reply& reply, const Hint<Get>& hint, std::string_view /*nothing*/) {
  const auto& offset = std::invoke(hint.get, reply);
  out.begin_object();
  put_verdict(out, offset ? hint.some : hint.none);
  if (offset) out.field("offset", *offset);
  out.end_object();
}

template <class Reply>
void put_shaped(JsonWriter& out, const std::optional<Reply>& reply, std::string_view nothing) {
  if (reply) return put_shaped(out, *reply);
  if constexpr (HasShapeOfNone<Reply>) {
    put_as(out, reply, kShapeOfNone<Reply>, nothing);
  } else {
    TENURE_CHECK(!nothing.empty(), "expected a reply, found nil");
    out.begin_object();
    put_verdict(out, nothing);
    out.end_object();
  }
}

template <class... Replies>
void put_shaped(JsonWriter& out, const std::variant<Replies...>& reply, std::string_view /*nothing*/) {
  std::visit([&](const auto& alternative) { put_shaped(out, alternative); }, reply);
}

template <class Reply>
void put_shaped(JsonWriter& out, const Reply& reply, std::string_view nothing) {
  if constexpr (Shaped<Reply>) {
    put_as(out, reply, kShape<Reply>, nothing);
  } else {
    out.value(reply);
  }
}

// --- schemas ---

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class Value>
void put_type(JsonWriter& out) {
  if constexpr (IsOptional<Value>::value) {
    put_type<typename Value::value_type>(out);
    out.field("nullable", true);
  } else if constexpr (std::is_same_v<Value, bool>) {
    out.field("type", "boolean");
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    out.field("type", "string");
  } else {
    out.field("type", "integer");
    out.field("format", "int64");
  }
}

template <class Words>
void put_words(JsonWriter& out, const Words& words) {
  out.field("type", "string");
  out.name("enum");
  out.begin_array();
  for (const std::string_view word : words) out.value(word);
  out.end_array();
}

template <class Reply, class Get>
void put_properties(JsonWriter& out, const Part<Get>& part) {
  out.name(part.name);
  out.begin_object();
  put_type<std::remove_cvref_t<std::invoke_result_t<Get, const Reply&>>>(out);
  out.end_object();
}

template <class Reply, class Get>
void put_properties(JsonWriter& out, const BytesPart<Get>& part) {
  out.name(part.name);
  out.begin_object();
  put_type<std::remove_cvref_t<std::invoke_result_t<Get, const Reply&>>>(out);
  out.end_object();
  out.name(std::string(part.name) + "_base64");
  out.begin_object();
  out.field("type", "string");
  out.field("format", "byte");
  out.end_object();
}

template <class Reply, class Get, std::size_t N>
void put_properties(JsonWriter& out, const ChoicePart<Get, N>& part) {
  out.name(part.name);
  out.begin_object();
  put_words(out, part.words);
  out.end_object();
}

template <class Reply, class Get, class Enum>
void put_properties(JsonWriter& out, const EnumPart<Get, Enum>& part) {
  std::vector<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(part.last); ++i) words.push_back(to_string(static_cast<Enum>(i)));
  out.name(part.name);
  out.begin_object();
  put_words(out, words);
  out.end_object();
}

// Bytes stand under one of two names.
template <class OnePart>
void put_required(JsonWriter& out, const OnePart& part) {
  out.value(part.name);
}
template <class Get>
void put_required(JsonWriter& /*out*/, const BytesPart<Get>& /*part*/) {}

void begin_schema(JsonWriter& out) {
  out.begin_object();
  out.field("type", "object");
  out.field("additionalProperties", false);
}

template <class Reply, class... Parts>
void put_object_schema(JsonWriter& out, const std::tuple<Parts...>& parts) {
  begin_schema(out);
  out.name("required");
  out.begin_array();
  std::apply([&](const auto&... part) { (put_required(out, part), ...); }, parts);
  out.end_array();
  out.name("properties");
  out.begin_object();
  std::apply([&](const auto&... part) { (put_properties<Reply>(out, part), ...); }, parts);
  out.end_object();
  out.end_object();
}

void put_verdict_schema(JsonWriter& out, std::string_view word) {
  put_object_schema<Done>(out, std::tuple(verdict(word)));
}

template <class Reply>
struct SchemaOf;

template <class Reply, class... Parts>
void put_schema_as(JsonWriter& out, const Map<Parts...>& map, std::string_view /*nothing*/) {
  put_object_schema<Reply>(out, map.parts);
}
template <class Reply, class... Parts>
void put_schema_as(JsonWriter& out, const Row<Parts...>& row, std::string_view /*nothing*/) {
  put_object_schema<Reply>(out, row.parts);
}
template <class Reply, class OnePart>
void put_schema_as(JsonWriter& out, const Alone<OnePart>& alone, std::string_view /*nothing*/) {
  put_object_schema<Reply>(out, std::tuple(alone.part));
}

template <class Entry>
void put_array_schema(JsonWriter& out, std::string_view noun) {
  out.name(noun);
  out.begin_object();
  out.field("type", "array");
  out.name("items");
  SchemaOf<Entry>::put(out, {});
  out.end_object();
}

template <class Reply>
void put_schema_as(JsonWriter& out, const List& list, std::string_view nothing) {
  begin_schema(out);
  out.name("required");
  out.begin_array();
  out.value(list.noun);
  out.end_array();
  out.name("properties");
  out.begin_object();
  if (!nothing.empty()) put_properties<Reply>(out, verdict(nothing));
  put_array_schema<typename Reply::value_type>(out, list.noun);
  out.end_object();
  out.end_object();
}

template <class Reply, class Get>
void put_schema_as(JsonWriter& out, const Page<Get>& page, std::string_view /*nothing*/) {
  begin_schema(out);
  out.name("required");
  out.begin_array();
  out.value("cursor");
  out.value(page.noun);
  out.end_array();
  out.name("properties");
  out.begin_object();
  put_properties<Reply>(out, part("cursor", &Reply::cursor));
  put_array_schema<typename std::remove_cvref_t<std::invoke_result_t<Get, const Reply&>>::value_type>(out, page.noun);
  out.end_object();
  out.end_object();
}

constexpr Offset hinted(Done /*reply*/) { return {}; }

template <class Reply, class Get>
void put_schema_as(JsonWriter& out, const Hint<Get>& hint, std::string_view /*nothing*/) {
  out.begin_object();
  out.name("oneOf");
  out.begin_array();
  put_verdict_schema(out, hint.none);
  put_object_schema<Done>(out, std::tuple(verdict(hint.some), part("offset", &hinted)));
  out.end_array();
  out.end_object();
}

template <class Reply>
struct SchemaOf {
  static void put(JsonWriter& out, std::string_view nothing) {
    if constexpr (Shaped<Reply>) {
      put_schema_as<Reply>(out, kShape<Reply>, nothing);
    } else {
      out.begin_object();
      put_type<Reply>(out);
      out.end_object();
    }
  }
};

template <class Reply>
struct SchemaOf<std::optional<Reply>> {
  static void put(JsonWriter& out, std::string_view nothing) {
    constexpr bool has_none = HasShapeOfNone<Reply>;
    if (!has_none && nothing.empty()) return SchemaOf<Reply>::put(out, {});
    out.begin_object();
    out.name("oneOf");
    out.begin_array();
    SchemaOf<Reply>::put(out, {});
    if constexpr (has_none) {
      put_schema_as<Reply>(out, kShapeOfNone<Reply>, {});
    } else {
      put_verdict_schema(out, nothing);
    }
    out.end_array();
    out.end_object();
  }
};

template <class... Replies>
struct SchemaOf<std::variant<Replies...>> {
  static void put(JsonWriter& out, std::string_view /*nothing*/) {
    out.begin_object();
    out.name("oneOf");
    out.begin_array();
    (SchemaOf<Replies>::put(out, {}), ...);
    out.end_array();
    out.end_object();
  }
};

}  // namespace

#define TENURE_X(Reply)                                                                                               \
  void write_json(JsonWriter& out, const Reply& reply, std::string_view nothing) { put_shaped(out, reply, nothing); } \
  void write_schema(JsonWriter& out, const Reply* /*of*/, std::string_view nothing) {                                 \
    SchemaOf<Reply>::put(out, nothing);                                                                               \
  }
TENURE_WIRE_REPLIES(TENURE_X)
#undef TENURE_X

}  // namespace tenure::wire
