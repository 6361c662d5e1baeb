#include "arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "words.h"

namespace tenure::scenario {
namespace {

const OptionWord* find_option(std::initializer_list<OptionWord> options, std::string_view word) {
  const auto* found =
      std::find_if(options.begin(), options.end(), [&](const OptionWord& each) { return each.word == word; });
  return found == options.end() ? nullptr : found;
}

std::int64_t to_number(std::string_view what, std::string_view text) {
  const auto number = parse_integer(text);
  if (!number) throw ScriptError(fmt::format("{}: expected an integer, found '{}'", what, text));
  return *number;
}

}  // namespace

std::string_view Arguments::next(std::string_view what) {
  if (at_end()) throw ScriptError(fmt::format("{}: expected its {}", command_.verb, what));
  return command_.words[at_++];
}

std::int64_t Arguments::next_number(std::string_view what) { return to_number(what, next(what)); }

bool Arguments::is_next_option(std::initializer_list<OptionWord> options) const {
  return !at_end() && find_option(options, command_.words[at_]) != nullptr;
}

std::vector<std::string_view> Arguments::next_until(std::initializer_list<OptionWord> options) {
  std::vector<std::string_view> words;
  while (!at_end() && !is_next_option(options)) words.emplace_back(command_.words[at_++]);
  return words;
}

void Arguments::take_options(std::initializer_list<OptionWord> options) {
  while (!at_end()) {
    const std::string_view word = command_.words[at_++];
    const OptionWord* option = find_option(options, word);
    if (option == nullptr) throw ScriptError(fmt::format("{}: did not expect '{}'", command_.verb, word));
    auto& values = options_[option->word];
    for (std::size_t i = 0; i < option->values; ++i) values.push_back(next(word));
  }
}

std::optional<std::string_view> Arguments::text(std::string_view option, std::size_t value) const {
  const auto found = options_.find(option);
  return found == options_.end() ? std::nullopt : std::optional(found->second.at(value));
}

std::optional<std::int64_t> Arguments::number(std::string_view option, std::size_t value) const {
  const auto found = text(option, value);
  return found ? std::optional(to_number(option, *found)) : std::nullopt;
}

std::optional<Millis> Arguments::duration(std::string_view option, std::size_t value) const {
  const auto found = number(option, value);
  return found ? std::optional(Millis{*found}) : std::nullopt;
}

Paging Arguments::paging() const {
  Paging paging;
  paging.count = number("COUNT").value_or(paging.count);
  paging.cursor = text("CURSOR").value_or(paging.cursor);
  return paging;
}

}  // namespace tenure::scenario
