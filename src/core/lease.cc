#include "core/lease.h"

#include "base/text.h"

namespace tenure {

std::string Token::text() const {
  char text[20 + 1 + 16];
  char* to = write_decimal(text, fence.value);
  *to++ = '-';
  write_hex16(secret, to);
  return {text, to + 16};
}

std::optional<Token> Token::parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto fence = parse_decimal(text.substr(0, dash));
  const auto secret = parse_hex16(text.substr(dash + 1));
  if (!fence || !secret) return std::nullopt;
  return Token{Fence{*fence}, *secret};
}

}  // namespace tenure
