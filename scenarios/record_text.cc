#include "record_text.h"

#include <concepts>
#include <map>
#include <tuple>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "core/record_codec.h"
#include "words.h"

namespace tenure::scenario {
namespace {

// --- showing ---

std::string text_of(std::string_view value) { return std::string(value); }
std::string text_of(const Token& value) { return value.text(); }
std::string text_of(Instant value) { return std::to_string(value.ms); }
std::string text_of(Millis value) { return std::to_string(value.count()); }
std::string text_of(Fence value) { return std::to_string(value.value); }
std::string text_of(Offset value) { return std::to_string(value.value); }
std::string text_of(Digest value) { return fmt::format("{:016x}{:016x}", value.high(), value.low()); }
std::string text_of(const RequestMark& value) { return std::string(value.id); }
std::string text_of(const RetryPolicy& value) {
  return fmt::format("{}/{}/{}", value.retries, duration_text(value.backoff_initial), duration_text(value.backoff_max));
}
template <class T>
  requires std::unsigned_integral<T>
std::string text_of(T value) {
  return std::to_string(value);
}
template <class T>
  requires std::is_enum_v<T>
std::string text_of(T value) {
  return std::string(to_string(value));
}
template <class T>
std::optional<std::string> text_of(const std::optional<T>& value) {
  return value ? std::optional<std::string>(text_of(*value)) : std::nullopt;
}

// --- reading ---

// Where the texts of a record that is being made live.
struct Source {
  Instant start;
  std::string_view text;
};

[[noreturn]] void refuse(const Source& from, std::string_view expected) {
  throw ScriptError(fmt::format("expected {}, found '{}'", expected, from.text));
}

std::int64_t integer_of(const Source& from) {
  const auto number = parse_integer(from.text);
  if (!number) refuse(from, "an integer");
  return *number;
}

void read(const Source& from, std::string_view& value) { value = from.text; }
void read(const Source& from, Token& value) {
  const auto token = Token::parse(from.text);
  if (!token) refuse(from, "<fence>-<16 hex digits>");
  value = *token;
}
void read(const Source& from, Instant& value) {
  const auto since = parse_duration(from.text);
  if (!since) refuse(from, "an instant like +30s");
  value = from.start + *since;
}
void read(const Source& from, Millis& value) {
  const auto duration = parse_duration(from.text);
  if (!duration) refuse(from, "a duration like 30s");
  value = *duration;
}
void read(const Source& from, Fence& value) { value.value = static_cast<std::uint64_t>(integer_of(from)); }
void read(const Source& from, Offset& value) { value.value = integer_of(from); }
void read(const Source& from, Digest& value) {
  std::uint64_t low = 0;
  for (const char c : from.text) low = low * 31 + static_cast<unsigned char>(c);
  value = Digest(0, low);  // any that is not the state's
}
void read(const Source& from, RequestMark& value) { value = {.id = from.text, .print = 0}; }
void read(const Source& from, RetryPolicy& value) {
  const std::size_t first = from.text.find('/');
  const std::size_t second = from.text.find('/', first + 1);
  if (second == std::string_view::npos) refuse(from, "retries/initial/max");
  value.retries = static_cast<std::uint32_t>(integer_of({from.start, from.text.substr(0, first)}));
  read({from.start, from.text.substr(first + 1, second - first - 1)}, value.backoff_initial);
  read({from.start, from.text.substr(second + 1)}, value.backoff_max);
}
template <class T>
  requires std::unsigned_integral<T>
void read(const Source& from, T& value) {
  value = static_cast<T>(integer_of(from));
}
template <class T>
  requires std::is_enum_v<T>
void read(const Source& from, T& value) {
  for (std::uint8_t i = 0; i < 5; ++i) {
    value = static_cast<T>(i);
    if constexpr (std::same_as<T, ReleaseCause>) {
      if (i > static_cast<std::uint8_t>(ReleaseCause::kUndelivered)) break;
    }
    if (to_string(value) == from.text) return;
  }
  refuse(from, "one of the words of this field");
}
template <class T>
void read(const Source& from, std::optional<T>& value) {
  read(from, value.emplace());
}

template <class R>
R read_record(std::map<std::string_view, std::string_view> fields, Instant start) {
  R record;
  const auto take = [&](const auto& field) {
    for (const std::string_view name : {field.name, field.name.substr(0, field.name.rfind("_ms"))}) {
      const auto found = fields.find(name);
      if (found == fields.end()) continue;
      read({start, found->second}, record.*field.member);
      fields.erase(found);
    }
  };
  std::apply([&](const auto&... each) { (take(each), ...); }, R::table());
  if (!fields.empty()) throw ScriptError(fmt::format("{} has no field '{}'", R::kName, fields.begin()->first));
  return record;
}

}  // namespace

AnswerLine record_line(const Record& record) {
  AnswerLine line = plain_line(std::string(name_of(record)));
  std::visit(
      [&]<class R>(const R& fact) {
        const auto add = [&](const auto& field) {
          line.push_back({std::string(field.name), text_of(fact.*field.member)});
        };
        std::apply([&](const auto&... each) { (add(each), ...); }, R::table());
      },
      record);
  return line;
}

std::string encode_words(const std::vector<std::string>& words, Instant start) {
  if (words.empty()) throw ScriptError("expected a record's name");
  std::map<std::string_view, std::string_view> fields;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) throw ScriptError(fmt::format("expected field=value, found '{}'", word));
    fields[word.substr(0, equals)] = word.substr(equals + 1);
  }
  std::string bytes;
  const auto make = [&]<class R>() {
    if (R::kName != words.front()) return false;
    encode(read_record<R>(fields, start), bytes);
    return true;
  };
  const bool is_known = [&]<class... R>(std::type_identity<std::variant<R...>>) {
    return (make.template operator()<R>() || ...);
  }(std::type_identity<Record>{});
  if (!is_known) throw ScriptError(fmt::format("'{}' is no record", words.front()));
  return bytes;
}

}  // namespace tenure::scenario
