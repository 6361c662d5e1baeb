// Makes answers in the shape of the protocol's tables.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tenure/types.h>
#include "base/result.h"
#include "subject.h"

namespace tenure::scenario {

inline AnswerField named(std::string_view name, std::string_view value) {
  return {std::string(name), std::string(value)};
}
inline AnswerField named(std::string_view name, Instant value) { return {std::string(name), std::to_string(value.ms)}; }
inline AnswerField named(std::string_view name, Millis value) {
  return {std::string(name), std::to_string(value.count())};
}
inline AnswerField named(std::string_view name, Fence value) {
  return {std::string(name), std::to_string(value.value)};
}
inline AnswerField named(std::string_view name, Offset value) {
  return {std::string(name), std::to_string(value.value)};
}
template <std::integral T>
AnswerField named(std::string_view name, T value) {
  return {std::string(name), std::to_string(value)};
}
template <class T>
AnswerField named(std::string_view name, const std::optional<T>& value) {
  return value ? named(name, *value) : AnswerField{std::string(name), std::nullopt};
}

inline Answer one_line(AnswerLine line) { return {.lines = {std::move(line)}}; }
inline Answer say(std::string text) { return one_line(plain_line(std::move(text))); }
inline Answer say(const Failure& failure) {
  return say(fmt::format("-{} {}", to_string(failure.code), failure.message));
}
// An empty array is told apart from nil.
inline Answer list_of(std::vector<AnswerLine> lines) {
  if (lines.empty()) return say("(none)");
  return {.lines = std::move(lines)};
}

// Answers a request with what show(reply) makes of its reply, or with its error.
template <class Reply, class Show>
auto answering(const Subject::Answered& done, Show show) {
  return [done, show = std::move(show)](Result<Reply> reply) {
    done(reply ? show(std::move(*reply)) : say(reply.error()));
  };
}

}  // namespace tenure::scenario
