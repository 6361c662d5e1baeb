// The words of a command line, and how durations and instants are written.
//
//   word     = characters other than space and quote | '"' text with \n \" \\ \xNN '"' | '{' text '*' count '}'
//   duration = { number ("d" | "h" | "m" | "s" | "ms") }         1h30m, 1.5s, 250ms; perhaps with a sign
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/types.h>

namespace tenure::scenario {

// Throws ScriptError.
std::vector<std::string> split_words(std::string_view line);

std::optional<Millis> parse_duration(std::string_view text);
// 90'001 ms is 1m30.001s.
std::string duration_text(Millis duration);

// A whole number in decimal, perhaps with a sign.
std::optional<std::int64_t> parse_integer(std::string_view text);

// As it is, if it is one word; else quoted and escaped.
std::string quoted_if_needed(std::string_view text);

// Durations behind the option words that take them (LEASE 30s) as the wire has them: in milliseconds.
void translate_durations(std::vector<std::string>& words);

}  // namespace tenure::scenario
