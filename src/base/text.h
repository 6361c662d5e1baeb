// Text as people and protocols see it: UTF-8, JSON, hexadecimal, base64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure {

bool is_utf8(std::string_view text);

// UTF-8 without control characters (U+0000-001F, U+007F-009F): what a name may be made of.
bool is_clean(std::string_view text);

// Whether all of it is ASCII that can be printed, and nothing is this byte; quick for texts as short as names.
bool is_plain_without(std::string_view text, char byte);

// `text` quoted and escaped as a JSON string; it must be UTF-8.
void append_json_string(std::string& out, std::string_view text);

std::string base64(std::string_view bytes);
// Padded, and nothing else between; nullopt: it is none.
std::optional<std::string> parse_base64(std::string_view text);

// Sixteen lower-case hexadecimal digits.
std::string hex16(std::uint64_t value);
void write_hex16(std::uint64_t value, char* to);
std::optional<std::uint64_t> parse_hex16(std::string_view text);

// Writes the digits, behind a minus if need be, and answers where they end. There must be room for 20 bytes.
char* write_decimal(char* to, std::uint64_t value);
char* write_decimal(char* to, std::int64_t value);

// A decimal number without sign or leading zeros; nothing else.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

}  // namespace tenure
