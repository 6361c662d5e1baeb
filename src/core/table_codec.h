// Structs with a table of fields (record.h) as bytes and as JSON. The one packing of records and of portraits; the
// grammar is in record_codec.h.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "base/text.h"
#include "core/record.h"

namespace tenure::table_codec {

enum Kind : std::uint8_t { kVarint = 0, kBytes = 1 };

// Of what is not known here.
inline constexpr std::string_view kNewer = "a newer version has written it, upgrade this one";

template <class T>
concept Nested = requires { T::table(); };

// --- how each type of value is packed ---

// The last word of each enum that stands in a record.
constexpr std::uint64_t last_of(TaskState) { return static_cast<std::uint64_t>(TaskState::kDead); }
constexpr std::uint64_t last_of(ReleaseCause) { return static_cast<std::uint64_t>(ReleaseCause::kUndelivered); }
constexpr std::uint64_t last_of(Remembered) { return static_cast<std::uint64_t>(Remembered::kLostLease); }
constexpr std::uint64_t last_of(AttemptOutcome) { return static_cast<std::uint64_t>(AttemptOutcome::kKilled); }
constexpr std::uint64_t last_of(LostCause) { return static_cast<std::uint64_t>(LostCause::kUndelivered); }

template <class T>
  requires std::is_enum_v<T> || std::unsigned_integral<T>
constexpr std::uint64_t to_word(T value) {
  return static_cast<std::uint64_t>(value);
}
constexpr std::uint64_t to_word(Instant value) { return zigzag(value.ms); }
constexpr std::uint64_t to_word(Millis value) { return zigzag(value.count()); }
constexpr std::uint64_t to_word(Fence value) { return value.value; }
constexpr std::uint64_t to_word(Offset value) { return zigzag(value.value); }

template <class T>
concept Word = requires(T value) { to_word(value); };

// False if the word does not fit the type.
template <class T>
bool from_word(std::uint64_t word, T& value) {
  if constexpr (std::is_enum_v<T>) {
    if (word > last_of(T{})) return false;
    value = static_cast<T>(word);
  } else if constexpr (std::unsigned_integral<T>) {
    if (word > std::numeric_limits<T>::max()) return false;
    value = static_cast<T>(word);
  } else if constexpr (std::same_as<T, Instant>) {
    value = Instant{unzigzag(word)};
  } else if constexpr (std::same_as<T, Millis>) {
    value = Millis{unzigzag(word)};
  } else if constexpr (std::same_as<T, Fence>) {
    value = Fence{word};
  } else {
    static_assert(std::same_as<T, Offset>);
    value = Offset{unzigzag(word)};
  }
  return true;
}

constexpr std::size_t kPairBytes = 16;  // tokens and digests: two fixed integers

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
constexpr std::uint32_t tag_of(std::uint32_t number, bool required) {
  return number << 3 | (required ? 4U : 0U) | (Word<T> ? kVarint : kBytes);
}

template <Nested T>
std::size_t table_size(const T& value);
template <Nested T>
void write_table(ByteWriter& out, const T& value);

inline std::size_t body_size(std::string_view value) { return value.size(); }
inline std::size_t body_size(Token) { return kPairBytes; }
inline std::size_t body_size(Digest) { return kPairBytes; }
template <Nested T>
std::size_t body_size(const T& value) {
  return table_size(value);
}

template <class T>
std::size_t value_size(const T& value) {
  if constexpr (Word<T>) {
    return varint_size(to_word(value));
  } else {
    const std::size_t size = body_size(value);
    return varint_size(size) + size;
  }
}

inline void write_pair(ByteWriter& out, std::uint64_t first, std::uint64_t second) {
  out.varint(kPairBytes);
  out.fixed64(first);
  out.fixed64(second);
}

template <class T>
void write_value(ByteWriter& out, const T& value) {
  if constexpr (Word<T>) {
    out.varint(to_word(value));
  } else if constexpr (std::same_as<T, Token>) {
    write_pair(out, value.fence.value, value.secret);
  } else if constexpr (std::same_as<T, Digest>) {
    write_pair(out, value.high(), value.low());
  } else if constexpr (Nested<T>) {
    out.varint(table_size(value));
    write_table(out, value);
  } else {
    out.bytes(value);
  }
}

// Calls visit(number, name, value, required) for every field that is present.
template <Nested T, class Visit>
void visit_present(const T& value, const Visit& visit) {
  static constexpr auto kTable = T::table();
  std::apply(
      [&](const auto&... fields) {
        const auto one = [&](const auto& field) {
          const auto& member = value.*field.member;
          if constexpr (IsOptional<std::remove_cvref_t<decltype(member)>>::value) {
            if (member) visit(field.number, field.name, *member, false);
          } else {
            visit(field.number, field.name, member, true);
          }
        };
        (one(fields), ...);
      },
      kTable);
}

template <Nested T>
std::size_t table_size(const T& value) {
  std::size_t size = 0;
  visit_present(value, [&](std::uint32_t number, std::string_view, const auto& member, bool required) {
    size += varint_size(tag_of<std::remove_cvref_t<decltype(member)>>(number, required)) + value_size(member);
  });
  return size;
}

template <Nested T>
void write_table(ByteWriter& out, const T& value) {
  visit_present(value, [&](std::uint32_t number, std::string_view, const auto& member, bool required) {
    out.varint(tag_of<std::remove_cvref_t<decltype(member)>>(number, required));
    write_value(out, member);
  });
}

// --- decoding ---
//
// These answer whether all is well, and otherwise say in `fault` what is wrong: records are decoded a million a second,
// and a Result handed up from every field would cost more than reading it.

template <Nested T>
bool read_table(ByteReader& in, T& value, std::string& fault);

inline bool unreadable(std::string& fault, std::string_view field, std::string_view what) {
  fault = fmt::format("field {}: {}", field, what);
  return false;
}

template <class T>
bool read_value(ByteReader& in, std::string_view name, T& value, std::string& fault) {
  if constexpr (Word<T>) {
    if (!from_word(in.varint(), value)) return unreadable(fault, name, "a number out of its range");
  } else if constexpr (std::same_as<T, std::string_view>) {
    value = in.bytes();
  } else if constexpr (std::same_as<T, Token> || std::same_as<T, Digest>) {
    ByteReader pair(in.bytes());
    const std::uint64_t first = pair.fixed64();
    const std::uint64_t second = pair.fixed64();
    if (in.ok() && !(pair.ok() && pair.at_end())) return unreadable(fault, name, "expected 16 bytes");
    if constexpr (std::same_as<T, Token>) {
      value = Token{Fence{first}, second};
    } else {
      value = Digest{first, second};
    }
  } else {
    ByteReader body(in.bytes());
    if (!read_table(body, value, fault) && in.ok()) return false;
  }
  if (!in.ok()) unreadable(fault, name, "the bytes end within it");
  return in.ok();
}

// Skips a field that this version does not know.
inline bool skip_value(ByteReader& in, std::uint64_t tag, std::string& fault) {
  if ((tag & 4) != 0) {
    fault = fmt::format("unknown required field {}: {}", tag >> 3, kNewer);
    return false;
  }
  if ((tag & 3) == kVarint) {
    in.varint();
  } else if ((tag & 3) == kBytes) {
    in.bytes();
  } else {
    fault = fmt::format("field {}: unknown kind {}", tag >> 3, tag & 3);
    return false;
  }
  if (!in.ok()) fault = fmt::format("field {}: the bytes end within it", tag >> 3);
  return in.ok();
}

template <class Owner, class M>
bool read_member(ByteReader& in, const Field<Owner, M>& field, Owner& value, std::string& fault) {
  auto& member = value.*field.member;
  if constexpr (IsOptional<M>::value) {
    return read_value(in, field.name, member.emplace(), fault);
  } else {
    return read_value(in, field.name, member, fault);
  }
}

template <class Owner, class M>
constexpr std::uint32_t tag_of(const Field<Owner, M>& field) {
  if constexpr (IsOptional<M>::value) {
    return tag_of<typename M::value_type>(field.number, false);
  } else {
    return tag_of<M>(field.number, true);
  }
}

// The numbers of the fields that must be there, as bits.
template <Nested T>
constexpr std::uint64_t required_of() {
  const auto bit = []<class Owner, class M>(const Field<Owner, M>& field) {
    return IsOptional<M>::value ? 0 : std::uint64_t{1} << field.number;
  };
  return std::apply([&](const auto&... fields) { return (bit(fields) | ...); }, T::table());
}

// The names of the fields by their numbers.
template <Nested T>
constexpr std::array<std::string_view, 64> names_of() {
  std::array<std::string_view, 64> names{};
  std::apply([&](const auto&... fields) { ((names[fields.number] = fields.name), ...); }, T::table());
  return names;
}

// The field, if it is what comes next, packed as it is written here.
template <class Owner, class M>
bool read_if_next(ByteReader& in, const Field<Owner, M>& field, Owner& value, std::uint64_t& seen, std::string& fault) {
  const std::uint32_t tag = tag_of(field);
  if (tag >= 0x80 || !in.skip(static_cast<std::uint8_t>(tag))) return true;
  seen |= std::uint64_t{1} << field.number;
  return read_member(in, field, value, fault);
}

// Fields in whatever order, and those that are not known here.
template <Nested T>
[[gnu::noinline]] bool read_fields(ByteReader& in, T& value, std::uint64_t& seen, std::string& fault) {
  constexpr auto kTable = T::table();
  while (!in.at_end()) {
    const std::uint64_t tag = in.varint();
    if (!in.ok()) {
      fault = "the bytes end within a field's tag";
      return false;
    }
    bool good = true;
    const auto take = [&](const auto& field) {
      if (tag >> 3 != field.number) return false;
      if ((seen >> field.number & 1) != 0) {
        good = unreadable(fault, field.name, "given twice");
      } else if ((tag & 3) != (tag_of(field) & 3)) {
        good = unreadable(fault, field.name, "of another kind than expected");
      } else {
        good = read_member(in, field, value, fault);
      }
      seen |= std::uint64_t{1} << field.number;
      return true;
    };
    const bool known = std::apply([&](const auto&... fields) { return (take(fields) || ...); }, kTable);
    if (!known) good = skip_value(in, tag, fault);
    if (!good) return false;
  }
  return true;
}

template <Nested T>
bool read_table(ByteReader& in, T& value, std::string& fault) {
  std::uint64_t seen = 0;
  // They are written in the table's order, so each is looked for among all of them only if it is not the next.
  const bool good = std::apply(
      [&](const auto&... fields) { return (read_if_next(in, fields, value, seen, fault) && ...); }, T::table());
  if (!good || (!in.at_end() && !read_fields(in, value, seen, fault))) return false;
  constexpr std::uint64_t kRequired = required_of<T>();
  const std::uint64_t missing = kRequired & ~seen;
  if (missing == 0) return true;
  constexpr auto kNames = names_of<T>();
  return unreadable(fault, kNames[static_cast<std::size_t>(std::countr_zero(missing))], "expected, but missing");
}

// --- JSON ---

template <Nested T>
void append_json_fields(std::string& out, const T& value);

template <class T>
void append_json_value(std::string& out, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    append_json_string(out, to_string(value));
  } else if constexpr (std::unsigned_integral<T>) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<std::uint64_t>(value));
  } else if constexpr (std::same_as<T, Instant>) {
    fmt::format_to(std::back_inserter(out), "{}", value.ms);
  } else if constexpr (std::same_as<T, Millis>) {
    fmt::format_to(std::back_inserter(out), "{}", value.count());
  } else if constexpr (std::same_as<T, Fence> || std::same_as<T, Offset>) {
    fmt::format_to(std::back_inserter(out), "{}", value.value);
  } else if constexpr (std::same_as<T, Token>) {
    append_json_string(out, value.text());
  } else if constexpr (std::same_as<T, Digest>) {
    append_json_string(out, hex16(value.high()) + hex16(value.low()));
  } else {
    out.push_back('{');
    append_json_fields(out, value);
    out.push_back('}');
  }
}

template <class T>
void append_json_field(std::string& out, std::string_view name, const T& member) {
  if (out.back() != '{') out.push_back(',');
  if constexpr (std::same_as<T, std::string_view>) {
    const bool readable = is_utf8(member);
    append_json_string(out, readable ? std::string(name) : fmt::format("{}_base64", name));
    out.push_back(':');
    append_json_string(out, readable ? std::string(member) : base64(member));
  } else {
    append_json_string(out, name);
    out.push_back(':');
    append_json_value(out, member);
  }
}

template <Nested T>
void append_json_fields(std::string& out, const T& value) {
  visit_present(value, [&](std::uint32_t, std::string_view name, const auto& member, bool) {
    append_json_field(out, name, member);
  });
}

// Calls visit.template operator()<T>() for every type of the variant; stops at the first that answers true.
template <class Variant, class Visit>
bool any_type(const Visit& visit) {
  return [&]<class... T>(std::type_identity<std::variant<T...>>) {
    return (visit.template operator()<T>() || ...);
  }(std::type_identity<Variant>{});
}

// --- a variant of such structs, told apart by their kType ---

// What most take. They are packed in room that need not be zeroed first, as a text's is.
inline constexpr std::size_t kUsualBytes = 512;

template <class Variant>
void encode_any(const Variant& any, std::string& out) {
  std::visit(
      [&](const auto& value) {
        constexpr std::uint32_t kType = std::remove_cvref_t<decltype(value)>::kType;
        const std::size_t size = table_size(value);
        const std::size_t whole = varint_size(kType) + varint_size(size) + size;
        const auto write = [&](ByteWriter&& writer) {
          writer.varint(kType);
          writer.varint(size);
          write_table(writer, value);
        };
        if (whole > kUsualBytes) return write(ByteWriter(out, whole));
        char room[kUsualBytes];
        write(ByteWriter(absl::MakeSpan(room, whole)));
        out.append(room, whole);
      },
      any);
}

template <class Variant>
Result<Variant> decode_any(ByteReader& in, std::string_view what) {
  const std::uint64_t type = in.varint();
  ByteReader body(in.bytes());
  if (!in.ok()) return fail_with(ErrorCode::kInvalid, "the bytes end within a {}", what);
  // Read where it is returned: a variant is as large as its largest struct, and each copy would cost as much.
  Result<Variant> decoded;
  std::string fault;
  const bool known = any_type<Variant>([&]<class T>() {
    if (T::kType != type) return false;
    if (!read_table(body, decoded->template emplace<T>(), fault)) {
      decoded = fail_with(ErrorCode::kInvalid, "{}: {}", T::kName, fault);
    }
    return true;
  });
  if (!known) decoded = fail_with(ErrorCode::kInvalid, "unknown {} type {}: {}", what, type, kNewer);
  return decoded;
}

template <class Variant>
std::string_view name_of_any(const Variant& any) {
  return std::visit([](const auto& value) { return std::remove_cvref_t<decltype(value)>::kName; }, any);
}

template <class Variant>
std::string json_of_any(const Variant& any, std::string_view what) {
  std::string out = "{";
  append_json_string(out, what);
  out.push_back(':');
  append_json_string(out, name_of_any(any));
  std::visit([&](const auto& value) { append_json_fields(out, value); }, any);
  out.push_back('}');
  return out;
}

}  // namespace tenure::table_codec
