#include "wire/args.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <tenure/tasks.h>
#include "base/limits.h"
#include "core/cursor.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

constexpr std::size_t kCursorBytesMax = 1 + kNameBytesMax;

Failure err(std::string message) { return {ErrorCode::kErr, std::move(message)}; }
Failure invalid(std::string message) { return {ErrorCode::kInvalid, std::move(message)}; }

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Of a few digits and nothing else.
std::optional<std::int64_t> parse_short_decimal(std::string_view text) {
  constexpr std::size_t kDigits = 15;  // so many do not overflow
  if (text.empty() || text.size() > kDigits) return std::nullopt;
  std::int64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  return number;
}

template <std::size_t N>
bool is_cursor(std::string_view text) {
  return parse_cursor<N>(text).has_value();
}

bool is_cursor(Kind kind, std::string_view text) {
  if (text.size() > kCursorBytesMax) return false;
  switch (kind) {
    case Kind::kTaskCursor:
      return is_cursor<3>(text);
    case Kind::kNameCursor:
      return text == "0" || text.starts_with('>');
    case Kind::kOffsetCursor:
      return is_cursor<1>(text);
    default:
      return is_cursor<2>(text);
  }
}

std::optional<Failure> fault_in_cursor(Kind kind, std::string_view text) {
  if (is_cursor(kind, text)) return std::nullopt;
  return invalid(fmt::format("cursor: expected 0 or one that a listing gave, found {}", quote(text)));
}

std::optional<Failure> fault_in_label(std::string_view label, std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.find(' ') == std::string_view::npos) return Checker().name(label, text).fault();
  return invalid(fmt::format("{}: expected no blanks, found {}", label, quote(text)));
}

std::optional<Failure> read_state(std::string_view text, std::int64_t& number) {
  for (int state = 0; state <= static_cast<int>(TaskState::kDead); ++state) {
    if (to_string(static_cast<TaskState>(state)) != text) continue;
    number = state;
    return std::nullopt;
  }
  return invalid(fmt::format("state: expected WAITING, LEASED, COMPLETED, FAILED or DEAD, found {}", quote(text)));
}

std::optional<Failure> read_into(std::int64_t& number, std::string_view label, std::string_view text,
                                 const FieldTraits& traits) {
  auto read = read_integer(label, text, traits.low, traits.high);
  if (!read) return std::move(read.error());
  number = *read;
  return std::nullopt;
}

std::optional<Failure> read_version(std::int64_t& number, std::string_view text, const FieldTraits& traits) {
  if (auto fault = read_into(number, traits.label, text, traits)) return fault;
  if (number == 2 || number == 3) return std::nullopt;
  return Failure{ErrorCode::kNoProto, fmt::format("{}: expected 2 or 3, found {}", traits.label, number)};
}

}  // namespace

Result<std::int64_t> read_integer(std::string_view label, std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && number >= low && number <= high) return number;
  if (!is_number && !is_integer(text)) {
    return fail_with(ErrorCode::kErr, "{}: expected an integer, found {}", label, quote(text));
  }
  if (is_number) return fail_with(ErrorCode::kInvalid, "{}: expected {} to {}, found {}", label, low, high, number);
  return fail_with(ErrorCode::kInvalid, "{}: expected {} to {}, found {}", label, low, high, quote(text));
}

bool ArgumentReader::read(Values& values) {
  if (words_.size() < needed_) return wrong_number();
  bool has_options = false;
  for (const Argument& argument : arguments_) {
    if (argument.is_option()) {
      has_options = true;
      break;
    }
    if (!read_positional(argument, values)) return false;
  }
  if (has_options) return read_options(values);
  return left() == 0 || wrong_number();
}

bool ArgumentReader::note(std::optional<Failure> fault) {
  if (!fault) return true;
  fault_ = std::move(fault);
  return false;
}

bool ArgumentReader::wrong_number() {
  const std::string usage = usage_of(arguments_);
  return note(err(fmt::format("wrong number of arguments: expected {}{}{}, found {}", command_,
                              usage.empty() ? "" : " ", usage, words_.size())));
}

const Argument* ArgumentReader::find_option(std::string_view word) const {
  const auto* found = std::find_if(arguments_.begin(), arguments_.end(), [&](const Argument& argument) {
    return argument.is_option() && is_word(word, argument.word);
  });
  return found == arguments_.end() ? nullptr : found;
}

// An optional one is there if words are left beyond those needed behind it, and the next is no option's word.
bool ArgumentReader::read_positional(const Argument& argument, Values& values) {
  const bool is_needed = argument.form == Form::kRequired || argument.form == Form::kMany;
  if (is_needed) needed_ -= words_of(traits_of(argument.field).kind);
  if (argument.form == Form::kRequired) return read_value(argument.field, values);
  if (!is_needed && (left() <= needed_ || find_option(words_[at_]) != nullptr)) return true;
  const std::size_t begin = at_;
  const bool repeats = argument.form == Form::kMany || argument.form == Form::kAny;
  do {
    if (!read_value(argument.field, values)) return false;
  } while (repeats && left() > needed_);
  if (repeats) {
    Values::Slot& slot = values.slots_[static_cast<std::size_t>(argument.field)];
    slot.words = words_.data() + begin;
    slot.count = at_ - begin;
  }
  return true;
}

bool ArgumentReader::read_options(Values& values) {
  while (left() > 0) {
    const Argument* argument = find_option(words_[at_]);
    if (argument == nullptr) {
      return note(err(fmt::format("{}: expected an option, or nothing more, of {}, found {}", command_,
                                  usage_of(arguments_), quote(words_[at_]))));
    }
    ++at_;
    const std::size_t needed = words_of(traits_of(argument->field).kind);
    if (values.has(argument->field)) return note(err(fmt::format("{}: expected once, found twice", argument->word)));
    if (left() < needed) {
      return note(err(fmt::format("{}: expected {} behind it, found nothing more", argument->word,
                                  traits_of(argument->field).usage)));
    }
    if (!read_value(argument->field, values)) return false;
  }
  return std::all_of(arguments_.begin(), arguments_.end(),
                     [&](const Argument& argument) {
                       return argument.form != Form::kRequired || values.has(argument.field);
                     }) ||
         wrong_number();
}

// Reads the words of one value: they are there.
bool ArgumentReader::read_value(Field field, Values& values) {
  const Kind kind = traits_of(field).kind;
  std::size_t count = words_of(kind);
  if (kind == Kind::kQueues && !count_queues(count)) return false;
  const auto words = words_.subspan(at_, count);
  at_ += count;
  return reader_.is_good(field, words, values) || note(reader_.fault_in(field, words, values));
}

bool ArgumentReader::count_queues(std::size_t& count) {
  const FieldTraits& traits = traits_of(Field::kQueues);
  const auto number = read_integer(traits.label, words_[at_++], traits.low, traits.high);
  if (!number) return note(number.error());
  count = static_cast<std::size_t>(*number);
  if (count <= left()) return true;
  return note(err(fmt::format("wrong number of arguments: expected {} queues, found {}", count, left())));
}

bool ValueReader::is_good(Field field, absl::Span<const std::string_view> words, Values& values) const {
  values.present_ |= Values::bit(field);
  Values::Slot& slot = values.slots_[static_cast<std::size_t>(field)];
  slot.words = words.data();
  slot.count = words.size();
  const FieldTraits& traits = traits_of(field);
  if (words.size() != 1) return traits.kind == Kind::kFlag;
  const std::string_view text = words[0];
  switch (traits.kind) {
    case Kind::kName:
      return is_name(text);
    case Kind::kLockName:
      return is_lock_name(text);
    case Kind::kToken:
      return text.size() <= kTokenBytesMax;
    case Kind::kPayload:
      return text.size() <= payload_bytes_max_;
    case Kind::kInteger: {
      const auto number = parse_short_decimal(text);
      slot.number = number.value_or(0);
      return number && *number >= traits.low && *number <= traits.high;
    }
    default:
      return false;
  }
}

std::optional<Failure> ValueReader::fault_in(Field field, absl::Span<const std::string_view> words,
                                             Values& values) const {
  Values::Slot& slot = values.slots_[static_cast<std::size_t>(field)];
  const FieldTraits& traits = traits_of(field);
  const std::string_view label = naming_ == Naming::kCommand ? traits.label : traits.json;
  const std::string_view text = words.empty() ? std::string_view() : words[0];
  switch (traits.kind) {
    case Kind::kName:
      return Checker().name(label, text).fault();
    case Kind::kLockName:
      return Checker().lock_name(label, text).fault();
    case Kind::kToken:
      return Checker().token(label, text).fault();
    case Kind::kReason:
      return Checker().reason(label, text).fault();
    case Kind::kPayload:
      return Checker().payload(label, text, payload_bytes_max_).fault();
    case Kind::kLabel:
      return fault_in_label(label, text);
    case Kind::kInteger:
      return read_into(slot.number, label, text, traits);
    case Kind::kVersion:
      return read_version(slot.number, text, traits);
    case Kind::kState:
      return read_state(text, slot.number);
    case Kind::kQueues:
      return fault_in_queues(traits, words);
    case Kind::kBackoff:
      return read_backoff(traits, words, slot);
    case Kind::kTaskCursor:
    case Kind::kNameCursor:
    case Kind::kOffsetCursor:
    case Kind::kTableCursor:
      return fault_in_cursor(traits.kind, text);
    default:
      return std::nullopt;
  }
}

std::optional<Failure> ValueReader::fault_in_queues(const FieldTraits& traits,
                                                    absl::Span<const std::string_view> queues) const {
  const bool is_command = naming_ == Naming::kCommand;
  Checker check;
  check.range(is_command ? traits.label : traits.json, static_cast<std::int64_t>(queues.size()), traits.low,
              traits.high);
  for (const std::string_view queue : queues) check.name(is_command ? "queue" : traits.json, queue);
  return check.fault();
}

std::optional<Failure> ValueReader::read_backoff(const FieldTraits& traits, absl::Span<const std::string_view> words,
                                                 Values::Slot& slot) const {
  const std::size_t blank = traits.json.find(' ');
  const bool is_command = naming_ == Naming::kCommand;
  const std::string_view initial = is_command ? "backoff initial" : traits.json.substr(0, blank);
  const std::string_view most = is_command ? "backoff max" : traits.json.substr(blank + 1);
  if (auto fault = read_into(slot.number, initial, words[0], traits)) return fault;
  if (auto fault = read_into(slot.second, most, words[1], traits)) return fault;
  return Checker().range(initial, slot.number, traits.low, slot.second).fault();
}

std::string usage_of(absl::Span<const Argument> arguments) {
  std::string usage;
  for (const Argument& argument : arguments) {
    const std::string_view name = traits_of(argument.field).usage;
    std::string text(argument.word);
    if (!text.empty() && !name.empty()) text += ' ';
    text += name;
    if (argument.form == Form::kMany) text += fmt::format(" [{} ...]", name);
    if (argument.form == Form::kAny) text += " ...";
    if (argument.form == Form::kOptional || argument.form == Form::kAny) text = fmt::format("[{}]", text);
    usage += (usage.empty() ? "" : " ") + text;
  }
  return usage;
}

}  // namespace tenure::wire
