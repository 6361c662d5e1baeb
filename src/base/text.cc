#include "base/text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/bytes.h"

namespace tenure {
namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The length of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none. Overlong forms, surrogates
// and everything above U+10FFFF are ill-formed: hence the bounds on the second byte.
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

constexpr std::uint64_t kOnes = 0x0101010101010101;

// Whether all eight bytes lie in 0x20 to 0x7e, as nearly all bytes of names do. Each test leaves its answer in the top
// bit of every byte: below 0x20, above 0x7e, or not ASCII at all.
bool is_plain(std::uint64_t eight) {
  const std::uint64_t below = eight - 0x20 * kOnes;
  const std::uint64_t above = eight + kOnes;
  return ((below | above | eight) & 0x80 * kOnes) == 0;
}

bool is_without(std::uint64_t eight, std::uint64_t byte_eight_times) {
  const std::uint64_t zero_where_found = eight ^ byte_eight_times;
  return ((zero_where_found - kOnes) & ~zero_where_found & 0x80 * kOnes) == 0;
}

// Whether is_good(eight) for every eight bytes of a text of any length: words that overlap are any length in between,
// and what is shorter is looked at with blanks behind it.
template <class IsGood>
bool every_eight(std::string_view text, const IsGood& is_good) {
  const char* const begin = text.data();
  const std::size_t size = text.size();
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8) {
      if (!is_good(load<std::uint64_t>(begin + i))) return false;
    }
    return is_good(load<std::uint64_t>(begin + size - 8));
  }
  if (size >= 4) {
    const std::uint64_t last = load<std::uint32_t>(begin + size - 4);
    return is_good(last << 32 | load<std::uint32_t>(begin));
  }
  char few[8] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};
  copy_short(text, few);
  return is_good(load<std::uint64_t>(few));
}

// The value of each hexadecimal digit; every other byte has a value above 15.
constexpr std::array<std::uint8_t, 256> kHexDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(0xf0);
  for (std::uint8_t i = 0; i < 16; ++i) digits[static_cast<std::uint8_t>("0123456789abcdef"[i])] = i;
  return digits;
}();

// The two digits of each byte.
constexpr std::array<char, 512> kHexPairs = [] {
  std::array<char, 512> pairs{};
  for (std::size_t i = 0; i < 256; ++i) {
    pairs[2 * i] = "0123456789abcdef"[i >> 4];
    pairs[2 * i + 1] = "0123456789abcdef"[i & 15];
  }
  return pairs;
}();

template <class Accept>
bool every_sequence(std::string_view text, Accept accept) {
  while (!text.empty()) {
    if (text[0] >= 0x20 && text[0] < 0x7f) {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = sequence_length(text);
    if (length == 0 || !accept(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Eight digits at a time, each in a byte of one word, the first in the lowest: a division by 10,000 makes two numbers
// of it, which are divided by 100 together, and the four of that by 10. A product stands in for each division, exact
// for numbers as small as these.
constexpr std::uint64_t kEightDigits = 100'000'000;

std::uint64_t eight_digits(std::uint64_t below) {
  const std::uint64_t fours = below / 10'000 | below % 10'000 << 32;
  const std::uint64_t hundreds = (fours * 5243 >> 19) & 0x0000'007f'0000'007f;
  const std::uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
  const std::uint64_t tens = (pairs * 103 >> 10) & 0x000f'000f'000f'000f;
  return tens | (pairs - tens * 10) << 8;
}

char* put_digits(char* to, std::uint64_t digits, int leave_out) {
  const std::uint64_t text = (digits + 0x3030'3030'3030'3030) >> (8 * leave_out);
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(to, &text, sizeof text);
  return to + 8 - leave_out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  return every_sequence(text, [](std::string_view) { return true; });
}

bool is_clean(std::string_view text) {
  return every_eight(text, is_plain) ||
         every_sequence(text, [](std::string_view sequence) { return !is_control(sequence); });
}

bool is_plain_without(std::string_view text, char byte) {
  TENURE_CHECK(byte != ' ', "a blank, which is put behind short texts");
  const std::uint64_t eight_times = static_cast<std::uint8_t>(byte) * kOnes;
  return every_eight(text, [=](std::uint64_t eight) { return is_plain(eight) && is_without(eight, eight_times); });
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
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(i + k <= bytes.size() ? kBase64Digits[group >> (18 - 6 * k) & 63] : '=');
    }
  }
  return out;
}

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_padding = i >= text.size() - padding;
    const std::size_t digit = is_padding ? 0 : kBase64Digits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) out.push_back(static_cast<char>(group >> shift & 255));
  }
  // What the padding stands for must be nothing, or two texts would mean the same.
  for (std::size_t i = 0; i < padding; ++i) {
    if (out.back() != 0) return std::nullopt;
    out.pop_back();
  }
  return out;
}

void write_hex16(std::uint64_t value, char* to) {
  for (int shift = 56; shift >= 0; shift -= 8, to += 2) std::memcpy(to, &kHexPairs[(value >> shift & 255) * 2], 2);
}

std::string hex16(std::uint64_t value) {
  std::string text(16, '0');
  write_hex16(value, text.data());
  return text;
}

std::optional<std::uint64_t> parse_hex16(std::string_view text) {
  if (text.size() != 16) return std::nullopt;
  const char* const digits = text.data();
  std::uint64_t value = 0;
  std::uint8_t wrong = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint8_t digit = kHexDigits[static_cast<std::uint8_t>(digits[i])];
    wrong |= digit;
    value = value << 4 | (digit & 15U);
  }
  return wrong < 16 ? std::optional(value) : std::nullopt;
}

char* write_decimal(char* to, std::uint64_t value) {
  // Most are counts and sizes.
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  if (value < 100) {
    to[0] = static_cast<char>('0' + value / 10);
    to[1] = static_cast<char>('0' + value % 10);
    return to + 2;
  }
  if (value >= kEightDigits) {
    return put_digits(write_decimal(to, value / kEightDigits), eight_digits(value % kEightDigits), 0);
  }
  const std::uint64_t digits = eight_digits(value);
  return put_digits(to, digits, std::countr_zero(digits) / 8);
}

char* write_decimal(char* to, std::int64_t value) {
  if (value >= 0) return write_decimal(to, static_cast<std::uint64_t>(value));
  *to = '-';
  return write_decimal(to + 1, ~static_cast<std::uint64_t>(value) + 1);
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace tenure
