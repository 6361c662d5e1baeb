#include "base/text.h"

#include <fmt/format.h>

#include <charconv>

namespace tenure {
namespace {

// The length of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none. Overlong forms, surrogates and
// everything above U+10FFFF are ill-formed: hence the bounds on the second byte.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  const std::uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  }
  return length;
}

bool is_control(std::string_view sequence) {
  const auto lead = static_cast<std::uint8_t>(sequence[0]);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && static_cast<std::uint8_t>(sequence[1]) < 0xa0);
}

template <class Accept>
bool every_sequence(std::string_view text, Accept accept) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || !accept(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

bool is_utf8(std::string_view text) {
  return every_sequence(text, [](std::string_view) { return true; });
}

bool is_clean(std::string_view text) {
  return every_sequence(text, [](std::string_view sequence) { return !is_control(sequence); });
}

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (static_cast<std::uint8_t>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint8_t>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=');
    }
  }
  return out;
}

std::string hex16(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::optional<std::uint64_t> parse_hex16(std::string_view text) {
  if (text.size() != 16) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace tenure
