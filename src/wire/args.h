// Reads a request's arguments as its verb declares them: positional ones first, options after, each value checked as
// it is read, so that of several faults the leftmost is the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <absl/types/span.h>

#include <tenure/types.h>
#include "base/result.h"
#include "wire/fields.h"

namespace tenure::wire {

enum class Form : std::uint8_t {
  kRequired,
  kOptional,
  kMany,  // at least one
  kAny,   // none or more
};

struct Argument {
  Field field;
  Form form = Form::kRequired;
  std::string_view word{};  // of an option; none: positional

  [[nodiscard]] constexpr bool is_option() const { return !word.empty(); }
};

// How verbs declare them.
constexpr Argument need(Field field) { return {.field = field}; }
constexpr Argument may(Field field) { return {.field = field, .form = Form::kOptional}; }
constexpr Argument many(Field field) { return {.field = field, .form = Form::kMany}; }
constexpr Argument any(Field field) { return {.field = field, .form = Form::kAny}; }
constexpr Argument option(std::string_view word, Field field) {
  return {.field = field, .form = Form::kOptional, .word = word};
}
constexpr Argument need_option(std::string_view word, Field field) { return {.field = field, .word = word}; }

// The words that one value of a field takes, at least.
constexpr std::size_t words_of(Kind kind) {
  return kind == Kind::kFlag ? 0 : kind == Kind::kBackoff || kind == Kind::kPair || kind == Kind::kQueues ? 2 : 1;
}
// The words that the required arguments take, at least.
constexpr std::size_t words_needed(absl::Span<const Argument> arguments) {
  std::size_t words = 0;
  for (const Argument& argument : arguments) {
    if (argument.form != Form::kRequired && argument.form != Form::kMany) continue;
    words += words_of(traits_of(argument.field).kind) + (argument.is_option() ? 1 : 0);
  }
  return words;
}

// What was read: views of the request's words, and the numbers among them. One thread.
class Values {
 public:
  [[nodiscard]] bool has(Field field) const { return (present_ & bit(field)) != 0; }
  // One that is there.
  [[nodiscard]] std::string_view text(Field field) const { return slot(field).words[0]; }
  [[nodiscard]] absl::Span<const std::string_view> texts(Field field) const {
    return has(field) ? absl::MakeConstSpan(slot(field).words, slot(field).count)
                      : absl::Span<const std::string_view>();
  }
  [[nodiscard]] std::int64_t number(Field field) const { return slot(field).number; }
  [[nodiscard]] Millis time(Field field) const { return Millis{number(field)}; }
  // The second of a backoff.
  [[nodiscard]] Millis second_time(Field field) const { return Millis{slot(field).second}; }
  // One that may be absent.
  [[nodiscard]] std::optional<std::string_view> maybe_text(Field field) const {
    return has(field) ? std::optional(text(field)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> maybe_number(Field field) const {
    return has(field) ? std::optional(number(field)) : std::nullopt;
  }
  [[nodiscard]] std::optional<Millis> maybe_time(Field field) const {
    return has(field) ? std::optional(time(field)) : std::nullopt;
  }
  [[nodiscard]] std::int64_t number_or(Field field, std::int64_t otherwise) const {
    return has(field) ? number(field) : otherwise;
  }
  [[nodiscard]] Millis time_or(Field field, Millis otherwise) const { return has(field) ? time(field) : otherwise; }

 private:
  friend class ValueReader;
  friend class ArgumentReader;
  struct Slot {
    const std::string_view* words;
    std::size_t count;
    std::int64_t number;
    std::int64_t second;
  };
  static constexpr std::uint64_t bit(Field field) { return std::uint64_t{1} << static_cast<unsigned>(field); }
  [[nodiscard]] const Slot& slot(Field field) const { return slots_[static_cast<std::size_t>(field)]; }

  std::uint64_t present_ = 0;
  Slot slots_[kFieldCount];  // those whose bit is not set were never written: a request has few of them
};

// What messages call a value: as commands do, or as JSON does.
enum class Naming : std::uint8_t { kCommand, kJson };

// Reads single values as their fields declare them. Immutable.
class ValueReader {
 public:
  // `payload_bytes_max` is the limit of a payload or result.
  ValueReader(Naming naming, std::uint64_t payload_bytes_max)
      : naming_(naming), payload_bytes_max_(payload_bytes_max) {}

  // The value's words: of a flag none, of a backoff or pair two, of queues their names, else one. They are where they
  // are for as long as `values` is used.
  std::optional<Failure> read(Field field, absl::Span<const std::string_view> words, Values& values) const {
    return is_good(field, words, values) ? std::nullopt : fault_in(field, words, values);
  }

 private:
  friend class ArgumentReader;
  // Reads a usual value of a usual kind. False: it is to be read closely, which `fault_in` does.
  bool is_good(Field field, absl::Span<const std::string_view> words, Values& values) const;
  std::optional<Failure> fault_in(Field field, absl::Span<const std::string_view> words, Values& values) const;
  [[nodiscard]] std::optional<Failure> fault_in_queues(const FieldTraits& traits,
                                                       absl::Span<const std::string_view> queues) const;
  std::optional<Failure> read_backoff(const FieldTraits& traits, absl::Span<const std::string_view> words,
                                      Values::Slot& slot) const;

  const Naming naming_;
  const std::uint64_t payload_bytes_max_;
};

// Reads the words of one request. Nothing is read behind the first fault. One thread.
class ArgumentReader {
 public:
  // `command` is what messages call it, `words` what follows it, `payload_bytes_max` the limit of a payload or result.
  // `needed` are the words that the required arguments take.
  ArgumentReader(std::string_view command, absl::Span<const Argument> arguments, std::size_t needed,
                 absl::Span<const std::string_view> words, std::uint64_t payload_bytes_max)
      : command_(command),
        arguments_(arguments),
        words_(words),
        reader_(Naming::kCommand, payload_bytes_max),
        needed_(needed) {}

  // False: there is a fault.
  bool read(Values& values);
  [[nodiscard]] const std::optional<Failure>& fault() const { return fault_; }

 private:
  // These are false where there is a fault, too.
  bool wrong_number();
  [[nodiscard]] const Argument* find_option(std::string_view word) const;
  [[nodiscard]] std::size_t left() const { return words_.size() - at_; }
  bool note(std::optional<Failure> fault);
  bool read_positional(const Argument& argument, Values& values);
  bool read_options(Values& values);
  bool read_value(Field field, Values& values);
  bool count_queues(std::size_t& count);

  const std::string_view command_;
  const absl::Span<const Argument> arguments_;
  const absl::Span<const std::string_view> words_;
  const ValueReader reader_;
  std::optional<Failure> fault_;
  std::size_t needed_;  // by the required arguments that are not read yet
  std::size_t at_ = 0;
};

// "queue payload [ID id] [REQUEST id]"
std::string usage_of(absl::Span<const Argument> arguments);

// An integer as arguments have it: -?[0-9]+. Text that is none is ERR, one of more than 64 bits or out of the limits
// INVALID.
Result<std::int64_t> read_integer(std::string_view label, std::string_view text, std::int64_t low, std::int64_t high);

}  // namespace tenure::wire
