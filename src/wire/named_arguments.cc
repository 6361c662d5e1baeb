#include "wire/named_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

Failure not_understood(std::string message) { return {ErrorCode::kErr, std::move(message)}; }

std::string_view type_wanted(Kind kind) {
  switch (kind) {
    case Kind::kInteger:
    case Kind::kBackoff:
      return "an integer";
    case Kind::kFlag:
      return "true or false";
    case Kind::kQueues:
      return "an array of strings";
    default:
      return "a string";
  }
}

bool is_type_of(Kind kind, Found::Type type) {
  switch (kind) {
    case Kind::kInteger:
    case Kind::kBackoff:
      return type == Found::Type::kNumber || type == Found::Type::kText;
    case Kind::kFlag:
      return type == Found::Type::kBoolean;
    case Kind::kQueues:
      return type == Found::Type::kArray;
    default:
      return type == Found::Type::kString || type == Found::Type::kText;
  }
}

std::string shown(const Found& found) {
  switch (found.type) {
    case Found::Type::kText:
    case Found::Type::kString:
      return fmt::format("the string {}", quote(found.text));
    case Found::Type::kArray:
      return "an array";
    case Found::Type::kObject:
      return "an object";
    case Found::Type::kNull:
      return "null";
    default:
      return found.text.size() > 32 ? found.text.substr(0, 32) + "..." : found.text;
  }
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What stands before the mark, and what behind it.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char mark) {
  const auto* const end = std::find(text.begin(), text.end(), mark);
  const auto before = static_cast<std::size_t>(end - text.begin());
  if (end == text.end()) return {text, {}};
  return {text.substr(0, before), text.substr(before + 1)};
}

// The names that the verb takes, for messages.
std::string names_of(const Verb& verb) {
  std::string names;
  for (const Argument& argument : verb.arguments) {
    if (argument.field == Field::kBound) continue;
    for (const char c : traits_of(argument.field).json) names += c == ' ' ? std::string(", ") : std::string(1, c);
    names += ", ";
  }
  return names.empty() ? "none" : names.substr(0, names.size() - 2);
}

}  // namespace

Result<std::string> percent_decoded(std::string_view text, Encoded where) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += where == Encoded::kQuery && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
    if (low < 0) {
      return fail_with(ErrorCode::kErr, "path or query: expected two hexadecimal digits behind %, found {}",
                       quote(text.substr(i, 3)));
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::optional<Failure> NamedArguments::take_query(std::string_view query) {
  while (!query.empty()) {
    const auto [pair, rest] = cut(query, '&');
    query = rest;
    if (pair.empty()) continue;
    const auto [name_text, value_text] = cut(pair, '=');
    const auto name = percent_decoded(name_text, Encoded::kQuery);
    if (!name) return name.error();
    auto value = percent_decoded(value_text, Encoded::kQuery);
    if (!value) return value.error();
    if (auto fault = take(*name, {.text = std::move(*value)})) return fault;
  }
  return std::nullopt;
}

std::optional<NamedArguments::Meaning> NamedArguments::meaning_of(std::string_view name) const {
  for (const Argument& argument : verb_.arguments) {
    const FieldTraits& traits = traits_of(argument.field);
    if (name == traits.json) return Meaning{&argument};
    if (is_bytes(traits.kind) && name.ends_with(kBase64Suffix) &&
        name.substr(0, name.size() - kBase64Suffix.size()) == traits.json) {
      return Meaning{.argument = &argument, .is_base64 = true};
    }
    if (traits.kind != Kind::kBackoff) continue;
    const std::size_t blank = traits.json.find(' ');
    if (name == traits.json.substr(0, blank)) return Meaning{&argument, 0};
    if (name == traits.json.substr(blank + 1)) return Meaning{&argument, 1};
  }
  return std::nullopt;
}

std::optional<Failure> NamedArguments::fault_in_name(std::string_view name, Found::Type type) const {
  const auto meaning = meaning_of(name);
  if (!meaning) {
    return not_understood(fmt::format("{}: expected one of {}, found {}", verb_.name, names_of(verb_), quote(name)));
  }
  const Argument& argument = *meaning->argument;
  if (argument.field == Field::kBound) {
    return Failure{ErrorCode::kInvalid,
                   fmt::format("{}: expected nothing, since over HTTP there are no sessions; found it", name)};
  }
  if (values_.has(argument.field) || (traits_of(argument.field).kind == Kind::kBackoff && backoff_[meaning->place])) {
    return not_understood(fmt::format("{}: expected once, found twice", name));
  }
  const Kind kind = traits_of(argument.field).kind;
  if (is_type_of(kind, type)) return std::nullopt;
  // Told with its value once that is read.
  if (type != Found::Type::kArray && type != Found::Type::kObject) return std::nullopt;
  return not_understood(fmt::format("{}: expected {}, found {}", name, type_wanted(kind), shown({.type = type})));
}

std::optional<Failure> NamedArguments::take(std::string_view name, Found found) {
  if (auto fault = fault_in_name(name, found.type)) return fault;
  const Meaning meaning = *meaning_of(name);
  const Field field = meaning.argument->field;
  const Kind kind = traits_of(field).kind;
  if (!is_type_of(kind, found.type)) {
    return not_understood(fmt::format("{}: expected {}, found {}", name, type_wanted(kind), shown(found)));
  }
  if (kind == Kind::kQueues) return read(field, std::move(found.strings));
  if (kind == Kind::kBackoff) return take_backoff(name, meaning.place, std::move(found.text));
  if (kind == Kind::kFlag) return found.text == "true" ? read(field, {}) : std::nullopt;
  if (meaning.is_base64) {
    auto bytes = parse_base64(found.text);
    if (!bytes) return not_understood(fmt::format("{}: expected base64, found {}", name, quote(found.text)));
    found.text = std::move(*bytes);
  }
  std::vector<std::string> texts;
  texts.push_back(std::move(found.text));
  return read(field, std::move(texts));
}

// Checked once both are there.
std::optional<Failure> NamedArguments::take_backoff(std::string_view name, std::size_t place, std::string text) {
  const FieldTraits& traits = traits_of(Field::kBackoff);
  if (auto number = read_integer(name, text, traits.low, traits.high); !number) return std::move(number.error());
  backoff_[place] = std::move(text);
  if (!backoff_[0] || !backoff_[1]) return std::nullopt;
  return read(Field::kBackoff, {*backoff_[0], *backoff_[1]});
}

std::optional<Failure> NamedArguments::read(Field field, std::vector<std::string> texts) {
  const auto& kept = texts_.emplace_back(std::move(texts));
  const auto& words = words_.emplace_back(kept.begin(), kept.end());
  return reader_.read(field, words, values_);
}

std::optional<Failure> NamedArguments::make(Request& request) {
  for (const Argument& argument : verb_.arguments) {
    if (argument.form != Form::kRequired || values_.has(argument.field)) continue;
    return not_understood(fmt::format("{}: expected {}, found nothing", traits_of(argument.field).json,
                                      type_wanted(traits_of(argument.field).kind)));
  }
  if (backoff_[0].has_value() != backoff_[1].has_value()) {
    const std::string_view names = traits_of(Field::kBackoff).json;
    const std::size_t blank = names.find(' ');
    return not_understood(fmt::format("{}: expected an integer, found nothing",
                                      backoff_[0] ? names.substr(blank + 1) : names.substr(0, blank)));
  }
  request = verb_.make(values_);
  return std::nullopt;
}

}  // namespace tenure::wire
